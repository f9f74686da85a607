# SPDX-License-Identifier: Apache-2.0
"""A PF that writes whatever into the registers by which it owns the card, between moments in which it sets things up."""

from __future__ import annotations

from random import Random

from attacks import BASE, BYTES, GHOST, SETTING
from meridian_twin import Link, qdma
from meridian_twin.card import LinkedCard
from meridian_twin.contexts import COMMAND, DATA, MASK, Contexts, Operation, Select

QUEUES = 32


class WildOwner:
    """PF 0. Its rings lie anywhere in its memory, which is random, so descriptors are, too."""

    def __init__(self, link: Link, random: Random) -> None:
        self.link, self.random = link, random
        self.card, self.contexts = LinkedCard(link), Contexts(link)
        self.producers: dict[tuple[int, int], int] = {}

    def step(self, number: int) -> None:
        if number % 250 == 0:
            self.tidy()
        if number % 50 == 0:
            self.start_queue(self.random.randrange(QUEUES))
        kind = self.random.random()
        if kind < 0.7:
            self.doorbell()
        elif kind < 0.8:
            self.context()
        elif kind < 0.9:
            self.link.write(0, 0, 4 * self.random.randrange(0x10000), self.value())
        elif kind < 0.95:
            self.link.write(0, 0, 4 * self.random.randrange(0x800), self.value())
        else:
            self.link.write(0, 2, 4 * self.random.randrange(0x100000), self.value())

    def value(self) -> int:
        return self.random.choice((self.random.getrandbits(32), self.random.randrange(130)))

    def tidy(self) -> None:
        """What it takes that frames reach queues at all."""
        qdma.Tables().write(self.link)
        self.contexts.map_function(0, 0, QUEUES)
        self.card.enforce_credit(False)
        self.card.enable_host(0)
        self.card.set_flags(0, True, True, True, True)
        self.card.set_queues(0, 0, QUEUES)
        self.card.set_indirection(0, range(QUEUES))

    def start_queue(self, queue: int) -> None:
        """A good one, but for whose memory it names."""
        function = self.random.choice((0, 0, 0, 0, 1, 5, GHOST))
        bases = [BASE + 4096 * self.random.randrange(BYTES // 4096) for _ in range(3)]
        tables = qdma.Tables()
        qdma.program_h2c(self.contexts, queue, function, bases[0], SETTING, tables)
        qdma.program_c2h(self.contexts, queue, function, bases[1], bases[2], SETTING, tables)
        self.producers[queue, 4] = self.producers[queue, 8] = 0

    def doorbell(self) -> None:
        """Most of them as a driver rings."""
        queue, which = self.random.randrange(QUEUES), self.random.choice((0, 4, 4, 8, 8, 12))
        value = self.value()
        if (queue, which) in self.producers and self.random.random() < 0.9:
            value = (self.producers[queue, which] + self.random.randrange(1, 9)) % (SETTING.ring - 1)
            self.producers[queue, which] = value
        self.link.write(0, 0, qdma.PF_DOORBELLS + 16 * queue + which, value)

    def context(self) -> None:
        """Any command on any of the first queues' contexts."""
        for index in range(8):
            self.link.write(0, 0, DATA + 4 * index, self.value())
            self.link.write(0, 0, MASK + 4 * index, self.random.choice((0xFFFFFFFF, self.value())))
        select, operation = self.random.choice(list(Select)), self.random.choice(list(Operation))
        self.link.write(0, 0, COMMAND, self.random.randrange(QUEUES) << 7 | operation << 5 | select << 1)
