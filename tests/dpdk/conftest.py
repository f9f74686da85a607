# SPDX-License-Identifier: Apache-2.0
"""testpmd for the null card; tests on a running card take that of dpdk_fixtures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from dpdk_fixtures import library
from sessions import Testpmd

__all__ = ["library"]


@pytest.fixture
def testpmd(library: Path) -> Testpmd:
    return Testpmd(library, f"meridian{os.getpid()}")
