# SPDX-License-Identifier: Apache-2.0
"""A build with the self-test: the pins to the transceivers are those that the Ethernet IP has then, and no others."""

from __future__ import annotations

import difflib
import re
import subprocess
from functools import cache
from pathlib import Path

import netlist_of
import pytest
from test_top import SIZES, WAIVED, facts
from test_vivado_build import ACCEPT, GOLDEN
from vivado_stub import BOARDS, DATA, ROOT, Run, build, copy_of_tree

pytestmark = pytest.mark.vivado
SELF_TEST = ("selftest=1",)
BOARD = "zcu106"
MORE = "vivado/check/facts/transceiver_ports.txt"


@cache
def shell() -> Path:
    tell = ["tclsh", str(ROOT / "vivado/tcl/board.tcl"), BOARD]
    options = subprocess.run(tell, capture_output=True, text=True, timeout=10, check=True).stdout.split()
    command = [str(ROOT / "scripts/build-card"), "--verilog-only", *options, "--self-test", "true"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.splitlines()[-1])


def ports(root: Path) -> list[facts.Module]:
    """Of the IP that the build makes, with and without those of the transceivers."""
    lanes, count, _ = SIZES[BOARD]
    modules = facts.read(root / "vivado/check/facts/ports.txt", 256, lanes, count)
    for module in facts.read(root / MORE, 256, lanes, count):
        next(one for one in modules if one.name == module.name).ports.update(module.ports)
    return modules


def lint(root: Path, work: Path) -> subprocess.CompletedProcess[str]:
    """Of wrappers and top, with the pins of a shell with the self-test."""
    lanes, count, macros = SIZES[BOARD]
    stubs, pins = work / "stubs.v", work / "Shell.v"
    stubs.write_text(facts.verilog(ports(root)))
    border = re.search(r"^module Shell \(.*?^\);", shell().read_text(), re.MULTILINE | re.DOTALL)[0]
    waived = "\n".join(f"/* verilator lint_off {rule} */" for rule in ("UNUSED", "UNDRIVEN"))
    pins.write_text(f"{waived}\n{border.replace('output reg ', 'output wire ')}\nendmodule\n")
    wrappers = root / "vivado/rtl"
    command = ["verilator", "--lint-only", "-Wall", *WAIVED, "-sv", "--top-module", "meridian_top", f"-I{wrappers}"]
    command += [f"-GPORTS={count}", f"-GLANES={lanes}", *(f"-D{macro}" for macro in (*macros, "MERIDIAN_SELF_TEST"))]
    command += [str(ROOT / "spinal/lint.vlt"), str(stubs), *map(str, sorted(wrappers.glob("*.sv"))), str(pins)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_the_top_with_the_self_test_passes_lint(tmp_path: Path) -> None:
    done = lint(ROOT, tmp_path)
    assert done.returncode == 0 and not done.stderr, done.stderr


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (MORE, "input  gt_txprbssel_{N} 4\n", "", "PINNOTFOUND"),
        (MORE, "input  gt_drpaddr_{N} 10", "input  gt_drpaddr_{N} 9", "WIDTH"),
        (MORE, "input  gt_rxrate_{N} 3\n", "input  gt_rxrate_{N} 3\ninput  gt_rxnew_{N} 1\n", "PINMISSING"),
        ("vivado/rtl/ethernet_wires.svh", "wire [9:0] gt_drpaddr_``N", "wire [8:0] gt_drpaddr_``N", "WIDTH"),
    ],
)
def test_a_wrong_pin_is_found(file: str, old: str, new: str, said: str, tmp_path: Path) -> None:
    root = copy_of_tree(tmp_path / "tree")
    text = (root / file).read_text()
    assert old in text
    (root / file).write_text(text.replace(old, new))
    done = lint(root, tmp_path)
    assert done.returncode != 0 and said in done.stderr, done.stderr


def test_the_shell_has_the_pins_of_the_ip() -> None:
    pins = netlist_of.ports(shell().read_text(), "Shell")
    ethernet = next(one for one in ports(ROOT) if one.name == "xxv_ethernet_0").ports
    mine = {name: pin for name, pin in pins.items() if name.startswith("gt_") and "tx_restart" not in name}
    assert len(mine) == 13 * SIZES[BOARD][1]
    for name, (direction, width) in mine.items():
        assert (ethernet[name].width, ethernet[name].direction != direction) == (width, True), name


def build_with_it(out: Path, board: str = "t1-rfsoc", refuse: str = "") -> Run:
    """With the registers that the shell and the wrapper have more."""
    out.mkdir(exist_ok=True)
    cells = out / "cells"
    more = ["shell/ps/rxRestart_reg FDRE 4"]
    for port in range(4):
        more += [f"shell/ps/regs/transceivers_{port}/txReset_pin_reg FDRE 1"]
        more += [f"ethernet/tx_restart_sync_{port}/flops_reg FDRE 2"]
    cells.write_text((DATA / "cells.txt").read_text() + "\n".join(more) + "\n")
    return build(out, board, arguments=SELF_TEST, cells=cells, refuse=refuse)


@pytest.mark.parametrize("board", BOARDS)
def test_vivado_is_told_of_the_self_test_as_reviewed(board: str, tmp_path: Path) -> None:
    """Beside what it is told without the self-test."""
    run = build_with_it(tmp_path, board)
    assert run.status == 0, run.said
    whole = (GOLDEN / f"{board}.log").read_text().splitlines()
    lines = difflib.unified_diff(whole, run.log.splitlines(), n=0, lineterm="")
    text = "\n".join(line for line in lines if line[:2] not in ("--", "++", "@@")) + "\n"
    path = GOLDEN / f"{board}.selftest.diff"
    if ACCEPT:
        path.write_text(text)
    assert text.splitlines() == path.read_text().splitlines(), f"{path.name} differs"


def test_the_resets_are_of_registers_that_the_shell_has() -> None:
    known = netlist_of.registers(shell().read_text(), "Shell")
    for port in range(SIZES[BOARD][1]):
        assert {"ps/rxRestart", f"ps/regs/transceivers_{port}/txReset_pin"} <= set(known)


def test_an_ip_that_has_no_such_pins_ends_the_build(tmp_path: Path) -> None:
    run = build_with_it(tmp_path, refuse="ADD_GT_CNTRL_STS_PORTS")
    assert run.status == 1 and "ADD_GT_CNTRL_STS_PORTS" in run.said, run.said
    wrong = build(tmp_path / "wrong", arguments=("selftest=2",))
    assert wrong.status == 1 and "selftest is '2': give 0 or 1" in wrong.said
