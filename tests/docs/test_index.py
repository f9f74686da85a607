# SPDX-License-Identifier: Apache-2.0
"""docs/README.md leads to every page, and each of its four readers to what the reader needs."""

from __future__ import annotations

import os
import re

import documents
import pytest
from documents import ROOT

INDEX = ROOT / "docs" / "README.md"
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]+)?\)")
#: What the index has to offer to each reader, by pages.
NEEDED = {
    "User": {"docs/first-ping.md", "docs/troubleshooting.md", "docs/vm.md", "docs/dpdk.md"},
    "Integrator": {"vivado/README.md", "meta-layer/README.md", "docs/new-board.md"},
    "Hardware developer": {"docs/architecture.md", "docs/user-logic.md", "docs/decisions.md"},
    "Software developer": {
        "docs/registers.md", "docs/mailbox.md", "docs/dma.md", "docs/ps-port.md", "docs/library.md",
        "twin/card/README.md", "twin/qemu/README.md", "tests/README.md",
    },
}  # fmt: skip


def linked(text: str) -> set[str]:
    """Pages that a part of the index leads to, by their paths in the repository."""
    return {os.path.normpath(f"docs/{target}") for target, _ in LINK.findall(text)}


def test_no_page_is_left_out() -> None:
    pages = {str(page.relative_to(ROOT)) for page in documents.pages()} - {"docs/README.md"}
    assert len(pages) > 30
    assert not pages - linked(INDEX.read_text()), "the index does not lead to these pages"


@pytest.mark.parametrize("reader", NEEDED)
def test_a_reader_finds_what_is_needed(reader: str) -> None:
    (part,) = re.findall(rf"^## {reader}:.*?(?=^## |\Z)", INDEX.read_text(), re.MULTILINE | re.DOTALL)
    assert not NEEDED[reader] - linked(part), f"the table of this reader does not lead to these pages: {reader}"
