# SPDX-License-Identifier: Apache-2.0
"""A build with logic analysers: each probe is at a wire that the top keeps, and the build without them is as before."""

from __future__ import annotations

import difflib
import os
import re
import subprocess
from pathlib import Path

import documents
import netlist_of
import pytest
from test_top import SIZES, lint, rtl
from test_vivado_build import ACCEPT, GOLDEN
from vivado_stub import BOARDS, DATA, ROOT, build, copy_of_tree, program

pytestmark = pytest.mark.vivado
TABLE = (ROOT / "vivado/tcl/debug.tcl").read_text()
DEBUG = ("debug=1",)


def probes() -> dict[str, dict[str, int]]:
    """Of each ILA its wires and their bits, with a beat of 32 bytes."""
    found = {}
    for ila, body in re.findall(r"^    (ila_\w+) \w+ \d+ \{(.*?)\n    \}", TABLE, re.MULTILINE | re.DOTALL):
        words = body.split()
        found[ila] = {
            name: 256 if bits == "W" else int(bits) for name, bits in zip(words[::2], words[1::2], strict=True)
        }
    return found


@pytest.mark.parametrize("board", BOARDS)
def test_vivado_is_told_of_the_analysers_as_reviewed(board: str, tmp_path: Path) -> None:
    """Beside what it is told without logic analysers."""
    run = build(tmp_path, board, arguments=DEBUG)
    assert run.status == 0, run.said
    assert (run.output / f"meridian-{board}.ltx").exists()
    assert "ltx " in (run.output / f"meridian-{board}.txt").read_text()
    whole = (GOLDEN / f"{board}.log").read_text().splitlines()
    lines = difflib.unified_diff(whole, run.log.splitlines(), n=0, lineterm="")
    text = "\n".join(line for line in lines if line[:2] not in ("--", "++", "@@")) + "\n"
    path = GOLDEN / f"{board}.debug.diff"
    if ACCEPT:
        path.write_text(text)
    assert text.splitlines() == path.read_text().splitlines(), f"{path.name} differs"


def test_a_build_without_them_leaves_no_probes_of_the_one_before(tmp_path: Path) -> None:
    assert build(tmp_path, arguments=DEBUG).status == 0
    run = build(tmp_path)
    assert run.status == 0 and not (run.output / "meridian-t1-rfsoc.ltx").exists(), run.said
    assert "DEBUG" not in run.log and "ila" not in run.log


@pytest.mark.parametrize("board", SIZES)
def test_probes_are_at_pins_of_the_shell(board: str) -> None:
    """Of completions at the part that the shell fills. Receive data, too, is at the pin of the clock of its ILA."""
    pins = netlist_of.ports((rtl(board) / "Shell.v").read_text(), "Shell")
    for ila, wires in probes().items():
        (clock,) = re.findall(rf"^    {ila} (\w+) ", TABLE, re.MULTILINE)
        assert clock in pins
        for name, bits in wires.items():
            width = pins[name][1]
            assert bits == (128 if name == "s_axis_c2h_cmpt_tdata" else width), name


def test_the_streams_that_the_page_names_are_probed() -> None:
    """And no wire is in two of them, or kept for nothing."""
    names = [name for wires in probes().values() for name in wires]
    assert len(names) == len(set(names))
    for start in ("m_axis_h2c_", "s_axis_c2h_t", "s_axis_c2h_cmpt_", "tm_dsc_sts_", "rx_axis_", "tx_axis_", "m_axi_ps_", "s_axil_ps_"):  # fmt: skip
        assert [name for name in names if name.startswith(start)], start
    kept = [
        name.replace("``N", "0")
        for path in (ROOT / "vivado/rtl").glob("*_wires.svh")
        if path.name != "pcie_wires.svh"  # test_own_dma.py
        for name in re.findall(r"`PROBED wire (?:\[.*?\] )?([\w`]+);", path.read_text())
    ]
    assert sorted(kept) == sorted(names)


