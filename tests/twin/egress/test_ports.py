# SPDX-License-Identifier: Apache-2.0
"""Ports share one stream from the host: what functions of one port send, others do not feel, if their queues are paced.

The unit tests of the pacer hold the same against a model of stream and buffers; this is the whole shell.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from senders import US, Load, sending

FIRST, SECOND = 4, 5

pytestmark = pytest.mark.long  # the shell with two ports and 256 bit is built for it alone


@pytest.fixture
def cards(built_card: Callable[..., Path], tmp_path: Path) -> Callable[..., Any]:
    def start(*loads: Load, ports: int = 2) -> Any:
        return sending(built_card("--ports", str(ports)), tmp_path, *loads, ports=ports)

    return start


@pytest.mark.parametrize(("first", "second"), [(1514, 1514), (1514, 60), (60, 1514), (9014, 64), (64, 9014)])
def test_a_saturated_port_does_not_slow_another(cards: Callable[..., Any], first: int, second: int) -> None:
    full, other = Load(FIRST, 0, 8, first), Load(SECOND, 1, 1, second)
    with cards(full, other) as world:
        of_full, of_other, alone = world.beside(full, other)
        print(f"{of_full:.2f} and {of_other:.2f} Gb/s, alone {alone:.2f}")
        assert of_full > 0.99 * 25
        assert of_other > 0.99 * alone


def test_queues_of_public_drivers_fill_the_stream_with_what_their_port_cannot_take(cards: Callable[..., Any]) -> None:
    """They are fetched in turn, and the one stream is in order: the other port gets a frame for eight of theirs."""
    full, other = (Load(FIRST, 0, 8, 1514, paced=False), Load(SECOND, 1, 1, 1514, paced=False))
    with cards(full, other) as world:
        of_full, of_other, alone = world.beside(full, other)
        assert alone > 24.7 and of_full > 24.7
        assert of_other == pytest.approx(25 / 8, rel=0.1)


def test_paced_queues_and_others_share_a_port(cards: Callable[..., Any]) -> None:
    paced, plain = Load(FIRST, 0, 4, 1514), Load(SECOND, 0, 4, 1514, paced=False)
    with cards(paced, plain) as world:
        world.go(paced, plain)
        world.run(100 * US)
        rates = world.rates(300 * US)
        assert sum(rates.values()) > 0.98 * 25000 * 1514 / 1538
        assert min(rates.values()) > 2000


@pytest.mark.parametrize(("percent", "queues"), [(40, 8), (1, 8), (0, 8), (0, 1)])
def test_a_slow_or_paused_port_holds_up_no_other(cards: Callable[..., Any], percent: int, queues: int) -> None:
    """40 %: a link of 10 Gb/s beside one of 25; 0: the MAC takes nothing, as its peer asks for a pause again and again."""
    slow, other = Load(FIRST, 0, queues, 1514), Load(SECOND, 1, 1, 1514)
    with cards(slow, other) as world:
        world.control.ask("share", port=0, percent=percent)
        wires = world.measure(slow, other)
        assert wires[0] == pytest.approx(25 * percent / 100, rel=0.02, abs=0.15)
        assert wires[1] > 0.99 * 25
        world.control.ask("share", port=0, percent=100)
        assert min(world.measure(slow, other)) > 0.99 * 25


def test_a_port_without_link_holds_up_no_other(cards: Callable[..., Any]) -> None:
    down, other = Load(FIRST, 0, 8, 1514), Load(SECOND, 1, 1, 1514)
    with cards(down, other) as world:
        world.measure(down, other)
        world.control.ask("link", port=0, up=False)
        wires = world.measure(down, other)
        assert wires[0] == 0 and wires[1] > 0.99 * 25
        world.control.ask("link", port=0, up=True)
        assert min(world.measure(down, other)) > 0.99 * 25


def test_a_function_that_changes_its_port_under_load_closes_none(cards: Callable[..., Any]) -> None:
    loads = Load(FIRST, 0, 4, 1514), Load(SECOND, 1, 4, 700)
    with cards(*loads) as world:
        world.go(*loads)
        for turn in range(24):
            world.host.card.set_function_port(FIRST + turn % 2, turn // 2 % 2)
            world.run(7 * US)
        for load in loads:
            world.host.card.set_function_port(load.function, load.port)
        assert min(world.measure(*loads)) > 0.99 * 25
