# SPDX-License-Identifier: Apache-2.0
"""The DPDK driver, built once, and testpmd on functions of a running card."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from testpmd import Testpmd

ROOT = Path(__file__).resolve().parents[2]
BUILD_MINUTES = 10


@pytest.fixture(scope="session")
def library() -> Path:
    """MERIDIAN_PMD names one that is built already."""
    given = os.environ.get("MERIDIAN_PMD")
    if given:
        return Path(given)
    command = [str(ROOT / "scripts" / "build-dpdk")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60 * BUILD_MINUTES, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.splitlines()[-1])


@pytest.fixture
def testpmd(library: Path) -> Iterator[Callable[..., Testpmd]]:
    """testpmd(card, "--rxq=2", function=0, more="mac=..."): a process on a function of a card; it ends with the test."""
    running: list[Testpmd] = []

    def run(card: Any, *options: str, function: int = 0, more: str = "", **other: Any) -> Testpmd:
        vdev = f"net_meridian_twin0,socket={card.socket},function={function}" + (f",{more}" if more else "")
        running.append(Testpmd(library, [vdev, *other.pop("vdevs", [])], *options, card=card, **other))
        return running[-1]

    yield run
    for one in running:
        one.close()
