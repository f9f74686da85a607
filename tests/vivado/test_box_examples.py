# SPDX-License-Identifier: Apache-2.0
"""The build of a bitstream takes each example of a user's module, at the place that it is for."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from test_top import write_cells
from vivado_stub import ROOT, build

pytestmark = [pytest.mark.vivado, pytest.mark.long]
BOARD = "zcu106"
BOXES = ROOT / "examples" / "boxes"
EXAMPLES = [
    *(("--box", name) for name in ("packet_counter.v", "udp_echo.sv", "Firewall.scala", "time_stamp.vhd")),
    ("--box", "frame_alarm.v"),
    ("--box", "hls/hls_box.v,hls/dscp_marker.v"),
    ("--host-box", "queue_steer.v"),
    ("--host-box", "FrameAge.scala"),
    ("--host-box", "host_memory.sv"),
]
#: It needs the DMA engine of our own, which another board has.
OWN_DMA = "host_memory.sv"
BOARD_OF_OWN_DMA = "t1-rfsoc"


def test_each_example_is_here() -> None:
    """Beside OpenNIC's adapter, which needs sources of OpenNIC. A C++ source is for the compiler, and a stub is in its place."""
    of_hls = {f"hls/{file.name}" for file in (BOXES / "hls").glob("*.v")}
    single = {file.name for file in BOXES.iterdir() if file.is_file()}
    assert {file for _, names in EXAMPLES for file in names.split(",")} == single | of_hls
    assert {folder.name for folder in BOXES.iterdir() if folder.is_dir()} == {"hls", "opennic"}


@pytest.mark.parametrize(("place", "name"), EXAMPLES)
def test_the_build_takes_an_example(place: str, name: str, tmp_path: Path) -> None:
    """name: of its file, or of all its files."""
    files = ",".join(str(BOXES / file) for file in name.split(","))
    own = name == OWN_DMA
    board = BOARD_OF_OWN_DMA if own else BOARD
    tell = ["tclsh", str(ROOT / "vivado/tcl/board.tcl"), board, *(("", "meridian") if own else ())]
    options = subprocess.run(tell, capture_output=True, text=True, timeout=10, check=True).stdout.split()
    command = [str(ROOT / "scripts/build-card"), "--verilog-only", *options, place, files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    folder = Path(done.stdout.splitlines()[-1]).parent
    write_cells(folder, tmp_path / "cells")
    dma = ("dma=meridian",) if own else ()
    run = build(tmp_path / "out", board, arguments=dma, rtl=folder, cells=tmp_path / "cells")
    assert run.status == 0, run.said
    read = re.findall(r"^read_v(?:erilog|hdl)\b.* \S*/([\w.]+)$", run.log, re.MULTILINE)
    theirs = {file.name for file in (folder / "box").iterdir() if file.suffix in (".v", ".sv", ".vhd", ".vhdl")}
    assert len(theirs) >= len(name.split(",")) and theirs <= set(read), read
    assert "-verilog_define MERIDIAN_USER_BOX" in run.log
