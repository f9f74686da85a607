# SPDX-License-Identifier: Apache-2.0
"""The driver under sanitizers as an application sees it: the cases of port_test, on a card with faults."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from programs import ROOT, sanitized

SECONDS = 120
FOLDER = ROOT / "host-driver" / "dpdk" / "test" / "cases"
CASES = [
    case
    for file in sorted(FOLDER.glob("*_cases.c"))
    for case in re.findall(r"^\tCASE\((\w+)\),$", file.read_text(), re.MULTILINE)
]
# DPDK's own libraries leave memory behind; what the driver leaves, programs count themselves.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sanitized(tmp_path_factory.mktemp("port"), "port_test") / "port_test"


@pytest.mark.parametrize("case", CASES)
def test_a_case_of_port_test_passes_under_sanitizers(program: Path, case: str) -> None:
    command = [program, case]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-5000:]
