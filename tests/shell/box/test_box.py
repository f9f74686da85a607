# SPDX-License-Identifier: Apache-2.0
"""Shells with a user's module at the wire: the examples do what they say, and neither costs the line rate nor frames."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from bench import Bench
from conftest import ROOT, Start
from meridian_card.shell import SLVERR
from test_isolation import BOB, PS, WIRE, frame

BOXES = ROOT / "examples" / "boxes"
HOST_CYCLE_NS = 4
KINDS = ("arp", "icmp", "tcp", "udp", "ipv4", "ipv6", "other")
BUFFER = 2048


def configuration(box: str | Path) -> tuple[str, ...]:
    """With an example, or another file by its whole path."""
    return ("--box", str(BOXES / box))


#: An example at each place: the tests of both share this shell, so that they need one build. Long tests have one place each.
AT_WIRE = configuration("packet_counter.v")
AT_HOST = ("--host-box", str(BOXES / "queue_steer.v"))
BOTH = (*AT_HOST, *AT_WIRE)


def made(start: Start, box: str | Path, host_bytes: int = 32, also: tuple[str, ...] = ()) -> Bench:
    """Function 0 gets all that is sent to Bob, and may send anything; the PS has an address."""
    width = () if host_bytes == 32 else ("--host-bytes", str(host_bytes))
    bench = Bench(start(configuration=(*also, *configuration(box), *width)), ring_log2=10)
    bench.enable_host(0, True, True)
    bench.set_ps_filter(0, True, False, False, False)
    bench.add_ps_address(0, PS)
    bench.ps[0].start()
    bench.set_flags(0, False, False, False, trusted=True)
    bench.set_queues(0, 0, 1)
    bench.add_address(0, BOB, None, 0)
    bench.shell.set_buffer_size(0, BUFFER)
    bench.shell.post(0, 60_000, BUFFER)
    bench.step(10_000)  # a module at the host clears its counters
    return bench


def window(bench: Bench, offset: int, port: int = 0) -> int:
    """Address of a register of the module in BAR2."""
    return bench.shell.regs.base("BOX_WINDOW", port) + offset


def register(bench: Bench, name: str) -> int:
    return bench.shell.regs.address("BOX", name)


def of_kind(kind: str, random: Random, to: bytes = BOB) -> bytes:
    """A frame that the example counts as one of that kind."""
    protocol = {"icmp": 1, "tcp": 6, "udp": 17, "ipv4": 47}.get(kind)
    types = {"arp": b"\x08\x06", "ipv6": b"\x86\xdd", "other": b"\x88\xb5"}
    tag = random.choice((b"", b"\x81\x00\x00\x05"))
    head = to + WIRE + tag + types.get(kind, b"\x08\x00")
    body = bytearray(random.randbytes(random.randint(46, 1400)))
    if protocol is not None:
        body[9] = protocol
    return head + body


def to_host(bench: Bench) -> list[bytes]:
    return [bytes.fromhex(event["hex"]) for event in bench.seen.c2h]


def to_wire(bench: Bench) -> list[bytes]:
    return [bytes.fromhex(event["hex"]) for event in bench.seen.wire[0]]


@pytest.fixture
def counter(start: Start) -> Bench:
    return made(start, "packet_counter.v", also=AT_HOST)


def test_counts_are_those_of_the_frames(counter: Bench) -> None:
    bench, random = counter, Random(7)
    received = [random.choice(KINDS) for _ in range(200)]
    sent = [random.choice(KINDS) for _ in range(200)]
    rx = [of_kind(kind, random) for kind in received]
    tx = [of_kind(kind, random) for kind in sent]
    for number, (one, other) in enumerate(zip(rx, tx, strict=True)):
        bench.shell.rx(one)
        bench.shell.h2c(0, other, metadata=0)
        if number % 10 == 0:
            bench.shell.rx(frame(PS, number))  # passes by
            bench.step(2000)
    bench.drain()
    assert to_host(bench) == rx and to_wire(bench) == tx
    assert len(bench.seen.ps[0]) == 20
    for bus in ("pf", "ps"):
        base = window(bench, 0) - (0x100000 if bus == "ps" else 0)
        for place, kinds in ((0, received), (0x40, sent)):
            counts = [bench.shell.read(base + place + 4 * index, bus=bus) for index in range(len(KINDS))]
            assert counts == [kinds.count(kind) for kind in KINDS]
    events = bench.shell.events("BOX")
    assert [events[name] for name in ("rx_passed", "rx_sent", "tx_passed", "tx_sent")] == [200] * 4
    assert not any(events[name] for name in ("rx_dropped", "rx_refused", "tx_dropped", "tx_refused"))
    assert bench.shell.read(register(bench, "ID")).to_bytes(4, "big") == b"CNT0"
    assert bench.shell.read(register(bench, "STATUS")) == 1


def test_smallest_frames_pass_at_line_rate(counter: Bench) -> None:
    bench, count = counter, 4000
    for number in range(count):
        bench.shell.rx(frame(BOB, number, 60))
        bench.shell.h2c(0, frame(WIRE, number, 60, source=BOB), metadata=0)
    bench.drain()
    assert to_host(bench) == [frame(BOB, number, 60) for number in range(count)]
    events = bench.seen.wire[0]
    assert len(events) == count
    ns = (events[-1]["t_ps"] - events[100]["t_ps"]) / 1000
    rate = (count - 101) * (60 + 24) * 8 / ns
    assert rate > 0.99 * bench.rate, f"{rate:.1f} Gb/s of the wire"
    assert bench.shell.counters("PORT_COUNTERS")["rx_host_overflow"] == 0


def test_box_in_reset_costs_its_own_frames_only(counter: Bench) -> None:
    bench = counter
    bench.shell.write(register(bench, "CONTROL"), 1)
    bench.step(1000)
    assert bench.shell.read(register(bench, "STATUS")) == 0
    data, response = bench.shell.access(window(bench, 0))
    assert (data, response) == (0xDEADBEEF, SLVERR)
    for number in range(50):
        bench.shell.rx(frame(BOB, number))
        bench.shell.rx(frame(PS, number))
        bench.shell.h2c(0, frame(WIRE, number), metadata=0)
    bench.drain()
    assert not to_host(bench) and not to_wire(bench)
    assert [got.data for got in bench.seen.ps[0]] == [frame(PS, number) for number in range(50)]
    events = bench.shell.events("BOX")
    assert (events["rx_dropped"], events["tx_dropped"]) == (50, 50)
    bench.shell.write(register(bench, "CONTROL"), 0)
    bench.step(1000)
    bench.shell.rx(frame(BOB, 77))
    bench.drain()
    assert to_host(bench) == [frame(BOB, 77)]


def test_a_vf_sees_no_box(counter: Bench) -> None:
    """It sees its own page at any address."""
    bench, vf = counter, 4
    for address in (register(bench, "ID"), register(bench, "STATUS"), window(bench, 0)):
        assert bench.shell.read(address, function=vf) == bench.shell.read(address & 0xFFF, function=vf)
    bench.shell.write(register(bench, "CONTROL"), 1, function=vf)
    bench.step(1000)
    assert bench.shell.read(register(bench, "CONTROL")) == 0


def echo_request(number: int, random: Random, size: int = 0) -> bytes:
    """size: of the frame; 0: any."""
    payload = number.to_bytes(4, "big") + random.randbytes(size - 46 if size else random.randint(14, 1400))
    udp = random.randbytes(2) + b"\x00\x07" + (8 + len(payload)).to_bytes(2, "big") + random.randbytes(2)
    ip = b"\x45\x00" + (20 + len(udp + payload)).to_bytes(2, "big") + b"\x00\x01\x40\x00\x40\x11" + random.randbytes(10)
    return BOB + WIRE + b"\x08\x00" + ip + udp + payload


def answer(request: bytes) -> bytes:
    """RFC 862: addresses and ports are exchanged."""
    swapped = bytearray(request)
    for one, other, count in ((0, 6, 6), (26, 30, 4), (34, 36, 2)):
        swapped[one : one + count], swapped[other : other + count] = (
            request[other : other + count],
            request[one : one + count],
        )
    return bytes(swapped)


@pytest.mark.long
def test_udp_echo_answers_without_the_host(start: Start) -> None:
    bench, random = made(start, "udp_echo.sv"), Random(8)
    requests, others, sent = [], [], []
    for number in range(150):
        requests.append(echo_request(number, random))
        wrong = bytearray(echo_request(number, random))
        at, value = random.choice(
            ((37, b"\x08"), (23, b"\x06"), (14, b"\x46"), (21, b"\x01"), (12, b"\x09"), (34, b"\x00\x07"))
        )
        wrong[at : at + len(value)] = value
        others.append(bytes(wrong))
        sent.append(frame(WIRE, number, 60 + number, source=BOB))
        bench.shell.rx(requests[-1])
        bench.shell.rx(others[-1])
        bench.shell.h2c(0, sent[-1], metadata=0)
        if number % 10 == 0:
            bench.step(2000)
    bench.drain()
    assert to_host(bench) == others
    came = to_wire(bench)
    assert [data for data in came if data in set(sent)] == sent
    assert [data for data in came if data not in set(sent)] == [answer(data) for data in requests]


@pytest.mark.long
def test_udp_echo_answers_as_fast_as_is_said(start: Start) -> None:
    """From wire to wire, in cycles of the host streams: docs/user-logic.md has the figures."""
    text = (ROOT / "docs" / "user-logic.md").read_text()
    said = {
        int(size): int(cycles) for size, cycles in re.findall(r"with (\d+) bytes comes back after (\d+) cycles", text)
    }
    assert set(said) == {60, 1514}
    bench, random = made(start, "udp_echo.sv"), Random(9)
    for size, cycles in said.items():
        took = []
        for number in range(8):
            request = echo_request(number, random, size)
            at_ns = bench.sim.now_ns() + 1000 + random.randrange(100)
            bench.shell.rx(request, at_ns=at_ns)
            bench.drain()
            answered = bench.seen.wire[0][-1]
            assert answered["hex"] == answer(request).hex()
            took.append((answered["t_ps"] / 1000 - at_ns) / HOST_CYCLE_NS)
        assert cycles - 5 < max(took) <= cycles, took
