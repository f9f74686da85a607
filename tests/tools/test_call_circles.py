# SPDX-License-Identifier: Apache-2.0
"""C files of drivers and of QEMU's devices call one another one way, so each is understood without those that call it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from documents import ROOT

#: Folders whose sources are linked into one program.
PROGRAMS = (
    *("host-driver/linux", "host-driver/qdma", "host-driver/dpdk", "host-driver/library"),
    *("meta-layer/meta-meridian/recipes-kernel/meridian-ps/files", "twin/dpdk", "twin/qemu/hw"),
)
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
#: A function that other files can call, its type on the same line or on one of its own; and a variable of theirs.
FUNCTION = re.compile(r"^(?!static\b)[A-Za-z_][\w \t*]*[ \t*\n](\w+)\([^;{}]*\)\n\{", re.MULTILINE)
VARIABLE = re.compile(r"^(?!static\b|extern\b|typedef\b)[a-z][\w ]* \*?(\w+)(?:\[\w*\])? = ", re.MULTILINE)

#: Below these folders: programs of their own.
OTHER_PROGRAMS = {"test", "examples"}

Graph = dict[str, dict[str, set[str]]]


def is_other_program(path: Path) -> bool:
    """Whether the source is no part of its folder's program; the kernel's build makes files that end with .mod.c."""
    return not OTHER_PROGRAMS.isdisjoint(path.parts) or path.name.endswith(".mod.c")


def uses(files: dict[str, str]) -> Graph:
    """By file and file: the names that the first uses of the second. A name that two files define is left out."""
    code = {name: NOT_CODE.sub(" ", text) for name, text in files.items()}
    makers: dict[str, set[str]] = defaultdict(set)
    for name, text in code.items():
        for pattern in (FUNCTION, VARIABLE):
            for made in pattern.findall(text):
                makers[made].add(name)
    only = {made: next(iter(names)) for made, names in makers.items() if len(names) == 1}
    graph: Graph = {name: defaultdict(set) for name in code}
    for name, text in code.items():
        for word in set(re.findall(r"\b[A-Za-z_]\w*\b", text)) & only.keys():
            if only[word] != name:
                graph[name][only[word]].add(word)
    return graph


def reached(graph: Graph, start: str) -> set[str]:
    """The files that can be reached from this one, itself only by a circle."""
    found: set[str] = set()
    left = list(graph[start])
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += graph[name]
    return found


def circles(graph: Graph) -> Iterator[str]:
    """Each arrow of a circle, as a sentence."""
    behind = {name: reached(graph, name) for name in graph}
    for name in sorted(graph):
        for other, words in sorted(graph[name].items()):
            if name in behind[other]:
                yield f"{name} uses {', '.join(sorted(words))} of {other}, which uses {name} in turn"


@pytest.mark.parametrize("folder", PROGRAMS)
def test_no_files_call_each_other_in_a_circle(folder: str) -> None:
    found = {file.relative_to(ROOT / folder): file for file in sorted((ROOT / folder).rglob("*.c"))}
    graph = uses({str(path): file.read_text() for path, file in found.items() if not is_other_program(path)})
    assert sum(map(len, graph.values())) > 5, "the calls were not found"
    assert list(circles(graph)) == []


def test_a_circle_is_named_with_the_names_that_tie_it() -> None:
    files = {
        "a.c": "int one(void)\n{\n\treturn two();\n}\n",
        "b.c": "struct x *\ntwo(int a,\n\t\tint b)\n{\n\treturn three[0];\n}\n",
        "c.c": "const struct x *three[] = {\n\tone,\n};\n",
        "top.c": "static int\none(void)\n{\n\treturn one() + two(); /* three */\n}\n",
    }
    assert list(circles(uses(files))) == [
        "a.c uses two of b.c, which uses a.c in turn",
        "b.c uses three of c.c, which uses b.c in turn",
        "c.c uses one of a.c, which uses c.c in turn",
    ]


def test_calls_that_go_one_way_are_no_circle() -> None:
    files = {"a.c": "int one(void)\n{\n\treturn two();\n}\n", "b.c": "int two(void)\n{\n\treturn 0; // one\n}\n"}
    assert list(circles(uses(files))) == []
