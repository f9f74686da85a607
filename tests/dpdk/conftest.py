# SPDX-License-Identifier: Apache-2.0
"""The driver, built once."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from sessions import Testpmd

ROOT = Path(__file__).resolve().parents[2]
BUILD_MINUTES = 10


@pytest.fixture(scope="session")
def library() -> Path:
    given = os.environ.get("MERIDIAN_PMD")
    if given:
        return Path(given)
    command = [str(ROOT / "scripts" / "build-dpdk")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60 * BUILD_MINUTES, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.split()[-1])


@pytest.fixture
def testpmd(library: Path) -> Testpmd:
    return Testpmd(library, f"meridian{os.getpid()}")
