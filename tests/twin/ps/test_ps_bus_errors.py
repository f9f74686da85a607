# SPDX-License-Identifier: Apache-2.0
"""DMA of the PS's rings to addresses that are nobody's: the PS's bus answers with an error, reads and writes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from frames import PEER, frame
from meridian_twin import Link, Memory, Ps, Role
from meridian_twin.ps_port import ERROR, GENERATION, PsPort

ARM = bytes.fromhex("020000000001")
NOWHERE = 0x70_0000_0000
RINGS, BUFFERS = 0x10_0000_0000, 0x20_0000_0000
BUS_ERROR, WRITE_ERROR = 2, 3  # cause in a completion; cause in STATUS.error
TROUBLE = 1 << 3  # the interrupt's cause
MEGABYTE = 1 << 20
US = 1_000_000  # ps


class Port(PsPort):
    """Rings and buffers in memory apart, and a look at what the card says of a descriptor."""

    def completion(self, ring: int, index: int) -> tuple[int, int, int]:
        """(generation, length, cause of an error or 0)."""
        said = self._memory(ring + 32 * index + 16, 16)
        flags = int.from_bytes(said[14:16], "little")
        return flags & GENERATION, int.from_bytes(said[4:6], "little"), flags >> 4 & 3 if flags & ERROR else 0

    def error(self, ring: str) -> int:
        return self.card.regs.field("PS_RING", f"{ring}_STATUS", "ERROR").of(self._read(f"{ring}_STATUS"))

    def interrupt_causes(self) -> int:
        return self._read("INTERRUPT_STATUS")


class Apart:
    """Memory of the rings, of which the card may lose sight, and of the buffers."""

    base, size = RINGS, 16 * MEGABYTE

    def __init__(self) -> None:
        self.rings, self.buffers = Memory(16 * MEGABYTE, RINGS), Memory(64 * MEGABYTE, BUFFERS)

    def _of(self, address: int) -> Memory:
        return self.rings if self.rings.holds(address, 1) else self.buffers

    def read(self, address: int, count: int) -> bytes:
        return self._of(address).read(address, count)

    def write(self, address: int, data: bytes) -> None:
        self._of(address).write(address, data)

    def close(self) -> None:
        self.rings.close()
        self.buffers.close()


@contextlib.contextmanager
def running(card: Any, mapped: bool, lockstep: bool = False) -> Iterator[tuple[Ps, Port]]:
    memory = Apart()
    with Ps(Link(card.socket, Role.AXI, "bus errors", lockstep), memory=memory) as ps:
        for part in (memory.rings, memory.buffers):
            ps.link.share(part, mapped)
        port = Port(ps.card, ps, size_log2=4, base=RINGS)
        port.rx_slots, port.tx_slots = BUFFERS, BUFFERS + 32 * MEGABYTE
        ps.card.set_ps_filter(0, True)
        ps.card.set_ps_address(0, 0, ARM)
        yield ps, port


@pytest.fixture(params=[True, False], ids=["mapped", "messages"])
def given(request: Any, run_card: Any) -> Iterator[tuple[Any, Ps, Port]]:
    card = run_card()
    with running(card, request.param) as (ps, port):
        yield card, ps, port


def count(ps: Ps, port: Port, name: str) -> int:
    ps.card.access(0, None, "ps")
    return port.counters()[name]


def test_a_received_frame_that_memory_does_not_take_is_an_error(given: tuple[Any, Ps, Port]) -> None:
    """The completion says bus error and no length; the port's interrupt is told; the ring goes on."""
    card, ps, port = given
    good, port.rx_slots = port.rx_slots, NOWHERE
    port.start()
    assert not port.interrupt_causes() & TROUBLE
    for number in range(port.size):
        card.wires[0].send(frame(1000, number, ARM))
    ps.link.wait(lambda: count(ps, port, "rx_errors") == port.size, "a bus error for each frame")
    assert [port.completion(port.rx_ring, index) for index in range(port.size)] == [(1, 0, BUS_ERROR)] * port.size
    assert port.interrupt_causes() & TROUBLE
    assert port.error("RX") == 0
    port.rx_slots, port.rx_consumer = good, port.size
    port._post(port.size)
    card.wires[0].send(frame(1000, 77, ARM))
    assert [f.data for f in ps.link.collect(port.poll, 1, "a frame for the PS")] == [frame(1000, 77, ARM)]
    assert count(ps, port, "rx_frames") == 1 and count(ps, port, "rx_errors") == port.size


def test_a_buffer_that_ends_within_a_frame_is_an_error(given: tuple[Any, Ps, Port]) -> None:
    """Only the frame's last bursts meet no memory."""
    card, ps, port = given
    port.rx_slots = BUFFERS + 64 * MEGABYTE - 8192 - 128
    port.start()
    card.wires[0].send(frame(9000, 1, ARM))
    ps.link.wait(lambda: count(ps, port, "rx_errors") == 1, "a bus error")
    assert port.completion(port.rx_ring, 0) == (1, 0, BUS_ERROR)
    assert count(ps, port, "rx_frames") == 0


@pytest.mark.parametrize("mapped", [True, False], ids=["mapped", "messages"])
@pytest.mark.parametrize("way", ["RX", "TX"])
def test_a_completion_that_memory_does_not_take_stops_the_ring(run_card: Any, way: str, mapped: bool) -> None:
    """The rings are lost when the card has read its descriptors and before it has done a frame."""
    card = run_card()
    with running(card, mapped, lockstep=True) as (ps, port):
        port._post = lambda _: PsPort._post(port, 2)  # type: ignore[method-assign]  # it reads no others then
        port.start()
        if way == "TX":
            port.send(frame(9600, 1, PEER, ARM))
            port.poll()
        ps.link.advance(2 * US)
        assert port.error(way) == 0
        lost = ps.memory.rings  # type: ignore[attr-defined]
        if mapped:
            ps.link.forget(lost)
        ps.link._memories = [memory for memory in ps.link._memories if memory is not lost]
        if way == "RX":
            card.wires[0].send(frame(500, 1, ARM))
        for _ in range(100):
            if port.error(way):
                break
            ps.link.advance(US)
        assert port.error(way) == WRITE_ERROR
        assert port.interrupt_causes() & TROUBLE
        if way == "RX":
            assert port.counters()["rx_frames"] == 1, "the frame itself is in memory"
        else:
            ps.link.advance(10 * US)
            assert [f.data for f in card.wires[0].take()] == [frame(9600, 1, PEER, ARM)]


def test_a_frame_that_cannot_be_read_is_not_sent(given: tuple[Any, Ps, Port]) -> None:
    card, ps, port = given
    good, port.tx_slots = port.tx_slots, NOWHERE
    port.start()
    head = NOWHERE.to_bytes(8, "little") + (200).to_bytes(2, "little")
    port._descriptor(port.tx_ring, 0, head)
    port.tx_producer = 1
    port._write("TX_PRODUCER", 1)
    ps.link.wait(lambda: count(ps, port, "tx_bus_errors") == 1, "a bus error")
    assert port.completion(port.tx_ring, 0) == (1, 0, BUS_ERROR)
    assert port.interrupt_causes() & TROUBLE
    port.tx_slots, port.tx_consumer = good, 1
    port.send(frame(300, 2, PEER, ARM))
    port.poll()
    assert [f.data for f in ps.link.collect(card.wires[0].take, 1, "a frame on the wire")] == [frame(300, 2, PEER, ARM)]
