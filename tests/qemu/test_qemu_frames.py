# SPDX-License-Identifier: Apache-2.0
"""Frames through QEMU's device: descriptor rings in guest memory, DMA and MSI-X on QEMU's PCIe bus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from meridian_twin import Host, QueueSetting
from meridian_twin.wire import Wire, WireFrame
from qemu_fixtures import qemu
from qtest_link import QtestLink

__all__ = ["qemu"]
pytestmark = pytest.mark.qemu
MINE = bytes.fromhex("02aabbccdd01")
PEER = bytes.fromhex("021111111111")
VECTOR = 5


def frame(size: int, number: int, to: bytes = MINE, of: bytes = PEER) -> bytes:
    head = to + of + b"\x88\xb5" + number.to_bytes(4, "big")
    return head + Random(number).randbytes(size - len(head))


def on_wire(link: QtestLink, wire: Wire, count: int) -> list[bytes]:
    frames: list[WireFrame] = []

    def enough() -> bool:
        frames.extend(wire.take())
        return len(frames) >= count

    link.wait(enough, f"{count} frames on the wire")
    return [f.data for f in frames]


@pytest.fixture
def plugged(run_card: Callable[..., Any], qemu: Path) -> Iterator[tuple[QtestLink, Wire]]:
    card = run_card("--time", "wall")
    link = QtestLink(qemu, card.socket)
    try:
        yield link, card.wires[0]
    finally:
        link.close()


def test_frames_of_many_sizes_both_ways(plugged: tuple[QtestLink, Wire]) -> None:
    link, wire = plugged
    host = Host(link, memory=link.memory)
    host.bring_up()
    sizes = [60, 61, 127, 1514, 4096, 4097, 9600]
    outgoing = [frame(size, size, PEER, MINE) for size in sizes]
    incoming = [frame(size, size) for size in sizes]
    for data in outgoing:
        host.send(data)
    assert on_wire(link, wire, len(sizes)) == outgoing
    for data in incoming:
        wire.send(data)
    assert host.receive(len(sizes)) == incoming
    trace = link.trace.read_text()
    assert "meridian_dma_read function 0" in trace
    assert "meridian_dma_write function 0" in trace
    assert "ok 0" not in trace


def test_a_vector_of_the_table_interrupts(plugged: tuple[QtestLink, Wire]) -> None:
    link, wire = plugged
    host = Host(link, memory=link.memory)
    link.enable_interrupts(10)
    host.bring_up(setting=QueueSetting(c2h_irq=True, vector=VECTOR))
    assert not link.take_interrupt(VECTOR)
    wire.send(frame(100, 1))
    link.wait(lambda: link.take_interrupt(VECTOR), "an interrupt")
    assert host.receive() == [frame(100, 1)]


def test_without_bus_mastering_no_memory_is_touched(plugged: tuple[QtestLink, Wire]) -> None:
    link, wire = plugged
    host = Host(link, memory=link.memory)
    host.bring_up()
    link.enable(0, False)
    dropped = host.card.counters("FUNCTION", 0)["rx_delivered"]
    wire.send(frame(100, 1))
    link.wait(lambda: host.card.counters("FUNCTION", 0)["rx_delivered"] > dropped, "the frame in the shell", 10)
    assert host.take() == []
    link.enable(0)
    assert "meridian_dma_write" not in link.trace.read_text()


def test_the_card_works_after_a_function_level_reset(plugged: tuple[QtestLink, Wire]) -> None:
    link, wire = plugged
    Host(link, memory=link.memory).bring_up()
    link.reset_function(0)
    again = Host(link, memory=link.memory)
    again.bring_up()
    wire.send(frame(200, 2))
    assert again.receive() == [frame(200, 2)]


def test_a_card_that_ends_reads_as_ones_and_qemu_lives(run_card: Callable[..., Any], qemu: Path) -> None:
    card = run_card("--time", "wall")
    link = QtestLink(qemu, card.socket)
    try:
        assert link.read(0, 0, 0) >> 16 == 0x1FD3
        card.stop()
        assert link.read(0, 0, 0) == 0xFFFFFFFF
        link.write(0, 2, 0, 1)
        assert link.read(0, 2, 0x100000) == 0xFFFFFFFF
        assert f"the card at {card.socket} is lost" in link.errors()
    finally:
        link.close()


def test_a_card_that_starts_again_takes_its_place(run_card: Callable[..., Any], qemu: Path, tmp_path: Path) -> None:
    """Bus mastering, which the guest has left on, is told to the new card."""
    place = tmp_path / "card"
    first = run_card("--time", "wall")
    place.symlink_to(first.socket)
    link = QtestLink(qemu, place)
    try:
        Host(link, memory=link.memory).bring_up()
        first.stop()
        link.wait(lambda: link.read(0, 0, 0) == 0xFFFFFFFF, "the loss of the card")
        second = run_card("--time", "wall")
        place.unlink()
        place.symlink_to(second.socket)
        link.wait(lambda: link.read(0, 0, 0) >> 16 == 0x1FD3, "the next card")
        assert f"the card at {place} is back" in link.errors()
        host = Host(link, memory=link.memory)
        host.bring_up()
        second.wires[0].send(frame(300, 3))
        assert host.receive() == [frame(300, 3)]
    finally:
        link.close()
