# SPDX-License-Identifier: Apache-2.0
"""Imports of the shell's packages go one way, in the order of the tables of spinal/README.md: so a package is understood
without those above it, and no two of them need each other."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import documents
from documents import ROOT

PAGE = ROOT / "spinal/README.md"
SOURCES = ROOT / "spinal/src/main/scala"
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def order(page: Path) -> list[str]:
    """Names of packages below meridian as the tables of folders have them, the highest first. "" is meridian itself."""
    tables = (table for table in documents.tables(page) if re.match(r"folder( of .*)?$", table[0][0]))
    names = [name for _, _, *rows in tables for row in rows for name in re.findall(r"`([^`]+)`", row[0])]
    return ["" if name == "." else name.replace("/", ".") for name in names]


def short(package: str) -> str:
    return package.removeprefix("meridian").removeprefix(".")


def imports(folder: Path) -> dict[Path, tuple[str, set[str]]]:
    """Of each file its package, and the others that it names, by an import or where it uses something."""
    texts = {file: COMMENT.sub("", file.read_text()) for file in sorted(folder.rglob("*.scala"))}
    packages = {file: re.findall(r"^package (\S+)", text, re.MULTILINE)[0] for file, text in texts.items()}
    known = set(packages.values())
    found: dict[Path, tuple[str, set[str]]] = {}
    for file, text in texts.items():
        own = packages[file]
        body = re.sub(r"^package .*", "", text, flags=re.MULTILINE)
        paths = re.findall(r"\bmeridian(?:\.\w+)*", body)
        # A package below one's own may also be named from there on: new pause.PauseRx.
        paths += [f"{own}.{path}" for path in re.findall(r"(?<![\w.])((?:[a-z]\w*\.)+)[A-Z]", body)]
        others = set()
        for path in paths:
            named = path
            while named and named not in known:
                named = named.rpartition(".")[0]
            if named and named != own:
                others.add(short(named))
        found[file.relative_to(folder)] = short(own), others
    return found


def upwards(folder: Path, names: list[str]) -> list[str]:
    """A sentence for each import of a package that is not named after the file's own."""
    place = {name: number for number, name in enumerate(names)}
    return [
        f"{file} imports from meridian.{other}".removesuffix(".")
        + f", which is above meridian.{own}".removesuffix(".")
        + ": move what it needs down, or the file up"
        for file, (own, others) in imports(folder).items()
        for other in sorted(others)
        if own in place and place.get(other, -1) <= place[own]
    ]


def split_folders(names: list[str]) -> list[str]:
    """Folders of meridian whose packages do not stand together, so that two folders could need each other."""
    folders = [folder for folder, _ in itertools.groupby(name.split(".")[0] for name in names)]
    return sorted({folder for folder in folders if folders.count(folder) > 1})


def test_imports_go_down() -> None:
    assert upwards(SOURCES, order(PAGE)) == []


def test_each_package_has_one_place_in_the_order() -> None:
    names = order(PAGE)
    packages = {own for own, _ in imports(SOURCES).values()}
    assert len(packages) > 40 and "" in packages
    assert not packages - set(names), "the tables of spinal/README.md do not say what these packages may import"
    assert len(names) == len(set(names)), "the tables of spinal/README.md name a package twice"


def test_packages_of_a_folder_stand_together() -> None:
    assert split_folders(order(PAGE)) == []


def test_a_folder_with_another_between_is_named() -> None:
    assert split_folders(["one", "two.three", "two", ""]) == []
    assert split_folders(["two.three", "one", "two", ""]) == ["two"]


def test_an_import_upwards_is_named(tmp_path: Path) -> None:
    for name, text in {
        "Top": "package meridian\n\nimport meridian.four.Four\n",
        "One": "package meridian.one\n\nimport meridian.two.{One, Two}\n",
        "Two": "package meridian.two\n\n/** As [[meridian.one.One]]. */\nclass Two { val top = meridian.Top() }\n",
        "Three": "package meridian.two.three\n\nimport meridian.two._ // meridian.one\n",
        "Four": "package meridian.four\n\nobject Four\n",
        "Own": "package meridian.one\n\nimport meridian.one.One.width\n",
    }.items():
        (tmp_path / f"{name}.scala").write_text(text)
    page = tmp_path / "README.md"
    page.write_text(
        "| folder of `src` | what |\n| --- | --- |\n| `one`, `two/three` | `Top` |\n\n"
        "| other | what |\n| --- | --- |\n| `six` | |\n\n"
        "| folder | what |\n| --- | --- |\n| `two` | |\n| `.` | |\n| `four` | |\n"
    )
    names = order(page)
    assert names == ["one", "two.three", "two", "", "four"] and upwards(tmp_path, names) == []
    (tmp_path / "Top.scala").write_text("package meridian\n\nimport meridian.one.One\n")
    (tmp_path / "Two.scala").write_text(
        "package meridian.two\n\nclass Two { val other = new three.Three(limit.Most) }\n"
    )
    (tmp_path / "Four.scala").write_text("package meridian.four\n\nimport meridian.{Bottom, Top}\n")
    assert upwards(tmp_path, names) == [
        "Four.scala imports from meridian, which is above meridian.four: move what it needs down, or the file up",
        "Top.scala imports from meridian.one, which is above meridian: move what it needs down, or the file up",
        "Two.scala imports from meridian.two.three, which is above meridian.two: move what it needs down, or the file up",
    ]
