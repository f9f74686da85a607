# SPDX-License-Identifier: Apache-2.0
"""A build with a user's module: its interrupts reach the QDMA IP, and the top with its pins has no fault."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import netlist_of
import pytest
from test_top import SIZES, WAIVED, facts, table
from vivado_stub import DATA, ROOT, build

pytestmark = pytest.mark.vivado
BOARD = "zcu106"
#: It has the port for the time, too.
BOX = ROOT / "examples" / "boxes" / "time_stamp.vhd"


@cache
def shell() -> str:
    tell = ["tclsh", str(ROOT / "vivado/tcl/board.tcl"), BOARD]
    options = subprocess.run(tell, capture_output=True, text=True, timeout=10, check=True).stdout.split()
    command = [str(ROOT / "scripts/build-card"), "--verilog-only", *options, "--box", str(BOX)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.splitlines()[-1]).read_text()


def lint(work: Path, macros: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Of wrappers and top, with the pins of the shell."""
    lanes, count, given = SIZES[BOARD]
    stubs, pins = work / "stubs.v", work / "Shell.v"
    stubs.write_text(facts.verilog(list(facts.read(facts.FACTS / "ports.txt", 256, lanes, count))))
    border = re.search(r"^module Shell \(.*?^\);", shell(), re.MULTILINE | re.DOTALL)[0]
    waived = "\n".join(f"/* verilator lint_off {rule} */" for rule in ("UNUSED", "UNDRIVEN"))
    pins.write_text(f"{waived}\n{border.replace('output reg ', 'output wire ')}\nendmodule\n")
    wrappers = ROOT / "vivado/rtl"
    command = ["verilator", "--lint-only", "-Wall", *WAIVED, "-sv", "--top-module", "meridian_top", f"-I{wrappers}"]
    command += [f"-GPORTS={count}", f"-GLANES={lanes}", *(f"-D{macro}" for macro in (*given, *macros))]
    command += [str(ROOT / "spinal/lint.vlt"), str(stubs), *map(str, sorted(wrappers.glob("*.sv"))), str(pins)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_the_top_with_a_module_passes_lint(tmp_path: Path) -> None:
    done = lint(tmp_path, ("MERIDIAN_USER_BOX",))
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_the_top_without_the_macro_does_not_fit(tmp_path: Path) -> None:
    done = lint(tmp_path, ())
    assert done.returncode != 0 and "usr_irq_in_vld" in done.stderr, done.stderr


def test_the_shell_has_the_pins_of_the_ip() -> None:
    pins = netlist_of.ports(shell(), "Shell")
    qdma = table(BOARD)["qdma_0"].ports
    mine = {name: pin for name, pin in pins.items() if name.startswith("usr_irq_")}
    assert len(mine) == 5 and "sim_skip_host" in pins
    for name, (direction, width) in mine.items():
        assert (qdma[name].width, qdma[name].direction != direction) == (width, True), name


def test_a_module_comes_behind_the_shell_s_own_files_under_no_macro_of_a_plain_name(tmp_path: Path) -> None:
    rtl = tmp_path / "rtl"
    (rtl / "box").mkdir(parents=True)
    (rtl / "box" / "00_mine.v").write_text("module mine;\nendmodule\n")
    for file in DATA.iterdir():
        if file.is_file():
            (rtl / file.name).write_bytes(file.read_bytes())
    log = build(tmp_path / "with", rtl=rtl).log
    assert "-verilog_define MERIDIAN_USER_BOX" in log
    read = re.findall(r"^read_verilog.* \S*/(\w+)\.s?v$", log, re.MULTILINE)
    assert read[0] == "Shell" and read[-1] == "00_mine" and "meridian_top" in read
    assert all(macro.startswith("MERIDIAN_") for macro in re.findall(r"-verilog_define (\S+)", log))
    assert "USER_BOX" not in build(tmp_path / "without").log


def left(*files: Path) -> set[str]:
    """Macros that are defined behind the files."""
    command = ["verilator", "-E", "--dump-defines", f"-I{ROOT / 'vivado/rtl'}", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return set(re.findall(r"^`define (\w+)", done.stdout, re.MULTILINE))


def test_the_shell_s_own_files_leave_nothing_to_a_module(tmp_path: Path) -> None:
    (nothing := tmp_path / "nothing.v").write_text("")
    wrappers = sorted((ROOT / "vivado/rtl").glob("*.sv"))
    assert left(*wrappers) == left(nothing)
    for file in wrappers:
        text = file.read_text()
        assert "`default_nettype" not in text or text.endswith("\n`default_nettype wire\n"), file.name


def test_a_module_may_not_have_a_name_of_what_is_around_the_shell() -> None:
    """The generator knows them all."""
    source = (ROOT / "spinal/src/main/scala/meridian/box/source/BoxFolder.scala").read_text()
    known = set(re.findall(r'"(\w+)"', re.search(r"aroundShell[^(]*\(([^)]*)\)", source)[1]))
    wrappers = "".join(file.read_text() for file in (ROOT / "vivado/rtl").glob("*.sv"))
    made = set(re.findall(r"^module (\w+)", wrappers, re.MULTILINE))
    used = set(re.findall(r"^  (\w+_(?:\d|wrapper)) \w+ \($", wrappers, re.MULTILINE))
    used |= set(re.findall(r"^  ([A-Z][A-Z0-9_]+)(?: #\(.*\))? \w+ \($", wrappers, re.MULTILINE))  # the device's own
    scripts = "".join(file.read_text() for file in (ROOT / "vivado/tcl").glob("*.tcl"))
    designs = set(re.findall(r"create_bd_design .* (\w+)$", scripts, re.MULTILINE))
    assert len(made) > 5 and len(used) > 3 and designs
    assert "IBUFDS_GTE4" in used
    assert known == made | used | designs
