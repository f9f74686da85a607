# SPDX-License-Identifier: Apache-2.0
"""Random register writes, descriptors and messages by every kind of function: no crash, no hang, nobody else harmed."""

from __future__ import annotations

import os
from random import Random, SystemRandom
from typing import Any

import pytest
from abuse import Abuse
from attacks import BASE, BYTES, GHOST, SETTING
from frames import MINE, PEER, frame
from meridian_twin import Host, Link, Memory, Ps
from test_frames import connect, on_wire
from test_ps import ARM, receive
from wild_owner import WildOwner

pytestmark = pytest.mark.seconds(60)
__all__ = ["connect"]


def seed_of(name: str) -> int:
    """MERIDIAN_SEED repeats a run."""
    seed = int(os.environ.get("MERIDIAN_SEED") or SystemRandom().getrandbits(32))
    print(f"{name}: MERIDIAN_SEED={seed}")
    return seed


def abuse(card: Any, seed: int, operations: int, patience: float) -> Abuse:
    world = Abuse(Link(card.socket, patience=patience), card.wires[0], seed)
    try:
        world.run(operations)
    finally:
        world.close()
    return world


@pytest.mark.parametrize("seed", [1, None])
def test_functions_that_write_random_words_harm_nobody(run_card: Any, own_dma: bool, seed: int | None) -> None:
    vfs = ("--vfs", "1,1,1,1") if own_dma else ()  # of each PF, where the shell says whose they are
    world = abuse(run_card(configuration=vfs), seed or seed_of("abuse"), 10_000, 30)
    assert world.from_attackers > 20  # they were not just refused


def wild_owner(card: Any, seed: int, operations: int, patience: float) -> None:
    """A PF that writes whatever into the registers by which it owns the card: the PS and memory that nobody was allowed
    to access do not notice, and after a reset all is well."""
    random = Random(seed)
    with Ps.connect(card.socket) as ps, Link(card.socket, patience=patience) as link:
        ps.start(0, ARM)
        memory, ghost = Memory(BYTES, BASE, 0), Memory(BYTES, BASE, GHOST)
        pattern = random.randbytes(BYTES)
        for each in (memory, ghost):
            each.write(BASE, pattern)
            link.share(each)
        ps.link.services.append(link.serve)  # it has to answer the card even while the PS waits
        link.enable(0)
        owner = WildOwner(link, random)
        for number in range(operations):
            owner.step(number)
            if number % 20 == 0:
                card.wires[0].send(frame(random.randrange(60, 2000), number, MINE))
            if number % 1000 == 999:
                card.wires[0].send(frame(100, number, ARM))
                assert [f.data for f in receive(ps, 1)] == [frame(100, number, ARM)]
        assert link.read(0, 2, 0x100000) == 0x4D52444E
        assert ghost.read(BASE, BYTES) == pattern
        assert GHOST not in link.astray
        assert link.astray[0] or memory.read(BASE, BYTES) != pattern  # it did harm to itself
        link.reset()
        link.read(0, 2, 0x100000)
        with_host = Host(link, 0, memory)
        with_host.card.set_flags(0, True, True, True, True)
        with_host.bring_up(setting=SETTING)
        card.wires[0].take()
        card.wires[0].send(frame(100, 1))
        assert with_host.receive(1) == [frame(100, 1)]
        with_host.send(frame(200, 2, PEER, MINE))
        assert frame(200, 2, PEER, MINE) in [f.data for f in on_wire(with_host, card.wires[0], 1)]
        for each in (memory, ghost):
            each.close()


def test_a_pf_out_of_its_mind_harms_neither_ps_nor_strangers(run_card: Any) -> None:
    wild_owner(run_card(), seed_of("wild owner"), 5_000, 30)


@pytest.mark.long
def test_a_million_random_operations_harm_nobody_under_sanitizers(run_card: Any) -> None:
    """Parts with a seed each, so that a failure can be repeated without the rest."""
    random = Random(seed_of("a million"))
    for part in range(20):
        seed = random.getrandbits(32)
        print(f"part {part} with seed {seed}")
        card = run_card(configuration=("--sanitize",))
        if part % 4 == 3:
            wild_owner(card, seed, 50_000, 300)
        else:
            abuse(card, seed, 50_000, 300)
        assert card.stop() == 0, card.output()
