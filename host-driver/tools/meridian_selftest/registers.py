# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""The register map, read from the C header that the drivers are built with."""

from __future__ import annotations

import re
from pathlib import Path

HEADER = "meridian_regs.h"
_HERE = Path(__file__).resolve().parent
#: Beside the package where it is installed; in a source tree the driver's own.
_PLACES = (_HERE.parent, _HERE.parents[1] / "include")
_PS_BASE = re.compile(
    r"#define MERIDIAN_(\w+)_PS_BASE\(i\)\s+\((0x[0-9a-fA-F]+) \+ (0x[0-9a-fA-F]+) \* \(i\)\)$", re.MULTILINE
)
_DEFINE = re.compile(r"#define MERIDIAN_(\w+)\s+(0x[0-9a-fA-F]+|\d+)u?$", re.MULTILINE)


def header() -> Path:
    """Where the header is."""
    for place in _PLACES:
        if (place / HEADER).is_file():
            return place / HEADER
    raise FileNotFoundError(f"{HEADER} is not beside the program: install the package meridian-tools again")


class Registers:
    """Numbers by their names in the header, without MERIDIAN_."""

    def __init__(self, path: Path | None = None) -> None:
        text = (path or header()).read_text()
        self._numbers = {name: int(value, 0) for name, value in _DEFINE.findall(text)}
        self._bases = {name: (int(first, 0), int(stride, 0)) for name, first, stride in _PS_BASE.findall(text)}

    def __getitem__(self, name: str) -> int:
        return self._numbers[name]

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def ps_base(self, page: str, number: int) -> int:
        """Where the page begins that the card has several of, as its ARM side has it."""
        first, stride = self._bases[page]
        return first + stride * number

    def field(self, name: str, word: int) -> int:
        """The value of a field, as IDENT_GEOMETRY_PORTS, in its register's word."""
        return (word & self[f"{name}_MASK"]) >> self[f"{name}_SHIFT"]
