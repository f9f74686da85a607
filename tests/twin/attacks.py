# SPDX-License-Identifier: Apache-2.0
"""What a function can do that its driver never would."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from meridian_twin import Link, Memory, QueueSetting, qdma
from meridian_twin.driver import Pair
from meridian_twin.mailbox import (
    COMMAND,
    OUT,
    PF_BASE,
    SEND,
    TARGET,
    VF_BASE,
    WORDS,
    Message,
    Op,
    QueueRequest,
    place,
)
from meridian_twin.wire import Wire

BASE = 0x1_0000_0000
BYTES = 1 << 20
CSR_END = 0x2000
PARENT = {4: 0, 5: 1, 6: 2, 7: 3}  # the shell's usual eight functions, a VF for each PF
VICTIMS = (0, 3, 7)
ATTACKERS = (1, 2, 4, 5, 6)
GHOST = 13  # may not access memory at all
QUEUES = 2
SETTING = QueueSetting(ring=65, completions=129, buffer=2048)
GIVEN_AWAY = range(64, 128)  # queues that VFs may ask for
ELSEWHERE = bytes.fromhex("02fe00000000")


def mac(function: int) -> bytes:
    return bytes([2, 0, 0xAB, 0, 0, function])


def mark(function: int) -> bytes:
    return b"OF:" + Random(function).randbytes(8)


def marked(function: int, source: bytes, destination: bytes, number: int, size: int) -> bytes:
    head = destination + source + b"\x88\xb5" + number.to_bytes(4, "big")
    return head + (mark(function) * (size // 11))[: size - len(head)]


class Attacks:
    """One random thing after another. pairs: each function's rings, which it may use as it likes."""

    def __init__(self, link: Link, wire: Wire, random: Random, memories: dict[int, Memory]) -> None:
        self.link, self.wire, self.random, self.memories = link, wire, random, memories
        self.pairs: dict[int, list[Pair]] = {}
        self.done = 0

    def base(self, function: int) -> int:
        """Its first queue, of all."""
        return 4 * function

    def attack(self, function: int) -> None:
        self.done += 1
        kinds: list[tuple[int, Callable[[int], None]]] = [
            (20, self.own_doorbell),
            (10, self.any_doorbell),
            (20, self.any_register),
            (6, self.page_register),
            (8, self.window),
            (25, self.descriptors),
            (8, self.message),
            (4, self.request),
            (6, self.frame),
        ]
        self.random.choices([k for _, k in kinds], [w for w, _ in kinds])[0](function)

    def word(self) -> int:
        """Small numbers, single bits and all bits are where mistakes are."""
        kind = self.random.randrange(4)
        if kind == 0:
            return self.random.randrange(130)
        if kind == 1:
            return 1 << self.random.randrange(32)
        return self.random.choice((0, 0xFFFFFFFF, 0xFFFF)) if kind == 2 else self.random.getrandbits(32)

    def address(self) -> int:
        """In its own memory, at its border, or anywhere."""
        kind = self.random.randrange(8)
        if kind == 0:
            return self.random.getrandbits(64)
        if kind == 1:
            return BASE + self.random.choice((-64, -1, 0, BYTES - 64, BYTES - 1, BYTES))
        return BASE + 64 * self.random.randrange(BYTES // 64)

    def doorbells(self, function: int) -> int:
        return qdma.PF_DOORBELLS if function < 4 else qdma.VF_DOORBELLS

    def own_doorbell(self, function: int) -> None:
        which = 16 * self.random.randrange(QUEUES) + self.random.choice((0, 4, 8, 12))
        self.link.write(function, 0, self.doorbells(function) + which, self.word())

    def any_doorbell(self, function: int) -> None:
        entries = 0x8000 if function < 4 else 0x1000
        self.link.write(function, 0, self.doorbells(function) + 4 * self.random.randrange(entries // 4), self.word())

    def any_register(self, function: int) -> None:
        """A PF's global registers are left out: by them it owns the IP."""
        least, end = (CSR_END, 0x40000) if function < 4 else (0, 0x8000)
        if self.random.random() < 0.5:
            least, end = (PF_BASE, PF_BASE + 0xC80) if function < 4 else (VF_BASE, VF_BASE + 0xC80)
        offset = 4 * self.random.randrange(least // 4, end // 4)
        self.link.write(function, 0, offset, self.word())

    def page_register(self, function: int) -> None:
        """BAR 2. A PF's is the whole card's, so only the VFs' may be written."""
        if function >= 4:
            self.link.write(function, 2, 4 * self.random.randrange(0x400), self.word())

    def window(self, function: int) -> None:
        """BAR 4: a frame of its own whose descriptor comes, or may come, or words of one anywhere. Some cards have none."""
        ring = self.random.choice(self.pairs[function]).h2c
        at = qdma.WINDOW_BYTES * (ring.queue if self.random.random() < 0.8 else self.random.randrange(64))
        data = marked(function, mac(function), ELSEWHERE, self.done, self.random.choice((60, 64, 200, 256)))
        words = [int.from_bytes(data[n : n + 8], "little") for n in range(0, len(data), 8)]
        for number, value in enumerate(words):
            if self.random.random() < 0.9:
                self.link.write(function, 4, at + 8 * number, value, 8)
        length = self.random.choice((len(data), len(data), 0, 8, 257, self.random.getrandbits(16)))
        header = self.random.getrandbits(32) | length << 32 | ring.pidx << 48
        self.link.write(function, 4, at + qdma.WINDOW_HEADER, header, 8)
        if self.random.random() < 0.5:
            self.descriptors(function)

    def descriptors(self, function: int) -> None:
        """Some in a ring of its own, and the doorbell that says so."""
        pair, count = self.random.choice(self.pairs[function]), self.random.randrange(1, 9)
        ring, memory = (pair.h2c, self.memories[function]) if self.random.random() < 0.7 else (pair.c2h, None)
        for _ in range(count):
            if memory:
                length = self.random.choice((0, 1, 59, 60, 64, 1514, 9600, 9601, 65535, self.random.randrange(2000)))
                word = self.random.getrandbits(32) | length << 32 | self.random.getrandbits(16) << 48
                memory.set_word(ring.base + 16 * ring.pidx, word, 8)
                memory.set_word(ring.base + 16 * ring.pidx + 8, self.address() & (1 << 64) - 1, 8)
            else:
                at = ring.base + 8 * ring.pidx
                self.memories[function].set_word(at, self.address() & (1 << 64) - 1, 8)
            ring.pidx = (ring.pidx + 1) % (SETTING.ring - 1)
        which = 4 if memory else 8
        self.link.write(function, 0, self.doorbells(function) + 16 * ring.queue + which, ring.pidx)

    def post(self, function: int, words: list[int], target: int) -> None:
        at = PF_BASE if function < 4 else VF_BASE
        self.link.write(function, 0, at + TARGET, target)
        for index, value in enumerate(words):
            self.link.write(function, 0, at + OUT + 4 * index, value)
        self.link.write(function, 0, at + COMMAND, SEND)

    def message(self, function: int) -> None:
        words = [self.word() for _ in range(self.random.choice((1, 3, WORDS)))]
        self.post(function, words, self.random.choice((0, function, 4, self.random.getrandbits(12))))

    def request(self, function: int) -> None:
        """One that a VF's driver may send, about queues, sizes and addresses that need not be its own."""
        queue = self.random.choice((0, self.base(4), self.random.choice(GIVEN_AWAY), self.random.getrandbits(11)))
        setting = QueueSetting(
            ring=65, completions=129, aggregate=self.random.random() < 0.2, vector=self.word() & 0x7FF
        )
        asked = QueueRequest(
            queue, self.random.random() < 0.5, self.random.randrange(9), self.address() & ~4095, self.address() & ~4095,
            setting,
        )  # fmt: skip
        payload = self.random.choice(
            (asked.pack(), place((8, "i", queue), (12, "I", self.random.choice((1, 2, 2048)))), place((6, "H", queue)))
        )
        message = Message(self.random.choice(list(Op)), 0, self.random.randrange(9), 0, payload).pack()
        self.post(function, [int.from_bytes(message[i : i + 4], "little") for i in range(0, 4 * WORDS, 4)], 0)

    def frame(self, function: int) -> None:
        destination = self.random.choice((mac(function), mac(function), b"\xff" * 6, ELSEWHERE))
        size = self.random.choice((60, 64, 1514, 2049, 9600, self.random.randrange(60, 300)))
        if destination == mac(function):
            self.wire.send(marked(function, ELSEWHERE, destination, self.done, size))
        else:
            self.wire.send((destination + ELSEWHERE + b"\x88\xb5").ljust(size, b"\0"))
