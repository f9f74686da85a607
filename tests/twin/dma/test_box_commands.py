# SPDX-License-Identifier: Apache-2.0
"""A module at the host reads and writes host memory by itself, in the name of functions that let it."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from meridian_twin import Host
from meridian_twin.contexts import Select
from test_frames import MINE, PEER, connect, frame, on_wire

pytestmark = pytest.mark.seconds(11)
__all__ = ["connect"]
EXAMPLE = Path(__file__).parents[3] / "examples/boxes/host_memory.sv"
VF, VF_BASE = 4, 64
QUEUE = 40  # of the PF
CONTROL, QUEUE_AT, BYTES, COUNT, BASE, MASK, GAP, PATTERN, CYCLES, SEEN = 0, 4, 8, 12, 16, 24, 28, 32, 36, 40
OF_READS, OF_WRITES = 0x40, 0x60
READS, WRITES, AT_RANDOM, RUNNING = 1, 2, 4, 1 << 31


class Run:
    """What the module tells of a direction after a run."""

    def __init__(self, words: list[int]) -> None:
        self.done, self.failed, self.least, self.most = words[:4]
        self.sum = words[4] | words[5] << 32


class World:
    """PF 0 with a pair of queues for frames, and queues of the PF and of a VF for commands."""

    def __init__(self, card: Any, host: Host) -> None:
        self.host, self.memory, self.link, self.wire = host, host.memory, host.link, card.wires[0]
        host.bring_up(queues=1)
        self.link.enable(VF, parent=0)
        host.contexts.map_function(VF, VF_BASE, 1)
        self.window = host.card.regs.base("BOX_WINDOW") + (4 << 16)
        self.space = self.memory.allocate(1 << 20, 4096)
        self.allow(QUEUE, 0)

    def allow(self, queue: int, function: int, **fields: int) -> None:
        for select in (Select.SW_H2C, Select.SW_C2H):
            self.host.contexts.write(select, queue, **{"function": function, "enable": 1, "bypass": 1} | fields)

    def read(self, offset: int) -> int:
        return self.link.read(0, 2, self.window + offset)

    def write(self, offset: int, value: int) -> None:
        self.link.write(0, 2, self.window + offset, value)

    def start(self, what: int, count: int, size: int, base: int, mask: int = (1 << 20) - 1, queue: int = QUEUE) -> None:
        words = {QUEUE_AT: queue, BYTES: size, COUNT: count, BASE: base & 0xFFFFFFFF, BASE + 4: base >> 32}
        for offset, value in (words | {MASK: mask, PATTERN: 0xA5}).items():
            self.write(offset, value)
        self.write(CONTROL, what)

    def finish(self) -> tuple[Run, Run]:
        self.link.wait(lambda: not self.read(CONTROL) & RUNNING, "the module's run")
        reads, writes = ([self.read(at + 4 * i) for i in range(6)] for at in (OF_READS, OF_WRITES))
        return Run(reads), Run(writes)

    def pass_frames(self) -> None:
        """A few both ways."""
        sizes = (60, 700, 1514)
        sent = [frame(size, size, PEER, MINE) for size in sizes]
        for data in sent:
            self.host.send(data)
        for size in sizes:
            self.wire.send(frame(size, size))
        assert [f.data for f in on_wire(self.host, self.wire, 3)] == sent
        assert self.host.receive(3) == [frame(size, size) for size in sizes]

    def seen(self) -> int:
        return self.read(SEEN) | self.read(SEEN + 4) << 32


def exclusive_or(data: bytes) -> int:
    words = 0
    for (word,) in struct.iter_unpack("<Q", data + bytes(-len(data) % 8)):
        words ^= word
    return words


def written(address: int, count: int) -> bytes:
    return b"".join(
        struct.pack("<Q", (address + at) ^ 0xA5000000A5) for at in range(0, count + 7 & ~7, 8)
    )[:count]  # fmt: skip


@pytest.fixture
def world(run_card: Any, connect: Any, own_dma: bool) -> Iterator[World]:
    if not own_dma:
        pytest.skip("commands of a module on host memory need the DMA engine of our own")
    card = run_card(configuration=("--host-box", str(EXAMPLE)))
    yield World(card, connect(card))


def test_what_the_module_reads_is_what_the_memory_has(world: World) -> None:
    chance = random.Random(1)
    data = chance.randbytes(1 << 20)
    world.memory.write(world.space, data)
    for size in (1, 7, 8, 31, 32, 64, 100, 511, 4096, 9000, 65535):
        at = chance.randrange(0, 4096)
        count = 8 if size < 60000 else 3
        world.start(READS, count, size, world.space + at)
        reads, writes = world.finish()
        assert (reads.done, reads.failed, writes.done) == (count, 0, 0)
        stride = size + 63 & ~63
        parts = [data[at + stride * i : at + stride * i + size] for i in range(count)]
        wanted = 0
        for part in parts:
            wanted ^= exclusive_or(part)
        assert world.seen() == wanted, f"{size} bytes"


def test_what_the_module_writes_is_in_the_memory_and_nothing_else(world: World) -> None:
    chance = random.Random(2)
    for size in (1, 7, 8, 31, 32, 64, 100, 511, 4096, 9000, 65535):
        world.memory.write(world.space, bytes(1 << 20))
        at = 8 * chance.randrange(1, 512)
        count = 8 if size < 60000 else 3
        world.start(WRITES, count, size, world.space + at)
        reads, writes = world.finish()
        assert (writes.done, writes.failed, reads.done) == (count, 0, 0)
        wanted = bytearray(1 << 20)
        for i in range(count):
            address = at + (size + 63 & ~63) * i
            wanted[address : address + size] = written(world.space + address, size)
        assert world.memory.read(world.space, 1 << 20) == wanted, f"{size} bytes"


def test_both_directions_run_at_random_addresses_beside_frames(world: World) -> None:
    world.memory.write(world.space, bytes(1 << 20))
    world.start(READS | WRITES | AT_RANDOM, 2000, 64, world.space)
    world.pass_frames()
    reads, writes = world.finish()
    assert (reads.done, reads.failed, writes.done, writes.failed) == (2000, 0, 2000, 0)
    data = world.memory.read(world.space, 1 << 20)
    places = [at for at in range(0, 1 << 20, 64) if data[at : at + 64] != bytes(64)]
    assert len(places) > 1000, "addresses repeat"
    assert all(data[at : at + 64] == written(world.space + at, 64) for at in places)


def test_a_function_that_does_not_let_the_module_is_not_touched(world: World) -> None:
    """By a queue that is disabled, that is for frames, that was never set, or of a function without bus master."""
    world.memory.write(world.space, bytes(range(256)) * 4096)
    world.allow(QUEUE + 1, 0, enable=0)
    world.allow(QUEUE + 2, 0, bypass=0)
    world.allow(QUEUE + 4, 5)  # a function that the host has not enabled
    for queue in (0, QUEUE + 1, QUEUE + 2, QUEUE + 3, QUEUE + 4, 511, 512, 2047):
        world.start(READS | WRITES, 4, 200, world.space, queue=queue)
        reads, writes = world.finish()
        assert (reads.done, reads.failed, writes.done, writes.failed) == (4, 4, 4, 4), f"queue {queue}"
        assert world.seen() == 0
    assert world.memory.read(world.space, 1 << 20) == bytes(range(256)) * 4096
    world.start(READS, 4, 200, world.space)
    assert world.finish()[0].failed == 0, "its own queue goes on"
    counts = world.host.card.events("BOX", 4)
    assert (counts["dma_read"], counts["dma_read_failed"]) == (36, 32)
    assert (counts["dma_written"], counts["dma_write_failed"]) == (32, 32)
    status = world.host.card.regs.address("BOX", "STATUS", 4)
    assert world.link.read(0, 2, status) >> 5 & 1, "its page tells that it has ports for host memory"


def test_a_queue_is_taken_back_and_given_again(world: World) -> None:
    for again in range(3):
        world.start(READS | WRITES, 2, 300, world.space)
        reads, writes = world.finish()
        assert (reads.failed, writes.failed) == (0, 0)
        software = world.host.contexts.read(Select.SW_H2C, QUEUE)
        assert software["enable"] == 1 and software["bypass"] == 1
        if again % 2:
            world.host.contexts.clear_queue(QUEUE)
        else:
            for select in (Select.SW_H2C, Select.SW_C2H):
                world.host.contexts.invalidate(select, QUEUE)
        world.start(READS | WRITES, 2, 300, world.space)
        reads, writes = world.finish()
        assert (reads.failed, writes.failed) == (2, 2)
        world.allow(QUEUE, 0)


def test_a_vf_lets_the_module_have_its_memory_until_it_is_reset(world: World) -> None:
    world.allow(VF_BASE, VF)
    world.start(READS | WRITES, 4, 200, world.space, queue=VF_BASE)
    reads, writes = world.finish()
    assert (reads.failed, writes.failed) == (0, 0)
    world.start(READS | WRITES, 100000, 64, world.space, queue=VF_BASE)
    world.link.reset_function(VF)
    before = world.memory.read(world.space, 1 << 20)
    reads, writes = world.finish()
    assert reads.failed > 1000 and writes.failed > 1000
    assert world.memory.read(world.space, 1 << 20) == before, "something is written behind the reset"
    assert not world.host.contexts.read(Select.SW_H2C, VF_BASE)["enable"]


def test_nothing_is_written_behind_a_bus_master_bit_that_goes(world: World) -> None:
    for reads in range(5):
        world.link.enable(VF, parent=0)
        world.allow(VF_BASE, VF)
        world.start(READS | WRITES | AT_RANDOM, 4000, 64, world.space, queue=VF_BASE)
        for _ in range(reads):
            world.read(CYCLES)
        world.link.enable(VF, False, parent=0)
        for _ in range(2):
            world.read(CYCLES)
        before = world.memory.read(world.space, 1 << 20)
        ended = world.finish()
        assert all(run.done == 4000 and run.failed for run in ended)
        assert world.memory.read(world.space, 1 << 20) == before


def test_commands_go_on_beside_resets_of_others_and_looks_at_their_contexts(world: World) -> None:
    for select in (Select.SW_H2C, Select.SW_C2H):
        world.host.contexts.write(select, QUEUE + 1, function=VF, enable=1, bypass=1)
    world.start(READS | WRITES | AT_RANDOM, 20000, 64, world.space)
    for _ in range(4):
        world.link.reset_function(VF)
        for select in (Select.SW_H2C, Select.HW_H2C, Select.SW_C2H, Select.HW_C2H):
            world.host.contexts.read(select, QUEUE)
        world.host.contexts.clear_queue(QUEUE + 1)
        world.allow(QUEUE + 2, 0)
    assert world.read(CONTROL) & RUNNING
    assert [(run.done, run.failed) for run in world.finish()] == [(20000, 0)] * 2


def test_a_queue_of_frames_is_one_for_commands_meanwhile(world: World) -> None:
    """Frames for it are lost, and its doorbells have no effect."""
    come = 0

    def have_come() -> bool:
        return world.host.card.events("BOX", 4)["rx_sent"] == come

    for reads in range(4):
        for n in range(20):
            world.wire.send(frame(60 + 50 * n, n))
        for _ in range(reads):
            world.read(CYCLES)
        world.allow(0, 0)
        for doorbell in (0x18004, 0x18008):
            world.link.write(0, 0, doorbell, 7)
        assert world.host.contexts.read(Select.SW_H2C, 0)["pidx"] == 0
        world.wire.send(frame(100))
        come += 21
        world.link.wait(have_come, "the frames at the module")
        world.start(READS | WRITES, 20, 300, world.space, queue=0)
        assert [run.failed for run in world.finish()] == [0, 0]
        world.host.stop()
        world.host.bring_up(queues=1, tables=False)
        world.pass_frames()
        come += 3


def test_a_reset_of_the_module_under_way_ends_its_run(world: World) -> None:
    page = world.host.card.regs.address("BOX", "CONTROL", 4)
    for count in range(1, 12):
        world.start(READS | WRITES, 100000, 100 * count, world.space)
        for _ in range(count):
            world.read(CYCLES)
        world.link.write(0, 2, page, 1)
        world.link.write(0, 2, page, 0)
        world.link.wait(lambda: world.link.read(0, 2, page + 4) & 1, "the module")
        world.start(READS | WRITES, 50, 100 * count, world.space)
        reads, writes = world.finish()
        assert (reads.done, reads.failed, writes.done, writes.failed) == (50, 0, 50, 0)


def test_frames_pass_while_the_module_moves_all_it_can(world: World) -> None:
    world.start(READS | WRITES, 1 << 20, 4096, world.space, (1 << 20) - 1)
    for _ in range(3):
        world.pass_frames()
    assert world.read(CONTROL) & RUNNING
