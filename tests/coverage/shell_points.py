# SPDX-License-Identifier: Apache-2.0
"""What Verilator counts in the shell's Verilog, by component: lines that ran, and bits that went both ways.

A file of Verilator's has a line for each point. It names fields behind \\x01, their values behind \\x02, and ends with how
often the point was reached. A line's point is a branch or a block; a toggle's point is one bit of a signal in one
instance of a module.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

POINT = re.compile(r"^C '(?P<fields>.*)' (?P<count>\d+)$")


class CoverageError(Exception):
    """A file is not one of Verilator's coverage."""


@dataclass
class Tally:
    """Points, those of them that were reached, and the names of the others."""

    points: int = 0
    reached: int = 0
    missed: list[str] = field(default_factory=list)

    def add(self, name: str, reached: bool) -> None:
        self.points += 1
        self.reached += reached
        if not reached:
            self.missed.append(name)

    @property
    def percent(self) -> float:
        return 100.0 * self.reached / self.points if self.points else 100.0


@dataclass
class Component:
    """Sums all instances of a component, and all modules that the generator made of it with other parameters."""

    name: str
    lines: Tally = field(default_factory=Tally)
    toggles: Tally = field(default_factory=Tally)


def component_of(module: str) -> str:
    """The generator numbers the modules that it makes of one component: PacketBuffer, PacketBuffer_1."""
    return re.sub(r"_\d+$", "", module)


def counts(files: Iterable[Path]) -> dict[tuple[str, str, str], int]:
    """(kind, module, name) → how often, over all instances and all files."""
    found: dict[tuple[str, str, str], int] = defaultdict(int)
    for file in files:
        lines = file.read_text().splitlines()
        if not lines or not lines[0].startswith("# SystemC::Coverage"):
            raise CoverageError(f"{file} is no coverage that Verilator has written")
        for line in lines[1:]:
            match = POINT.match(line)
            if match is None:
                raise CoverageError(f"{file} has a line that is no point: {line[:80]!r}")
            pairs = (pair.split("\x02", 1) for pair in match["fields"].split("\x01") if pair)
            fields = {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
            kind, _, module = fields.get("page", "").partition("/")
            place = f"line {fields.get('l')}" if kind in ("v_line", "v_branch") else ""
            name = f"{place} {fields.get('o', '')}".strip()
            found[kind, module, name] += int(match["count"])
    return found


def components(files: Iterable[Path]) -> list[Component]:
    """By name."""
    by_name: dict[str, Component] = {}
    for (kind, module, name), count in sorted(counts(files).items()):
        component = by_name.setdefault(component_of(module), Component(component_of(module)))
        tally = component.toggles if kind == "v_toggle" else component.lines
        tally.add(f"{module}: {name}", count > 0)
    return [by_name[name] for name in sorted(by_name)]
