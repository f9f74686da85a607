# SPDX-License-Identifier: Apache-2.0
"""The licence that each file of the repository names in its first lines."""

from __future__ import annotations

import re
from pathlib import Path

import history

LINE = re.compile(rb"SPDX-License-Identifier: ([A-Za-z0-9. -]+?) *(?:\*/|-->|$)", re.MULTILINE)
LINES = 5


def of_files(root: Path = history.ROOT, *folders: str) -> dict[str, str]:
    """SPDX expression by file, of the files that git knows below the folders; those that name none are left out."""
    names = history.git(root, "ls-files", "--", *folders).splitlines()
    found = {}
    for name in names:
        said = LINE.search(b"\n".join((root / name).read_bytes().splitlines()[:LINES]))
        if said:
            found[name] = said[1].decode()
    return found


def together(root: Path, *folders: str) -> str:
    """One SPDX expression for all files below the folders."""
    parts = sorted(set(of_files(root, *folders).values()))
    return " AND ".join(f"({part})" if " OR " in part and len(parts) > 1 else part for part in parts)
