# SPDX-License-Identifier: Apache-2.0
"""What the wrappers do by themselves, simulated."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from vivado_stub import ROOT

pytestmark = pytest.mark.vivado
BENCH = Path(__file__).resolve().parent / "link_state_tb.sv"


def simulate(module: Path, work: Path) -> subprocess.CompletedProcess[str]:
    command = [
        "verilator",
        "--binary",
        "--timing",
        "-Wno-TIMESCALEMOD",
        "--Mdir",
        str(work),
        "--top-module",
        BENCH.stem,
    ]
    built = subprocess.run(
        [*command, str(module), str(BENCH)], capture_output=True, text=True, timeout=300, check=False
    )
    assert built.returncode == 0, built.stderr
    return subprocess.run([str(work / f"V{BENCH.stem}")], capture_output=True, text=True, timeout=60, check=False)


def test_a_receivers_reset_ends_its_link_though_its_clock_stands(tmp_path: Path) -> None:
    done = simulate(ROOT / "vivado/rtl/link_state.sv", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_a_link_that_the_clock_alone_clears_is_found(tmp_path: Path) -> None:
    source = (ROOT / "vivado/rtl/link_state.sv").read_text()
    assert " or posedge reset" in source
    module = tmp_path / "link_state.sv"
    module.write_text(source.replace(" or posedge reset", ""))
    done = simulate(module, tmp_path / "work")
    assert done.returncode != 0 and "reset, and no edge of the clock" in done.stdout
