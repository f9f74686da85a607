# SPDX-License-Identifier: Apache-2.0
"""Traffic inside the card takes nothing from the wire's, from the PS's or from anybody's reset."""

from __future__ import annotations

import pytest
from bench import Bench
from checks import Counts, check
from conftest import Start
from meridian_golden.frame import BROADCAST
from test_isolation import ALICE, BOB, BUFFER, PS, VF_ALICE, VF_BOB, WIRE, frame, let_ps_end

FLR_NS = 50_000


@pytest.fixture
def bridge(start: Start) -> Bench:
    """Two VFs with plenty of buffers and the PS, with a small ring, on a port that switches."""
    bench = Bench(start(), ring_log2=4)
    bench.shell.enforce_credit(True)
    bench.enable_host(0, True, True)
    bench.set_ps_filter(0, True, True, False, False)
    bench.add_ps_address(0, PS)
    bench.set_veb(0, True)
    bench.ps[0].start()
    for function in range(bench.geometry.functions):
        bench.set_flags(function, False, False, False, False)
    for function, address in ((VF_ALICE, ALICE), (VF_BOB, BOB)):
        bench.set_queues(function, bench.queue_home(function), 1)
        bench.set_flags(function, True, False, False, False)
        bench.add_address(0, address, None, function)
        bench.shell.set_buffer_size(bench.queue_home(function), BUFFER)
        bench.shell.post(bench.queue_home(function), 60_000, BUFFER)
    bench.shell.run(10_000)
    return bench


def flood(bench: Bench, destination: bytes, count: int, size: int, first: int = 100_000) -> None:
    for number in range(first, first + count):
        bench.h2c(bench.queue_home(VF_ALICE), frame(destination, number, size, source=ALICE))


@pytest.mark.parametrize("size", [60, 65, 1514])
def test_wire_keeps_line_rate(bridge: Bench, size: int) -> None:
    """Bob gets all that the wire brings at line rate while Alice sends him all that DMA can; she gets the rest."""
    frames = 150 if size > 1000 else 600
    flood(bridge, BOB, 3 * frames, size)
    for number in range(frames):
        bridge.rx(0, frame(BOB, number, size))
    bridge.step(1000)
    bridge.drain()
    counts = Counts(bridge)
    assert counts.port[0]["rx_to_host"] == frames and counts.port[0]["rx_host_overflow"] == 0
    wire = [e for e in bridge.seen.c2h if bytes.fromhex(e["hex"])[6:12] == WIRE]
    assert len(wire) == frames
    last = [e["t_ps"] for e in wire]
    seconds = (last[-1] - last[0]) / 1e12
    assert (frames - 1) * (size + 24) * 8 / seconds > 0.98 * 25e9, "the wire's frames were held up"
    switched, full = (counts.verdict("tx", ("function", VF_ALICE), v) for v in ("switched", "vebFull"))
    assert switched + full == 3 * frames and switched > frames // 4
    assert len(bridge.seen.c2h) == frames + switched
    check(bridge, lossless=False)


def test_flood_of_the_ps_costs_the_wire_nothing(bridge: Bench) -> None:
    """A PS too slow for Alice's flood gets every frame that the wire has for it, each with its timestamp."""
    expected = []
    flood(bridge, PS, 4000, 60)
    for number in range(400):
        if number % 4 == 0:
            expected.append(frame(PS, number))
            bridge.rx(0, expected[-1])
        else:
            bridge.rx(0, frame(BOB, number, 300))
        if number % 20 == 0:
            bridge.step(2200)  # in which the wire brings less than half a ring
    let_ps_end(bridge)
    bridge.drain()
    assert [got.data for got in bridge.seen.ps[0] if not got.inside] == expected
    ring = bridge.ps[0].counters()
    assert ring["rx_inside"] > 100 and ring["rx_no_descriptor"] == 0
    counts = Counts(bridge)
    assert counts.port[0]["rx_ps_overflow"] == 0
    check(bridge, lossless=False)


def test_storm_of_a_function_leaves_the_wire_its_broadcasts(bridge: Bench) -> None:
    """Half of the room for copies is the wire's, however many broadcasts a function sends."""
    for function in range(VF_BOB + 1, bridge.geometry.functions):
        bridge.set_queues(function, bridge.queue_home(function), 1)
        bridge.set_flags(function, True, False, False, False)
        bridge.shell.post(bridge.queue_home(function), 60_000)
    bridge.step(2000)
    flood(bridge, BROADCAST, 600, 1000)
    for number in range(30):
        bridge.rx(0, frame(BROADCAST, number, 200))
        bridge.step(2000)
    bridge.drain()
    everybody = bridge.geometry.functions - VF_ALICE
    of_wire = [e for e in bridge.seen.c2h if bytes.fromhex(e["hex"])[6:12] == WIRE]
    assert len(of_wire) == 30 * everybody
    counts = Counts(bridge)
    cut = counts.verdict("rx", ("port", 0), "copyCut")
    assert cut + counts.slot["function", VF_ALICE]["tx_copies_veb_full"] > 0, "this was no storm"
    check(bridge, lossless=False)


def test_host_in_reset_costs_the_ps_nothing(bridge: Bench) -> None:
    """What the PS has for a function goes to the wire once there is no host."""
    bridge.sim.send("reset", domain="host", on=True)
    bridge.step(2000)
    bridge.golden.ports[0].veb = False  # the host's registers are in reset
    for number in range(100):
        bridge.ps_send(0, frame(BOB if number % 2 else BROADCAST, number, source=PS))
        if number % 10 == 0:
            bridge.step(1000)
    let_ps_end(bridge)
    sent = [bytes.fromhex(event["hex"]) for event in bridge.seen.wire[0]]
    assert sent == [f.data for f in bridge.ps_sent[0]]
    bridge.sim.send("reset", domain="host", on=False)
    bridge.step(20_000)


def test_reset_of_a_function_waits_for_its_frames_inside(bridge: Bench) -> None:
    """FLR of Alice under her own flood: it ends, and nothing of hers reaches Bob afterwards."""
    flood(bridge, BOB, 400, 1514)
    bridge.step(10_000)
    before = bridge.sim.now_ns()
    bridge.function_reset(VF_ALICE)
    assert bridge.sim.now_ns() - before < FLR_NS
    bridge.sim.take()
    bridge.step(5_000)
    last = [e for e in bridge.seen.c2h if e["queue"] == bridge.queue_home(VF_BOB)][-1:]
    bridge.step(50_000)
    later = [e for e in bridge.seen.c2h if e["queue"] == bridge.queue_home(VF_BOB)][-1:]
    assert later == last, "a frame of a function that is reset is still inside the card"
    bridge.shell.drain()
    counts = Counts(bridge)
    assert counts.total("tx", ["noFunction", "disabled"]) > 0
