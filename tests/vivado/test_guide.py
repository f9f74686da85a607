# SPDX-License-Identifier: Apache-2.0
"""The build's documents: boards, files and sentences that they name are there."""

from __future__ import annotations

import re
from pathlib import Path

import documents
import pytest
from vivado_stub import BOARDS, ROOT

pytestmark = pytest.mark.vivado
GUIDE, BRING_UP = ROOT / "docs/first-ping.md", ROOT / "docs/bring-up.md"
DOCUMENTS = [
    GUIDE,
    BRING_UP,
    ROOT / "vivado/README.md",
    *(ROOT / f"vivado/boards/{board}/README.md" for board in BOARDS),
]


def ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", DOCUMENTS, ids=ids)
def test_boards_and_links_of_the_documents_exist(path: Path) -> None:
    text = path.read_text()
    for board in re.findall(r"BOARD=([a-z0-9-]+)", text):
        assert board in BOARDS, board
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (path.parent / link).exists(), f"{link} is not there"


@pytest.mark.parametrize("board", BOARDS)
def test_each_boards_page_says_what_it_is_made_of_and_that_it_never_ran(board: str) -> None:
    text = (ROOT / f"vivado/boards/{board}/README.md").read_text()
    assert "Not built and not run on hardware" in text
    for row in ("part", "PCIe", "Ethernet", "FEC", "Vivado", "licences"):
        assert re.search(rf"^\| [\w, ]*{row}", text, re.MULTILINE), row


def test_what_the_guide_quotes_is_said() -> None:
    said = "\n".join(path.read_text() for path in (*(ROOT / "vivado").rglob("*.tcl"), ROOT / "scripts/bitstream"))
    health = ROOT / "meta-layer/meta-meridian/recipes-connectivity/meridian-ptp/files/meridian-ptp-health"
    for sentence in (
        "timing gate: passed", "timing gate: no bitstream", "needs what is not public", "does not take what it was given",
        "crossing: no cell for",
    ):  # fmt: skip
        assert sentence in said and sentence in GUIDE.read_text(), sentence
    assert "no vivado on PATH" in GUIDE.read_text() and "no $1 on PATH" in said
    for sentence in ("not following: no grandmaster", "not following: ports are"):
        assert sentence.split(": ")[1] in health.read_text() and sentence in GUIDE.read_text(), sentence


def test_the_guide_of_new_boards_names_each_file_of_facts_that_the_stand_in_reads() -> None:
    said = (ROOT / "vivado/check/model_design.tcl").read_text() + (ROOT / "vivado/check/model_ip.tcl").read_text()
    files = set(re.findall(r"\((vivado/check/facts/\w+\.txt)\)", said))
    assert "vivado/check/facts/pcie_sites.txt" in files
    table = re.findall(
        r"^\| `(vivado/check/facts/\w+\.txt)` \|", (ROOT / "docs/new-board.md").read_text(), re.MULTILINE
    )
    assert files <= set(table), files - set(table)


def test_linux_leaves_the_transceivers_their_clock() -> None:
    """The card's own Linux programs the oscillator behind the transceivers to what the bitstream was built for."""
    board = (ROOT / "vivado/boards/zcu106/board.tcl").read_text()
    tree = (ROOT / "meta-layer/meta-meridian-bsp/recipes-bsp/device-tree/files/meridian-zcu106.dts").read_text()
    mhz = float(re.search(r"^board eth_refclk_mhz (\S+)$", board, re.MULTILINE)[1])
    node = re.search(r"&si570_2 \{(.*?)\};", tree, re.DOTALL)
    assert node, "the tree leaves the second Si570 as the kernel's has it"
    assert re.search(r"clock-frequency = <(\d+)>;", node[1])[1] == str(round(mhz * 1e6))


def test_the_first_day_has_the_link_and_the_clocks_of_the_boards() -> None:
    """Clocks that a board's package gives are not on the page."""
    tables = documents.tables(BRING_UP)
    (links,) = (table for table in tables if table[0] == ["board", "`LnkSta`"])
    assert {board for board, _ in links[2:]} == set(BOARDS)
    for board, link in links[2:]:
        text = (ROOT / f"vivado/boards/{board}/board.tcl").read_text()
        lanes = re.search(r"^board pcie_lanes (\d+)$", text, re.MULTILINE)[1]
        assert link.startswith(f"`Speed 8GT/s, Width x{lanes}`"), board
    (clocks,) = (table for table in tables if table[0][0] == "clock")
    for column, board in enumerate(clocks[0][1:3], 1):
        text = (ROOT / f"vivado/boards/{board}/board.tcl").read_text()
        for row, key in ((3, "pl_clock_mhz"), (4, "eth_refclk_mhz")):
            mhz = float(re.search(rf"^board {key} (\S+)$", text, re.MULTILINE)[1])
            assert float(clocks[row][column].removesuffix(" MHz")) == mhz, (board, key)


def test_the_first_day_has_the_memory_of_the_functions() -> None:
    """BARs of four PFs, and of as many VFs as a board has."""
    text = (ROOT / "vivado/tcl/qdma.tcl").read_text()
    unit = {"Kilobytes": 1 << 10, "Megabytes": 1 << 20}

    def size(bar: str) -> int:
        scale, number = (re.search(rf" {bar.format(part)} (\w+)", text)[1] for part in ("scale", "size"))
        return unit[scale] * int(number)

    pf, vf = (sum(size(name) for name in names) for names in (
        ("pf0_bar0_{}_qdma", "pf0_bar2_{}_qdma"), ("pf0_sriov_bar0_{}", "pf0_sriov_bar2_{}")))  # fmt: skip
    vfs = re.search(r"^board vfs \{(.*)\}$", (ROOT / "vivado/boards/zcu106/board.tcl").read_text(), re.MULTILINE)[1]
    said = re.search(r"4 PFs need (\d+) MiB, their VFs (\d+) KiB", BRING_UP.read_text())
    assert (int(said[1]) << 20, int(said[2]) << 10) == (4 * pf, sum(map(int, vfs.split())) * vf)
