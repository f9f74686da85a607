# SPDX-License-Identifier: Apache-2.0
"""Every board with every release: what Vivado would be told is what was reviewed; and what is said when it cannot be."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from vivado_stub import BOARDS, DATA, REFERENCE, RELEASES, ROOT, build, copy_of_tree

pytestmark = pytest.mark.vivado
GOLDEN = Path(__file__).resolve().parent / "golden"
#: Set, the logs of this run become the expectation: look at git diff before you commit it.
ACCEPT = bool(os.environ.get("MERIDIAN_ACCEPT"))


def expectation(board: str, release: str, log: str) -> tuple[Path, str]:
    """Where a log is expected, and in what form: whole for the reference release, else what differs from that."""
    whole = GOLDEN / f"{board}.log"
    if release == REFERENCE:
        return whole, log
    lines = difflib.unified_diff(whole.read_text().splitlines(), log.splitlines(), n=0, lineterm="")
    return GOLDEN / f"{board}.{release}.diff", "\n".join(
        line for line in lines if line[:2] not in ("--", "++", "@@")
    ) + "\n"


@pytest.mark.parametrize("release", sorted(RELEASES, key=lambda r: r != REFERENCE))
@pytest.mark.parametrize("board", BOARDS)
def test_vivado_is_told_what_was_reviewed_for_each_board_and_release(board: str, release: str, tmp_path: Path) -> None:
    run = build(tmp_path, board, release)
    assert run.status == 0, run.said
    path, text = expectation(board, release, run.log)
    if ACCEPT:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text.splitlines() == path.read_text().splitlines(), (
        f"{path.name} differs: if the change is meant, run MERIDIAN_ACCEPT=1 make check-vivado and review git diff"
    )
    for kind in ("bit", "bin", "xsa"):
        assert (run.output / f"meridian-{board}.{kind}").exists()


def test_the_same_inputs_give_the_same_calls(tmp_path: Path) -> None:
    runs = [build(tmp_path / name) for name in ("one", "two")]
    assert runs[0].log == runs[1].log
    hashes = [[line for line in run.said.splitlines() if line.startswith("input")] for run in runs]
    assert hashes[0] == hashes[1] and len(hashes[0]) > 20
    other = copy_of_tree(tmp_path / "other")
    wrapper = other / "vivado/rtl/flag_sync.sv"
    wrapper.write_text(wrapper.read_text() + "\n")
    assert (
        build(tmp_path / "three", root=other).said.split("inputs: ")[1][:16] != runs[0].said.split("inputs: ")[1][:16]
    )


def test_a_header_of_a_box_and_the_settings_of_a_board_are_inputs(tmp_path: Path) -> None:
    """Two builds that differ in them alone are told apart."""
    rtl, settings = tmp_path / "rtl", tmp_path / "settings"
    shutil.copytree(DATA, rtl)
    (rtl / "box").mkdir(exist_ok=True)
    text = (DATA / "fb4xxvg.settings").read_text().replace("../../../", f"{ROOT}/")

    def inputs(name: str, header: str, comment: str) -> str:
        (rtl / "box" / "sizes.svh").write_text(header)
        settings.write_text(f"{text}# {comment}\n")
        run = build(tmp_path / name, "fb4xxvg-z21d", rtl=rtl, settings=settings)
        assert run.status == 0, run.said
        assert "RTL/box/sizes.svh" in run.said and re.search(r"^input: \w{16} SETTINGS$", run.said, re.MULTILINE)
        return run.said.split("inputs: ")[1][:16]

    hashes = [inputs("one", "", "one"), inputs("two", "// 2", "one"), inputs("three", "// 2", "two")]
    assert len(set(hashes)) == 3
    assert inputs("again", "", "one") == hashes[0]


def test_ip_is_made_once(tmp_path: Path) -> None:
    assert build(tmp_path).log.count("create_ip") == 3
    again = build(tmp_path)
    assert again.status == 0, again.said
    assert "create_ip" not in again.log and again.log.count("read_ip") == 3


def test_ip_of_another_licence_is_made_anew(tmp_path: Path) -> None:
    first = build(tmp_path, licence="Hardware_Evaluation")
    assert first.status == 0 and "ip: xxv_ethernet_0, licence Hardware_Evaluation" in first.said, first.said
    again = build(tmp_path, licence="Purchased")
    assert again.status == 0, again.said
    assert "xxv_ethernet_0 was made with the licence Hardware_Evaluation and now has Purchased" in again.said
    assert again.log.count("create_ip") == 1 and "create_ip -name xxv_ethernet" in again.log
    assert "create_ip" not in build(tmp_path, licence="Purchased").log


def test_a_licence_without_a_bitstream_ends_the_build_at_once(tmp_path: Path) -> None:
    run = build(tmp_path, licence="Design_Linking")
    assert run.status == 1 and "IP xxv_ethernet has a licence of the kind Design_Linking" in run.said
    assert "synth_design" not in run.log


def test_identification_reaches_the_top(tmp_path: Path) -> None:
    assert "-generic BUILD_HASH=32'h0123abcd -generic BUILD_DATE=32'd1700000000" in build(tmp_path).log


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"board": "kcu105"}, "no board 'kcu105': BOARD is one of fb4xxvg-z21d, t1-rfsoc, zcu106"),
        ({"release": "2022.1"}, "Vivado 2022.1 is not known here: use one of 2023.2 2024.1"),
        ({"arguments": ("speed=9",)}, "unknown argument 'speed=9': there are board"),
        ({"arguments": ("hash=xyz",)}, "hash is 'xyz': give 8 hexadecimal digits"),
        ({"refuse": "pcie_blk_locn"}, "IP qdma does not take what it was given:\n  pcie_blk_locn is '', asked for 'X0Y1'"),
        ({"refuse": "GT_REF_CLK_FREQ"}, "GT_REF_CLK_FREQ is '161.1328125', asked for"),
        ({"refuse": "PSU__DDRC__ECC"}, "the PS does not take what it was given:\n  PSU__DDRC__ECC is '', asked for 'Enabled'"),
    ],
)  # fmt: skip
def test_errors_say_what_to_do(arguments: dict, sentence: str, tmp_path: Path) -> None:
    if arguments.get("refuse") == "GT_REF_CLK_FREQ":
        arguments = {**arguments, "board": "zcu106"}
    run = build(tmp_path, **arguments)
    assert run.status == 1 and sentence in run.said, run.said
    assert "write_bitstream" not in run.log


def test_a_card_that_is_not_public_names_its_settings(tmp_path: Path) -> None:
    text = (DATA / "fb4xxvg.settings").read_text().replace("../../../", f"{ROOT}/")
    settings = tmp_path / "settings"
    settings.write_text(text)
    assert build(tmp_path / "whole", "fb4xxvg-z21d", settings=settings).status == 0
    settings.write_text("\n".join(x for x in text.splitlines() if not x.startswith(("PCIE_QUAD", "PINS_FILE"))))
    run = build(tmp_path / "part", "fb4xxvg-z21d", settings=settings)
    assert run.status == 1 and "PCIE_QUAD=..." in run.said and "PINS_FILE=..." in run.said
    assert "PCIE_BLOCK" not in run.said
    settings.write_text("PCIE_QUAD GTY_Quad_131\n")
    assert "not NAME=VALUE" in build(tmp_path / "form", "fb4xxvg-z21d", settings=settings).said


def test_no_script_needs_a_newer_tcl_or_names_a_version() -> None:
    for path in (ROOT / "vivado").rglob("*.tcl"):
        text = path.read_text()
        if "check" not in path.parts:
            assert "-version " not in text.replace("version -short", ""), f"{path.name} names a version of an IP"


@pytest.mark.parametrize("board", ["t1-rfsoc", "zcu106"])
def test_the_generator_is_told_the_boards_sizes(board: str) -> None:
    command = ["tclsh", str(ROOT / "vivado/tcl/board.tcl"), board]
    said = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    ports, rate, mhz = {"t1-rfsoc": (4, 25, 250), "zcu106": (2, 10, 125)}[board]
    assert said == f"--ports {ports} --line-rate {rate} --host-bytes 32 --host-mhz {mhz} --functions 16"
