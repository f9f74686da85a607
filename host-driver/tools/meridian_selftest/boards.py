# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Boards that bitstreams are built for, read from the files that the builds are made from."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

_HERE = Path(__file__).resolve().parent
#: Beside the package where it is installed; in a source tree those of the build.
_PLACES = (_HERE.parent / "boards", _HERE.parents[2] / "vivado/boards")
#: GT/s of a lane by the generation of PCIe.
SPEEDS = {1: 2.5, 2: 5.0, 3: 8.0}
_LINE = re.compile(r"^board (\w+) (\d+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Board:
    """ports of line_rate Gb/s; host_bytes: of a beat of the host's streams; generation and lanes: of PCIe."""

    ports: int
    line_rate: int
    host_bytes: int
    host_mhz: int
    generation: int
    lanes: int

    @property
    def gigatransfers(self) -> float:
        """A second, of each lane."""
        return SPEEDS[self.generation]

    def without_link(self) -> Board:
        """What the card's registers say of a board."""
        return replace(self, generation=0, lanes=0)


def board(text: str) -> Board:
    """Of the text of a board.tcl."""
    numbers = {name: int(value) for name, value in _LINE.findall(text)}
    names = ("ports", "line_rate", "host_bytes", "host_mhz", "pcie_gen", "pcie_lanes")
    return Board(*(numbers[name] for name in names))


@cache
def all_boards() -> dict[str, Board]:
    """By name."""
    place = next((place for place in _PLACES if place.is_dir()), None)
    if place is None:
        return {}
    return {path.parent.name: board(path.read_text()) for path in sorted(place.glob("*/board.tcl"))}
