# SPDX-License-Identifier: Apache-2.0
"""A driver of all PFs: meridian_twin's rings and contexts over the root complex. All of it waits, see `link.drive`."""

from __future__ import annotations

from dataclasses import replace

from bench import Bench
from link import HostLink
from meridian_twin.contexts import DATA, WORDS, Contexts, Operation, Select
from meridian_twin.qdma import C2hQueue, H2cQueue, QueueSetting, Tables, program_c2h, program_h2c

PFS = 4
QUEUES_OF_A_PF = 8
SETTING = QueueSetting(ring=65, completions=65)
TABLE, PENDING = 0x30000, 0x34000
DESCRIPTOR_ERRORS, ERROR_STATUS, REQUEST_ERRORS = 0x254, 0x248, 0x264
ALL_ONES = 0xFFFFFFFF


class WideContexts(Contexts):
    """Data and mask of a command are written in one request."""

    def __init__(self, link: HostLink) -> None:
        super().__init__(link)  # type: ignore[arg-type]
        self._host = link

    def write_words(self, select: Select, number: int, words: list[int]) -> None:
        self._host.write_words(self.function, 0, DATA, [*words, *[0] * (WORDS - len(words)), *[ALL_ONES] * WORDS])
        self.command(Operation.WRITE, select, number)


class ShiftedC2hQueue(C2hQueue):
    """Its buffers begin at any byte, so that some cross 4 KiB."""

    def shift(self, count: int) -> None:
        entries = self.setting.ring - 1
        self._buffers = self.memory.allocate(self._size * entries + count, 4096) + count
        for index in range(entries):
            self.memory.set_word(self.base + 8 * index, self._buffers + self._size * index, 8)


class Driver:
    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.link = bench.link
        self.memory = bench.host.memory
        self.tables = Tables()
        self.contexts = WideContexts(self.link)

    def set_up(self, *functions: int) -> None:
        """The card's tables, and the queues of these functions or of all."""
        for base, values in self.tables.places():
            self.link.write_words(0, 0, base, values)
        for function in functions or range(PFS):
            self.contexts.map_function(function, self.absolute(function, 0), QUEUES_OF_A_PF)

    @staticmethod
    def absolute(function: int, queue: int) -> int:
        return function * QUEUES_OF_A_PF + queue

    def transmit(self, function: int, queue: int = 0, **setting: int | bool) -> H2cQueue:
        chosen = replace(SETTING, **setting)  # type: ignore[arg-type]
        ring = H2cQueue(self.link, function, queue, self.memory, chosen)  # type: ignore[arg-type]
        program_h2c(self.contexts, self.absolute(function, queue), function, ring.base, chosen, self.tables)
        return ring

    def receive(self, function: int, queue: int = 0, shift: int = 0, **setting: int | bool) -> C2hQueue:
        chosen = replace(SETTING, **setting)  # type: ignore[arg-type]
        ring = ShiftedC2hQueue(self.link, function, queue, self.memory, chosen, self.tables)  # type: ignore[arg-type]
        if shift:
            ring.shift(shift)
        number = self.absolute(function, queue)
        program_c2h(self.contexts, number, function, ring.base, ring.completion_base, chosen, self.tables)
        ring.start()
        return ring

    def set_vector(self, function: int, vector: int, address: int, data: int, masked: bool = False) -> None:
        for word, value in enumerate((address & ALL_ONES, address >> 32, data, int(masked))):
            self.link.write(function, 0, TABLE + 16 * vector + 4 * word, value)

    def mask_vector(self, function: int, vector: int, masked: bool) -> None:
        self.link.write(function, 0, TABLE + 16 * vector + 12, int(masked))

    def pending(self, function: int) -> int:
        return self.link.read(function, 0, PENDING)

    def clear_errors(self) -> None:
        for register in (DESCRIPTOR_ERRORS, ERROR_STATUS, REQUEST_ERRORS):
            self.link.write(0, 0, register, ALL_ONES)
