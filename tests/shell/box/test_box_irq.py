# SPDX-License-Identifier: Apache-2.0
"""Interrupts of users' modules to host and PS, and the PTP clock that they see. A module that interrupts without end is
told of as often as its gap allows, and not at all until it has been acknowledged."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench import Bench
from conftest import ROOT, Start
from meridian_card.shell import OKAY, SLVERR
from test_host_box import PLACE, READY
from test_isolation import BOB, WIRE

pytestmark = pytest.mark.long

ALARM = ROOT / "examples" / "boxes" / "frame_alarm.v"
HOLDING = Path(__file__).with_name("holding_host_box.sv")
CONFIGURATION = ("--box", str(ALARM), "--host-box", str(HOLDING))
ENABLE, VECTOR = 1, 5
PF = 2
GAP = 5000  # cycles of 4 ns
MILLISECOND = 1_000_000  # of bench.step
ONCE, ENDLESS = 0, 0xFF


@pytest.fixture
def bench(start: Start) -> Bench:
    bench = Bench(start("--use-idle-pin", configuration=CONFIGURATION), ring_log2=10)
    bench.enable_host(0, True, True)
    for place in (0, PLACE):
        assert bench.shell.read(register(bench, "STATUS", place)) == READY
        bench.shell.write(register(bench, "IRQ_GAP", place), GAP)
    ps_write(bench, "GAP", GAP)
    bench.step(10_000)
    return bench


def register(bench: Bench, name: str, place: int = 0) -> int:
    return bench.shell.regs.address("BOX", name, place)


def ps_address(bench: Bench, name: str) -> int:
    return bench.shell.regs.address("PS_BOX_IRQ", name) - 0x100000


def ps_write(bench: Bench, name: str, value: int) -> None:
    bench.shell.write(ps_address(bench, name), value, bus="ps")


def ps_read(bench: Bench, name: str) -> int:
    return bench.shell.read(ps_address(bench, name), bus="ps")


def listen(bench: Bench, place: int = 0, function: int = PF) -> None:
    bench.shell.write(register(bench, "HOST_IRQ", place), VECTOR << 16 | ENABLE, function=function)


def acknowledge(bench: Bench, place: int = 0) -> None:
    bench.shell.write(register(bench, "HOST_PENDING", place), 1)


def pending(bench: Bench, place: int = 0) -> int:
    return bench.shell.read(register(bench, "HOST_PENDING", place))


def alarm(bench: Bench, kind: int = ONCE) -> None:
    bench.shell.rx(BOB + WIRE + b"\x88\xb6" + bytes([kind]) * 46)
    bench.step(2000)


def messages(bench: Bench) -> list[tuple[int, int]]:
    """Function and vector of each message since the last call."""
    bench.step(2000)
    came = [event for event in bench.seen.interrupts if event["ev"] == "usr_irq"]
    bench.seen.interrupts = [event for event in bench.seen.interrupts if event["ev"] != "usr_irq"]
    return [(event["fn"], event["vector"]) for event in came]


def levels(bench: Bench) -> list[bool]:
    """Changes of the PS's interrupt since the last call."""
    bench.step(2000)
    came = [event for event in bench.seen.interrupts if event["ev"] == "ps_irq"]
    bench.seen.interrupts = [event for event in bench.seen.interrupts if event["ev"] != "ps_irq"]
    return [event["level"] for event in came]


def test_an_edge_is_a_message_to_the_function_that_listens(bench: Bench) -> None:
    alarm(bench)
    assert pending(bench) == 1 and not messages(bench), "nobody listens"
    listen(bench)
    assert messages(bench) == [(PF, VECTOR)], "what was pending before is told"
    assert bench.shell.read(register(bench, "HOST_IRQ")) == VECTOR << 16 | PF << 8 | ENABLE
    alarm(bench)
    assert not messages(bench), "masked until the acknowledgement"
    acknowledge(bench)
    assert not pending(bench)
    bench.step(5 * GAP)
    assert not messages(bench), "an edge before the acknowledgement is covered by it"
    alarm(bench)
    assert messages(bench) == [(PF, VECTOR)]
    acknowledge(bench)
    alarm(bench)
    assert not messages(bench) and not pending(bench), "not again within the gap"
    bench.drain()
    assert messages(bench) == [(PF, VECTOR)], "and not lost"
    counts = bench.shell.events("BOX")
    assert (counts["irq_raised"], counts["irq_sent"], counts["irq_failed"]) == (4, 3, 0)


def test_a_babbler_costs_a_message_a_gap_and_none_without_an_acknowledgement(bench: Bench) -> None:
    listen(bench)
    alarm(bench, ENDLESS)
    assert messages(bench) == [(PF, VECTOR)]
    bench.step(20 * 4 * GAP)
    assert not messages(bench)
    told, began = 0, bench.sim.now_ns()
    while bench.sim.now_ns() - began < 20 * 4 * GAP:
        acknowledge(bench)
        told += len(messages(bench))
    gaps = (bench.sim.now_ns() - began) / (4 * GAP)
    assert gaps - 5 <= told <= gaps + 1
    counts = bench.shell.events("BOX")
    assert counts["irq_raised"] > 40 * 4 * GAP / 8 * 0.9, "each edge counts"
    assert counts["irq_sent"] == told + 1
    bench.shell.write(register(bench, "HOST_IRQ"), 0)
    acknowledge(bench)
    bench.step(3 * 4 * GAP)
    assert pending(bench) and not messages(bench)
    alarm(bench)  # ends it
    acknowledge(bench)
    bench.drain()


