# SPDX-License-Identifier: Apache-2.0
"""libmeridian on a VF whose PF testpmd has: the card's own logic reads and writes the memory that the VF lends to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dpdk_fixtures import library, testpmd
from library_fixtures import EXAMPLE, REFUSED, RUN, Program, built, program
from test_twin_attach import MAC
from test_twin_pf import pf_of
from testpmd import Testpmd

pytestmark = pytest.mark.seconds(97)
__all__ = ["built", "library", "program", "testpmd"]  # fixtures

Start = Callable[..., Testpmd]
#: A PF is reset with its VFs, 3,100 cycles each, and the driver waits 200 ms of real time, however slow the card is.
ONE_VF = ("--functions", "5")
SERVING = f"mac={MAC},vfs=1"


@pytest.fixture(autouse=True)
def only_own(own_dma: bool) -> None:
    if not own_dma:
        pytest.skip("the library needs the DMA engine of our own")


def scripted(program: Program, card: Any, text: str) -> None:
    """The module is told by a program that has another PF."""
    program(script=f"{REFUSED}{RUN}\nPF, VF = (f'twin:{card.socket},function={{n}}' for n in (1, 4))\n{text}")


def test_a_module_has_the_memory_of_a_vf_as_long_as_it_lends_it(
    program: Program, run_card: Any, testpmd: Start
) -> None:
    card = run_card(configuration=(*ONE_VF, "--host-box", str(EXAMPLE)))
    pmd = pf_of(testpmd, card, serving=SERVING)
    scripted(program, card, """
with Card(PF) as pf:
    with Card(VF) as vf:
        other, memory = pf.allocate(1 << 20), vf.allocate(1 << 20)
        assert memory.address == other.address, "each function has addresses of its own"
        queue = vf.lend()
        assert run(pf, queue, memory, 3) == [8, 0, 8, 0]
        assert memory.view[:8] == (memory.address ^ 0xA5000000A5).to_bytes(8, "little")
        assert not any(other.view[:64])
        others = [vf.lend() for _ in range(7)]
        assert len({queue, *others}) == 8
        assert "8 queues are lent already" in refused(vf.lend)
        for one in others:
            assert run(pf, one, memory, 1, 1) == [1, 0, 8, 0]
            vf.take_back(one)
            assert run(pf, one, memory, 1, 1) == [1, 1, 8, 0]
        own = pf.lend()
        assert own not in (queue, *others)
        assert run(pf, own, other, 3) == [8, 0, 8, 0]
        vf.take_back(queue)
        assert run(pf, queue, memory, 3) == [8, 8, 8, 8]
        assert "is not lent" in refused(vf.take_back, queue)
        assert "registers of a module are a PF's" in refused(vf.box_read, 0)
        assert "a VF has no memory-mapped queues" in refused(vf.to_card, 0, memory)
        queue = vf.lend()
    assert run(pf, queue, other, 3) == [8, 8, 8, 8], "what a VF has lent ends with its program"
    with Card(VF) as vf:
        memory = vf.allocate(4096)
        assert run(pf, vf.lend(), memory, 3) == [8, 0, 8, 0]
""")  # fmt: skip
    assert pmd.command("show port info 0")


def test_a_pf_of_a_card_without_such_a_module_refuses(program: Program, run_card: Any, testpmd: Start) -> None:
    card = run_card(configuration=ONE_VF)
    pf_of(testpmd, card, serving=SERVING)
    scripted(program, card, """
with Card(VF) as vf:
    assert "the PF lends no memory of its VF" in refused(vf.lend)
    assert vf.read(0) == 0x4D52444E
""")  # fmt: skip


def test_a_pf_that_nobody_has_is_an_error(program: Program, run_card: Any) -> None:
    scripted(
        program, run_card(configuration=ONE_VF), 'assert "the PF does not answer: look whether" in refused(Card, VF)'
    )
