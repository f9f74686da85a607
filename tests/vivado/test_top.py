# SPDX-License-Identifier: Apache-2.0
"""The whole top with the generated shell: IP, wrappers and shell fit pin by pin, and every crossing is constrained."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import netlist_of
import pytest
from vivado_stub import DATA, ROOT, build

sys.path.insert(0, str(ROOT / "vivado/check"))
import ports as facts

pytestmark = pytest.mark.vivado
#: What each board is built with: its PCIe lanes, ports, and macros.
SIZES = {"t1-rfsoc": (8, 4, ["MERIDIAN_MORE_THAN_1_PORT", "MERIDIAN_MORE_THAN_2_PORTS"]),
         "zcu106": (4, 2, ["MERIDIAN_MORE_THAN_1_PORT", "MERIDIAN_PTP_PINS", "MERIDIAN_SFP_TX_ENABLE"])}  # fmt: skip
#: A receiver's reset clears the state of its link without a clock (link_state.sv); the shell takes it with one.
WAIVED = ["-Wno-PINCONNECTEMPTY", "-Wno-TIMESCALEMOD", "-Wno-SYNCASYNCNET"]


@cache
def rtl(board: str) -> Path:
    """The folder with the shell of a board."""
    tell = ["tclsh", str(ROOT / "vivado/tcl/board.tcl"), board]
    options = subprocess.run(tell, capture_output=True, text=True, timeout=10, check=True).stdout.split()
    command = [str(ROOT / "scripts/build-card"), "--verilog-only", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.splitlines()[-1]).parent


def table(board: str) -> dict[str, facts.Module]:
    lanes, count, _ = SIZES[board]
    return {module.name: module for module in facts.read(facts.FACTS / "ports.txt", 256, lanes, count)}


def lint(board: str, root: Path, work: Path, *, whole: bool = True) -> subprocess.CompletedProcess[str]:
    """Of wrappers and top, with what is in the shell or with its pins only."""
    lanes, count, macros = SIZES[board]
    stubs = work / "stubs.v"
    stubs.write_text(facts.verilog(list(facts.read(root / "vivado/check/facts/ports.txt", 256, lanes, count))))
    wrappers = root / "vivado/rtl"
    command = ["verilator", "--lint-only", "-Wall", *WAIVED, "-sv", "--top-module", "meridian_top", f"-I{wrappers}"]
    command += [f"-GPORTS={count}", f"-GLANES={lanes}", *(f"-D{macro}" for macro in macros)]
    command += [str(ROOT / "spinal/lint.vlt"), str(stubs), *map(str, sorted(wrappers.glob("*.sv")))]
    shell = rtl(board) / "Shell.v"
    if not whole:
        pins = re.search(r"^module Shell \(.*?^\);", shell.read_text(), re.MULTILINE | re.DOTALL)[0]
        shell = work / "Shell.v"
        waived = "\n".join(f"/* verilator lint_off {rule} */" for rule in ("UNUSED", "UNDRIVEN"))
        shell.write_text(f"{waived}\n{pins.replace('output reg ', 'output wire ')}\nendmodule\n")
    command += [str(shell)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("board", SIZES)
def test_the_whole_top_passes_lint(board: str, tmp_path: Path) -> None:
    done = lint(board, ROOT, tmp_path)
    assert done.returncode == 0 and not done.stderr, done.stderr


@pytest.mark.parametrize("board", SIZES)
def test_the_shell_has_the_pins_of_the_ip(board: str) -> None:
    shell = netlist_of.ports((rtl(board) / "Shell.v").read_text(), "Shell")
    qdma, ethernet = table(board)["qdma_0"].ports, table(board)["xxv_ethernet_0"].ports
    groups = ("m_axil_", "m_axis_h2c_", "s_axis_c2h_", "axis_c2h_", "tm_dsc_sts_", "dsc_crdt_in_", "usr_flr_")
    mine = {name: pin for name, pin in shell.items() if name.startswith(groups)}
    assert len(mine) > 80
    for name, (direction, width) in mine.items():
        assert name in qdma, f"the QDMA IP has no {name}"
        assert (qdma[name].width, qdma[name].direction != direction) == (width, True), name
    # The IP marks some of its pins by what they are to it.
    for name, (direction, width) in shell.items():
        if re.match(r"(rx_axis|tx_axis|rx_ptp|tx_ptp|ctl_[rt]x)_.*_\d$", name):
            stem, port = name.rsplit("_", 1)
            suffix = {"rx_ptp": "_out", "tx_ptp": "_in" if direction == "output" else "_out"}.get(stem[:6], "")
            ip = ethernet[f"{stem}{suffix}_{port}"]
            assert (ip.width, ip.direction != direction) == (width, True), name


def test_no_input_of_an_ip_is_left_open() -> None:
    inputs = {
        name
        for module in table("t1-rfsoc").values()
        for name, port in module.ports.items()
        if port.direction == "input"
    }
    stems = {re.sub(r"_\d$", "", name) for name in inputs}
    for path in (ROOT / "vivado/rtl").glob("*_wrapper.sv"):
        opened = {name.removesuffix("_``N") for name in re.findall(r"\.(\w+(?:``N)?)\(\s*\)", path.read_text())}
        assert not opened & stems, f"{path.name} leaves open {opened & stems}"


def crossings(folder: Path) -> list[tuple[str, list[str], str, str, str]]:
    text = (folder / "Shell.crossings.tcl").read_text()
    found = re.findall(r"^crossing (\w+) (?:\{(.*?)\}|(\S+)) (\w+) (\S+) (\w+)(?: \{.*\})?$", text, re.MULTILINE)
    assert len(found) == len([line for line in text.splitlines() if line.startswith("crossing")])
    return [(kind, (many or one).split(), source, to, target) for kind, many, one, source, to, target in found]


@pytest.mark.parametrize("board", SIZES)
def test_crossings_are_of_what_is_in_the_verilog(board: str) -> None:
    text = (rtl(board) / "Shell.v").read_text()
    known, pins = netlist_of.registers(text, "Shell"), netlist_of.ports(text, "Shell")
    clocks = {name for name in pins if name in ("axi_aclk", "ps_clk") or re.match(r"mac_[rt]x_clk_\d$", name)}
    kinds = set()
    for kind, sources, source_clock, to, clock in crossings(rtl(board)):
        kinds.add(kind)
        assert to in known and {source_clock, clock} <= clocks, to
        for source in sources:
            assert source in (pins if kind == "input" else known), f"{kind} {source} -> {to}"
        assert kind == "input" or source_clock != clock, to
    assert kinds == {"sync", "bus", "held", "memory", "input"}


@pytest.mark.parametrize("board", SIZES)
def test_every_synchroniser_is_constrained(board: str) -> None:
    """But those that nobody reads, as what a simulation asks, and a buffer that has one clock on both sides."""
    known = netlist_of.registers((rtl(board) / "Shell.v").read_text(), "Shell")
    first = {path for path in known if path.endswith("/buffers_0")}
    without = first - {to for *_, to, _ in crossings(rtl(board))}
    unread = re.compile(r"[sS]till|[iI]dle|(record|timestamp)Lost_buffercc|^host/veb/buffer_1/")
    assert [path for path in sorted(without) if not unread.search(path)] == []
    assert len(first) > 80


def write_cells(folder: Path, file: Path) -> None:
    """The cells of the whole top with the real shell of that folder, and its paths without a synchroniser, for the
    stand-in.
    """
    text = (folder / "Shell.v").read_text()
    for source in folder.glob("box/*.*v"):  # what is inside a user's module is in no crossing
        text += "".join(
            f"\nmodule {name} (\n);\nendmodule\n" for name in re.findall(r"(?m)^module (\w+)", source.read_text())
        )
    netlist = netlist_of.cells(text, "Shell", "shell/")
    made_up = ("shell/", "path ", "same ")
    wrappers = [x for x in (DATA / "cells.txt").read_text().splitlines() if not x.startswith(made_up)]
    paths = [
        f"path shell/{source}_reg shell/{to}_reg plain"
        for kind, sources, _, to, _ in crossings(folder)
        if kind == "held"
        for source in sources[:1]
    ]
    file.write_text("\n".join([*wrappers, netlist, *paths]) + "\n")


@pytest.mark.parametrize("board", SIZES)
def test_the_real_crossings_pass_the_build(board: str, tmp_path: Path) -> None:
    folder = rtl(board)
    cells = tmp_path / "cells"
    write_cells(folder, cells)
    run = build(tmp_path / "whole", board, rtl=folder, cells=cells)
    assert run.status == 0, run.said
    said = re.search(r"crossings: (.*)", run.said)[1]
    counts = {name: int(count) for name, count in (part.split() for part in said.split(", "))}
    assert counts["max_delay"] >= counts["sync"] + counts["bus"] + counts["held"] + counts["input"]
    assert counts["bus_skew"] == counts["bus"]
    assert f"for {counts['held']} held crossings" in run.said
    # A register that synthesis has taken away, or renamed, stops the build.
    gone = next(source[0] for kind, source, *_ in crossings(folder) if kind == "sync")
    cells.write_text(cells.read_text().replace(f"shell/{gone}_reg ", f"shell/{gone}_renamed "))
    run = build(tmp_path / "gone", board, rtl=folder, cells=cells)
    assert run.status == 1 and f"no cell for source shell/{gone}" in run.said, run.said
