# SPDX-License-Identifier: Apache-2.0
"""A shell with egress queues: ports do not hold each other up by queues that are not paced, either; these lose frames.

What the ports share then is the stream of 64 Gb/s from the DMA engine, which serves queues in turn, a frame each. So a
port gets all that it can take as long as its queues' turns are enough for that. tests/twin/egress/test_ports.py has the same
loads on a shell without the option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from senders import OVERHEAD, US, Load, Ports, sending

FIRST, SECOND = 4, 5
EGRESS = ("--ports", "2", "--egress", "true")
BEAT = 32
STREAM = 250e6  # beats a second

pytestmark = pytest.mark.long  # the shell is built for it alone


@pytest.fixture
def start(built_card: Callable[..., Path], tmp_path: Path) -> Iterator[Callable[..., Ports]]:
    with ExitStack() as stack:
        yield lambda *loads: stack.enter_context(sending(built_card(*EGRESS), tmp_path, *loads))


def plain(function: int, port: int, queues: int, size: int) -> Load:
    return Load(function, port, queues, size, paced=False)


def turns(load: Load, *others: Load) -> float:
    """Gb/s on the line of what the DMA engine fetches of a load beside others, if the stream is full."""
    beats = sum(each.queues * -(-each.size // BEAT) for each in (load, *others))
    return STREAM / beats * load.queues * (load.size + OVERHEAD) * 8 / 1e9


def full(world: Ports, port: int) -> list[int]:
    """Frames that found no room, of the lower and of the upper queue."""
    card = world.host.card
    names = ("TX_LOWER_FULL_LOW", "TX_UPPER_FULL_LOW")
    return [card.read(card.regs.address("HOST_PORT", name, index=port)) for name in names]


def must_get_its_turns(start: Callable[..., Ports], queues: int, first: int, second: int) -> None:
    """Queues of the second port, beside eight of the first that send more than its line takes; sizes of both's frames."""
    overfull, other = plain(FIRST, 0, 8, first), plain(SECOND, 1, queues, second)
    world = start(overfull, other)
    of_full, of_other, alone = world.beside(overfull, other)
    share = turns(other, overfull)
    print(f"{of_full:.2f} and {of_other:.2f} Gb/s, alone {alone:.2f}, by turns {share:.2f}")
    assert alone > 24.7 and of_full > 24.7
    assert of_other > (0.99 * alone if share > 1.1 * alone else 0.97 * share)
    assert world.count("tx_queue_full")[FIRST] > 0


@pytest.mark.parametrize(("queues", "first", "second"), [(8, 1514, 1514), (8, 60, 60), (1, 1514, 1514), (1, 1514, 60)])
def test_a_port_sends_all_that_its_turns_at_the_host_bring(
    start: Callable[..., Ports], queues: int, first: int, second: int
) -> None:
    must_get_its_turns(start, queues, first, second)


@pytest.mark.parametrize("percent", [40, 0])
def test_a_slow_or_paused_port_holds_up_no_other(start: Callable[..., Ports], percent: int) -> None:
    """40 %: a link of 10 Gb/s beside one of 25; 0: the MAC takes nothing, as its peer asks for a pause again and again."""
    slow, other = plain(FIRST, 0, 8, 1514), plain(SECOND, 1, 8, 1514)
    world = start(slow, other)
    world.control.ask("share", port=0, percent=percent)
    wires = world.measure(slow, other)
    assert wires[0] == pytest.approx(25 * percent / 100, rel=0.02, abs=0.15)
    assert wires[1] > 0.99 * 25
    world.control.ask("share", port=0, percent=100)
    assert min(world.measure(slow, other)) > 0.99 * 25


def test_a_port_without_link_holds_up_no_other(start: Callable[..., Ports]) -> None:
    down, other = plain(FIRST, 0, 8, 1514), plain(SECOND, 1, 8, 1514)
    world = start(down, other)
    world.control.ask("link", port=0, up=False)
    wires = world.measure(down, other)
    assert wires[0] == 0 and wires[1] > 0.99 * 25
    world.control.ask("link", port=0, up=True)
    assert min(world.measure(down, other)) > 0.99 * 25


@pytest.mark.parametrize("size", [60, 1514, 9014])
def test_paced_queues_lose_nothing_beside_others_on_their_port(start: Callable[..., Ports], size: int) -> None:
    paced, other = Load(FIRST, 0, 4, size), plain(SECOND, 0, 8, 1514)
    world = start(paced, other)
    world.go(paced, other)
    world.run(100 * US)
    rates = world.rates(300 * US)
    line = sum(rates[load.function] * (load.size + OVERHEAD) / load.size for load in (paced, other))
    lost = world.count("tx_queue_full")
    print(f"{rates} Mb/s, {line:.0f} on the line, {lost} lost")
    assert line > 0.98 * 25000
    share = 1000 * turns(paced, other) * size / (size + OVERHEAD)
    assert rates[FIRST] > min(2000, 0.97 * share) and rates[SECOND] > 2000
    assert lost[FIRST] == 0 and lost[SECOND] > 100


def test_each_frame_is_sent_or_counted_as_lost(start: Callable[..., Ports]) -> None:
    loads = plain(FIRST, 0, 8, 300), plain(SECOND, 1, 8, 300)
    world = start(*loads)
    world.tags = {SECOND: 0xA000}
    before = world.control.ask("stats")["ports"]
    world.go(*loads)
    world.run(50 * US)
    sizes, world.sizes = world.sizes, {}
    world.run(400 * US)  # what is in the rings goes out
    world.sizes = sizes
    after = world.control.ask("stats")["ports"]
    sent, lost = world.count("tx_sent"), world.count("tx_queue_full")
    for load in loads:
        wire = after[load.port]["tx"]["frames"] - before[load.port]["tx"]["frames"]
        assert wire == sent[load.function] > 1000
        by_port = full(world, load.port)
        assert by_port[load.port] == lost[load.function] > 500  # of port 1 in the upper queue
        assert by_port[1 - load.port] == 0


def test_the_upper_queue_goes_first(start: Callable[..., Ports]) -> None:
    """Its frames are those of priority 4 and more, until the register says another thing."""
    flood, urgent = plain(FIRST, 0, 8, 1514), plain(SECOND, 0, 1, 1514)
    world = start(flood, urgent)
    world.tags = {SECOND: 0xC000}
    world.go(flood, urgent)
    world.run(60 * US)
    rates, lost = world.rates(120 * US), world.count("tx_queue_full")
    assert rates[SECOND] > 0.97 * 1000 * turns(urgent, flood) * 1514 / (1514 + OVERHEAD)
    assert lost[SECOND] == 0 and lost[FIRST] > 100
    card = world.host.card
    register = card.regs.address("HOST_PORT", "HIGH_PRIORITIES", index=0)
    assert card.read(register) == 0xF0
    card.write(register, 0)
    world.run(60 * US)
    later = world.rates(120 * US)
    assert later[SECOND] < 0.6 * rates[SECOND]
    assert world.count("tx_queue_full")[SECOND] > 0
