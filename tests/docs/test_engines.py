# SPDX-License-Identifier: Apache-2.0
"""docs/dma.md says which DMA engine is built where: the programs' own defaults are the same."""

from __future__ import annotations

import re

import documents
from documents import ROOT
from meridian_machine.twin import DMA

ENGINES = {"meridian": "our own", "qdma": "the QDMA IP"}


def test_the_page_has_the_default_of_each_program() -> None:
    (rows,) = (table[2:] for table in documents.tables(ROOT / "docs" / "dma.md") if table[0][0] == "what is built")
    default = {row[0].split()[0]: row[1] for row in rows}
    bitstream = re.search(r"^debug=0 .*\bdma=(\w+)", (ROOT / "scripts" / "bitstream").read_text(), re.MULTILINE)
    assert bitstream, "scripts/bitstream sets no default"
    assert default["cards"] == ENGINES[DMA[0]]
    assert default["a"] == ENGINES[bitstream[1]]
