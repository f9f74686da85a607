# SPDX-License-Identifier: Apache-2.0
"""Reads mutants.toml: which faults are put into the sources, and which test has to notice each."""

from __future__ import annotations

import shlex
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

LIST = Path(__file__).with_name("mutants.toml")
KINDS = ("rtl", "card", "linux", "dpdk", "python")
RUNNERS = ("sbt", "test-card", "test-driver", "test-dma", "test-pcie", "pytest")
#: Where the sources of the tests of a runner lie, if its words are names of tests.
TESTS = {
    "test-card": ("twin/card/test", "*.[ch]pp"),
    "test-driver": ("host-driver/qdma/test", "*.[ch]pp"),
    "test-dma": ("twin/dma/src", "*.[ch]pp"),
    "test-pcie": ("tests/pcie/cases", "*.py"),
}


class MutantError(Exception):
    """Says in a sentence why a mutant cannot be judged."""


@dataclass(frozen=True)
class Mutant:
    """A fault: in this file the text `old` becomes `new`. `why` says whom it would hurt, `test` which test notices it."""

    name: str
    kind: str
    file: str
    old: str
    new: str
    why: str
    test: str

    @property
    def runner(self) -> str:
        return self.test.split(maxsplit=1)[0]

    @property
    def words(self) -> list[str]:
        """What the runner is given."""
        return shlex.split(self.test)[1:]

    def test_files(self, tree: Path) -> list[Path]:
        """The files of a checkout that have the tests which it names, or one that is missing.

        Tests in tests/dpdk run cases in C.
        """
        if self.runner == "pytest":
            places = [tree / word.split("::")[0] for word in self.words if word.startswith("tests/")]
            if any(word.startswith("tests/dpdk/") for word in self.words):
                places.append(tree / "host-driver/dpdk/test")
            inside = [sorted(place.rglob("*.[chp]*")) if place.is_dir() else [place] for place in places]
            return [path for paths in inside for path in paths if path.suffix != ".pyc"]
        if self.runner == "sbt":
            return [tree / "spinal/src/test/scala" / f"{self.words[1].replace('.', '/')}.scala"]
        folder, pattern = TESTS[self.runner]
        return sorted((tree / folder).rglob(pattern))

    def planted(self, text: str) -> str:
        """The file's text with the fault in it."""
        found = text.count(self.old)
        if found != 1:
            raise MutantError(f"{self.file} has the old text {found} times, and it has to be there once")
        return text.replace(self.old, self.new)


def mutant_of(name: str, values: object) -> Mutant:
    keys = [field.name for field in fields(Mutant) if field.name != "name"]
    if not isinstance(values, dict) or sorted(values) != sorted(keys):
        raise MutantError(f"{name} needs the keys {', '.join(keys)} and no others")
    if wrong := [key for key in keys if not isinstance(values[key], str)]:
        raise MutantError(f"{name}: the value of {wrong[0]} is no text")
    mutant = Mutant(name=name, **values)
    if mutant.kind not in KINDS:
        raise MutantError(f"{name} has the kind {mutant.kind!r}; there are {', '.join(KINDS)}")
    if not mutant.test.strip() or mutant.runner not in RUNNERS or not mutant.words:
        raise MutantError(f"the test of {name} has to begin with one of {', '.join(RUNNERS)}, and to name a test")
    if mutant.old == mutant.new or not mutant.old:
        raise MutantError(f"{name} changes nothing")
    return mutant


def mutants(path: Path = LIST) -> list[Mutant]:
    """All, in the order of the file."""
    try:
        tables = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise MutantError(f"{path.name} is no TOML: {error}") from error
    return [mutant_of(name, values) for name, values in tables.items()]


def chosen(all_of_them: list[Mutant], only: str | None, kind: str | None) -> list[Mutant]:
    """Those of a name and a kind."""
    wanted = [mutant for mutant in all_of_them if only in (None, mutant.name) and kind in (None, mutant.kind)]
    if not wanted:
        raise MutantError(f"there is no mutant {only!r}{f' of kind {kind}' if kind else ''}; --list names all")
    return wanted
