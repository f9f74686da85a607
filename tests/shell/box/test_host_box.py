# SPDX-License-Identifier: Apache-2.0
"""Shells with a user's module at the host: what it drops, moves or holds breaks neither the count of receive buffers nor
anybody else's traffic."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from bench import Bench
from conftest import Start
from meridian_golden.frame import BROADCAST
from test_box import AT_WIRE, BOXES
from test_isolation import (
    ALICE,
    BOB,
    BUFFER,
    CAROL,
    PS,
    VF_ALICE,
    VF_BOB,
    WIRE,
    frame,
    got,
    let_ps_end,
    of_ps,
)

pytestmark = pytest.mark.seconds(18)
EXAMPLE = BOXES / "queue_steer.v"
HOLDING = Path(__file__).with_name("holding_host_box.sv")
PLACE = 4  # of the pages
READY = 1
PLENTY = 60_000
DROP_TYPE, MOVE, DROPPED, MOVED, BY_FUNCTION, BY_QUEUE = 0, 4, 8, 12, 0x2000, 0x4000


def made(start: Start, *files: Path, also: tuple[str, ...] = ()) -> Bench:
    """Alice's VF has two queues, Bob's one; the PS has an address."""
    names = ",".join(map(str, files))
    bench = Bench(start(configuration=("--host-box", names, *also)), ring_log2=10)
    bench.shell.enforce_credit(True)
    bench.enable_host(0, True, True)
    bench.set_ps_filter(0, True, False, False, False)
    bench.add_ps_address(0, PS)
    bench.ps[0].start()
    for function in range(bench.geometry.functions):
        bench.set_flags(function, False, False, False, False)
    for function, address, queues in ((VF_ALICE, ALICE, 2), (VF_BOB, BOB, 1)):
        first = bench.queue_home(function)
        bench.set_queues(function, first, queues)
        bench.add_address(0, address, None, function)
        for queue in range(first, first + queues):
            bench.shell.set_buffer_size(queue, BUFFER)
    bench.step(10_000)  # the example clears its counters
    assert bench.shell.read(register(bench, "STATUS")) == READY
    return bench


def register(bench: Bench, name: str) -> int:
    return bench.shell.regs.address("BOX", name, PLACE)


def window(bench: Bench, offset: int) -> int:
    return bench.shell.regs.base("BOX_WINDOW", PLACE) + offset


def read(bench: Bench, offset: int) -> int:
    return bench.shell.read(window(bench, offset))


def write(bench: Bench, offset: int, value: int) -> None:
    bench.shell.write(window(bench, offset), value)


def move(bench: Bench, source: int, target: int) -> None:
    write(bench, MOVE, 1 << 31 | target << 16 | source)


def counts(bench: Bench) -> dict[str, int]:
    return bench.shell.events("BOX", PLACE)


def to_wire(bench: Bench) -> list[bytes]:
    return [bytes.fromhex(event["hex"]) for event in bench.seen.wire[0]]


def post(bench: Bench, *queues: int, count: int = PLENTY) -> None:
    for queue in queues:
        bench.shell.post(queue, count, BUFFER)
    bench.step(1000)


@pytest.fixture
def bench(start: Start) -> Bench:
    return made(start, EXAMPLE, also=AT_WIRE)


@pytest.fixture
def alice(bench: Bench) -> int:
    return bench.queue_home(VF_ALICE)


@pytest.fixture
def bob(bench: Bench) -> int:
    return bench.queue_home(VF_BOB)


def test_a_module_counts_by_function_and_queue_and_passes_frames_of_all_sizes(
    bench: Bench, alice: int, bob: int
) -> None:
    random = Random(3)
    post(bench, alice, alice + 1, bob)
    sent = {ALICE: [], BOB: [], PS: []}
    for number in range(200):
        to = random.choice(list(sent))
        sent[to].append(frame(to, number, random.choice((60, 61, 300, 1514, 9600))))
        bench.rx(0, sent[to][-1])
        if number % 10 == 0:
            bench.step(20_000)
    bench.drain()
    assert got(bench, alice) + got(bench, alice + 1) == sent[ALICE] and got(bench, bob) == sent[BOB]
    assert of_ps(bench) == sent[PS]
    for function, queue, to in ((VF_ALICE, alice, ALICE), (VF_BOB, bob, BOB)):
        assert read(bench, BY_FUNCTION + 4 * function) == len(sent[to])
        assert sum(read(bench, BY_QUEUE + 4 * q) for q in range(queue, queue + bench.queues_each)) == len(sent[to])
    assert counts(bench)["rx_sent"] == counts(bench)["rx_passed"] == len(sent[ALICE] + sent[BOB])
    assert not counts(bench)["rx_denied"] and not counts(bench)["rx_no_buffer"]
    assert bench.shell.read(register(bench, "ID")).to_bytes(4, "big") == b"STER"


def test_a_frame_that_the_module_drops_costs_no_buffer(bench: Bench, bob: int) -> None:
    """Each buffer goes to a frame that arrives, however many are dropped between."""
    free = 12
    post(bench, bob, count=free)
    write(bench, DROP_TYPE, 0x0806)
    arp = BOB + WIRE + b"\x08\x06" + bytes(100)
    kept = [frame(BOB, number) for number in range(free)]
    for data in kept:
        for _ in range(3):
            bench.rx(0, arp)
        bench.rx(0, data)
    bench.drain()
    assert got(bench, bob) == kept
    assert read(bench, DROPPED) == 3 * free
    bench.rx(0, frame(BOB, 99))
    bench.drain()
    assert got(bench, bob) == kept and counts(bench)["rx_no_buffer"] == 1


def test_a_moved_frame_claims_the_buffers_of_the_queue_that_gets_it(bench: Bench, alice: int) -> None:
    """At line rate, and with too few buffers there: what does not fit is dropped and counted, and no buffer is lost."""
    random, free = Random(4), 40
    post(bench, alice + 1, count=free)
    move(bench, alice, alice + 1)
    came, number = [], 0
    for number in range(120):
        data = frame(ALICE, number, random.choice((60, 300, 2048, 2049, 9600)))
        bench.rx(0, data)
        if free >= (need := -(-len(data) // BUFFER)):
            free -= need
            came.append(data)
        if number % 10 == 0:
            bench.step(1000)
    bench.drain()
    assert got(bench, alice + 1) == came and not got(bench, alice)
    assert counts(bench)["rx_no_buffer"] == 120 - len(came) > 0
    assert read(bench, MOVED) == 120
    post(bench, alice + 1, count=20)
    more = [frame(ALICE, 1000 + number) for number in range(20)]
    for data in more:
        bench.rx(0, data)
    bench.drain()
    assert got(bench, alice + 1) == came + more, "buffers that came later are not used"


def test_a_module_cannot_send_to_a_queue_of_another_function(bench: Bench, alice: int, bob: int) -> None:
    post(bench, alice, alice + 1, bob)
    for target in (bob, bench.queue_home(VF_BOB + 1), bench.geometry.queues - 1):
        move(bench, alice, target)
        before = counts(bench)["rx_denied"]
        for number in range(10):
            bench.rx(0, frame(ALICE, number))
            bench.rx(0, frame(BOB, number))
        bench.drain()
        assert counts(bench)["rx_denied"] - before == 10
    assert not got(bench, alice) and len(got(bench, bob)) == 30
    assert all(data.startswith(BOB) for data in got(bench, bob))


def test_copies_of_a_broadcast_pass_the_module(bench: Bench, alice: int, bob: int) -> None:
    post(bench, alice, alice + 1, bob)
    for function in (VF_ALICE, VF_BOB):
        bench.set_flags(function, True, False, False, False)
    sent = [frame(BROADCAST, number, 700) for number in range(30)]
    for data in sent:
        bench.rx(0, data)
    bench.drain()
    assert got(bench, alice) + got(bench, alice + 1) == got(bench, bob) == sent


def test_a_modules_frames_are_checked_for_their_source_on_transmit(bench: Bench, alice: int, bob: int) -> None:
    random, sent = Random(5), []
    for number in range(100):
        good = frame(CAROL, number, random.choice((14, 60, 1514, 9600)), source=ALICE)
        sent.append(good)
        bench.h2c(alice, good)
        bench.h2c(alice, frame(CAROL, number, source=BOB))
        bench.h2c(bob, frame(CAROL, number, source=BOB), error=True)
        if number % 10 == 0:
            bench.step(20_000)
    bench.drain()
    assert to_wire(bench) == [data.ljust(60, b"\0") for data in sent]
    told = counts(bench)
    assert (told["tx_passed"], told["tx_sent"], told["tx_invalid"]) == (200, 200, 100)


def test_a_reset_of_a_function_under_traffic_costs_its_own_frames_only(bench: Bench, alice: int, bob: int) -> None:
    """Nothing of Alice reaches the host after the reset is answered, Bob misses nothing, and Alice begins anew."""
    post(bench, alice, alice + 1, bob)
    sent = []
    for number in range(300):
        bench.rx(0, frame(ALICE, number, 1514))
        sent.append(frame(BOB, number, 1514))
        bench.rx(0, sent[-1])
    bench.step(30_000)
    bench.function_reset(VF_ALICE)
    bench.step(1)
    before = len(got(bench, alice)) + len(got(bench, alice + 1))
    assert 0 < before < 300
    bench.drain()
    assert len(got(bench, alice)) + len(got(bench, alice + 1)) == before
    assert got(bench, bob) == sent
    bench.set_queues(VF_ALICE, alice, 1)
    bench.set_flags(VF_ALICE, False, False, False, False)
    post(bench, alice, count=3)
    more = [frame(ALICE, 1000 + number) for number in range(5)]
    for data in more:
        bench.rx(0, data)
    bench.drain()
    assert got(bench, alice)[-3:] == more[:3] and counts(bench)["rx_no_buffer"] == 2


@pytest.mark.long
def test_frames_in_the_box_do_not_outlive_the_reset_of_their_function(start: Start) -> None:
    """The box keeps frames of Alice while she is reset. None of them reaches the next function that has her queue."""
    bench = made(start, HOLDING)
    alice, bob = bench.queue_home(VF_ALICE), bench.queue_home(VF_BOB)
    bench.set_queues(VF_ALICE, alice, 1)
    post(bench, alice, bob)
    write(bench, 0, 1)
    for number in range(5):
        bench.rx(0, frame(ALICE, number))
    bench.step(20_000)
    assert counts(bench)["rx_passed"] == 5 and not bench.seen.c2h
    bench.function_reset(VF_ALICE)
    write(bench, 0, 0)
    bench.drain()
    assert not bench.seen.c2h and counts(bench)["rx_denied"] == 5

    bench.set_queues(VF_ALICE, alice, 1)
    bench.set_flags(VF_ALICE, False, False, False, False)
    post(bench, alice)
    write(bench, 0, 1)
    for number in range(5):
        bench.rx(0, frame(ALICE, number))
    bench.step(20_000)
    bench.function_reset(VF_ALICE)
    bench.set_queues(VF_BOB + 1, alice, 1)
    bench.set_flags(VF_BOB + 1, False, False, False, False)
    post(bench, alice)
    write(bench, 0, 0)
    bench.rx(0, frame(BOB, 1))
    bench.drain()
    assert got(bench, bob) == [frame(BOB, 1)] and not got(bench, alice)
    assert counts(bench)["rx_denied"] == 10
    assert bench.shell.events()["reset_timeout"] == 0


def test_smallest_frames_pass_at_line_rate(bench: Bench, bob: int) -> None:
    post(bench, bob)
    count = 2000
    for number in range(count):
        bench.rx(0, frame(BOB, number, 60))
        bench.h2c(bob, frame(WIRE, number, 60, source=BOB))
    bench.drain()
    assert got(bench, bob) == [frame(BOB, number, 60) for number in range(count)]
    events = bench.seen.wire[0]
    assert len(events) == count
    ns = (events[-1]["t_ps"] - events[100]["t_ps"]) / 1000
    rate = (count - 101) * (60 + 24) * 8 / ns
    assert rate > 0.99 * bench.rate, f"{rate:.1f} Gb/s of the wire"
    assert bench.shell.counters("PORT_COUNTERS")["rx_host_overflow"] == 0


@pytest.mark.long
def test_modules_at_both_places_work_at_once_with_beats_of_64_bytes(start: Start) -> None:
    bench = made(start, EXAMPLE, also=(*AT_WIRE, "--host-bytes", "64"))
    alice = bench.queue_home(VF_ALICE)
    post(bench, alice, alice + 1)
    write(bench, DROP_TYPE, 0x0806)
    move(bench, alice, alice + 1)
    kept = [frame(ALICE, number, size) for number, size in enumerate((60, 64, 65, 1514, 9600))]
    for data in kept:
        bench.rx(0, ALICE + WIRE + b"\x08\x06" + bytes(46))
        bench.rx(0, data)
        bench.h2c(alice, frame(CAROL, 1, len(data), source=ALICE))
    bench.drain()
    assert got(bench, alice + 1) == kept and len(to_wire(bench)) == len(kept)
    at_wire = bench.shell.regs.base("BOX_WINDOW", 0)
    for bus, below in (("pf", 0), ("ps", 0x100000)):
        assert bench.shell.read(at_wire - below, bus=bus) == len(kept)  # of ARP
        assert bench.shell.read(window(bench, DROPPED) - below, bus=bus) == len(kept)
        assert bench.shell.read(window(bench, MOVED) - below, bus=bus) == len(kept)


def test_box_in_reset_costs_the_ps_nothing(bench: Bench, bob: int) -> None:
    post(bench, bob)
    bench.shell.write(register(bench, "CONTROL"), 1)
    bench.step(1000)
    for number in range(50):
        bench.rx(0, frame(BOB, number))
        bench.rx(0, frame(PS, number))
        bench.ps_send(0, frame(WIRE, number, source=PS))
        bench.h2c(bob, frame(WIRE, number, source=BOB))
    let_ps_end(bench)
    assert of_ps(bench) == [frame(PS, number) for number in range(50)]
    assert to_wire(bench) == [frame(WIRE, number, source=PS) for number in range(50)]
    assert not got(bench, bob)
    assert (counts(bench)["rx_dropped"], counts(bench)["tx_dropped"]) == (50, 50)
    bench.shell.write(register(bench, "CONTROL"), 0)
    bench.step(10_000)
    bench.rx(0, frame(BOB, 77))
    bench.drain()
    assert got(bench, bob) == [frame(BOB, 77)]
