# SPDX-License-Identifier: Apache-2.0
"""Boxes in other languages than Verilog on the whole shell: a firewall, and a box at the host that measures the age of
frames, in SpinalHDL, and times of arrival in VHDL."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random

import pytest
import test_host_box
from conftest import Start
from test_box import BOXES, made, register, to_host, to_wire, window
from test_isolation import ALICE, BOB, CAROL, PS, VF_ALICE, VF_BOB, WIRE, frame

pytestmark = pytest.mark.long

RULES = 8
RECEIVED, SENT = 0, 1


@dataclass(frozen=True)
class Rule:
    ways: int  # bit 0 received frames, bit 1 sent ones
    protocol: int | None
    port: int | None
    prefix: int
    source: int

    def words(self) -> tuple[int, int, int]:
        mode = self.ways | (self.protocol is not None) << 2 | (self.port is not None) << 3 | self.prefix << 8
        return mode, (self.protocol or 0) << 16 | (self.port or 0), self.source

    def fits(self, packet: Packet, way: int) -> bool:
        return bool(
            self.ways >> way & 1
            and packet.plain
            and (self.source ^ packet.source) >> (32 - self.prefix) == 0
            and self.protocol in (None, packet.protocol)
            and (self.port is None or (packet.has_port and self.port == packet.port))
        )


@dataclass(frozen=True)
class Packet:
    data: bytes
    plain: bool  # IPv4 without options or a VLAN tag
    protocol: int
    port: int
    source: int
    has_port: bool


def packet(random: Random, destination: bytes, source: bytes) -> Packet:
    protocol = random.choice((1, 6, 17, 132))
    port = random.choice((80, 443))
    address = random.choice((0x0A000001, 0x0A000102, 0xC0A80001))
    kind, head, fragment = random.choice(
        ((0x0800, 0x45, 0),) * 5 + ((0x0800, 0x45, 3), (0x0800, 0x46, 0), (0x0806, 0x45, 0))
    )
    ip = bytearray(random.randbytes(random.choice((46, 60, 300, 1400))))
    ip[0], ip[9] = head, protocol
    ip[6:8] = fragment.to_bytes(2, "big")
    ip[12:16] = address.to_bytes(4, "big")
    ip[22:24] = port.to_bytes(2, "big")
    data = destination + source + kind.to_bytes(2, "big") + ip
    return Packet(data, (kind, head) == (0x0800, 0x45), protocol, port, address, protocol != 1 and fragment == 0)


@pytest.mark.parametrize("host_bytes", [32, 64])
def test_the_firewall_drops_by_its_rules(start: Start, host_bytes: int) -> None:
    bench, random = made(start, "Firewall.scala", host_bytes), Random(9)
    assert bench.shell.read(register(bench, "ID")) == 0x46570000
    rules = [
        Rule(
            random.randrange(4),
            random.choice((None, 1, 6, 17)),
            random.choice((None, 80)),
            random.choice((0, 1, 24, 32)),
            random.choice((0x0A000001, 0xC0A80001)),
        )
        for _ in range(RULES)
    ]
    rules[0], rules[1] = Rule(1, 17, 80, 0, 0), Rule(2, None, None, 24, 0x0A000100)
    for number, rule in enumerate(rules):
        for at, word in enumerate(rule.words()):
            bench.shell.write(window(bench, 0x20 * number + 4 * at), word)
    received = [packet(random, BOB, WIRE) for _ in range(150)]
    sent = [packet(random, WIRE, BOB) for _ in range(150)]
    for one, other in zip(received, sent, strict=True):
        bench.shell.rx(one.data)
        bench.shell.h2c(0, other.data, metadata=0)
        bench.step(random.choice((0, 0, 300)))
    bench.drain()
    counts = {(number, way): 0 for number in range(RULES) for way in (RECEIVED, SENT)}
    for way, packets, got in ((RECEIVED, received, to_host(bench)), (SENT, sent, to_wire(bench))):
        passed = []
        for one in packets:
            hit = next((number for number, rule in enumerate(rules) if rule.fits(one, way)), None)
            if hit is None:
                passed.append(one.data)
            else:
                counts[hit, way] += 1
        assert 20 < len(passed) < 130
        assert got == passed
    for (number, way), count in counts.items():
        assert bench.shell.read(window(bench, 0x20 * number + 0xC + 4 * way)) == count, f"rule {number}, way {way}"


def test_a_box_at_the_host_measures_the_age_of_frames(start: Start) -> None:
    bench = test_host_box.made(start, BOXES / "FrameAge.scala")
    frames, last, largest, least, unknown = range(0, 20, 4)
    read = partial(test_host_box.read, bench)
    bob, alice = bench.queue_home(VF_BOB), bench.queue_home(VF_ALICE)
    test_host_box.post(bench, bob, alice)
    came, ages = [], {}
    for size in (60, 1514, 9600, 60):
        came.append(frame(BOB, size, size))
        bench.rx(0, came[-1])
        bench.step(10_000)
        ages[size] = read(last)
    bench.drain()
    assert test_host_box.got(bench, bob) == came
    assert read(frames) == 4 and read(unknown) == 0
    # A frame is stored as a whole before the box, so its age grows by its time on the wire. The time that the box sees is
    # right to less than a cycle.
    assert 60 < ages[60] < 300
    for size in (1514, 9600):
        assert ages[size] - ages[60] == pytest.approx((size - 60) * 8 / bench.rate, abs=12), ages
    assert (read(least), read(largest)) == (pytest.approx(ages[60], abs=12), ages[9600])

    sent = [frame(CAROL, number, size, source=ALICE) for number, size in enumerate((60, 61, 1514, 9600))]
    for data in sent:
        bench.h2c(alice, data)
    bench.drain()
    assert test_host_box.to_wire(bench) == sent
    test_host_box.write(bench, frames, 0)
    assert (read(frames), read(largest), read(least)) == (0, 0, 0xFFFFFFFF)
    bench.set_veb(0, True)
    bench.h2c(alice, frame(BOB, 5, 100, source=ALICE))
    bench.drain()
    assert test_host_box.got(bench, bob)[-1] == frame(BOB, 5, 100, source=ALICE)
    assert (read(frames), read(unknown)) == (0, 1)
    assert bench.shell.read(test_host_box.register(bench, "ID")).to_bytes(4, "big") == b"AGE\0"


def test_sent_frames_have_the_time_at_which_they_leave(start: Start) -> None:
    bench, count = made(start, "time_stamp.vhd"), 40
    body = bytes(range(100))
    for number in range(count):
        bench.ps_send(0, WIRE + PS + b"\x88\xb5" + bytes([number]) + body, tag=number + 1)
        bench.shell.h2c(0, WIRE + BOB + b"\x88\xb5" + bytes([number]) + body, metadata=0)
        bench.shell.h2c(0, WIRE + BOB + b"\x88\xb6" + bytes([number]) + body, metadata=0)
        bench.step(3000)
    bench.drain()
    # The PTP clock of the simulation against that of the wire, by the frames of the PS.
    wire = [event for event in bench.seen.wire[0] if bytes.fromhex(event["hex"])[6:12] == PS]
    offsets = [stamp.time_ns - event["t_ps"] / 1000 for stamp, event in zip(bench.seen.stamps[0], wire, strict=True)]
    assert len(offsets) == count and max(offsets) - min(offsets) < 20
    sent = [event for event in bench.seen.wire[0] if bytes.fromhex(event["hex"])[6:12] == BOB]
    assert len(sent) == 2 * count
    for number in range(count):
        stamped, other = (bytes.fromhex(event["hex"]) for event in sent[2 * number : 2 * number + 2])
        time = int.from_bytes(stamped[14:20], "big") * 10**9 + int.from_bytes(stamped[20:24], "big")
        ahead = sent[2 * number]["t_ps"] / 1000 + offsets[0] - time
        assert 0 < ahead < 300, f"frame {number} is on the wire {ahead} ns after its time"
        assert stamped[24:] == (bytes([number]) + body)[10:]
        assert other == WIRE + BOB + b"\x88\xb6" + bytes([number]) + body


def test_times_are_those_of_arrival(start: Start) -> None:
    bench = made(start, "time_stamp.vhd")
    body, count = bytes(range(100)), 40
    for number in range(count):
        for to, kind in ((PS, b"\x88\xb5"), (BOB, b"\x88\xb5"), (BOB, b"\x88\xb6")):
            bench.shell.rx(to + WIRE + kind + bytes([number]) + body)
    bench.shell.rx(BOB + WIRE + b"\x88\xb5" + bytes(46))
    sent = WIRE + BOB + b"\x88\xb6" + body
    bench.shell.h2c(0, sent, metadata=0)
    bench.drain()
    assert to_wire(bench) == [sent]
    of_ps = [got.time_ns for got in bench.seen.ps[0]]
    came = to_host(bench)
    assert len(of_ps) == count and len(came) == 2 * count + 1
    space = (14 + 1 + len(body) + 24) * 8 / bench.rate
    for number, at in enumerate(of_ps):
        stamped, other = came[2 * number : 2 * number + 2]
        time = int.from_bytes(stamped[14:20], "big") * 10**9 + int.from_bytes(stamped[20:24], "big")
        assert stamped[24:] == (bytes([number]) + body)[10:]
        assert abs(time - at - space) < 4, f"frame {number}: {time - at} ns behind that of the PS"
        assert other == BOB + WIRE + b"\x88\xb6" + bytes([number]) + body
    assert of_ps[-1] - of_ps[0] == pytest.approx(3 * space * (count - 1), rel=0.01)
