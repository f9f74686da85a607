# SPDX-License-Identifier: Apache-2.0
"""Large frames of TCP and UDP from descriptors to the wire, or to another function: the card cuts them into segments."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest
from frames import MINE, PEER
from large_frames import MOST, TCP, Large, large, payload_bytes, segment_bytes, spoilt
from meridian_golden.checksum import Checksums, checksums
from meridian_golden.shell import GoldenShell, TxOutcome, padded
from meridian_twin import Host, Offload, QueueSetting
from test_frames import connect, on_wire
from wide import WIDE

__all__ = ["connect"]
ASKS = QueueSetting(transmit_segments=True)
VF, VLAN = 4, 0x6005
VF_MAC = bytes.fromhex("02aabbccdd04")
NOWHERE = 0xDEAD_0000_0000  # where the host has no memory


@dataclass
class Machine:
    """A host with a card that cuts frames. golden: says what the card makes of those of the PF's first queue."""

    card: Any
    host: Host
    golden: GoldenShell
    has_pieces: bool

    def due(self, frame: bytes, offload: Offload, queue: int = 0) -> tuple[TxOutcome, ...]:
        return self.golden.transmit_all(queue, frame, metadata=offload.metadata)

    def counters(self, function: int = 0) -> dict[str, int]:
        return self.host.card.counters("FUNCTION", function)

    def add_vf(self, setting: QueueSetting = ASKS) -> Any:
        """A VF with one queue, number 8, and an address of its own."""
        vf = self.host.bring_up_vf(VF, 1, base=8, setting=setting)
        self.host.add_mac(VF_MAC, VF)
        self.host.settle()
        self.golden.set_queues(VF, 8, 1)
        self.golden.transmit_segments.add(8)
        self.golden.addresses[0, VF_MAC, None] = VF
        return vf


@pytest.fixture
def machine(run_card: Any, connect: Any, own_dma: bool) -> Machine:
    card = run_card(configuration=() if own_dma else WIDE)
    host: Host = connect(card, memory=128 << 20)
    geometry = host.card.geometry
    assert host.card.has("SEGMENTS") and host.card.has("PIECES") == own_dma
    sizes = (geometry.ports, geometry.functions, geometry.queues, geometry.max_frame)
    golden = GoldenShell(*sizes, segmentation=True, host_bytes=geometry.host_bytes)
    golden.ports[0].tx_enable = golden.ports[0].rx_enable = True
    golden.set_queues(0, 0, 1)
    golden.transmit_segments = {0}
    return Machine(card, host, golden, own_dma)


def some_cuts(random: Random, one: Large, length: int) -> list[int]:
    """Where a frame is cut into pieces: as a driver does it, behind the headers, or anywhere."""
    first = random.choice((one.payload_at, random.randint(1, 200)))
    places = {first, *(random.randint(1, MOST) for _ in range(2))}
    return sorted(place for place in places if place < length)


@pytest.mark.parametrize("paced", [False, True], ids=["unpaced", "paced"])
@pytest.mark.parametrize("entries", [1, 4], ids=["descriptors of 16 bytes", "of 64"])
def test_large_frames_are_cut(machine: Machine, entries: int, paced: bool) -> None:
    """What cannot be cut is counted as an error, and nothing of it goes out."""
    host, random = machine.host, Random(entries)
    host.bring_up(setting=replace(ASKS, pieces=entries, paced=paced))
    due: list[TxOutcome] = []
    for _ in range(200):
        head = PEER + MINE + (b"\x81\0\0\7" if random.random() < 0.3 else b"")
        size = segment_bytes(random) if random.random() < 0.95 else 255
        one = large(random, head, payload_bytes(random, size, MOST))
        frame = one.frame() if random.random() < 0.8 else spoilt(random, one)
        if not frame:
            continue
        ask = Offload(random.getrandbits(16) if random.random() < 0.3 else None, segment_bytes=size)
        cuts = some_cuts(random, one, len(frame)) if machine.has_pieces and entries > 1 else []
        host.send(frame, offload=ask, cuts=cuts)
        due += machine.due(frame, ask)
    host.drain()
    sent = [padded(outcome.data) for outcome in due if outcome.on_wire]
    assert len(sent) > 200
    assert [got.data for got in on_wire(host, machine.card.wires[0], len(sent))] == sent
    counters = machine.counters()
    verdicts = Counter(outcome.verdict for outcome in due)
    assert verdicts.keys() == {"sent", "error"} and verdicts["error"] > 5
    assert (counters["tx_sent"], counters["tx_error"]) == (verdicts["sent"], verdicts["error"])
    assert counters["tx_bytes"] == sum(len(outcome.data) for outcome in due if outcome.on_wire)
    assert counters["tx_offload_skipped"] == 0


