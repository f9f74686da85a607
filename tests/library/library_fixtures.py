# SPDX-License-Identifier: Apache-2.0
"""libmeridian and what lets it have a simulated card, built once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "host-driver" / "library"
#: A module that reads and writes host memory.
EXAMPLE = ROOT / "examples/boxes/host_memory.sv"
#: Scripts begin with these. refused() gives the error of a call that must fail; run() lets that module work, for a PF.
REFUSED = """
from meridian_library import AT_HOST, Card, CardError

def refused(what, *arguments):
    try:
        what(*arguments)
    except CardError as error:
        return error.strerror
    raise AssertionError("it was not refused")
"""
RUN = """
def run(card, queue, memory, what, count=8, size=64):
    words = {4: queue, 8: size, 12: count, 16: memory.address & 0xFFFFFFFF, 20: memory.address >> 32, 24: memory.size - 1}
    for offset, value in (words | {28: 0, 32: 0xA5}).items():
        card.box_write(offset, value)
    card.box_write(0, what)
    while card.box_read(0) >> 31:
        pass
    return [card.box_read(at) for at in (0x40, 0x44, 0x60, 0x64)]
"""
Program = Callable[..., subprocess.CompletedProcess[str]]


def made(folder: Path, output: Path, *variables: str) -> None:
    command = ["make", "-s", "-C", str(folder), f"OUTPUT={output}", *variables]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    made(LIBRARY, folder)
    made(ROOT / "twin" / "library", folder, f"LIBRARY={folder}")
    return folder


@pytest.fixture
def program(built: Path) -> Program:
    """Runs a program, or a script of Python, that has the library and may have a simulated card."""

    def run(*command: str, script: str = "", status: int | None = 0) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-c", script] if script else [str(built / command[0]), *command[1:]]
        has = {
            "LD_LIBRARY_PATH": str(built),
            "LD_PRELOAD": str(built / "libmeridian_twin.so"),
            "MERIDIAN_LIBRARY": str(built / "libmeridian.so.1"),
            "PYTHONPATH": str(LIBRARY / "python"),
        }
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, env=os.environ | has)
        if status is not None:
            assert done.returncode == status, f"{done.stdout}\n{done.stderr}"
        return done

    return run