def test_a_message_that_fails_is_counted_and_a_reset_of_the_function_ends_them(bench: Bench) -> None:
    listen(bench)
    bench.sim.send("usr_irq", fail=True)
    alarm(bench)
    assert not messages(bench) and pending(bench)
    counts = bench.shell.events("BOX")
    assert (counts["irq_sent"], counts["irq_failed"]) == (1, 1)
    bench.step(2 * MILLISECOND)
    assert not messages(bench)
    counts = bench.shell.events("BOX")
    assert 2 <= counts["irq_failed"] <= 4, "it is tried again each millisecond"
    bench.sim.send("usr_irq", fail=False)
    bench.step(MILLISECOND + 1000)
    assert messages(bench) == [(PF, VECTOR)], "a vector that was masked for a moment loses no message"
    bench.step(2 * MILLISECOND)
    assert not messages(bench), "it is told once"
    listen(bench)
    assert messages(bench) == [(PF, VECTOR)], "who listens anew is told of what is pending"
    bench.shell.function_reset(PF + 1)
    assert bench.shell.read(register(bench, "HOST_IRQ")) & ENABLE
    bench.shell.function_reset(PF)
    assert not bench.shell.read(register(bench, "HOST_IRQ")) & ENABLE
    acknowledge(bench)
    bench.step(8 * GAP)
    alarm(bench)
    assert pending(bench) and not messages(bench)


def test_a_vector_that_the_function_has_not_fails(bench: Bench) -> None:
    bench.shell.write(register(bench, "HOST_IRQ"), 8 << 16 | ENABLE, function=PF)
    alarm(bench)
    assert not messages(bench)
    assert bench.shell.events("BOX")["irq_failed"] >= 1
    bench.shell.write(register(bench, "HOST_IRQ"), 7 << 16 | ENABLE, function=PF)
    assert messages(bench) == [(PF, 7)]
    acknowledge(bench)
    bench.step(MILLISECOND)
    bench.drain()


def test_host_and_ps_write_their_own_registers_only(bench: Bench) -> None:
    alarm(bench)
    for name in ("HOST_IRQ", "HOST_PENDING"):
        assert bench.shell.access(register(bench, name) - 0x100000, 1, bus="ps")[1] == SLVERR
    assert pending(bench) == 1 and not messages(bench)
    ps_write(bench, "ENABLE", 1)
    base = bench.shell.regs.address("PS_BOX_IRQ", "ENABLE")
    for offset in (0, 4, 8):
        bench.shell.access(base + offset, 0xFF)
    assert bench.shell.read(base) == 1 and ps_read(bench, "PENDING") == 1 and ps_read(bench, "GAP") == GAP
    # Of the same page the PS may write the rest.
    assert bench.shell.access(register(bench, "IRQ_GAP") - 0x100000, GAP, bus="ps")[1] == OKAY


def test_the_ps_has_a_level_for_each_module_that_it_asks_for(bench: Bench) -> None:
    hold = bench.shell.regs.base("BOX_WINDOW", PLACE)
    alarm(bench)
    assert ps_read(bench, "PENDING") == 1 and not levels(bench)
    bench.shell.write(hold, 1)
    bench.step(1000)
    assert ps_read(bench, "PENDING") == 1 | 1 << PLACE and pending(bench, PLACE) == 1
    ps_write(bench, "ENABLE", 1 << PLACE)
    assert levels(bench) == [True]
    ps_write(bench, "PENDING", 1)
    assert not levels(bench)
    ps_write(bench, "PENDING", 1 << PLACE)
    assert levels(bench) == [False]
    bench.step(5 * GAP)
    assert not levels(bench), "a level of the module is one edge"
    bench.shell.write(hold, 0)
    bench.shell.write(hold, 1)
    assert levels(bench) == [True]
    listen(bench, PLACE, function=0)
    assert messages(bench) == [(0, VECTOR)]


def test_a_babbler_is_told_to_the_ps_once_a_gap(bench: Bench) -> None:
    ps_write(bench, "ENABLE", 1)
    alarm(bench, ENDLESS)
    assert levels(bench) == [True]
    bench.step(10 * 4 * GAP)
    assert not levels(bench), "it stands until the acknowledgement"
    told, began = 0, bench.sim.now_ns()
    while bench.sim.now_ns() - began < 20 * 4 * GAP:
        ps_write(bench, "PENDING", 1)
        told += levels(bench).count(True)
    gaps = (bench.sim.now_ns() - began) / (4 * GAP)
    assert gaps - 5 <= told <= gaps + 1
    # The host's side in reset holds nothing of it up.
    bench.sim.send("reset", domain="host", on=True)
    ps_write(bench, "PENDING", 1)
    bench.step(8 * GAP)
    ps_write(bench, "PENDING", 1)
    bench.step(8 * GAP)
    assert ps_read(bench, "PENDING") == 0
    bench.sim.send("reset", domain="host", on=False)


def seen_time(bench: Bench) -> int | None:
    """What the module at the host sees, in ns."""
    at = bench.shell.regs.base("BOX_WINDOW", PLACE)
    if not bench.shell.read(at + 4):
        return None
    return bench.shell.read(at + 12) * 10**9 + bench.shell.read(at + 8)


def test_a_module_sees_the_time_of_the_ptp_clock(bench: Bench) -> None:
    """The card's clock is 0 at the end of its reset, and so are nearly those of the simulation."""
    since = bench.sim.now_ns() - seen_time(bench)
    for _ in range(5):
        bench.step(77_777)
        assert abs(bench.sim.now_ns() - seen_time(bench) - since) < 300, "an access takes some cycles more or less"
    bench.sim.send("reset", domain="ps", on=True)
    bench.shell.run(5000)
    assert seen_time(bench) is None
    bench.sim.send("reset", domain="ps", on=False)
    began = bench.sim.now_ns()
    bench.shell.run(2000)
    assert abs(seen_time(bench) - (bench.sim.now_ns() - began)) < 300
