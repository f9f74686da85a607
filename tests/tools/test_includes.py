# SPDX-License-Identifier: Apache-2.0
"""Includes of the host's drivers go one way, so that a folder is understood without those above it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from documents import ROOT

#: Levels by folder of sources, the lowest first. A level is a folder, or files beside the folders.
ORDER: dict[str, tuple[str | tuple[str, ...], ...]] = {
    "host-driver/linux": (
        "compat",
        ("meridian_told.h", "meridian.h"),
        *("card", "rings", "selftest", "netdev", "functions"),
        ("meridian_interface.h", "meridian_interface.c", "meridian_main.c"),
    ),
    "host-driver/qdma": (".", "mailbox", "service"),
}


def level(file: Path, order: tuple[str | tuple[str, ...], ...]) -> int:
    """Of a file, by its path below the folder that the order is for."""
    folder = str(file.parent)
    for number, names in enumerate(order):
        if folder == names or (folder == "." and file.name in names):
            return number
    raise ValueError(f"{file} is on no level: say in ORDER what it may include")


def upwards(root: Path, order: tuple[str | tuple[str, ...], ...]) -> list[str]:
    """Includes of a header of a higher level than the file's own. Headers have different names, so a name finds one."""
    found = sorted(file for ending in "ch" for file in root.rglob(f"*.{ending}"))
    sources = [
        file.relative_to(root) for file in found if not file.name.endswith(".mod.c")
    ]  # the kernel's build makes it
    headers = {file.name: file for file in sources if file.suffix == ".h"}
    return [
        f"{file} includes {headers[name]}"
        for file in sources
        for name in re.findall(r'^#include "(?:[^"]*/)?([^"/]+)"', (root / file).read_text(), re.MULTILINE)
        if name in headers and level(headers[name], order) > level(file, order)
    ]


@pytest.mark.parametrize("folder", ORDER)
def test_no_file_includes_a_header_of_a_folder_above_its_own(folder: str) -> None:
    assert upwards(ROOT / folder, ORDER[folder]) == []


@pytest.mark.parametrize("folder", ORDER)
def test_each_header_has_a_name_of_its_own(folder: str) -> None:
    names = [file.name for file in (ROOT / folder).rglob("*.h")]
    assert names and len(names) == len(set(names))


def test_an_include_upwards_is_named(tmp_path: Path) -> None:
    for name, text in {
        "low/low.h": "",
        "low/low.c": '#include "low.h"\n#include "main.h"\n',
        "high/high.h": '#include "low/low.h"\n',
        "base.h": '#include "high.h"\n',
        "main.h": '#include "high.h"\n#include <low.h>\n',
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    order = (("base.h",), "low", "high", ("main.h",))
    assert upwards(tmp_path, order) == ["base.h includes high/high.h", "low/low.c includes main.h"]
    with pytest.raises(ValueError, match=r"main\.h is on no level"):
        upwards(tmp_path, order[:3])
