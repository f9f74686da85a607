# SPDX-License-Identifier: Apache-2.0
"""A figure that misses its goal is told as missed, in the table and in what the program ends with."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import report
import shell

GOALS = [
    (">= 100.0", 100.0, 99.99),
    ("> 5", 5.1, 5),
    ("<= 1", 1, 1.001),
    ("< 40000", 39999, 40000),
    ("== 0", 0, 1),
]


@pytest.mark.parametrize(("goal", "met", "missed"), GOALS)
def test_a_goal_that_is_not_reached_is_missed(goal: str, met: float, missed: float) -> None:
    assert not report.Figure("x", {}, met, "%", goal).missed()
    assert report.Figure("x", {}, missed, "%", goal).missed()


def test_a_figure_without_a_goal_misses_none() -> None:
    assert not report.Figure("x", {}, -1, "%").missed()


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(report, "ROOT", tmp_path)
    monkeypatch.setattr(report, "tool_versions", lambda: {"verilator": "0"})
    return tmp_path


def run_shell(monkeypatch: pytest.MonkeyPatch, value: float) -> int:
    figure = report.Figure("rx_rate_percent", {"ports": 1, "width": 256, "bytes": 64}, value, "%", ">= 100.0")
    monkeypatch.setattr(shell, "measure", lambda quick, sizes: iter([figure]))
    monkeypatch.setattr(sys, "argv", ["shell.py", "--quick"])
    return shell.main()


def test_a_missed_goal_ends_the_bench_with_status_1_and_is_written(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_shell(monkeypatch, 99.9) == 1
    told = capsys.readouterr()
    assert "MISSED" in told.out
    assert "rx_rate_percent ports=1 width=256 bytes=64 is 99.9, goal >= 100.0" in told.err
    written = json.loads((scratch / "build" / "bench" / "shell.json").read_text())
    assert written["figures"][0]["value"] == 99.9  # what was measured is written all the same


def test_met_goal_is_green(scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_shell(monkeypatch, 100.0) == 0
    assert "MISSED" not in capsys.readouterr().out
    written = json.loads((scratch / "build" / "bench" / "shell.json").read_text())
    assert written["bench"] == "shell"
    assert written["figures"] == [
        {
            "id": "rx_rate_percent",
            "with": {"ports": 1, "width": 256, "bytes": 64},
            "value": 100.0,
            "unit": "%",
            "runs": 1,
            "goal": ">= 100.0",
        }
    ]


def test_what_cannot_be_measured_ends_the_bench(tmp_path: Path) -> None:
    program = tmp_path / "shell_bench"
    program.write_text("#!/bin/sh\necho 'check failed: rx: 3 frames are lost' >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(SystemExit, match="3 frames are lost"):
        list(shell.rates(shell.Shell(1, 256, program=program), [64]))


def test_a_list_of_sizes_may_have_ranges_and_ends_at_9600_bytes() -> None:
    assert shell.size_list("64-66,1518") == [64, 65, 66, 1518]
    with pytest.raises(Exception, match="without FCS"):
        shell.size_list("9601")
