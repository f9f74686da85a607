# SPDX-License-Identifier: Apache-2.0
"""Cards that have no interrupts say so when an application wants them; tests/qemu/dpdk/test_dpdk_interrupts.py has those."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from dpdk_fixtures import library
from plugin import plugin, twin_of
from sleeper import sleeper

__all__ = ["library"]  # a fixture
SENTENCE = "receive queues of this card cannot interrupt, those of one on PCIe can"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sleeper(tmp_path_factory.mktemp("tools"))


def refused(libraries: list[Path], program: Path, vdev: str) -> None:
    before, driver = plugin(*libraries)
    command = [*before, str(program), *driver, "--no-huge", "-m", "128", "--no-pci", "--no-telemetry", "-l", "0"]
    command += ["--no-shconf", f"--file-prefix=meridian-{os.getpid()}", f"--vdev={vdev}", "--", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and f"{vdev.split(',')[0]}: {SENTENCE}" in said, said
    assert "configure: Operation not supported" in said, said


def test_the_null_card_refuses_interrupts_of_its_receive_queues(library: Path, program: Path) -> None:
    refused([library], program, "net_meridian_null0")


def test_the_card_process_refuses_interrupts_of_its_receive_queues(run_card: Any, library: Path, program: Path) -> None:
    refused([library, twin_of(library)], program, f"net_meridian_twin0,socket={run_card().socket}")
