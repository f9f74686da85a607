# SPDX-License-Identifier: Apache-2.0
"""make probe, with the stand-in instead of Vivado: it runs whole, and a stand-in that knows other facts is found out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from vivado_stub import DATA, ROOT, copy_of_tree

pytestmark = pytest.mark.vivado
#: Transceivers of the first lanes of a board, by their pins: what its board.tcl infers.
SITES = {
    "t1-rfsoc": {"P33": "X0Y4", "M33": "X0Y5", "K33": "X0Y6", "H33": "X0Y7"},
    "zcu106": {"AA2": "X0Y10", "W2": "X0Y11"},
}
#: A file of the stand-in, what is there, what it knows instead, and what the check says of it.
DIFFERENCES = {
    "property": ("facts/properties/qdma.txt", "MAILBOX_ENABLE", "MAILBOX_ENABLED", "qdma: there is no property MAILBOX_ENABLE"),
    "property of the PCIe block": ("facts/properties/pcie4_uscale_plus.txt", " perf_level ", " performance ",
                                   "pcie4_uscale_plus: there is no property perf_level"),
    "port of the PCIe block": ("facts/ports.txt", "output cfg_vf_status 504", "output cfg_vf_status 8",
                               "cfg_vf_status is an output of 8 bits, not output 504"),
    "value": ("facts/properties/xxv_ethernet.txt", "values GT_TYPE GTY|GTH", "values GT_TYPE GTYE4|GTHE4",
              "xxv_ethernet: GT_TYPE does not take 'GTY'"),
    "width": ("facts/ports.txt", "usr_irq_in_vec 11", "usr_irq_in_vec 5", "usr_irq_in_vec is an input of 5 bits, not input 11"),
    "missing port": ("facts/ports.txt", "output usr_flr_set 1\n", "", "qdma_0 has no port usr_flr_set"),
    "open input": ("facts/ports.txt", "input  qsts_out_rdy 1\n", "input  qsts_out_rdy 1\ninput  qsts_out_hold 1\n",
                   "an input qsts_out_hold of 1 bits that the wrapper leaves open"),
    "version": ("facts/ipdefs.txt", "2024.2 qdma 5.0", "2024.2 qdma 5.2", "this Vivado has ['5.2'], not 5.0"),
    "block": ("facts/pcie_sites.txt", "xczu21dr-ffvd1156 X0Y1", "xczu21dr-ffvd1156 X0Y0", "the PCIe block X0Y1 does not reach"),
    "segment": ("model_bd.tcl", "> 2048 * 8", "> 1024 * 8", "the segment HP0_DDR_HIGH is there"),
    "rule": ("model_cdc.tcl", "CDC-1 Critical", "CDC-2 Warning", "without a waiver: bit_b_reg is ['CDC-2 Warning']"),
    "waiver": ("model_cdc.tcl", "$id $source $target] ni $waivers", "$id $source $target] ni {}", "after a waiver: bit_b_reg is ['CDC-1 Critical'], not []"),
    "command": ("facts/commands.txt", "phys_opt_design -directive= ; 0 0\n", "", "there is no command phys_opt_design"),
    "message": ("facts/messages.txt", "Synth 8-689", "Synth 8-6890", "Vivado has no message Synth 8-689 for its mistake"),
    "step": ("facts/commands.txt", "link_design -part= ; 0 0\n", "", "not asked: sites"),
}  # fmt: skip


def probe(work: Path, root: Path = ROOT, board: str = "t1-rfsoc", sites: dict[str, str] | None = None) -> str:
    """What the check says of the file that a stand-in's answers made."""
    work.mkdir(parents=True, exist_ok=True)
    known = work / "sites"
    lanes = SITES[board] if sites is None else sites
    known.write_text("\n".join(f"{pin} GTYE4_CHANNEL_{lane}" for pin, lane in lanes.items()) + "\n")
    command = ["tclsh", str(root / "vivado/check/stub.tcl"), "2024.2", str(work / "log")]
    command += [str(DATA / "probe_cells.txt"), str(DATA / "reports/clean"), str(ROOT / "vivado/probe.tcl")]
    command += [f"board={board}", f"output={work / 'output'}"]
    environment = {**os.environ, "MERIDIAN_STUB_SITES": str(known)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    check = [sys.executable, str(ROOT / "vivado/check/probe.py"), str(work / "output/probe.txt")]
    compared = subprocess.run(check, capture_output=True, text=True, timeout=20, check=False)
    assert compared.returncode in (0, 1), compared.stderr
    assert (compared.returncode == 0) == ("everything is as" in compared.stdout)
    return compared.stdout


@pytest.mark.parametrize("board", SITES)
def test_the_probe_runs_whole_and_finds_no_difference(board: str, tmp_path: Path) -> None:
    assert probe(tmp_path, board=board) == "everything is as vivado/check/facts has it\n"


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_a_difference_is_found(difference: str, tmp_path: Path) -> None:
    name, old, new, says = DIFFERENCES[difference]
    root = copy_of_tree(tmp_path / "tree")
    path = root / "vivado/check" / name
    text = path.read_text()
    assert old in text, f"{name} has no '{old}' any more"
    path.write_text(text.replace(old, new, 1))
    said = probe(tmp_path / "work", root)
    assert says in said, said


def test_a_board_that_cannot_have_our_engine_is_not_asked_for_its_block(tmp_path: Path) -> None:
    for board, asked in (("t1-rfsoc", True), ("zcu106", False)):
        probe(tmp_path / board, board=board)
        assert ("port pcie4_uscale_plus_0 " in (tmp_path / board / "output/probe.txt").read_text()) == asked


def test_a_lane_elsewhere_is_found(tmp_path: Path) -> None:
    assert "port 1 is at the site 'GTYE4_CHANNEL_X0Y9'" in probe(tmp_path, sites={**SITES["t1-rfsoc"], "M33": "X0Y9"})
