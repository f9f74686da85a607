# SPDX-License-Identifier: Apache-2.0
"""Contexts of the QDMA IP: their fields, and the command interface that a PF programs them by (PG302, EQDMA 5.0)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from .link import Link

DATA = 0x804
MASK = 0x824
COMMAND = 0x844
WORDS = 8

Layout = Mapping[str, tuple[int, int]]  # lowest bit of the 256, and width


class Operation(IntEnum):
    CLEAR = 0
    WRITE = 1
    READ = 2
    INVALIDATE = 3


class Select(IntEnum):
    SW_C2H = 0
    SW_H2C = 1
    HW_C2H = 2
    HW_H2C = 3
    CREDIT_C2H = 4
    CREDIT_H2C = 5
    COMPLETION = 6
    PREFETCH = 7
    INTERRUPT_RING = 8
    FMAP = 12


SOFTWARE: Layout = {
    "pidx": (0, 16),
    "irq_arm": (16, 1),
    "function": (17, 12),
    "enable": (32, 1),
    "fetch_credit": (33, 1),
    "write_back_pending": (34, 1),
    "write_back_interval": (35, 1),
    "fetch_max": (37, 4),
    "ring_size_index": (44, 4),
    "descriptor_size": (48, 2),
    "bypass": (50, 1),
    "write_back": (52, 1),
    "irq_enable": (53, 1),
    "port_id": (54, 3),
    "error": (58, 2),
    "marker_disable": (62, 1),
    "memory_mapped": (63, 1),
    "base": (64, 64),
    "vector": (128, 11),
    "aggregate": (139, 1),
}
HARDWARE: Layout = {
    "cidx": (0, 16),
    "credit_used": (16, 16),
    "descriptors_pending": (40, 1),
    "idle": (41, 1),
    "event_pending": (42, 1),
    "fetch_pending": (43, 4),
}
CREDIT: Layout = {"credit": (0, 16)}
PREFETCH: Layout = {
    "bypass": (0, 1),
    "buffer_size_index": (1, 4),
    "port_id": (5, 3),
    "error": (26, 1),
    "enable": (27, 1),
    "queue_in_prefetch": (28, 1),
    "credit": (29, 16),
    "valid": (45, 1),
}
COMPLETION: Layout = {
    "status_enable": (0, 1),
    "irq_enable": (1, 1),
    "trigger": (2, 3),
    "function": (5, 12),
    "counter_index": (17, 4),
    "timer_index": (21, 4),
    "irq_state": (25, 2),
    "color": (27, 1),
    "ring_size_index": (28, 4),
    "base_high": (32, 58),  # bits 63:6
    "entry_size": (90, 2),
    "pidx": (92, 16),
    "cidx": (108, 16),
    "valid": (124, 1),
    "error": (125, 2),
    "user_trigger_pending": (127, 1),
    "timer_running": (128, 1),
    "full_update": (129, 1),
    "overflow_check_disable": (130, 1),
    "vector": (132, 11),
    "aggregate": (143, 1),
    "is_c2h": (146, 1),
    "base_low": (174, 4),  # bits 5:2
}
INTERRUPT_RING: Layout = {
    "valid": (0, 1),
    "vector": (1, 11),
    "irq_state": (13, 1),
    "color": (14, 1),
    "base_4k": (15, 52),
    "pages": (67, 3),  # less one
    "pidx": (70, 12),
    "function": (114, 12),
}
FMAP: Layout = {"base": (0, 11), "count": (32, 12)}

LAYOUTS: Mapping[Select, Layout] = {
    Select.SW_C2H: SOFTWARE,
    Select.SW_H2C: SOFTWARE,
    Select.HW_C2H: HARDWARE,
    Select.HW_H2C: HARDWARE,
    Select.CREDIT_C2H: CREDIT,
    Select.CREDIT_H2C: CREDIT,
    Select.COMPLETION: COMPLETION,
    Select.PREFETCH: PREFETCH,
    Select.INTERRUPT_RING: INTERRUPT_RING,
    Select.FMAP: FMAP,
}


class ContextError(Exception):
    """The command interface did not do what it was told."""


def pack(layout: Layout, values: Mapping[str, int]) -> list[int]:
    """Eight words; fields that are not named are 0."""
    whole = 0
    for name, value in values.items():
        at, width = layout[name]
        if not 0 <= value < 1 << width:
            raise ValueError(f"{name} = {value} does not fit {width} bits")
        whole |= value << at
    return [whole >> 32 * word & 0xFFFFFFFF for word in range(WORDS)]


def unpack(layout: Layout, words: list[int]) -> dict[str, int]:
    whole = sum(word << 32 * index for index, word in enumerate(words))
    return {name: whole >> at & ((1 << width) - 1) for name, (at, width) in layout.items()}


class Contexts:
    """The contexts as a PF reaches them. number: the absolute queue, for FMAP the function, else the ring.

    Raises ContextError if the command interface stays busy.
    """

    def __init__(self, link: Link, function: int = 0) -> None:
        self.link = link
        self.function = function

    def command(self, operation: Operation, select: Select, number: int, max_polls: int = 1000) -> None:
        self.link.write(self.function, 0, COMMAND, number << 7 | operation << 5 | select << 1)
        for _ in range(max_polls):
            if not self.link.read(self.function, 0, COMMAND) & 1:
                return
        raise ContextError(f"{operation.name} {select.name} {number}: the command interface stays busy")

    def write_words(self, select: Select, number: int, words: list[int]) -> None:
        for index in range(WORDS):
            self.link.write(self.function, 0, DATA + 4 * index, words[index] if index < len(words) else 0)
        for index in range(WORDS):
            self.link.write(self.function, 0, MASK + 4 * index, 0xFFFFFFFF)
        self.command(Operation.WRITE, select, number)

    def write(self, select: Select, number: int, **values: int) -> None:
        self.write_words(select, number, pack(LAYOUTS[select], values))

    def read_words(self, select: Select, number: int) -> list[int]:
        self.command(Operation.READ, select, number)
        return [self.link.read(self.function, 0, DATA + 4 * index) for index in range(WORDS)]

    def read(self, select: Select, number: int) -> dict[str, int]:
        return unpack(LAYOUTS[select], self.read_words(select, number))

    def clear(self, select: Select, number: int) -> None:
        self.command(Operation.CLEAR, select, number)

    def invalidate(self, select: Select, number: int) -> None:
        self.command(Operation.INVALIDATE, select, number)

    def map_function(self, function: int, base: int, count: int) -> None:
        """The function's queues are base until base + count; count 0: none."""
        self.clear(Select.FMAP, function)
        if count:
            self.write(Select.FMAP, function, base=base, count=count)

    def clear_queue(self, queue: int, h2c: bool = True, c2h: bool = True) -> None:
        if h2c:
            for select in (Select.SW_H2C, Select.HW_H2C, Select.CREDIT_H2C):
                self.clear(select, queue)
        if c2h:
            for select in (Select.SW_C2H, Select.HW_C2H, Select.CREDIT_C2H, Select.PREFETCH, Select.COMPLETION):
                self.clear(select, queue)

    def invalidate_queue(self, queue: int, h2c: bool = True, c2h: bool = True) -> None:
        if h2c:
            for select in (Select.SW_H2C, Select.HW_H2C, Select.CREDIT_H2C):
                self.invalidate(select, queue)
        if c2h:
            for select in (Select.SW_C2H, Select.HW_C2H, Select.CREDIT_C2H, Select.PREFETCH, Select.COMPLETION):
                self.invalidate(select, queue)
