# SPDX-License-Identifier: Apache-2.0
"""A flood at the PS's address, at line rate, while the PS seldom looks at its ring: PTP and the host miss nothing."""

from __future__ import annotations

import pytest
from bench import WIRE_OVERHEAD, Bench
from checks import Counts, check
from conftest import Start
from meridian_golden.frame import BROADCAST
from meridian_golden.limit import UNIT, Limit, Rate, is_ptp
from test_isolation import BOB, BUFFER, PS, VF_BOB, WIRE, frame

GROUP = bytes.fromhex("011b19000000")
SMALLEST = 60
LIMIT = Limit(others=Rate(250, 24), ptp=Rate(200, 16))
BETWEEN_NS = 4000  # messages of PTP, and frames for the host
IDLE_NS = 20  # before them, so that they have the same place on the wire with a flood and without
START_NS = 300_000
AHEAD_NS = 20_000  # what is to come is given in time, though the PS's looks take time of their own
ROUNDS = 60
LOOK = 5  # rounds after which the PS looks at its ring


def made(start: Start) -> Bench:
    """Bob's VF with plenty of buffers, and the PS with a ring of 64."""
    bench = Bench(start(), ring_log2=6)
    bench.shell.enforce_credit(True)
    bench.enable_host(0, True, True)
    bench.set_ps_filter(0, True, True, False, False)
    for address in (PS, GROUP):
        bench.add_ps_address(0, address)
    for function in range(bench.geometry.functions):
        bench.set_flags(function, False, False, False, False)
    bench.set_queues(VF_BOB, bench.queue_home(VF_BOB), 1)
    bench.add_address(0, BOB, None, VF_BOB)
    bench.shell.set_buffer_size(bench.queue_home(VF_BOB), BUFFER)
    bench.shell.post(bench.queue_home(VF_BOB), 60_000, BUFFER)
    return bench


@pytest.fixture
def bench(start: Start) -> Bench:
    return made(start)


def ready(bench: Bench, limit: Limit | None) -> None:
    """Every run begins at the same time, with a limit or not."""
    bench.set_ps_limit(0, limit)
    bench.ps[0].start()
    bench.step(START_NS - bench.sim.now_ns())


def message(number: int, tags: int = 0) -> bytes:
    """Of PTP over Ethernet, behind so many VLAN tags."""
    two = b"\x88\xa8\x00\x09\x81\x00\x00\x05"
    return (GROUP + WIRE + two[len(two) - 4 * tags :] + b"\x88\xf7\x00\x02" + number.to_bytes(4, "big")).ljust(
        SMALLEST, b"\0"
    )


def fill(bench: Bench, destination: bytes, size: int, until_ns: float, number: int) -> int:
    """The wire, with frames to one address, until then."""
    while bench.wire_free_at(0) + (size + WIRE_OVERHEAD) * 8 / bench.rate < until_ns:
        bench.rx(0, frame(destination, number, size))
        number += 1
    return number


def run(bench: Bench, flood: int | None, destination: bytes = PS) -> None:
    """flood: bytes of its frames, with one of PTP and one for the host after every BETWEEN_NS."""
    start, number = START_NS + AHEAD_NS, 100_000
    for turn in range(ROUNDS):
        at = start + turn * BETWEEN_NS
        if flood:
            number = fill(bench, destination, flood, at - IDLE_NS, number)
        bench.rx(0, message(turn, turn % 3), at_ns=at)
        bench.rx(0, frame(BOB, turn, 200 + turn), at_ns=at + 100)
        if turn % LOOK == LOOK - 1:
            bench.step(LOOK * BETWEEN_NS)
    bench.drain()


def of_ptp(bench: Bench) -> list[bytes]:
    return [got.data for got in bench.seen.ps[0] if is_ptp(got.data)]


@pytest.mark.parametrize("destination", [PS, BROADCAST], ids=["unicast", "broadcast"])
@pytest.mark.parametrize("size", [SMALLEST, 1514])
def test_no_frame_of_ptp_is_lost(bench: Bench, size: int, destination: bytes) -> None:
    ready(bench, LIMIT)
    run(bench, size, destination)
    counts = Counts(bench)
    port, ring = counts.port[0], counts.ring[0]
    assert of_ptp(bench) == [message(turn, turn % 3) for turn in range(ROUNDS)]
    sent = sum(not is_ptp(f.data) and not f.data.startswith(BOB) for f in bench.rx_sent)
    others = len(bench.seen.ps[0]) - ROUNDS
    lost = port["rx_ps_policed"] + port["rx_ps_overflow"] + ring["rx_no_descriptor"]
    assert sent == others + lost and port["rx_ps_policed"] > sent // 2 and port["rx_ps_ptp_policed"] == 0
    assert others >= LIMIT.others.burst
    assert [bytes.fromhex(e["hex"]) for e in bench.seen.c2h] == [frame(BOB, n, 200 + n) for n in range(ROUNDS)]
    check(bench, lossless=not (port["rx_ps_overflow"] or ring["rx_no_descriptor"]))


def test_without_a_limit_ptp_is_lost(bench: Bench) -> None:
    """So the test above shows something."""
    ready(bench, None)
    run(bench, SMALLEST)
    counts = Counts(bench)
    assert len(of_ptp(bench)) < ROUNDS // 2
    assert counts.port[0]["rx_ps_policed"] == counts.port[0]["rx_ps_ptp_policed"] == 0
    assert counts.ring[0]["rx_no_descriptor"] > 1000
    check(bench, lossless=False)


def test_ring_of_a_ps_that_does_not_look_keeps_a_quarter_for_ptp(bench: Bench) -> None:
    """A limit that the PS is too slow for."""
    ready(bench, Limit(Rate(1023, 255), Rate(1023, 255)))
    for turn in range(100):
        bench.rx(0, frame(PS, turn))
    for turn in range(15):
        bench.rx(0, message(turn))
    bench.step(20_000)
    ring = Counts(bench).ring[0]
    assert (ring["rx_frames"], ring["rx_no_descriptor"]) == (64, 51)
    assert of_ptp(bench) == [message(turn) for turn in range(15)]
    bench.drain()
    check(bench, lossless=False)


def test_false_ptp_is_bounded_and_takes_nothing_of_others(bench: Bench) -> None:
    """As many as their limit lets pass; what is not of PTP has its own."""
    ready(bench, LIMIT)
    start, frames = bench.sim.now_ns() + 1000, 4000
    for number in range(frames):
        bench.rx(0, message(number))
        if number % 400 == 0:
            bench.rx(0, frame(PS, number))
            bench.step(2000)
    bench.drain()
    seconds = (bench.wire_free_at(0) - start) * 1e-9
    due = LIMIT.ptp.burst + LIMIT.ptp.rate * UNIT * seconds
    got = len(of_ptp(bench))
    assert due - 2 < got <= due + 1
    counts = Counts(bench)
    assert counts.port[0]["rx_ps_ptp_policed"] == frames - got and counts.port[0]["rx_ps_policed"] == 0
    assert len(bench.seen.ps[0]) - got == frames // 400
    check(bench, lossless=True)


def test_host_is_served_in_the_same_cycle(start: Start) -> None:
    """Its frames come at the same times, to the cycle: with a flood and without, with limits and without."""
    times = []
    for flood, limit in ((None, None), (SMALLEST, None), (SMALLEST, LIMIT), (1514, LIMIT)):
        bench = made(start)
        ready(bench, limit)
        run(bench, flood)
        times.append([(e["t_ps"], e["queue"], e["hex"]) for e in bench.seen.c2h])
    assert len(times[0]) == ROUNDS
    assert times[1:] == times[:-1]
