# SPDX-License-Identifier: Apache-2.0
"""A reader finds a file by its folder: so no folder has more files of one language than can be looked through."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from documents import ROOT

MOST = 25


def crowded(files: list[str]) -> dict[tuple[str, str], int]:
    """Folder and ending of more than MOST files. Commands of scripts/ have no ending."""
    kinds = Counter((str(path.parent), path.suffix) for path in map(Path, files) if path.suffix)
    return {kind: count for kind, count in kinds.items() if count > MOST}


def test_no_folder_has_too_many_files_of_one_language() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this tree has no history that lists its files")
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=True)
    assert not crowded(listed.stdout.splitlines())


def test_a_crowded_folder_is_named() -> None:
    files = [*(f"a/{number}.py" for number in range(MOST + 1)), *(f"b/{number}.py" for number in range(MOST)), "a/b.c"]
    assert crowded(files) == {("a", ".py"): MOST + 1}
