# SPDX-License-Identifier: Apache-2.0
"""Transmit rates of functions, measured at the port in the card's own time; nothing is dropped for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from meridian_twin import CardProcess, QueueSetting
from meridian_twin.contexts import Select
from senders import PACED, PLAIN, World
from zcu106 import ZCU106

pytestmark = pytest.mark.seconds(35)
FIRST = 4
MS = 10**9


@pytest.fixture
def world(built_card: Any, request: pytest.FixtureRequest) -> Iterator[World]:
    options = ("--time", "lockstep", "--seed", "1", "--wire", "0=none")
    with CardProcess(built_card(), *options) as card:
        world = World(card)
        yield world
        world.host.close()


def test_a_vf_keeps_its_maximum_and_harms_nobody(world: World) -> None:
    """The PF's queues are those of any public driver."""
    world.start(PLAIN, range(FIRST, FIRST + 2), PACED)
    world.host.card.set_tx_rate(FIRST, maximum=500)
    world.host.settle()
    world.sizes = {0: 1514, FIRST: 1514}
    world.run(MS // 2)
    rates = world.rates(4 * MS)
    assert rates[FIRST] == pytest.approx(500, rel=0.05)
    assert rates[0] > 0.9 * (25000 - 500) * 1514 / 1538
    verdicts = world.host.card.counters("FUNCTION", FIRST)
    assert {name for name, count in verdicts.items() if name.startswith("tx_") and count} == {"tx_sent", "tx_bytes"}


def test_without_a_rate_a_paced_queue_sends_at_line_rate(world: World) -> None:
    world.start(PACED, range(FIRST, FIRST + 1))
    world.sizes = {FIRST: 1514}
    world.run(MS // 2)
    assert world.rates(MS)[FIRST] > 0.98 * 25000 * 1514 / 1538


@pytest.mark.long
def test_64_byte_frames_of_many_paced_queues_fill_the_line(world: World) -> None:
    """A frame takes 84 bytes of the line: 37.2 million a second."""
    world.start(QueueSetting(ring=257, paced=True), range(FIRST, FIRST + 4), queues=8)
    world.sizes = dict.fromkeys(range(FIRST, FIRST + 4), 60)
    world.run(MS // 10)
    began, before = world.host.link.advance(0), world.count("tx_sent")
    world.run(MS // 5)
    ended, after = world.host.link.advance(0), world.count("tx_sent")
    frames = [after[f] - before[f] for f in world.sizes]
    assert sum(frames) * 1e6 / (ended - began) > 0.98 * 25000 / (8 * 84)
    assert min(frames) > 0.95 * max(frames)


@pytest.mark.long  # PacerTest shows that the block holds minima
def test_a_minimum_is_held_on_a_full_line(world: World) -> None:
    functions = range(FIRST, FIRST + 4)
    world.start(PACED, functions)
    world.host.card.set_tx_rate(FIRST, minimum=14000)
    world.host.card.set_tx_rate(FIRST + 1, maximum=2000, minimum=1000)
    world.host.settle()
    world.sizes = {FIRST: 300, FIRST + 1: 700, FIRST + 2: 1514, FIRST + 3: 9014}
    world.run(MS)
    rates = world.rates(2 * MS)
    assert rates[FIRST] > 0.98 * 14000
    assert 0.98 * 1000 < rates[FIRST + 1] < 1.05 * 2000
    line = sum(rates[f] * (size + 24) / size for f, size in world.sizes.items())
    assert line > 0.98 * 25000


@pytest.mark.long  # PacerTest shows that the block survives stops and resets
def test_queues_stop_and_functions_are_reset_while_they_wait(world: World) -> None:
    world.start(PACED, range(FIRST, FIRST + 2))
    host = world.host
    for function in (FIRST, FIRST + 1):
        host.card.set_tx_rate(function, maximum=1000)
    host.settle()
    world.sizes = {FIRST: 1514, FIRST + 1: 300}
    world.run(MS)
    host.contexts.invalidate_queue(64)
    stopped = host.functions[FIRST].pairs.pop(0)
    host.link.reset_function(FIRST + 1)
    assert host.contexts.read(Select.SW_H2C, 66)["enable"] == 0
    world.sizes.pop(FIRST + 1)
    world.run(2 * MS)  # what was on its way has come, or is taken as lost
    assert world.rates(2 * MS)[FIRST] == pytest.approx(1000, rel=0.05)
    stopped.h2c.free()
    stopped.c2h.free()

    # The reset function comes back; its rate is the PF's affair and has stayed.
    again = host.functions.pop(FIRST + 1)
    for pair in again.pairs:
        pair.h2c.free()
        pair.c2h.free()
    host.bring_up_vf(FIRST + 1, 2, 66, PACED)
    host.settle()
    world.sizes = {FIRST: 1514, FIRST + 1: 300}
    world.run(MS)
    rates = world.rates(2 * MS)
    assert rates[FIRST] == pytest.approx(1000, rel=0.05)
    assert rates[FIRST + 1] == pytest.approx(1000, rel=0.05)


@pytest.mark.long
def test_rates_are_the_same_with_a_slower_host_clock(built_card: Any) -> None:
    """The register's unit does not follow the clock."""
    options = ("--time", "lockstep", "--seed", "1", "--rate", "10", "--wire", "0=none", "--wire", "1=none")
    with CardProcess(built_card(*ZCU106), *options) as card:
        world = World(card)
        world.start(PACED, range(FIRST, FIRST + 2))
        world.host.card.set_tx_rate(FIRST, maximum=500)
        world.host.settle()
        world.sizes = {FIRST: 1514, FIRST + 1: 1514}
        world.run(MS // 2)
        rates = world.rates(4 * MS)
        assert rates[FIRST] == pytest.approx(500, rel=0.05)
        assert rates[FIRST + 1] > 0.97 * (10000 - 500) * 1514 / 1538
        world.host.close()


def test_registers_of_rates_are_read_back_as_written(world: World) -> None:
    card = world.host.card
    for function in range(card.geometry.functions):
        card.set_tx_rate(function, maximum=1000 + function, minimum=100)
    for function in range(card.geometry.functions):
        for name, rate in (("TX_MAX_RATE", 1000 + function), ("TX_MIN_RATE", 100)):
            assert card.read(card.regs.address("FUNCTION", name, function)) == round(rate * 65536 / 125)
    card.write(card.regs.address("FUNCTION", "TX_MAX_RATE", FIRST), 1 << 26)  # more than it can count
    assert card.read(card.regs.address("FUNCTION", "TX_MAX_RATE", FIRST)) == round((1000 + FIRST) * 65536 / 125)
    for queue in (0, 3, card.geometry.queues - 1):
        card.set_queue_switches(queue, paced=True)
    switches = [card.read(card.regs.address("QUEUE", "SWITCHES", index=queue)) for queue in (0, 1, 2, 3)]
    assert switches == [4, 0, 0, 4]
    assert card.read(card.regs.address("QUEUE", "SWITCHES", index=card.geometry.queues)) == 0
