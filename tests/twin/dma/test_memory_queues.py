# SPDX-License-Identifier: Apache-2.0
"""Memory-mapped queues of the DMA engine of our own: random transfers of PF and VF against a memory of bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from meridian_twin import Host
from meridian_twin.contexts import Select
from test_frames import MINE, PEER, connect, frame, on_wire

pytestmark = pytest.mark.seconds(20)
__all__ = ["connect"]
CARD_BYTES = 256 << 10
VF = 4
VF_BASE = 64
ENTRIES = 64  # of a ring, without the status entry
ERRORS = 0x254
DMA_ERROR, PARAMETER_ERROR = 1 << 20, 1 << 4


class MemoryRing:
    """A ring of one direction. queue: counted from the function's first."""

    def __init__(self, host: Host, function: int, queue: int, is_c2h: bool) -> None:
        self.host, self.function, self.queue, self.is_c2h = host, function, queue, is_c2h
        self.absolute = queue + (VF_BASE if function == VF else 0)
        self.base = host.memory.allocate(32 * (ENTRIES + 1), 4096)
        self.start()

    def start(self) -> None:
        self.host.memory.write(self.base, bytes(32 * (ENTRIES + 1)))
        contexts = self.host.contexts
        contexts.clear_queue(self.absolute, h2c=not self.is_c2h, c2h=self.is_c2h)
        contexts.write(
            Select.SW_C2H if self.is_c2h else Select.SW_H2C,
            self.absolute,
            function=self.function,
            enable=1,
            write_back_pending=1,
            write_back_interval=1,
            ring_size_index=self.host.tables.rings.index(ENTRIES + 1),
            descriptor_size=2,
            write_back=1,
            memory_mapped=1,
            base=self.base,
        )
        self.pidx = 0

    def post(self, host: int, card: int, length: int) -> None:
        source, destination = (card, host) if self.is_c2h else (host, card)
        word = source.to_bytes(8, "little") + (length | 7 << 28).to_bytes(8, "little")
        self.host.memory.write(self.base + 32 * self.pidx, word + destination.to_bytes(8, "little") + bytes(8))
        self.pidx = (self.pidx + 1) % ENTRIES

    def ring(self) -> None:
        first = 0x3000 if self.function == VF else 0x18000
        self.host.link.doorbell(self.function, first, self.queue, 8 if self.is_c2h else 4, self.pidx)

    @property
    def status(self) -> tuple[int, int]:
        """Error bits and CIDX."""
        word = self.host.memory.word(self.base + 32 * ENTRIES, 8)
        return word & 3, word >> 16 & 0xFFFF

    def finish(self) -> None:
        self.ring()
        self.host.link.wait(lambda: self.status == (0, self.pidx), f"queue {self.absolute}: {self.status}")


class World:
    """A PF with a pair of queues for frames, and PF and VF with a pair of memory-mapped ones each."""

    def __init__(self, card: Any, host: Host) -> None:
        self.card, self.host, self.link, self.memory = card, host, host.link, host.memory
        host.bring_up(queues=1)
        host.contexts.map_function(0, 0, 2)
        host.card.set_queues(0, 0, 2)
        self.link.enable(VF, parent=0)
        host.contexts.map_function(VF, VF_BASE, 1)
        self.rings = {(function, c2h): MemoryRing(host, function, queue, c2h)
                      for function, queue in ((0, 1), (VF, 0)) for c2h in (False, True)}  # fmt: skip
        self.space = self.memory.allocate(1 << 20, 4096)

    def write(self, function: int, card: int, data: bytes, at: int = 0) -> None:
        ring = self.rings[function, False]
        self.memory.write(self.space + at, data)
        ring.post(self.space + at, card, len(data))
        ring.finish()

    def read(self, function: int, card: int, length: int, at: int = 0) -> bytes:
        ring = self.rings[function, True]
        self.memory.write(self.space + at, bytes(length + 64))
        ring.post(self.space + at, card, length)
        ring.finish()
        assert self.memory.read(self.space + at + length, 64) == bytes(64), "more was written than was asked for"
        return self.memory.read(self.space + at, length)


@pytest.fixture
def world(run_card: Any, connect: Any, own_dma: bool) -> Iterator[World]:
    if not own_dma:
        pytest.skip("the model of the QDMA IP has no memory-mapped queues")
    card = run_card(configuration=("--memory", "true"))
    yield World(card, connect(card))


def test_all_of_the_memory_is_written_and_read(world: World) -> None:
    data = random.Random(1).randbytes(CARD_BYTES)
    world.write(0, 0, data)
    assert world.read(VF, 0, CARD_BYTES) == data


