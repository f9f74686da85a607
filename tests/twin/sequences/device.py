# SPDX-License-Identifier: Apache-2.0
"""A function as a driver reaches it, and the rings that all public drivers share."""

from __future__ import annotations

from collections.abc import Callable

from meridian_twin import Link, Memory
from meridian_twin.contexts import COMMAND, DATA, LAYOUTS, MASK, Operation, Select, pack

ENOUGH_POLLS = 50  # 500 ms in steps of 10 ms is what the drivers give; the model is done at once


class Device:
    def __init__(self, link: Link, function: int, memory: Memory) -> None:
        self.link = link
        self.function = function
        self.memory = memory
        self.doorbells = 0x18000 if function < 4 else 0x3000

    def read(self, register: int, bar: int = 0) -> int:
        return self.link.read(self.function, bar, register)

    def write(self, register: int, value: int, bar: int = 0) -> None:
        self.link.write(self.function, bar, register, value)

    def table(self, register: int, values: tuple[int, ...]) -> None:
        for index, value in enumerate(values):
            self.write(register + 4 * index, value)

    def doorbell(self, queue: int, register: int, value: int) -> None:
        self.write(self.doorbells + 16 * queue + register, value)

    def command(self, operation: Operation, select: Select, number: int) -> None:
        self.write(COMMAND, number << 7 | operation << 5 | select << 1)
        assert any(not self.read(COMMAND) & 1 for _ in range(ENOUGH_POLLS)), "the command interface stays busy"

    def context_by_word(self, select: Select, number: int, **values: int) -> None:
        """As onic does it: each data word with its mask, then the command."""
        for index, word in enumerate(pack(LAYOUTS[select], values)):
            self.write(DATA + 4 * index, word)
            self.write(MASK + 4 * index, 0xFFFFFFFF)
        self.command(Operation.WRITE, select, number)

    def context(self, select: Select, number: int, **values: int) -> None:
        """As Xilinx's drivers do it: data, masks and command in the order of their addresses."""
        for index, word in enumerate(pack(LAYOUTS[select], values)):
            self.write(DATA + 4 * index, word)
        for index in range(8):
            self.write(MASK + 4 * index, 0xFFFFFFFF)
        self.command(Operation.WRITE, select, number)

    def clear(self, number: int, *selects: Select) -> None:
        for select in selects:
            self.command(Operation.CLEAR, select, number)

    def invalidate(self, number: int, *selects: Select) -> None:
        for select in selects:
            self.command(Operation.INVALIDATE, select, number)


class TxRing:
    """Transmit: descriptors of 16 bytes, freed by the CIDX in the status entry."""

    def __init__(self, device: Device, queue: int, entries: int, metadata: Callable[[int], int]) -> None:
        self.device = device
        self.queue = queue
        self.entries = entries  # with the status entry
        self.metadata = metadata
        self.base = device.memory.allocate(16 * entries, 4096)
        self.data = device.memory.allocate(16384, 4096)
        self.pidx = self.at = 0

    def send(self, frame: bytes, flags: int = 0) -> None:
        address = self.data + self.at
        self.at = (self.at + len(frame) + 63) // 64 * 64
        self.device.memory.write(address, frame)
        word = self.metadata(len(frame)) | len(frame) << 32 | flags << 48
        self.device.memory.write(self.base + 16 * self.pidx, word.to_bytes(8, "little") + address.to_bytes(8, "little"))
        self.pidx = (self.pidx + 1) % (self.entries - 1)

    def ring(self, arm: bool = False) -> None:
        self.device.doorbell(self.queue, 4, self.pidx | arm << 16)

    def cidx(self) -> int:
        return self.device.memory.word(self.base + 16 * (self.entries - 1) + 2, 2)

    def drain(self) -> None:
        self.device.link.wait(lambda: self.cidx() == self.pidx, f"the transmit status of queue {self.queue}")
        self.at = 0


class RxRing:
    """Receive: buffers in one ring, completions in another."""

    def __init__(self, device: Device, queue: int, entries: int, completions: int, size: int) -> None:
        self.device = device
        self.queue = queue
        self.entries = entries
        self.completions = completions
        self.size = size
        memory = device.memory
        self.base = memory.allocate(8 * entries, 4096)
        self.completion_base = memory.allocate(8 * completions, 4096)
        self.buffers = memory.allocate(size * (entries - 1), 4096)
        for index in range(entries - 1):
            memory.set_word(self.base + 8 * index, self.buffers + size * index, 8)
        self.cidx = self.next = 0
        self.color = 1

    def status_pidx(self) -> int:
        return self.device.memory.word(self.completion_base + 8 * (self.completions - 1), 2)

    def take(self, length: Callable[[int], int]) -> bytes:
        """The frame of the next completion; length: where this driver finds it in the entry."""
        entry = self.device.memory.word(self.completion_base + 8 * self.cidx, 8)
        assert entry & 5 == 0, f"format or error bit in {entry:#018x}"
        assert entry >> 1 & 1 == self.color, f"colour of {entry:#018x}"
        self.cidx += 1
        if self.cidx == self.completions - 1:
            self.cidx, self.color = 0, self.color ^ 1
        data, left = b"", length(entry)
        while left > 0:
            part = min(left, self.size)
            data += self.device.memory.read(self.buffers + self.size * self.next, part)
            self.next = (self.next + 1) % (self.entries - 1)
            left -= part
        return data

    def take_by_status(self, length: Callable[[int], int]) -> list[bytes]:
        pidx, frames = self.status_pidx(), []
        while self.cidx != pidx:
            frames.append(self.take(length))
        return frames

    def take_by_color(self, length: Callable[[int], int]) -> list[bytes]:
        frames = []
        while self.device.memory.word(self.completion_base + 8 * self.cidx, 8) >> 1 & 1 == self.color:
            frames.append(self.take(length))
        return frames


def opennic_length(entry: int) -> int:
    return entry >> 32 & 0xFFFF


def xilinx_length(entry: int) -> int:
    assert entry >> 3 & 1, "desc_used is 0: drivers would see an empty buffer"
    return entry >> 4 & 0xFFFF
