# SPDX-License-Identifier: Apache-2.0
"""Estimates by Yosys whether the shell of each board of vivado/boards fits its device: resources and logic depth."""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

from netlist import Netlist
from report import Figure, write
from synthesis import CLOCKS, synthesize

ROOT = Path(__file__).resolve().parents[2]
#: Boards by the shell they have; the reference card's is that of the T1 card.
BOARDS = {"t1-rfsoc": ["t1-rfsoc", "fb4xxvg-z21d"], "zcu106": ["zcu106"]}
#: LUTs between registers that a clock has time for, by its MHz.
LEVELS = {390.625: 5, 250.0: 9, 156.25: 16, 125.0: 18}


def value(board: str, key: str) -> str:
    """Of a key in board.tcl."""
    text = (ROOT / f"vivado/boards/{board}/board.tcl").read_text()
    return re.search(rf"^board {key} \{{?(.*?)\}}?$", text, re.MULTILINE)[1]


def mhz(board: str, pin: str) -> float:
    if pin == "axi_aclk":
        return float(value(board, "host_mhz"))
    return 250.0 if pin == "ps_clk" else 15.625 * float(value(board, "line_rate"))


def measure(board: str) -> list[Figure]:
    options = subprocess.run(
        ["tclsh", str(ROOT / "vivado/tcl/board.tcl"), board], capture_output=True, text=True, timeout=10, check=True
    ).stdout.split()
    generate = [str(ROOT / "scripts/build-card"), "--verilog-only", *options]
    verilog = Path(
        subprocess.run(generate, capture_output=True, text=True, timeout=900, check=True).stdout.splitlines()[-1]
    )
    log = ROOT / "build/bench" / f"yosys-{board}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    print(f"synthesising {board} with yosys (some minutes)", flush=True)
    with tempfile.TemporaryDirectory() as work:
        result = Netlist(synthesize(verilog, "Shell", Path(work), log), "Shell").resources()
    words = value(board, "totals").split()
    totals = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    names = ", ".join(BOARDS[board])
    figures = []
    for name, used in (("lut", result.lut), ("ff", result.ff), ("bram36", result.bram36), ("uram", result.uram)):
        share = 100 * used / totals[name]
        figures.append(Figure(name, {"board": names, "of": totals[name]}, used, name.upper()))
        figures.append(Figure(f"{name}_share", {"board": names}, round(share, 1), "%", goal="< 70"))
    for clock, ends in sorted(result.ends.items()):
        known = next((known for known in CLOCKS if clock.startswith(known.pin)), None)
        if known is not None:
            rate = mhz(board, known.pin)
            where = {"board": names, "clock": clock, "clock_mhz": rate}
            figures.append(Figure("depth_luts", where, ends[0].depth, "LUT", goal=f"<= {LEVELS[rate]}"))
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench/bench-boards", description=__doc__)
    parser.add_argument(
        "--board", action="append", choices=sorted(BOARDS), default=[], help="measure this board; may be repeated (all)"
    )
    figures = [figure for board in parser.parse_args().board or BOARDS for figure in measure(board)]
    write("boards", "synthesis estimate of the shell without the vendor's IP", figures)
    return 1 if any(figure.missed() for figure in figures) else 0


if __name__ == "__main__":
    raise SystemExit(main())
