# SPDX-License-Identifier: Apache-2.0
"""Waivers of clock crossings: those that the shell declares pass the gate, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest
from vivado_stub import DATA, Run, build

pytestmark = pytest.mark.vivado
HELD = "path shell/a/mode_reg shell/a/mode_seen_reg plain"


def with_cells(tmp_path: Path, old: str, new: str) -> Run:
    """A build whose netlist has other crossings than the reference's."""
    text = (DATA / "cells.txt").read_text()
    assert old in text
    cells = tmp_path / "cells"
    cells.write_text(text.replace(old, new))
    return build(tmp_path / "out", cells=cells)


def test_a_declared_crossing_is_waived_by_its_pins_and_its_reason(tmp_path: Path) -> None:
    run = build(tmp_path)
    assert run.status == 0, run.said
    assert "waivers, synthesised: 3 for 2 held crossings" in run.said
    assert (
        "create_waiver -type CDC -id CDC-1 -description {Meridian: It is set once.} "
        "-from shell/a/mode_reg/C -to shell/a/mode_seen_reg/D" in run.log
    )
    assert run.log.count("create_waiver") == 3


@pytest.mark.parametrize(
    ("circuit", "rule"), [("fan", "CDC-11"), ("gated", "CDC-10"), ("bus", "CDC-4"), ("enable", None), ("sync", None)]
)
def test_a_held_crossing_may_look_in_several_ways(circuit: str, rule: str | None, tmp_path: Path) -> None:
    path = "path shell/a/data_reg shell/a/taken_reg"
    run = with_cells(tmp_path, f"{path} fan", f"{path} {circuit}")
    assert run.status == 0, run.said
    wanted = f"-id {rule} -description {{Meridian: It stands still.}}"
    assert (wanted in run.log) if rule else run.log.count("create_waiver") == 1


@pytest.mark.parametrize(
    ("extra", "finding"),
    [
        ("path shell/a/flag_reg shell/a/more_reg plain", "CDC-1 shell/a/flag_reg/C -> shell/a/more_reg/D"),
        ("path shell/a/flag_reg shell/a/mode_seen_reg plain", "CDC-1 shell/a/flag_reg/C -> shell/a/mode_seen_reg/D"),
        ("path shell/a/mode_reg shell/a/more_reg plain", "CDC-1 shell/a/mode_reg/C -> shell/a/more_reg/D"),
        ("path shell/a/mode_reg shell/a/mode_seen_reg reset", "CDC-7 shell/a/mode_reg/C -> shell/a/mode_seen_reg/D"),
        ("path shell/a/flag_reg shell/a/sync/buffers_0_reg gated", "CDC-10 shell/a/flag_reg/C -> shell/a/sync"),
    ],
)
def test_what_is_not_declared_ends_the_build_before_it_is_routed(extra: str, finding: str, tmp_path: Path) -> None:
    run = with_cells(tmp_path, HELD, f"{HELD}\n{extra}")
    assert run.status == 1 and f"unsafe crossing: {finding}" in run.said, run.said
    assert "route_design" not in run.log


@pytest.mark.parametrize("step", ["synth", "route"])
def test_a_copy_that_vivado_makes_of_a_register_is_the_same_crossing(step: str, tmp_path: Path) -> None:
    run = with_cells(tmp_path, HELD, f"{HELD}\nreplica shell/a/mode_reg shell/a/mode_reg_replica {step}")
    assert run.status == 0, run.said
    both = "{shell/a/mode_reg/C shell/a/mode_reg_replica/C}"
    assert f"-id CDC-1 -description {{Meridian: It is set once.}} -from {both}" in run.log
    # What is copied later has the constraint of its original.
    assert ("-from {shell/a/mode_reg shell/a/mode_reg_replica}" in run.log) == (step == "synth")


def test_a_copy_of_a_synchronised_register_is_constrained(tmp_path: Path) -> None:
    run = with_cells(tmp_path, HELD, f"{HELD}\nreplica shell/a/flag_reg shell/a/flag_reg_replica synth")
    assert run.status == 0, run.said
    assert "-from {shell/a/flag_reg shell/a/flag_reg_replica} -to shell/a/sync/buffers_0_reg" in run.log


def test_a_declaration_for_nothing_ends_the_build(tmp_path: Path) -> None:
    run = with_cells(tmp_path, HELD, "")
    assert run.status == 1, run.said
    assert "report_cdc knows no path from shell/a/mode_reg to shell/a/mode_seen_reg" in run.said


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("crossing held a/mode ps_clk a/mode_seen axi_aclk", "a held crossing, and no other, has a reason"),
        ("crossing sync a/mode ps_clk a/mode_seen axi_aclk {It is set once.}", "a held crossing, and no other"),
    ],
)
def test_a_held_crossing_has_a_reason(line: str, sentence: str, tmp_path: Path) -> None:
    for name in ("Shell.v", "Shell.crossings.tcl"):
        (tmp_path / name).write_text((DATA / name).read_text())
    crossings = tmp_path / "Shell.crossings.tcl"
    text = crossings.read_text()
    crossings.write_text("\n".join(line if " a/mode " in x else x for x in text.splitlines()) + "\n")
    run = build(tmp_path / "out", rtl=tmp_path)
    assert run.status == 1 and sentence in run.said, run.said