def test_random_transfers_are_those_of_a_memory_of_bytes(world: World) -> None:
    """Several transfers of each ring are under way at once, to places of their own, with frames beside them."""
    chance = random.Random(2)
    model = bytearray(CARD_BYTES)
    world.write(0, 0, bytes(CARD_BYTES))
    for step in range(12):
        # Which part of the card's memory and of the host's each transfer has.
        places = chance.sample(range(CARD_BYTES >> 13), 12)
        wanted = {}
        for number, place in enumerate(places):
            function, is_c2h = chance.choice(list(world.rings))
            length = chance.choice((1, 31, 64, 500, 4096, chance.randint(1, 7000)))
            card = (place << 13) + chance.randrange(1000)
            at = (number << 14) + chance.randrange(5000)
            data = chance.randbytes(length)
            if is_c2h:
                world.memory.write(world.space + at, bytes(length))
                wanted[at] = bytes(model[card : card + length])
            else:
                world.memory.write(world.space + at, data)
                model[card : card + length] = data
            world.rings[function, is_c2h].post(world.space + at, card, length)
        sent = [frame(64 + 100 * number, number, PEER, MINE) for number in range(4)]
        for ring in world.rings.values():
            ring.ring()
        for data in sent:
            world.host.send(data)
            world.card.wires[0].send(frame(len(data), step, MINE, PEER))
        for ring in world.rings.values():
            ring.finish()
        assert [f.data for f in on_wire(world.host, world.card.wires[0], 4)] == sent
        assert len(world.host.receive(4)) == 4
        for at, data in wanted.items():
            assert world.memory.read(world.space + at, len(data)) == data
    assert world.read(0, 0, CARD_BYTES) == bytes(model)
    assert world.link.read(0, 0, ERRORS) == 0


@pytest.mark.parametrize("is_c2h", [False, True], ids=["H2C", "C2H"])
def test_a_wrong_descriptor_stops_its_queue_alone(world: World, is_c2h: bool) -> None:
    for card, length, kind, error in ((CARD_BYTES, 64, 2, DMA_ERROR), (1 << 40, 9, 2, DMA_ERROR),
                                      (CARD_BYTES - 32, 64, 2, DMA_ERROR), (0, 0, 1, PARAMETER_ERROR)):  # fmt: skip
        ring = world.rings[VF, is_c2h]
        before = ring.pidx
        ring.post(world.space, card, length)
        ring.ring()
        world.link.wait(lambda ring=ring: ring.status[0] != 0, "the error")
        assert ring.status == (kind, before)
        assert world.link.read(0, 0, ERRORS) == error
        assert world.link.read(0, 0, 0x25C) == 1 << 31 | is_c2h << 30 | VF_BASE, "the log names the queue"
        world.link.write(0, 0, ERRORS, error)
        context = world.host.contexts.read(Select.SW_C2H if is_c2h else Select.SW_H2C, VF_BASE)
        assert (context["enable"], context["error"]) == (0, kind)
        world.write(0, 100, b"others go on")
        assert world.read(0, 100, 12) == b"others go on"
        ring.start()
        world.write(VF, 200, b"and it does, too")
        assert world.read(VF, 200, 16) == b"and it does, too"


@pytest.mark.parametrize("is_c2h", [False, True], ids=["H2C", "C2H"])
def test_a_reset_of_a_function_ends_its_transfers(world: World, is_c2h: bool) -> None:
    chance = random.Random(4)
    for wait in range(6):
        world.memory.write(world.space, chance.randbytes(1 << 18))
        ring = world.rings[VF, is_c2h]
        for number in range(8):
            ring.post(world.space + (number << 15), number << 15, 20000)
        ring.ring()
        for _ in range(wait):
            world.link.read(0, 0, 0)
        world.link.reset_function(VF)
        before, in_card = world.memory.read(world.space, 1 << 18), world.read(0, 0, CARD_BYTES, 1 << 19)
        world.write(0, CARD_BYTES - 64, bytes(64), 1 << 19)
        assert world.memory.read(world.space, 1 << 18) == before, "something of it comes behind its reset"
        assert world.read(0, 0, CARD_BYTES - 64, 1 << 19) == in_card[:-64], "something of it reaches the card's memory"
        world.link.enable(VF, parent=0)
        world.host.contexts.map_function(VF, VF_BASE, 1)
        for c2h in (False, True):
            world.rings[VF, c2h].start()
        data = random.Random(wait).randbytes(3000)
        world.write(VF, 33, data)
        assert world.read(VF, 33, 3000) == data


def test_a_queue_changes_between_frames_and_memory(world: World) -> None:
    """The same queue is a stream's, then the memory's, then a stream's again."""
    for number in range(3):
        world.write(0, 0, bytes([number] * 100))
        pair = world.host.start_pair(1, world.host.pairs[0].h2c.setting)
        sent = frame(200, number, PEER, MINE)
        pair.h2c.send(sent)
        assert [f.data for f in on_wire(world.host, world.card.wires[0], 1)] == [sent]
        pair.h2c.drain()
        world.host.contexts.invalidate_queue(1)
        for is_c2h in (False, True):
            world.rings[0, is_c2h].start()
        assert world.read(0, 0, 100) == bytes([number] * 100)
