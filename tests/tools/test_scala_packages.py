# SPDX-License-Identifier: Apache-2.0
"""Packages of the shell's sources that use each other. Those that do are named here: none is added, and one that is cut
is taken from the lists, so that it stays cut."""

from __future__ import annotations

import re
from pathlib import Path

from documents import ROOT

SOURCES = ROOT / "spinal/src/main/scala"
#: Names of packages below meridian; "" is meridian itself, which has the shell's parameters.
CYCLES: list[set[str]] = []
#: Two packages of which each imports from the other.
BOTH_WAYS: set[tuple[str, str]] = set()
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def imports(folder: Path) -> dict[str, set[str]]:
    """Other packages that a package names, by an import or where it uses something."""
    texts = [COMMENT.sub("", file.read_text()) for file in sorted(folder.rglob("*.scala"))]
    packages = [re.findall(r"^package (\S+)", text, re.MULTILINE)[0] for text in texts]
    found: dict[str, set[str]] = {package: set() for package in packages}
    for own, text in zip(packages, texts, strict=True):
        body = re.sub(r"^package .*", "", text, flags=re.MULTILINE)
        paths = re.findall(r"\bmeridian(?:\.\w+)*", body)
        # A package below one's own may also be named from there on: new pause.PauseRx.
        paths += [f"{own}.{path}" for path in re.findall(r"(?<![\w.])((?:[a-z]\w*\.)+)[A-Z]", body)]
        for path in paths:
            named = path
            while named and named not in found:
                named = named.rpartition(".")[0]
            if named and named != own:
                found[own].add(named)
    return {short(package): {short(name) for name in names} for package, names in found.items()}


def short(package: str) -> str:
    return package.removeprefix("meridian").removeprefix(".")


def reached(graph: dict[str, set[str]], start: str) -> set[str]:
    """Packages that one needs, itself if a way leads back to it."""
    found: set[str] = set()
    left = [start]
    while left:
        new = graph[left.pop()] - found
        found |= new
        left += new
    return found


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Sets of packages of which each needs all others, the largest first."""
    needs = {package: reached(graph, package) for package in graph}
    sets = {frozenset(name for name in needs[package] if package in needs[name]) for package in graph}
    return sorted((set(names) for names in sets if names), key=lambda names: (-len(names), sorted(names)))


def both_ways(graph: dict[str, set[str]]) -> set[tuple[str, str]]:
    return {(one, other) for one in graph for other in graph[one] if one < other and one in graph[other]}


def test_no_package_comes_to_a_cycle() -> None:
    assert cycles(imports(SOURCES)) == CYCLES


def test_no_two_packages_more_import_from_each_other() -> None:
    assert both_ways(imports(SOURCES)) == BOTH_WAYS


def test_a_cycle_is_found(tmp_path: Path) -> None:
    for name, text in {
        "Top": "package meridian\n\nimport meridian.one.One\n",
        "One": "package meridian.one\n\nimport meridian.two.{One, Two}\n",
        "Two": "package meridian.two\n\n/** As [[meridian.Top]]. */\nclass Two { val four = meridian.four.Four() }\n",
        "Three": "package meridian.two.three\n\nimport meridian.one._ // meridian.Top\n",
        "Four": "package meridian.four\n\nobject Four\n",
        "Own": "package meridian.one\n\nimport meridian.one.One.width\n",
        "Below": "package meridian.two\n\nclass Below { val other = new three.Three(limit.Most) }\n",
    }.items():
        (tmp_path / f"{name}.scala").write_text(text)
    graph = imports(tmp_path)
    assert graph == {"": {"one"}, "one": {"two"}, "two": {"two.three", "four"}, "two.three": {"one"}, "four": set()}
    assert cycles(graph) == [{"one", "two", "two.three"}] and both_ways(graph) == set()
    (tmp_path / "One.scala").write_text("package meridian.one\n\nimport meridian.Top\n")
    assert cycles(imports(tmp_path)) == [{"", "one"}] and both_ways(imports(tmp_path)) == {("", "one")}
