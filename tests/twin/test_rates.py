# SPDX-License-Identifier: Apache-2.0
"""Transmit rates of functions, measured at the port in the card's own time; nothing is dropped for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from meridian_twin import CardProcess, Host, QueueSetting
from meridian_twin.contexts import Select
from meridian_twin.driver import Queues

PACED = QueueSetting(ring=513, paced=True)
PLAIN = QueueSetting(ring=513)
FIRST = 4
MS = 10**9


def mac(function: int) -> bytes:
    return bytes([2, 0, 0, 0, 1, function])


class World:
    """A card whose functions always have something to send."""

    STEP_PS = 40_000_000  # a ring does not run empty meanwhile

    def __init__(self, card: CardProcess) -> None:
        self.host = Host.connect(card.socket, lockstep=True, memory=128 << 20)
        self.sizes: dict[int, int] = {}  # of the frames, by function

    def start(self, setting: QueueSetting, functions: range, vf: QueueSetting | None = None, queues: int = 2) -> None:
        self.host.bring_up(2, setting=setting)
        for number, function in enumerate(functions):
            self.host.bring_up_vf(function, queues, 64 + queues * number, vf or setting)
            self.host.add_mac(mac(function), function)
        self.host.settle()

    def fill(self) -> None:
        for function, size in self.sizes.items():
            queues: Queues = self.host.functions[function] if function else self.host
            frame = (mac(99) + mac(function) + b"\x88\xb5").ljust(size, b"\x5a")
            for pair in queues.pairs:
                room = pair.h2c.room()
                for _ in range(room):
                    pair.h2c.post(frame)
                if room:
                    pair.h2c.ring()

    def run(self, ps: int) -> int:
        end = self.host.link.advance(0) + ps
        now = 0
        while now < end:
            self.fill()
            now = self.host.link.advance(self.STEP_PS)
        return now

    def count(self, name: str) -> dict[int, int]:
        return {function: self.host.card.counters("FUNCTION", function)[name] for function in self.sizes}

    def rates(self, ps: int) -> dict[int, float]:
        """Mb/s of each function in that time."""
        began, before = self.host.link.advance(0), self.count("tx_bytes")
        self.run(ps)
        ended, after = self.host.link.advance(0), self.count("tx_bytes")
        return {f: (after[f] - before[f]) * 8e6 / (ended - began) for f in self.sizes}


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


def test_registers(world: World) -> None:
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
