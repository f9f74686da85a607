# SPDX-License-Identifier: Apache-2.0
"""The driver under sanitizers as an application sees it: programs of host-driver/dpdk/test, on a card with faults."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from programs import ROOT, sanitized

SECONDS = 120
FOLDER = ROOT / "host-driver" / "dpdk" / "test"
PROGRAMS = ("port_test", "settings_test")
CASES = [
    (program, case)
    for program in PROGRAMS
    for case in re.findall(r"^\tCASE\((\w+)\),$", (FOLDER / f"{program}.c").read_text(), re.MULTILINE)
]
# DPDK's own libraries leave memory behind; what the driver leaves, programs count themselves.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sanitized(tmp_path_factory.mktemp("port"), *PROGRAMS)


@pytest.mark.parametrize(("program", "case"), CASES)
def test_port(folder: Path, program: str, case: str) -> None:
    command = [folder / program, case]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-5000:]
