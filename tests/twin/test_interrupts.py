# SPDX-License-Identifier: Apache-2.0
"""MSI-X of queues: one vector each, or many queues in a ring of events."""

from __future__ import annotations

from typing import Any

import pytest
from frames import MINE, PEER, frame
from meridian_twin import QueueSetting, Trigger
from meridian_twin.qdma import InterruptRing
from test_frames import connect

__all__ = ["connect"]
VECTOR = 5


@pytest.mark.parametrize("mapped", [True, False])
def test_a_queue_interrupts_once_until_it_is_armed_again(run_card: Any, connect: Any, mapped: bool) -> None:
    card = run_card()
    host = connect(card, lockstep=True, mapped=mapped)
    host.bring_up(setting=QueueSetting(c2h_irq=True, vector=VECTOR))
    wire, link, queue = card.wires[0], host.link, host.pairs[0].c2h
    for number in range(5):
        wire.send(frame(100, number))
    link.wait(lambda: link.interrupts[0, VECTOR] > 0, "an interrupt")
    link.wait(lambda: queue.status()["pidx"] == 5, "all frames")
    link.advance(20_000_000)
    assert link.take_interrupts(0, VECTOR) == 1
    assert queue.poll(update=False) == [frame(100, number) for number in range(5)]
    queue.update()
    link.advance(20_000_000)
    assert link.take_interrupts(0, VECTOR) == 0
    wire.send(frame(100, 6))
    link.wait(lambda: link.interrupts[0, VECTOR] > 0, "the next interrupt")
    assert queue.poll() == [frame(100, 6)]
    assert set(link.interrupts) == {(0, VECTOR)}


def test_arming_late_loses_nothing(run_card: Any, connect: Any) -> None:
    """A completion between the last look at the ring and the arming fires at once."""
    card = run_card()
    host = connect(card, lockstep=True)
    host.bring_up(setting=QueueSetting(c2h_irq=True, vector=VECTOR))
    link, queue = host.link, host.pairs[0].c2h
    card.wires[0].send(frame(100, 1))
    link.wait(lambda: link.interrupts[0, VECTOR] > 0, "the first interrupt")
    link.take_interrupts(0, VECTOR)
    queue.poll(update=False)
    card.wires[0].send(frame(100, 2))
    link.wait(lambda: queue.memory.word(queue.completion_base + 8, 8) != 0, "the second completion")
    queue.update()
    link.wait(lambda: link.interrupts[0, VECTOR] > 0, "an interrupt for it")
    assert queue.poll() == [frame(100, 2)]


@pytest.mark.parametrize("trigger", [Trigger.USER_TIMER, Trigger.USER_TIMER_COUNT])
def test_the_timer_moderates_interrupts(run_card: Any, connect: Any, trigger: Trigger) -> None:
    card = run_card()
    host = connect(card, lockstep=True)
    # 50 ticks of 100 ns; more frames than come.
    host.bring_up(setting=QueueSetting(c2h_irq=True, vector=VECTOR, trigger=trigger, timer=50, counter=64))
    host.link.step_ps = 100_000
    for number in range(4):
        card.wires[0].send(frame(64, number))
    queue = host.pairs[0].c2h
    host.link.wait(lambda: queue.memory.word(queue.completion_base, 8) != 0, "the first completion")
    before = host.link.advance(0)
    host.link.wait(lambda: host.link.interrupts[0, VECTOR] > 0, "the interrupt")
    after = host.link.advance(0)
    assert 4_000_000 <= after - before <= 7_000_000
    assert len(queue.poll()) == 4


def test_many_queues_share_an_interrupt_ring(run_card: Any, connect: Any) -> None:
    card = run_card()
    host = connect(card, lockstep=True)
    ring = InterruptRing(host.contexts, 3, 0, VECTOR, host.memory)
    setting = QueueSetting(c2h_irq=True, h2c_irq=True, vector=3, aggregate=True)
    host.bring_up(queues=4, base=8, setting=setting)
    link = host.link
    host.card.set_indirection(0, [2] * 128)
    host.settle()
    for number in range(3):
        card.wires[0].send(frame(100, number))
        link.wait(lambda: link.interrupts[0, VECTOR] > 0, "the ring's interrupt")
        link.take_interrupts(0, VECTOR)
        events = ring.poll()
        assert [(e.queue, e.is_c2h, e.pidx, e.error) for e in events] == [(10, True, number + 1, 0)]
        assert host.pairs[2].c2h.poll() == [frame(100, number)]
    host.send(frame(200, 1, PEER, MINE), queue=1)
    link.wait(lambda: link.interrupts[0, VECTOR] > 0, "the interrupt of a transmit queue")
    assert [(e.queue, e.is_c2h) for e in ring.poll()] == [(9, False)]


def test_no_interrupt_or_write_comes_from_a_function_without_bus_mastering(run_card: Any, connect: Any) -> None:
    card = run_card()
    host = connect(card, lockstep=True)
    host.bring_up(setting=QueueSetting(c2h_irq=True, vector=VECTOR))
    host.link.enable(0, False)
    card.wires[0].send(frame(100, 1))
    host.link.advance(50_000_000)
    assert not host.link.interrupts
    assert host.memory.word(host.pairs[0].c2h.completion_base, 8) == 0
