# SPDX-License-Identifier: Apache-2.0
"""The build's documents: boards, files and sentences that they name are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from vivado_stub import BOARDS, ROOT

pytestmark = pytest.mark.vivado
GUIDE = ROOT / "docs/first-ping.md"
DOCUMENTS = [GUIDE, ROOT / "vivado/README.md", *(ROOT / f"vivado/boards/{board}/README.md" for board in BOARDS)]


def ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", DOCUMENTS, ids=ids)
def test_boards_and_links(path: Path) -> None:
    text = path.read_text()
    for board in re.findall(r"BOARD=([a-z0-9-]+)", text):
        assert board in BOARDS, board
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (path.parent / link).exists(), f"{link} is not there"


@pytest.mark.parametrize("board", BOARDS)
def test_boards_are_alike(board: str) -> None:
    """Each says what it is made of and that it never ran."""
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


def test_linux_leaves_the_transceivers_their_clock() -> None:
    """The card's own Linux programs the oscillator behind the transceivers to what the bitstream was built for."""
    board = (ROOT / "vivado/boards/zcu106/board.tcl").read_text()
    tree = (ROOT / "meta-layer/meta-meridian-bsp/recipes-bsp/device-tree/files/meridian-zcu106.dts").read_text()
    mhz = float(re.search(r"^board eth_refclk_mhz (\S+)$", board, re.MULTILINE)[1])
    node = re.search(r"&si570_2 \{(.*?)\};", tree, re.DOTALL)
    assert node, "the tree leaves the second Si570 as the kernel's has it"
    assert re.search(r"clock-frequency = <(\d+)>;", node[1])[1] == str(round(mhz * 1e6))