def test_the_largest_frames_are_cut_into_right_segments(machine: Machine) -> None:
    """Of 65,535 bytes, of which an Ethernet header and those of IP and TCP are 54."""
    host, random = machine.host, Random(7)
    host.bring_up(setting=replace(ASKS, pieces=4 if machine.has_pieces else 1))
    ask = Offload(segment_bytes=1448)
    due = []
    for _ in range(8):
        one = Large(PEER + MINE, random.randbytes(MOST - 54), sequence=random.getrandbits(32))
        frame = one.frame()
        assert len(frame) == MOST
        host.send(frame, offload=ask, cuts=[54, 20_000, 40_000] if machine.has_pieces else [])
        due += [outcome.data for outcome in machine.due(frame, ask)]
    host.drain()
    assert [got.data for got in on_wire(host, machine.card.wires[0], len(due))] == due
    assert all(checksums(data) == Checksums("good", "good", "tcp") for data in due)


def test_queues_that_may_not_ask_send_the_frame_as_it_is(machine: Machine) -> None:
    host = machine.host
    host.bring_up(setting=QueueSetting(transmit_offload=True))
    frame = large(Random(1), PEER + MINE, 4000).frame()
    host.send(frame, offload=Offload(segment_bytes=1448))
    assert on_wire(host, machine.card.wires[0], 1)[0].data == frame


def test_each_segment_of_a_vf_is_checked(machine: Machine) -> None:
    """Its source address, and the tag that it must not have where its PF has put it into a VLAN."""
    host, random = machine.host, Random(2)
    host.bring_up()
    vf = machine.add_vf()
    ask = Offload(segment_bytes=1000)
    vf.send(large(random, PEER + MINE, 5000).frame(), offload=ask)
    vf.drain()
    host.link.wait(lambda: machine.counters(VF)["tx_spoof"] == 5, "segments with a false source address dropped")
    host.card.set_vlan(VF, strip=True, insert=VLAN)
    host.add_mac(VF_MAC, VF, vid=VLAN & 0xFFF)
    host.settle()
    machine.golden.functions[VF].insert = VLAN
    machine.golden.addresses[0, VF_MAC, VLAN & 0xFFF] = VF
    plain = large(random, PEER + VF_MAC, 5000).frame()
    vf.send(plain, offload=replace(ask, vlan=77))  # its function's goes before
    due = [outcome.data for outcome in machine.due(plain, ask, 8)]
    assert all(data[12:16] == b"\x81\0\x60\x05" for data in due)
    assert [got.data for got in on_wire(host, machine.card.wires[0], 5)] == due
    vf.send(large(random, PEER + VF_MAC + b"\x81\0\0\7", 5000).frame(), offload=ask)
    vf.drain()
    host.link.wait(lambda: machine.counters(VF)["tx_spoof"] == 10, "segments with a tag dropped")


def test_segments_stay_inside_the_card(machine: Machine) -> None:
    """Those for another function come to it as frames of their own, with checksums that are good."""
    host, random = machine.host, Random(3)
    host.bring_up(setting=ASKS)
    vf = machine.add_vf(QueueSetting(completion16=True))
    host.card.set_veb(0, True)
    host.settle()
    machine.golden.ports[0].veb = True
    ask = Offload(segment_bytes=1448)
    for _ in range(5):
        one = large(random, VF_MAC + MINE, 9000)
        due = [padded(outcome.data) for outcome in machine.due(one.frame(), ask)]
        host.send(one.frame(), offload=ask)
        got, told = [], []
        while len(got) < len(due):
            got += vf.receive(1)
            told += vf.pairs[0].c2h.completions
        assert got == due
        kind = "tcp" if one.protocol == TCP else "udp"
        assert {(entry.l4_checksum, entry.l4_kind) for entry in told} == {("good", kind)}
    assert machine.counters()["tx_switched"] == machine.counters(VF)["rx_delivered"]
    assert not machine.card.wires[0].take()


@pytest.mark.parametrize("whole", [54 + 3000, 54 + 3010, 3040], ids=["a segment", "a frame", "a beat"])
def test_a_piece_that_cannot_be_read_ends_the_frame(machine: Machine, whole: int) -> None:
    """Segments before it have left, the one that it ends is an error, and the frames of others are whole."""
    if not machine.has_pieces:
        pytest.skip("the model of the QDMA IP joins no pieces")
    host, random = machine.host, Random(4)
    host.bring_up(setting=replace(ASKS, pieces=4))
    queue = machine.add_vf(replace(ASKS, pieces=4)).pairs[0].h2c
    ask = Offload(segment_bytes=1000)
    bad, good = Large(PEER + VF_MAC, random.randbytes(8000)).frame(), large(random, PEER + MINE, 6000).frame()
    queue.post(bad, ask.metadata, cuts=[whole])
    host.memory.set_word(queue.base + 16 + 8, NOWHERE, 8)  # the address of the second piece
    queue.ring()
    host.send(good, offload=ask)
    # The beat in which the second piece would begin is the last one, and is marked bad.
    beat = machine.golden.host_bytes
    outcomes = machine.golden.transmit_all(8, bad[: (whole // beat + 1) * beat], True, ask.metadata)
    before = [outcome.data for outcome in outcomes if outcome.on_wire]
    due = before + [outcome.data for outcome in machine.due(good, ask)]
    assert len(before) == 2
    assert sorted(got.data for got in on_wire(host, machine.card.wires[0], len(due))) == sorted(due)
    errors = len(outcomes) - len(before)
    host.link.wait(lambda: machine.counters(VF)["tx_error"] == errors, f"{errors} errors")
    assert machine.counters(VF)["tx_sent"] == 2
