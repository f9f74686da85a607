# SPDX-License-Identifier: Apache-2.0
"""Completion entries of 16 bytes through the QDMA model, beside queues with 8."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from frames import MINE, PEER
from meridian_golden.checksum import Checksums, checksums
from meridian_golden.frame import without_tag
from meridian_golden.rss import hash_type, rss_hash
from meridian_twin import Host, QueueSetting
from meridian_twin.completion import Completion
from meridian_twin.pf_service import PfService
from meridian_twin.vf import Vf
from packets import packet as ip_packet
from packets import spoilt
from test_frames import connect

__all__ = ["connect"]
WIDE = QueueSetting(ring=65, completions=129, completion16=True)
VF = 4


def packet(random: Random, to: bytes = MINE) -> bytes:
    """IPv4 with random addresses and ports: TCP, UDP or neither."""
    ip = bytes.fromhex("45000050000000004000") + bytes([random.choice((1, 6, 17))]) + bytes(2) + random.randbytes(8)
    return to + PEER + b"\x08\x00" + ip + random.randbytes(random.randint(40, 200))


def receive(host: Any, count: int, queue: int = 0) -> list[tuple[bytes, Completion]]:
    """Frames of a queue with what is told of each."""
    ring = host.pairs[queue].c2h
    return host.link.collect(lambda: zip(ring.poll(), ring.completions, strict=True), count, "frames")


def test_wide_completions_have_the_hash_and_its_type_around_the_ring(run_card: Any, connect: Any) -> None:
    card = run_card()
    host: Host = connect(card)
    host.bring_up(setting=WIDE)
    random, number = Random(1), 0
    for _ in range(10):
        frames = [packet(random) for _ in range(40)]
        for frame in frames:
            card.wires[0].send(frame)
        for frame, (data, told) in zip(frames, receive(host, 40), strict=True):
            number += 1
            assert data == frame and told.length == len(frame) and told.packet == number
            assert (told.hash, told.hash_type) == (rss_hash(frame), hash_type(frame))


def test_each_queue_has_its_own_size(run_card: Any, connect: Any) -> None:
    card = run_card()
    host: Host = connect(card)
    host.bring_up(queues=1)
    host.contexts.map_function(0, 0, 2)
    host.pairs.append(host.start_pair(1, WIDE))
    host.card.set_queues(0, 0, 2)
    host.card.set_indirection(0, [k % 2 for k in range(128)])
    host.settle()
    frames = [packet(Random(n)) for n in range(30)]
    for frame in frames:
        card.wires[0].send(frame)
    for queue in range(2):
        mine = [frame for frame in frames if rss_hash(frame) % 2 == queue]
        for frame, (data, told) in zip(mine, receive(host, len(mine), queue), strict=True):
            assert data == frame and told.length == len(frame)
            assert told.hash == (rss_hash(frame) if queue else 0)


@pytest.mark.parametrize("order", [1, 3, 5, 0xC0CC0001, 0x3A5C0003], ids=hex)
def test_wide_completions_have_checksums_vlan_and_microsofts_hash(run_card: Any, connect: Any, order: int) -> None:
    card = run_card()
    host: Host = connect(card)
    host.bring_up(setting=WIDE)
    host.card.set_hash_order(0, order)
    host.card.set_vlan(0, strip=True)
    host.settle()
    random = Random(7)
    frames = []
    for number in range(60):
        tag = b"\x81\0" + random.randbytes(2) if random.random() < 0.5 else b""
        head = MINE + PEER + tag
        size = random.choice((60, 64, 68, 100, 1514))
        frames.append(spoilt(random, head + ip_packet(random, size - len(head), number.to_bytes(4, "big")), len(head)))
        card.wires[0].send(frames[-1])
    seen = set()
    for frame, (data, told) in zip(frames, receive(host, len(frames)), strict=True):
        tagged = frame[12:14] == b"\x81\0"
        assert data == (without_tag(frame) if tagged else frame)
        assert told.length == len(data) and told.vlan_tci == (int.from_bytes(frame[14:16], "big") if tagged else None)
        assert (told.hash, told.hash_type) == (rss_hash(frame, order=order), hash_type(frame, order))
        assert Checksums(told.ip_checksum, told.l4_checksum, told.l4_kind) == checksums(data)
        seen.add(checksums(data))
    assert len(seen) > 3


def test_a_reset_takes_wide_completions_from_a_vf(run_card: Any, connect: Any) -> None:
    """A VF asks by its mailbox; after a reset its queues have entries of 8 bytes until somebody asks again."""
    card = run_card()
    host: Host = connect(card)
    host.bring_up()
    PfService(host, range(64, 128))
    vf = Vf(host.link, VF, host.memory)
    vf.bring_up(1, WIDE)
    host.add_mac(MINE, VF)
    host.settle()
    switches = host.card.regs.address("QUEUE", "SWITCHES", index=64)
    assert host.card.read(switches) == 1
    frame = packet(Random(2))
    card.wires[0].send(frame)
    [(data, told)] = receive(vf, 1)
    assert data == frame and told.hash == rss_hash(frame)
    host.link.reset_function(VF)
    host.link.wait(lambda: host.card.read(switches) == 0, "the switch of the queue to be off")
