# SPDX-License-Identifier: Apache-2.0
"""QEMU with the card's device, and the machines it boots; built once and kept in the cache."""

from __future__ import annotations

from pathlib import Path

import pytest
from meridian_machine import Image, tools


@pytest.fixture(scope="session")
def qemu() -> Path:
    return tools.qemu()


@pytest.fixture(scope="session", params=tools.SUITES)
def image(request: pytest.FixtureRequest) -> Image:
    """Of each suite in turn."""
    return Image.build(request.param)
