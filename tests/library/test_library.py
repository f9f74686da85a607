# SPDX-License-Identifier: Apache-2.0
"""libmeridian's Python on a simulated card: its memory, its module's registers, commands, and what cannot be."""

from __future__ import annotations

from typing import Any

import pytest
from library_fixtures import EXAMPLE, REFUSED, RUN, Program, built, program

__all__ = ["built", "program"]  # fixtures

BEGIN = f"import random\nimport signal\n{REFUSED}"


@pytest.fixture(autouse=True)
def only_own(own_dma: bool) -> None:
    if not own_dma:
        pytest.skip("the library needs the DMA engine of our own")


def scripted(program: Program, card: Any, text: str) -> None:
    program(script=f"{BEGIN}\nCARD = 'twin:{card.socket}'\n{text}")


def test_bytes_go_to_the_card_and_back(program: Program, run_card: Any) -> None:
    card = run_card(configuration=("--memory", "true"))
    scripted(program, card, """
chance = random.Random(1)
with Card(CARD) as card:
    out, back = card.allocate(1 << 18), card.allocate(1 << 18)
    model = bytearray(1 << 18)
    out.view[:] = bytes(1 << 18)
    card.to_card(0, out)
    for size in (0, 1, 31, 64, 4097, 100001, *(chance.randrange(1, 9000) for _ in range(30))):
        at, offset = chance.randrange((1 << 18) - size), chance.randrange((1 << 18) - size)
        data = chance.randbytes(size)
        out.view[offset : offset + size] = data
        model[at : at + size] = data
        card.to_card(at, out, offset, size)
    card.from_card(0, back)
    assert back.view == model
    for again in range(3):
        assert "the card's memory refuses the address" in refused(card.to_card, 1 << 18, out, 0, 64)
        assert "the card's memory refuses the address" in refused(card.from_card, (1 << 18) - 32, out, 0, 64)
        card.from_card(0, back)
        assert back.view == model, "it goes on"
    assert "are not in memory of" in refused(card.to_card, 0, out, 1, 1 << 18)
    assert "no module that reads or writes host memory" in refused(card.lend)
    assert "no module at the host" in refused(card.box_read, 0)
    out.free()
with Card(CARD) as card:
    back = card.allocate(1 << 18)
    card.from_card(0, back)
    assert back.view == model, "another program finds the card as it was"
for what in (lambda: back.view, back.free, lambda: card.read(0)):
    try:
        what()
    except ValueError:
        continue
    raise AssertionError("a card that is closed has nothing")
""")  # fmt: skip


def test_a_module_has_the_memory_of_the_program_as_long_as_it_lends_it(program: Program, run_card: Any) -> None:
    card = run_card(configuration=("--host-box", str(EXAMPLE)))
    scripted(program, card, RUN + """
with Card(CARD) as card:
    memory = card.allocate(1 << 20)
    queue = card.lend()
    assert run(card, queue, memory, 3) == [8, 0, 8, 0]
    assert memory.view[:8] == ((memory.address) ^ 0xA5000000A5).to_bytes(8, "little")
    others = [card.lend() for _ in range(14)]
    assert len({queue, *others}) == 15
    assert "15 queues are lent already" in refused(card.lend)
    for other in others:
        assert run(card, other, memory, 1, 1) == [1, 0, 8, 0]
        card.take_back(other)
    card.take_back(queue)
    assert run(card, queue, memory, 3) == [8, 8, 8, 8]
    assert "is not lent" in refused(card.take_back, queue)
    assert "has no memory-mapped queues" in refused(card.to_card, 0, memory)
    assert "choose a multiple of 4 below 0x10000" in refused(card.box_read, 65536)
    assert "no module at the wire" in refused(card.box_read, 0, 0)
    assert "there is no place 5" in refused(card.box_write, 0, 0, 5)
    assert "choose a multiple of 4" in refused(card.read, 2)
    assert "BAR2 has nothing at 0x80000000" in refused(card.write, 0x80000000, 1)
    assert card.read(0x100000) == 0x4D52444E
    for what, *arguments in (
        (card.write, 0x100000, 1 << 32), (card.box_write, 16, 1 << 32), (card.read, -4), (card.box_read, 0, -1),
        (card.set_patience, -1), (card.take_back, 1 << 32), (card.allocate, -1), (card.to_card, -1, memory),
    ):
        assert "does not fit" in refused(what, *arguments), what
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    for _ in range(3000):
        assert card.read(0x100000) == 0x4D52444E, "a signal comes"
    card.allocate(1 << 20).free()
    signal.setitimer(signal.ITIMER_REAL, 0)
    queue = card.lend()
with Card(CARD) as card:
    memory = card.allocate(1 << 20)
    assert run(card, queue, memory, 3) == [8, 8, 8, 8], "what a program has lent ends with it"
""")  # fmt: skip


def test_a_card_that_cannot_be_opened_is_an_error_with_the_reason(program: Program, run_card: Any) -> None:
    for name, said in (
        ("nonsense", "nonsense is no name of a function on PCIe: give one as 0000:03:00.0"),
        ("0000:ff:1f.7", "0000:ff:1f.7: there is no such function"),
        ("twin:/nowhere", "twin:/nowhere: no simulated card answers: No such file or directory"),
    ):
        program(script=f"{BEGIN}\nassert {said!r} in refused(Card, {name!r}), refused(Card, {name!r})")
