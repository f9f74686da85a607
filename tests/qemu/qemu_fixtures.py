# SPDX-License-Identifier: Apache-2.0
"""QEMU with the card's device, and a guest; both built once and kept in the cache."""

from __future__ import annotations

from pathlib import Path

import pytest
from guest import Guest, script


@pytest.fixture(scope="session")
def qemu() -> Path:
    return script("build-qemu", minutes=40)


@pytest.fixture(scope="session")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Guest:
    return Guest.build(tmp_path_factory.mktemp("guest"))
