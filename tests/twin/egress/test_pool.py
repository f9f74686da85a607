# SPDX-License-Identifier: Apache-2.0
"""A shell with a pool of cells: eight classes a port in one memory, by strict order and weights, and what they lose.

tests/twin/egress/test_egress.py has the same loads on a shell with two queues a port.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from senders import OVERHEAD, US, Load, Ports, sending
from test_egress import FIRST, SECOND, must_get_its_turns, plain, turns
from test_flow_control import MOST, data, pause, pfc
from test_flow_control import World as Wires
from test_frames import connect

__all__ = ["connect"]

POOL = ("--ports", "2", "--egress", "pool")
CLASSES = 8

pytestmark = pytest.mark.long  # the shell is built for it alone


@pytest.fixture
def start(built_card: Callable[..., Path], tmp_path: Path) -> Iterator[Callable[..., Ports]]:
    with ExitStack() as stack:
        yield lambda *loads: stack.enter_context(sending(built_card(*POOL), tmp_path, *loads))


@pytest.fixture
def wires(run_card: Any, connect: Any) -> Wires:
    card = run_card("--time", "lockstep", "--seed", "1", configuration=POOL)
    return Wires(card, connect(card, lockstep=True))


def place(card: Any, register: str, port: int = 0) -> int:
    return card.regs.address("EGRESS", register, index=port)


def counter(card: Any, port: int, number: int, kind: str) -> int:
    return card.read64(card.regs.address("EGRESS", f"COUNTER_PORT{port}_CLASS{number}_{kind.upper()}"))


def cells(card: Any) -> tuple[int, int]:
    """In use now, and the most so far."""
    word = card.read(place(card, "CELLS"))
    return word & 0xFFFF, word >> 16


def weigh(card: Any, port: int, strict: int, **weights: int) -> None:
    """Weights by class: class3=20."""
    card.write(place(card, "STRICT", port), strict)
    for half in (0, 4):
        word = sum(weights.get(f"class{half + k}", 1) << 8 * k for k in range(4))
        card.write(place(card, f"WEIGHTS_{half}_TO_{half + 3}", port), word)
    card.read(place(card, "STRICT", port))


def limit(card: Any, port: int, number: int, highest: int = 0, lowest: int = 0, burst: int = 256) -> None:
    """Rates of a class in Mb/s on the line, or none; bursts in 64 bytes."""
    unit = card.read(place(card, "RATE_UNIT"))
    for kind, rate in ((0, highest), (2, lowest)):
        at = 32 * port + 4 * number + kind
        card.write(place(card, "RATES", at + 1), burst if rate else 0)
        card.write(place(card, "RATES", at), rate * 1_000_000 // unit)
    card.read(place(card, "RATES", at))


def on_line(world: Ports, port: int, *classes: int) -> list[float]:
    """Mb/s of each class on the line in 400 us, with preamble, FCS and gap."""
    card = world.host.card

    def taken() -> list[int]:
        counts = [[counter(card, port, each, kind) for kind in ("bytes", "frames")] for each in classes]
        return [count + OVERHEAD * frames for count, frames in counts]

    began, before = world.host.link.advance(0), taken()
    world.run(400 * US)
    ended, after = world.host.link.advance(0), taken()
    rates = [(new - old) * 8e6 / (ended - began) for old, new in zip(before, after, strict=True)]
    print(f"classes {classes} of port {port}: {[round(rate) for rate in rates]} Mb/s")
    return rates


def frame(size: int) -> float:
    """Mb/s of one frame in these 400 us."""
    return (size + OVERHEAD) * 8 / 400


def drained(world: Ports) -> None:
    """All that is in the rings goes out, and nothing new comes."""
    sizes, world.sizes = world.sizes, {}
    world.run(600 * US)
    world.sizes = sizes


def test_a_frame_of_each_class_crosses_the_shell(wires: Wires) -> None:
    card = wires.host.card
    assert cells(card) == (0, 0)
    sent = wires.send(*range(8))
    wires.run(20 * US)
    assert sorted(data(wires.sent())) == sorted(sent)  # a higher class goes first
    assert [counter(card, 0, number, "frames") for number in range(CLASSES)] == [1] * 8
    assert [counter(card, 0, number, "bytes") for number in range(CLASSES)] == [len(each) for each in sent]
    assert not any(counter(card, port, number, "lost") for port in range(2) for number in range(CLASSES))
    used, peak = cells(card)
    assert used == 0 and peak >= 2
    card.write(place(card, "CELLS"), 0)
    assert cells(card) == (0, 0)


def test_settings_are_read_back_and_all_are_defined(wires: Wires) -> None:
    card = wires.host.card
    sizes, reserves = card.read(place(card, "SIZES")), card.read(place(card, "RESERVES"))
    total, paced, least = sizes & 0xFFFF, reserves & 0xFFFF, reserves >> 16
    assert sizes >> 16 == 256 and 2 * (paced + CLASSES * least) < total, "the reserves are more than there is"
    for register, reset, mask in (
        ("THRESHOLDS", 0x33333333, 0x77777777),
        ("CLASSES", 0x76543210, 0x77777777),
        ("STRICT", 0xFF, 0xFF),
        ("WEIGHTS_0_TO_3", 0x01010101, 0xFFFFFFFF),
        ("WEIGHTS_4_TO_7", 0x01010101, 0xFFFFFFFF),
    ):
        assert card.read(place(card, register)) == reset
        for value in (0xFFFFFFFF, 0x5A5A5A5A, 0):
            card.write(place(card, register), value)
            assert card.read(place(card, register)) == value & mask
    for k in range(2 * CLASSES * 4):
        mask, at = 0xFFFF if k % 2 else 0x1FFFF, place(card, "RATES", k)
        assert card.read(at) == 0
        card.write(at, 0xFFFFFFFF - k)
        assert card.read(at) == (0xFFFFFFFF - k) & mask
        card.write(at, 0)
    # All priorities are in class 0 now, which is not strict and has weight 0: frames go all the same.
    sent = wires.send(*range(8))
    wires.run(20 * US)
    assert data(wires.sent()) == sent and counter(card, 0, 0, "frames") == 8


def test_pfc_stops_one_class_and_no_other(wires: Wires) -> None:
    wires.set("RECEIVE", pfc=0xFF)
    wires.receive(pfc(5, MOST))
    held, free = wires.send(5, 5), wires.send(4, 6, 7, 0)
    other = wires.send(5, port=1)
    wires.run(60 * US)
    assert sorted(data(wires.sent())) == sorted(free) and data(wires.sent(1)) == other
    assert cells(wires.host.card)[0] > 0
    wires.receive(pfc(5, 0))
    wires.run(5 * US)
    assert data(wires.sent()) == held and cells(wires.host.card)[0] == 0


def test_pause_stops_all_classes_of_a_port(wires: Wires) -> None:
    wires.set("RECEIVE", pause=1)
    wires.receive(pause(MOST))
    held = wires.send(5, 1, 7)
    other = wires.send(5, port=1)
    wires.run(60 * US)
    assert not wires.sent() and data(wires.sent(1)) == other
    wires.receive(pause(0))
    wires.run(5 * US)
    assert sorted(data(wires.sent())) == sorted(held)


@pytest.mark.parametrize(("queues", "first", "second"), [(8, 1514, 1514), (8, 60, 60), (1, 1514, 1514), (8, 9600, 64)])
def test_a_port_sends_all_that_its_turns_at_the_host_bring(
    start: Callable[..., Ports], queues: int, first: int, second: int
) -> None:
    must_get_its_turns(start, queues, first, second)


@pytest.mark.parametrize("size", [9600, 5000, 1514, 300, 64])
def test_frames_of_any_size_fill_both_lines(start: Callable[..., Ports], size: int) -> None:
    """Eight queues on each port offer 32 Gb/s to a line of 25; beside them goes another size."""
    loads = plain(FIRST, 0, 8, size), plain(SECOND, 1, 8, size)
    world = start(*loads)
    rates = world.measure(*loads)
    print(f"{size} bytes: {rates[0]:.2f} and {rates[1]:.2f} Gb/s")
    assert min(rates) > 0.985 * 25


@pytest.mark.parametrize("percent", [40, 0])
def test_a_slow_or_paused_port_holds_up_no_other(start: Callable[..., Ports], percent: int) -> None:
    slow, other = plain(FIRST, 0, 8, 1514), plain(SECOND, 1, 8, 1514)
    world = start(slow, other)
    world.control.ask("share", port=0, percent=percent)
    rates = world.measure(slow, other)
    assert rates[0] == pytest.approx(25 * percent / 100, rel=0.02, abs=0.15)
    assert rates[1] > 0.99 * 25


@pytest.mark.parametrize("size", [60, 1514, 9014])
def test_paced_queues_lose_nothing_beside_others_on_their_port(start: Callable[..., Ports], size: int) -> None:
    paced, other = Load(FIRST, 0, 4, size), plain(SECOND, 0, 8, 1514)
    world = start(paced, other)
    world.go(paced, other)
    world.run(100 * US)
    rates = world.rates(300 * US)
    lost = world.count("tx_queue_full")
    line = sum(rates[load.function] * (load.size + OVERHEAD) / load.size for load in (paced, other))
    print(f"{rates} Mb/s, {line:.0f} on the line, {lost} lost")
    assert line > 0.98 * 25000
    share = 1000 * turns(paced, other) * size / (size + OVERHEAD)
    assert rates[FIRST] > min(2000, 0.97 * share) and rates[SECOND] > 2000
    assert lost[FIRST] == 0 and lost[SECOND] > 100


def test_classes_share_a_line_by_their_weights(start: Callable[..., Ports]) -> None:
    """Two functions, each with frames of a size of its own, in classes 1 and 3, with weights 10 and 30."""
    light, heavy = plain(FIRST, 0, 8, 700), plain(SECOND, 0, 8, 1514)
    world = start(light, heavy)
    world.tags = {FIRST: 1 << 13, SECOND: 3 << 13}
    card = world.host.card
    weigh(card, 0, 0, class1=30, class3=10)
    world.go(light, heavy)
    world.run(100 * US)
    rates = world.rates(300 * US)
    share = rates[FIRST] / sum(rates.values())
    print(f"{rates} Mb/s, {share:.3f} of the bytes for weight 30 of 40")
    assert share == pytest.approx(0.75, abs=0.02)
    weigh(card, 0, 1 << 3, class1=30)
    world.run(60 * US)
    later = world.rates(120 * US)
    print(f"class 3 strict: {later} Mb/s")
    assert later[SECOND] > 0.97 * 25000 * 1514 / (1514 + OVERHEAD)


@pytest.mark.parametrize(("size", "first", "second"), [(64, 600, 300), (1514, 5000, 2000), (9600, 2000, 5000)])
def test_a_class_keeps_to_its_highest_rate_and_another_has_the_rest(
    start: Callable[..., Ports], size: int, first: int, second: int
) -> None:
    """The class is strict, and its rate changes under traffic.

    The DMA engine brings frames of 9,600 bytes for longer than the other class has something in the pool.
    """
    held, free = plain(FIRST, 0, 4, size), plain(SECOND, 0, 12, 1514)
    world = start(held, free)
    world.tags = {FIRST: 3 << 13, SECOND: 1 << 13}
    card = world.host.card
    world.go(held, free)
    for highest in (first, second):
        limit(card, 0, 3, highest=highest)
        world.run(200 * US)
        rates = on_line(world, 0, 3, 1)
        assert rates[0] == pytest.approx(highest, rel=0.002, abs=2 * frame(size))
        assert rates[1] > 0.98 * (25000 - highest) or size == 9600
    limit(card, 0, 3)
    world.run(100 * US)
    assert on_line(world, 0, 3)[0] > 1.2 * max(first, second), "a class whose rate was taken away is held no more"


def test_a_class_has_its_lowest_rate_beside_a_strict_one(start: Callable[..., Ports]) -> None:
    """Without it, the strict class has the whole line."""
    low, high = plain(FIRST, 0, 8, 700), plain(SECOND, 0, 8, 1514)
    world = start(low, high)
    world.tags = {FIRST: 1 << 13, SECOND: 3 << 13}
    card = world.host.card
    limit(card, 0, 1, lowest=4000)
    world.go(low, high)
    world.run(100 * US)
    rates = on_line(world, 0, 1, 3)
    assert rates[0] == pytest.approx(4000, rel=0.002, abs=2 * frame(700)) and sum(rates) > 0.99 * 25000
    limit(card, 0, 1)
    world.run(100 * US)
    assert on_line(world, 0, 1)[0] < 0.02 * 25000


def test_a_rate_of_one_port_holds_no_class_of_another(start: Callable[..., Ports]) -> None:
    held, other = plain(FIRST, 0, 4, 1514), plain(SECOND, 1, 8, 1514)
    world = start(held, other)
    limit(world.host.card, 0, 0, highest=1000)
    world.go(held, other)
    world.run(60 * US)
    assert on_line(world, 0, 0)[0] == pytest.approx(1000, rel=0.002, abs=2 * frame(1514))
    assert on_line(world, 1, 0)[0] > 0.99 * 25000


def test_groups_of_functions_share_a_class(start: Callable[..., Ports]) -> None:
    """A function with one queue loses none of its turns beside one that floods the same class with eight."""
    flood, other = plain(FIRST, 0, 8, 1514), plain(SECOND, 0, 1, 1514)
    world = start(flood, other)
    world.go(flood, other)
    world.run(100 * US)
    rates, lost = world.rates(200 * US), world.count("tx_queue_full")
    turn = 1000 * turns(other, flood) * 1514 / (1514 + OVERHEAD)
    print(f"{rates} Mb/s of {turn:.0f} by turns, {lost} lost")
    assert rates[SECOND] > 0.97 * turn and lost[SECOND] == 0 and lost[FIRST] > 100


def test_each_frame_is_sent_or_counted_as_lost(start: Callable[..., Ports]) -> None:
    loads = plain(FIRST, 0, 8, 300), plain(SECOND, 1, 8, 300)
    world = start(*loads)
    world.tags = {SECOND: 0xA000}
    card = world.host.card
    before = world.control.ask("stats")["ports"]
    world.go(*loads)
    world.run(50 * US)
    assert cells(card)[0] > 0
    drained(world)
    after = world.control.ask("stats")["ports"]
    sent, lost = world.count("tx_sent"), world.count("tx_queue_full")
    for load, number in zip(loads, (0, 5), strict=True):
        wire = after[load.port]["tx"]["frames"] - before[load.port]["tx"]["frames"]
        assert wire == sent[load.function] == counter(card, load.port, number, "frames") > 1000
        assert counter(card, load.port, number, "bytes") == 300 * wire
        assert lost[load.function] == counter(card, load.port, number, "lost") > 500
        assert not any(counter(card, load.port, other, "lost") for other in range(CLASSES) if other != number)
    used, peak = cells(card)
    assert used == 0 and peak > 100


def test_a_reset_of_a_function_frees_its_cells(start: Callable[..., Ports]) -> None:
    """It comes while the DMA engine brings frames of the function, and others of it wait for a line that stands still."""
    gone, other = plain(FIRST, 0, 8, 9000), plain(SECOND, 1, 8, 300)
    world = start(gone, other)
    card = world.host.card
    world.control.ask("share", port=0, percent=0)
    world.go(gone, other)
    world.run(60 * US)
    assert cells(card)[0] > 100
    world.go(other)
    world.host.link.reset_function(FIRST)
    world.control.ask("share", port=0, percent=100)
    assert world.measure(other)[1] > 0.99 * 25
    drained(world)
    # Whole frames that waited have left by the wire.
    assert cells(card)[0] == 0 and 0 < counter(card, 0, 0, "frames") < 20
