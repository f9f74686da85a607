# SPDX-License-Identifier: Apache-2.0
"""Memory of a machine beside the card, in a memory file that the card may map."""

from __future__ import annotations

import fcntl
import mmap
import os

from .protocol import ALL_FUNCTIONS

F_ADD_SEALS = 1033
F_SEAL_SHRINK = 2


class MemoryFullError(Exception):
    """No free piece of that size is left."""


class Memory:
    """Bytes from `base` on, with an allocator. function: whose address space it is in; all by default.

    Little things: `read`, `write` and words go straight to the bytes; the card sees them as soon as they are written.

    Raises ValueError for a size that is not of whole pages, IndexError for bytes outside, MemoryFullError if no piece
    is free, and KeyError if what is freed was not allocated.
    """

    def __init__(self, size: int, base: int = 0x1_0000_0000, function: int = ALL_FUNCTIONS) -> None:
        if size <= 0 or size % mmap.PAGESIZE:
            raise ValueError(f"memory of {size} bytes; it has to be pages of {mmap.PAGESIZE}")
        self.base = base
        self.size = size
        self.function = function
        self.file = os.memfd_create("meridian-memory", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.file, size)
        fcntl.fcntl(self.file, F_ADD_SEALS, F_SEAL_SHRINK)
        self._bytes = mmap.mmap(self.file, size)
        self._free = [(base, size)]
        self._taken: dict[int, int] = {}

    def close(self) -> None:
        if self.file >= 0:
            self._bytes.close()
            os.close(self.file)
            self.file = -1

    def holds(self, address: int, count: int) -> bool:
        return self.base <= address and address + count <= self.base + self.size

    def _at(self, address: int, count: int) -> int:
        if not self.holds(address, count):
            raise IndexError(f"{count} bytes at {address:#x} are not in this memory")
        return address - self.base

    def read(self, address: int, count: int) -> bytes:
        at = self._at(address, count)
        return self._bytes[at : at + count]

    def write(self, address: int, data: bytes) -> None:
        at = self._at(address, len(data))
        self._bytes[at : at + len(data)] = data

    def word(self, address: int, count: int = 4) -> int:
        """A little-endian number of count bytes."""
        return int.from_bytes(self.read(address, count), "little")

    def set_word(self, address: int, value: int, count: int = 4) -> None:
        self.write(address, value.to_bytes(count, "little"))

    def allocate(self, count: int, align: int = 64) -> int:
        """Address of count zeroed bytes; raises MemoryFullError."""
        for index, (start, size) in enumerate(self._free):
            address = -(-start // align) * align
            if address + count > start + size:
                continue
            rest = [(start, address - start), (address + count, start + size - address - count)]
            self._free[index : index + 1] = [piece for piece in rest if piece[1]]
            self._taken[address] = count
            self.write(address, bytes(count))
            return address
        raise MemoryFullError(f"no {count} bytes are free in a memory of {self.size}")

    def free(self, address: int) -> None:
        self._free.append((address, self._taken.pop(address)))
        merged: list[tuple[int, int]] = []
        for start, size in sorted(self._free):
            if merged and sum(merged[-1]) == start:
                merged[-1] = (merged[-1][0], merged[-1][1] + size)
            else:
                merged.append((start, size))
        self._free = merged
