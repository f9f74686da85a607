# SPDX-License-Identifier: Apache-2.0
"""Frames through the real shell, the QDMA model and descriptors in memory, both ways."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from frames import MINE, PEER, frame
from meridian_twin import Host, Link, QueueSetting, Trigger
from meridian_twin.patience import deadline_in
from meridian_twin.wire import Wire, WireFrame

WAYS = ("mapped", "messages", "lockstep")


def on_wire(host: Host, wire: Wire, count: int) -> list[WireFrame]:
    return host.link.collect(wire.take, count, "frames on the wire")


@pytest.fixture
def connect(request: pytest.FixtureRequest) -> Callable[..., Host]:
    def open_host(card: Any, **options: Any) -> Host:
        host = Host.connect(card.socket, **options)
        request.addfinalizer(host.close)
        return host

    return open_host


@pytest.fixture(params=WAYS)
def machine(request: pytest.FixtureRequest, run_card: Any, connect: Any) -> Iterator[tuple[Host, Wire]]:
    card = run_card()
    yield connect(card, lockstep=request.param == "lockstep", mapped=request.param != "messages"), card.wires[0]


def test_frames_of_every_size_pass_both_ways(machine: tuple[Host, Wire]) -> None:
    host, wire = machine
    host.bring_up(queues=1)
    sizes = [60, 61, 64, 127, 1514, 4095, 4096, 4097, 8192, 9600]
    outgoing = [frame(size, size, PEER, MINE) for size in sizes]
    incoming = [frame(size, size) for size in sizes]
    for data in outgoing:
        host.send(data)
    host.drain()
    assert [f.data for f in on_wire(host, wire, len(sizes))] == outgoing
    for data in incoming:
        wire.send(data)
    assert host.receive(len(sizes)) == incoming
    counters = host.card.counters("FUNCTION", 0)
    assert counters["rx_delivered"] == counters["tx_sent"] == len(sizes)
    used_messages = host.link.dma["reads"] > 0
    assert used_messages == (host.link.dma["writes"] > 0)
    assert host.link.dma["astray"] == 0


def test_short_frames_are_padded(run_card: Any, connect: Any) -> None:
    card = run_card()
    host = connect(card)
    host.bring_up()
    host.send(frame(30, 1, PEER, MINE))
    assert on_wire(host, card.wires[0], 1)[0].data == frame(30, 1, PEER, MINE) + bytes(30)


def test_rings_wrap_around(machine: tuple[Host, Wire]) -> None:
    """Many times around the smallest rings."""
    host, wire = machine
    host.bring_up(setting=QueueSetting(ring=65, completions=129, buffer=2048))
    total, window = 400, 40
    for first in range(0, total, window):
        batch = [frame(60 + n % 900, n) for n in range(first, first + window)]
        for data in batch:
            wire.send(data)
        assert host.receive(window) == batch
        for data in batch:
            host.send(data)
        host.drain()
        assert [f.data for f in on_wire(host, wire, window)] == batch


@pytest.mark.parametrize("trigger", [Trigger.EVERY, Trigger.USER_COUNT, Trigger.USER_TIMER, Trigger.USER_TIMER_COUNT])
def test_each_trigger_mode_updates_the_status_entry(run_card: Any, connect: Any, trigger: Trigger) -> None:
    """By the status entry alone, as drivers that poll it see it."""
    card = run_card()
    host = connect(card, lockstep=True)
    host.bring_up(setting=QueueSetting(trigger=trigger, counter=8, timer=5))
    queue = host.pairs[0].c2h
    for number in range(8):
        card.wires[0].send(frame(100, number))
    host.link.wait(lambda: queue.status()["pidx"] == 8, "the completion status of 8 frames")
    assert len(queue.poll()) == 8
    if trigger != Trigger.USER_COUNT:  # which says nothing of fewer frames than it counts
        card.wires[0].send(frame(100, 9))
        host.link.wait(lambda: queue.status()["pidx"] == 9, "the completion status of one more")


def test_rss_chooses_the_queue_by_the_indirection_table(run_card: Any, connect: Any) -> None:
    card = run_card()
    host = connect(card)
    host.bring_up(queues=4)
    random = Random(3)
    frames = []
    for _ in range(64):
        ip = bytes.fromhex("450000500000000040110000") + random.randbytes(8)
        frames.append(MINE + PEER + b"\x08\x00" + ip + random.randbytes(60))
        card.wires[0].send(frames[-1])
    received: dict[int, list[bytes]] = {queue: [] for queue in range(4)}

    def all_there() -> bool:
        for queue, pair in enumerate(host.pairs):
            received[queue] += pair.c2h.poll()
        return sum(map(len, received.values())) == len(frames)

    host.link.wait(all_there, "64 frames")
    assert all(received.values())
    assert sorted(data for queue in received.values() for data in queue) == sorted(frames)
    host.card.set_indirection(0, [2] * 128)
    host.settle()
    for data in frames:
        card.wires[0].send(data)
    only: list[bytes] = []

    def all_in_one() -> bool:
        only.extend(host.pairs[2].c2h.poll())
        return len(only) == len(frames)

    host.link.wait(all_in_one, "64 frames in one queue")
    assert only == frames


def test_each_pf_gets_the_frames_of_its_address(run_card: Any, connect: Any) -> None:
    card = run_card()
    first = connect(card)
    pfs = [first, *(Host(first.link, function, first.memory) for function in (1, 2, 3))]
    for function, pf in enumerate(pfs):
        pf.bring_up(queues=2, base=64 * function, tables=function == 0)
        pf.card.set_flags(function, True, False, False, True)
        pf.add_mac(MINE[:5] + bytes([function]))
        pf.settle()
    for function, pf in enumerate(pfs):
        card.wires[0].send(frame(200, function, MINE[:5] + bytes([function])))
        assert pf.receive(1) == [frame(200, function, MINE[:5] + bytes([function]))]
        pf.send(frame(200, function, PEER, MINE), queue=1)
        assert on_wire(pf, card.wires[0], 1)[0].data == frame(200, function, PEER, MINE)
    card.wires[0].send(frame(60, 9, b"\xff" * 6))
    for pf in pfs:
        assert pf.receive(1) == [frame(60, 9, b"\xff" * 6)]
    pfs[2].remove_mac(MINE[:5] + b"\x02")
    card.wires[0].send(frame(60, 1, MINE[:5] + b"\x02"))
    card.wires[0].send(frame(60, 2, MINE[:5] + b"\x03"))
    pfs[3].receive(1)
    assert pfs[2].take() == []


def test_a_host_stops_its_queues_and_starts_again(machine: tuple[Host, Wire]) -> None:
    host, wire = machine
    for number in range(3):
        host.bring_up(queues=2)
        wire.send(frame(300, number))
        assert host.receive(1) == [frame(300, number)]
        host.send(frame(300, number, PEER, MINE))
        assert on_wire(host, wire, 1)[0].data == frame(300, number, PEER, MINE)
        host.drain()
        host.stop()
        wire.send(frame(300, 99))
        arrived = 2 * (number + 1)
        host.link.wait(lambda n=arrived: host.card.counters("PORT_COUNTERS")["rx_frames"] == n, "a frame for nobody")


def test_a_full_queue_holds_nobody_up(run_card: Any, connect: Any) -> None:
    card = run_card()
    host = connect(card)
    host.bring_up(setting=QueueSetting(ring=65, completions=129))
    for number in range(100):
        card.wires[0].send(frame(64, number))
    # A ring of 65 has 64 places, of which one stays empty.
    host.link.wait(lambda: host.card.counters("FUNCTION", 0)["rx_queue_full"] == 37, "37 frames without a buffer")
    assert host.receive(63) == [frame(64, number) for number in range(63)]
    # An engine tells of buffers when it has fetched their descriptors: until then, frames are lost.
    received: list[bytes] = []
    deadline = deadline_in(30)
    while not received and time.monotonic() < deadline:
        card.wires[0].send(frame(64, 1000))
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            host.link.serve(0.02)
        received = host.take()
    assert received and received[-1] == frame(64, 1000)


def test_a_host_leaves_and_comes_back(run_card: Any, connect: Any) -> None:
    card = run_card()
    for number in range(3):
        host = connect(card)
        host.bring_up()
        card.wires[0].send(frame(80, number))
        assert host.receive(1) == [frame(80, number)]
        if number == 1:
            host.send(frame(9000, number, PEER, MINE))  # and leaves before the card has fetched it
        host.close()
        host.link = Link(card.socket)  # at once
        host.link.close()
    card.check()


def test_frames_move_beside_thousands_of_register_writes(machine: tuple[Host, Wire]) -> None:
    """The answers to DMA reads stand behind register writes, which need time to be done."""
    host, wire = machine
    host.bring_up()
    scratch = host.card.regs.address("IDENT", "SCRATCH")
    for number in range(100):
        host.send(frame(200, number, PEER, MINE))
        for value in range(40):
            host.card.write(scratch, value)
    assert host.card.read(scratch) == 39
    host.drain()
    assert [f.data for f in on_wire(host, wire, 100)] == [frame(200, number, PEER, MINE) for number in range(100)]
