# SPDX-License-Identifier: Apache-2.0
"""Marks of congestion (ECN, RFC 3168) in a shell with a pool of cells: which frames get them, and what the line sees of them."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from frames import MINE, PEER
from packets import checksum, packet
from senders import US
from test_flow_control import MOST, OTHER, VF, data, pfc
from test_flow_control import World as Wires
from test_frames import connect
from test_pool import CLASSES, POOL, cells, counter, place

__all__ = ["connect"]
pytestmark = pytest.mark.long  # the shell is built for tests of the pool alone

CELL = 256
HELD = 5  # the priority, and class, that PFC stops
TYPE = 16  # of a frame with one tag; its IP header comes 2 bytes later


@pytest.fixture
def wires(run_card: Any, connect: Any) -> Wires:
    card = run_card("--time", "lockstep", "--seed", "1", configuration=POOL)
    world = Wires(card, connect(card, lockstep=True))
    for port in range(2):
        world.set("RECEIVE", port=port, pfc=0xFF)
    return world


def draw(card: Any, port: int, number: int, least: int, most: int, slope: int = 0, weight: int = 0) -> None:
    """The line of a class, in cells."""
    at = 16 * port + 2 * number
    card.write(place(card, "MARKS", at), most << 16 | least)
    card.write(place(card, "MARKS", at + 1), weight << 20 | slope)
    card.read(place(card, "MARKS", at))


def tagged(random: Random, priority: int, of: bytes = MINE) -> bytes:
    """An IP packet with any ECN field, or now and then no IP."""
    body = packet(random, random.randrange(60, 800), b"")
    if random.random() < 0.15:
        body = b"\x88\xb5" + body[2:]
    return PEER + of + b"\x81\0" + (priority << 13).to_bytes(2, "big") + body


def marked(frame: bytes) -> bytes:
    """The frame as it is once its packet has met congestion, with the IPv4 header's checksum worked out anew."""
    ip = TYPE + 2
    new = bytearray(frame)
    kind = frame[TYPE:ip]
    if kind == b"\x08\0" and frame[ip + 1] & 3:
        new[ip + 1] |= 3
        header = slice(ip, ip + 4 * (frame[ip] & 15))
        new[ip + 10 : ip + 12] = b"\0\0"
        new[ip + 10 : ip + 12] = checksum(bytes(new[header]))
    if kind == b"\x86\xdd" and frame[ip + 1] & 0x30:
        new[ip + 1] |= 0x30
    return bytes(new)


def taken(frame: bytes) -> int:
    return -(-len(frame) // CELL)


def send(wires: Wires, frames: list[bytes], port: int = 0) -> None:
    queues = wires.host.functions[VF] if port else wires.host
    for each in frames:
        queues.send(each)
        wires.run(3 * US)


@pytest.mark.parametrize("port", [0, 1])
def test_packets_behind_a_threshold_are_marked_and_no_others(wires: Wires, port: int) -> None:
    card, random = wires.host.card, Random(port)
    threshold = 40
    draw(card, port, HELD, threshold, threshold)
    wires.receive(pfc(HELD, MOST), port)
    frames = [tagged(random, HELD, OTHER if port else MINE) for _ in range(80)]
    send(wires, frames, port)
    assert not wires.sent(port)
    fill, expected = 0, []
    for each in frames:
        expected.append(marked(each) if fill >= threshold else each)
        fill += taken(each)
    assert cells(card)[0] == fill > 2 * threshold
    wires.receive(pfc(HELD, 0), port)
    wires.run(80 * US)
    assert data(wires.sent(port)) == expected
    changed = sum(old != new for old, new in zip(frames, expected, strict=True))
    counts = {(p, n): counter(card, p, n, "marked") for p in range(2) for n in range(CLASSES)}
    assert 10 < changed < len(frames) - 20
    assert counts == {key: changed * (key == (port, HELD)) for key in counts}


def test_no_packet_is_marked_after_reset_or_once_a_line_is_taken_away(wires: Wires) -> None:
    card, random = wires.host.card, Random(9)
    for line in (None, 1, 0):
        if line is not None:
            draw(card, 0, HELD, line, line)
        wires.receive(pfc(HELD, MOST))
        frames = [tagged(random, HELD) for _ in range(10)]
        send(wires, frames)
        wires.receive(pfc(HELD, 0))
        wires.run(20 * US)
        assert data(wires.sent()) == (frames[:1] + [marked(each) for each in frames[1:]] if line else frames)


def test_a_curve_marks_a_share_that_grows_with_the_fill(wires: Wires) -> None:
    """Its probability is 0 up to 20 cells and 0.75 at 80, so nearly half of those in between are marked."""
    card, random = wires.host.card, Random(3)
    draw(card, 0, HELD, 20, 80, slope=int(0.75 / 60 * 2**21))
    counts = [0, 0, 0, 0]
    total = 0
    for _ in range(12):
        wires.receive(pfc(HELD, MOST))
        frames = [bytearray(tagged(random, HELD)[:200]) for _ in range(100)]
        for each in frames:
            each[TYPE : TYPE + 4] = b"\x86\xdd\x60\x20"
        send(wires, [bytes(each) for each in frames])
        wires.receive(pfc(HELD, 0))
        wires.run(40 * US)
        for n, each in enumerate(data(wires.sent())):
            counts[0 if n < 20 else 1 if n < 50 else 2 if n < 80 else 3] += each[TYPE + 3] == 0x30
        total += 1
    print(f"marked of {total} rounds: {counts}")
    assert counts[0] == 0 and counts[3] == 20 * total
    # Means 0.1875 and 0.5625 of 30 frames a round; five standard deviations of 360 frames are 37 and 47.
    assert abs(counts[1] - 0.18125 * 30 * total) < 37 and abs(counts[2] - 0.55625 * 30 * total) < 47
    assert counter(card, 0, HELD, "marked") == sum(counts)


def test_each_word_of_the_lines_is_kept_for_its_class(wires: Wires) -> None:
    card = wires.host.card
    words = {k: place(card, "MARKS", k) for k in range(2 * CLASSES * 2)}
    assert not any(card.read(at) for at in words.values())
    for k, at in words.items():
        card.write(at, 0xFFFFFFFF - k)
    masks = (0xFFFFFFFF, 0x00F1FFFF)
    for k, at in words.items():
        assert card.read(at) == (0xFFFFFFFF - k) & masks[k % 2]
    assert not any(card.read(place(card, "MARKS", k)) for k in range(len(words), 64))
