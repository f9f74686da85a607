# SPDX-License-Identifier: Apache-2.0
"""A reader finds a file by its folder: so no folder has more files of one language than can be looked through."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from documents import ROOT

MOST = 25
#: Endings of one language. Any other ending is a kind of its own.
LANGUAGES = {
    "C": {".c", ".h"},
    "C++": {".cpp", ".hpp"},
    "shell": {".sh"},
    "Python": {".py"},
    "Verilog": {".v", ".sv", ".svh"},
}
#: Programs of a script's first line.
PROGRAMS = {"sh": "shell", "bash": "shell", "dash": "shell", "python3": "Python"}
#: (folder, language): why it may hold more.
ALLOWED: dict[tuple[str, str], str] = {}


def language(file: Path, root: Path) -> str:
    """What a file is written in, by its ending, or by its first line if its name has no ending."""
    if file.suffix:
        return next((name for name, endings in LANGUAGES.items() if file.suffix in endings), file.suffix)
    first = (root / file).open("rb").readline().decode(errors="replace")
    program = re.match(r"#!\s*(?:\S*/env\s+)?(\S+)", first)
    name = Path(program[1]).name if program else ""
    return PROGRAMS.get(name, name or "no language")


def crowded(root: Path, files: list[str]) -> dict[tuple[str, str], int]:
    """Number of files by folder and language, where that is more than MOST and not allowed."""
    kinds = Counter((str(path.parent), language(path, root)) for path in map(Path, files) if (root / path).is_file())
    return {kind: count for kind, count in kinds.items() if count > MOST and kind not in ALLOWED}


def test_no_folder_has_too_many_files_of_one_language() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this tree has no history that lists its files")
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=True)
    assert not crowded(ROOT, listed.stdout.splitlines())


def tree(root: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return list(files)


def test_a_crowded_folder_is_named(tmp_path: Path) -> None:
    files = tree(
        tmp_path,
        {
            f"{folder}/{number}.py": ""
            for folder, count in {"a": MOST + 1, "b": MOST}.items()
            for number in range(count)
        },
    )
    assert crowded(tmp_path, files) == {("a", "Python"): MOST + 1}


def test_source_and_header_are_one_language(tmp_path: Path) -> None:
    files = tree(tmp_path, {f"a/{number}.{ending}": "" for number in range(MOST - 5) for ending in "ch"})
    assert crowded(tmp_path, files) == {("a", "C"): 2 * (MOST - 5)}


def test_commands_without_an_ending_count_by_their_first_line(tmp_path: Path) -> None:
    lines = ["#!/bin/sh", "#!/usr/bin/env bash", "#!/bin/bash -e"]
    commands = {f"a/command{number}": f"{lines[number % 3]}\n" for number in range(MOST)}
    lists = {f"a/list{number}": "a word\n" for number in range(MOST)}
    files = tree(tmp_path, {**commands, **lists, "a/python": "#!/usr/bin/env python3\n"})
    assert crowded(tmp_path, files) == {}
    assert crowded(tmp_path, tree(tmp_path, {"a/one.sh": ""}) + files) == {("a", "shell"): MOST + 1}