@pytest.mark.parametrize("board", SIZES)
def test_the_top_that_keeps_the_probed_wires_passes_lint(
    board: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lanes, ports, macros = SIZES[board]
    monkeypatch.setitem(SIZES, board, (lanes, ports, [*macros, "MERIDIAN_DEBUG"]))
    done = lint(board, ROOT, tmp_path, whole=False)
    assert done.returncode == 0 and not done.stderr, done.stderr


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        ("rtl/qdma_wires.svh", "`PROBED wire tm_dsc_sts_vld;", "wire tm_dsc_sts_vld;", "debug: no net tm_dsc_sts_vld: it was renamed"),
        ("rtl/ps_wires.svh", "[39:0] m_axi_ps_awaddr", "[31:0] m_axi_ps_awaddr", "debug: no net m_axi_ps_awaddr[32]"),
        ("tcl/implement.tcl", "lappend defines DEBUG", "lappend defines OTHER", "debug: no net m_axis_h2c_tvalid: "),
        ("tcl/debug.tcl", "connect_clock $ila/clk shell/$clock", "", "ila_host/clk of a debug core is not connected"),
        ("tcl/debug.tcl", "port_width [llength $nets]", "port_width 1", "has 1 bits, not 256"),
        ("tcl/debug.tcl", "C_DATA_DEPTH $samples", "C_DEPTH $samples", "no property C_DEPTH of a debug core"),
        ("tcl/debug.tcl", "axi_aclk 1024", "host_clk 1024", "no pin shell/host_clk"),
    ],
)  # fmt: skip
def test_mistakes_end_the_build(file: str, old: str, new: str, sentence: str, tmp_path: Path) -> None:
    tree = copy_of_tree(tmp_path / "tree")
    path = tree / "vivado" / file
    assert path.read_text().count(old) == 1, old
    path.write_text(path.read_text().replace(old, new))
    run = build(tmp_path, root=tree, arguments=DEBUG)
    assert run.status == 1 and sentence in run.said and "write_bitstream" not in run.log, run.said


def test_a_constant_has_no_probe(tmp_path: Path) -> None:
    run = build(tmp_path / "bit", arguments=DEBUG, constant="m_axi_ps_awaddr[39]")
    assert run.status == 0 and "debug: m_axi_ps_awaddr[39] holds a constant and has no probe" in run.said
    assert "net:m_axi_ps_awaddr[0] to net:m_axi_ps_awaddr[38]" in run.log
    run = build(tmp_path / "wire", arguments=DEBUG, constant="m_axis_h2c_tvalid")
    assert run.status == 0, run.said
    assert "connect_debug_port ila_host/probe0 net:m_axis_h2c_tready" in run.log


def test_crossings_inside_the_cores_are_their_vendors(tmp_path: Path) -> None:
    """All others still end the build."""
    reports = tmp_path / "reports"
    reports.mkdir()
    for path in (DATA / "reports/clean").iterdir():
        (reports / path.name).write_text(path.read_text())
    cdc = reports / "cdc.rpt"
    before = cdc.read_text()
    script = tmp_path / "gate.tcl"
    script.write_text(f"source {ROOT}/vivado/tcl/gate.tcl\nputs [gate::crossings [gate::report {reports} cdc.rpt]]\n")

    def found(line: str) -> str:
        cdc.write_text(f"{before}\n{line}\n")
        done = subprocess.run(["tclsh", str(script)], capture_output=True, text=True, timeout=20, check=True)
        return done.stdout.strip()

    inside = "CDC-1  Critical  x  0  None  dbg_hub/inst/a_reg/C  ila_rx/inst/b_reg/D"
    assert found(inside) == ""
    assert "CDC-1 shell/a_reg/C -> ila_rx/inst/b_reg/D" in found(inside.replace("dbg_hub/inst", "shell"))


@pytest.mark.parametrize("with_probes", [True, False])
def test_the_card_is_told_of_its_probes(with_probes: bool, tmp_path: Path) -> None:
    bit, log = tmp_path / "a.bit", tmp_path / "log"
    if with_probes:
        bit.with_suffix(".ltx").touch()
    done = program(bit, log)
    assert done.returncode == 0, done.stderr
    assert (f"PROBES.FILE = {bit.with_suffix('.ltx')}" in log.read_text()) == with_probes


def test_make_has_the_option_for_analysers() -> None:
    command = ["make", "--no-print-directory", "-n", "bitstream", "BOARD=zcu106", "DEBUG=1", "SETTINGS=mine"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=True).stdout
    assert said == 'scripts/bitstream build --debug "zcu106" "mine"\n'
    done = subprocess.run(
        [str(ROOT / "scripts/bitstream"), "build", "--debug", "kcu105"],
        capture_output=True, text=True, timeout=20, check=False, env=os.environ,
    )  # fmt: skip
    assert done.returncode == 1 and "no board 'kcu105'" in done.stderr


def test_triggers_of_the_page_are_of_probes() -> None:
    page = ROOT / "vivado/README.md"
    (table,) = (table for table in documents.tables(page) if table[0][:3] == ["trouble", "core", "trigger"])
    assert len(table) >= 7
    for _, core, trigger, *_ in table[2:]:
        wires = probes()[core.strip("`")]
        named = re.findall(r"`(\w+) [=!]=", trigger)
        assert named
        for name in named:
            assert name in wires, f"{core} has no {name}"
