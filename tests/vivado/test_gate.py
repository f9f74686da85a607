# SPDX-License-Identifier: Apache-2.0
"""The timing gate, with reports written in Vivado's form: it stops the build and names the paths."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from vivado_stub import DATA, ROOT, build

pytestmark = pytest.mark.vivado
REPORTS = DATA / "reports"
DEVICE = {"lut": 425280, "ff": 850560, "bram36": 1080, "uram": 80}


def gate(folder: Path) -> tuple[int, str]:
    command = ["tclsh", str(ROOT / "vivado/tcl/gate.tcl"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    return done.returncode, done.stdout + done.stderr


def reports(to: Path, variant: str) -> Path:
    """The clean reports, with those of a variant in their place."""
    for name in ("clean", variant):
        shutil.copytree(REPORTS / name, to, dirs_exist_ok=True)
    report = to / "utilization.rpt"
    for name, number in DEVICE.items():
        report.write_text(report.read_text().replace(f"@{name}@", str(number)))
    return to


@pytest.mark.parametrize(
    ("variant", "sentences"),
    [
        ("setup", ["WNS is -0.123 ns", "TNS is -4.210 ns",
                   "-0.123 ns shell/host/rxFilter/hit_reg[3]/C -> shell/host/rxFilter/verdict_reg/D",
                   "-0.011 ns shell/host/veb/x_reg/C -> shell/host/veb/y_reg/R"]),
        ("hold", ["WHS is -0.020 ns", "shell/ps/a_reg/C -> shell/ps/b_reg/D"]),
        ("pulse", ["WPWS is -0.100 ns"]),
        ("unconstrained", ["unconstrained_internal_endpoints (2)", "no_clock (14)"]),
        ("full", ["CLB LUTs: 301000 of 425280, more than 70 %", "Block RAM Tile: 900.5 of 1080, more than 80 %"]),
        ("critical", ["unsafe crossing: CDC-1 shell/ps/state_reg/C -> shell/host/use_reg/D"]),
        ("skew", ["bus skew: -0.310 ns shell/a/gray_reg[4]/C -> shell/a/cc/buffers_0_reg[4]/D"]),
    ],
)  # fmt: skip
def test_the_gate_names_each_timing_or_constraint_fault(variant: str, sentences: list[str], tmp_path: Path) -> None:
    status, said = gate(reports(tmp_path, variant))
    assert status == 1
    for sentence in sentences:
        assert sentence in said, said


@pytest.mark.parametrize(
    "line",
    [
        "Critical  CDC-4  3  Multi-bit unknown CDC circuitry",
        "17  CDC-4  Critical  Multi-bit unknown a/b_reg/C c/d_reg/D",
    ],
)
def test_a_critical_crossing_in_any_table_closes_the_gate(line: str, tmp_path: Path) -> None:
    report = reports(tmp_path, "clean") / "cdc.rpt"
    report.write_text(report.read_text() + line + "\n")
    status, said = gate(tmp_path)
    assert status == 1 and "unsafe crossing: CDC-4" in said


def test_clean_reports_pass(tmp_path: Path) -> None:
    assert gate(reports(tmp_path, "clean")) == (0, "timing gate: passed\n")


@pytest.mark.parametrize("name", sorted(path.name for path in (REPORTS / "clean").iterdir()))
def test_a_report_that_is_not_there_is_no_pass(name: str, tmp_path: Path) -> None:
    (reports(tmp_path, "clean") / name).unlink()
    status, said = gate(tmp_path)
    assert status == 1 and f"no report {tmp_path / name}" in said


@pytest.mark.parametrize("name", sorted(path.name for path in (REPORTS / "empty").iterdir()))
def test_a_report_that_says_nothing_is_no_pass(name: str, tmp_path: Path) -> None:
    shutil.copy(REPORTS / "empty" / name, reports(tmp_path, "clean") / name)
    assert gate(tmp_path)[0] == 1


def test_no_bitstream_behind_a_closed_gate(tmp_path: Path) -> None:
    data = tmp_path / "tests/vivado/data"
    shutil.copytree(DATA, data)
    shutil.copytree(ROOT / "vivado", tmp_path / "vivado")
    for name in ("clean", "setup"):
        shutil.copytree(REPORTS / name, data / "reports/late", dirs_exist_ok=True)
    run = build(tmp_path / "out", root=tmp_path, reports="late")
    assert run.status == 1 and "timing gate: no bitstream" in run.said
    assert "route_design" in run.log and "write_" not in run.log
