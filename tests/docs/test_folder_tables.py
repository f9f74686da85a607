# SPDX-License-Identifier: Apache-2.0
"""The tables of the sources' folders name every folder, and none that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import documents
import pytest
from documents import ROOT

#: Page, folder of the sources, their endings, and whether folders inside of its folders have rows, too.
TABLES = [
    ("spinal/README.md", "spinal/src/main/scala/meridian", (".scala",), True),
    ("twin/card/README.md", "twin/card/src", (".cpp", ".hpp"), False),
]


def named(page: Path) -> list[str]:
    """What the first column of the tables of folders has as code."""
    tables = (table for table in documents.tables(page) if re.match(r"folder( of .*)?$", table[0][0]))
    return [name for _, _, *rows in tables for row in rows for name in re.findall(r"`([^`]+)`", row[0])]


def folders(root: Path, endings: tuple[str, ...], nested: bool) -> set[str]:
    """Folders below root that have sources of their own; with nested ones also root, as ".", if it has some."""
    found = {path.parent.relative_to(root) for path in root.rglob("*") if path.suffix in endings}
    return {str(folder if nested else folder.parts[0]) for folder in found if nested or folder.parts}


@pytest.mark.parametrize(("page", "root", "endings", "nested"), TABLES, ids=[page for page, *_ in TABLES])
def test_every_folder_is_in_the_table(page: str, root: str, endings: tuple[str, ...], nested: bool) -> None:
    rows, there = named(ROOT / page), folders(ROOT / root, endings, nested)
    assert len(there) > 5, f"{root} has too few folders to be the one that is meant"
    assert len(rows) == len(set(rows)), f"{page} names a folder twice"
    assert not there - set(rows), f"{page} does not name these folders of {root}"
    assert not set(rows) - there, f"{page} names what is no folder of {root}"
