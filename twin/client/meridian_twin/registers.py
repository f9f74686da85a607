# SPDX-License-Identifier: Apache-2.0
"""The register map, read from the generated C header."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def header(name: str = "meridian_regs.h") -> Path:
    """Where the header is: beside this module when it was installed, else in the source tree."""
    places = [
        _PACKAGE / "include",
        _PACKAGE.parents[2] / "host-driver" / "include",
        _PACKAGE.parents[1] / "card" / "include",
    ]
    for place in places:
        if (place / name).is_file():
            return place / name
    raise FileNotFoundError(f"{name} is neither in the package nor in a source tree around it; name it by its path")


_DEFINE = re.compile(r"#define MERIDIAN_(\w+)(\(i\))?\s+(.+)")
_ARRAY = re.compile(r"\((0x[0-9a-fA-F]+) \+ (0x[0-9a-fA-F]+) \* \(i\)\)")


@dataclass(frozen=True)
class Field:
    """A field of a register. Raises ValueError for a value that does not fit."""

    shift: int
    mask: int

    def of(self, word: int) -> int:
        """The field's value in a word."""
        return (word & self.mask) >> self.shift

    def at(self, value: int) -> int:
        """The word that has value in the field and 0 elsewhere."""
        word = value << self.shift
        if word & ~self.mask:
            raise ValueError(f"{value} does not fit a field with mask {self.mask:#x}")
        return word


class Registers:
    """Names as in the header, without MERIDIAN_; addresses in bytes.

    Raises KeyError for a name that is not there, and IndexError for a number that the name does not have.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._numbers: dict[str, int] = {}
        self._arrays: dict[str, tuple[int, int]] = {}
        for line in (path or header()).read_text().splitlines():
            match = _DEFINE.match(line)
            if not match:
                continue
            name, indexed, value = match.groups()
            array = _ARRAY.match(value)
            if indexed and array:
                self._arrays[name] = (int(array[1], 16), int(array[2], 16))
            elif not indexed and re.fullmatch(r"(0x[0-9a-fA-F]+|\d+)u?", value.strip()):
                self._numbers[name] = int(value.strip().rstrip("u"), 0)

    def __getitem__(self, name: str) -> int:
        return self._numbers[name]

    def _place(self, name: str, index: int) -> int:
        if name in self._arrays:
            base, stride = self._arrays[name]
            if not 0 <= index < self._numbers.get(f"{name.removesuffix('_BASE')}_MAX", 1 << 32):
                raise IndexError(f"{name} has no number {index}")
            return base + stride * index
        if index:
            raise IndexError(f"{name} stands alone")
        return self._numbers[name]

    def base(self, block: str, number: int = 0) -> int:
        """In BAR2, of the block with that number."""
        return self._place(f"{block}_BASE", number)

    def address(self, block: str, register: str, number: int = 0, index: int = 0) -> int:
        """In BAR2: of the block with that number (function, port), and of the register with that index if there are several."""
        return self.base(block, number) + self._place(f"{block}_{register}", index)

    def ps_address(self, block: str, register: str, number: int = 0, index: int = 0) -> int:
        """As the PS sees it."""
        return self._place(f"{block}_PS_BASE", number) + self._place(f"{block}_{register}", index)

    def field(self, *names: str) -> Field:
        """Of block, register and name; of a completion entry, of block and name."""
        stem = "_".join(names)
        return Field(self._numbers[f"{stem}_SHIFT"], self._numbers[f"{stem}_MASK"])

    @cache  # noqa: B019 (a handful of kinds, one map)
    def value_names(self, kind: str) -> dict[int, str]:
        """Names in lower case of the values of an enumeration."""
        stem = f"{kind}_"
        return {
            value: name.removeprefix(stem).lower() for name, value in self._numbers.items() if name.startswith(stem)
        }

    @cache  # noqa: B019 (a handful of blocks, one map)
    def counters(self, block: str) -> dict[str, int]:
        """Offsets of a block's 64-bit counters by their name in lower case."""
        stem = f"{block}_COUNTER_"
        return {name.removeprefix(stem).lower(): at for name, at in self._numbers.items() if name.startswith(stem)}

    @cache  # noqa: B019
    def low_high(self, block: str) -> dict[str, int]:
        """The same for counters that are named as pairs of registers: offset of the low word."""
        names = [
            name.removesuffix("_LOW")
            for name in self._numbers
            if name.startswith(f"{block}_") and name.endswith("_LOW")
        ]
        return {
            name.removeprefix(f"{block}_").lower(): self._numbers[f"{name}_LOW"]
            for name in names
            if self._numbers.get(f"{name}_HIGH") == self._numbers[f"{name}_LOW"] + 4
        }
