# SPDX-License-Identifier: Apache-2.0
"""VFs of more than one PF, and functions of more than one port.

With the DMA engine of our own the shell is made with the VFs of each PF; with the QDMA IP the host chooses."""

from __future__ import annotations

from typing import Any

import pytest
from frames import MINE, PEER, frame
from meridian_twin import Host, QueueSetting
from meridian_twin.contexts import Select
from meridian_twin.link import LinkError
from meridian_twin.mailbox import Op
from meridian_twin.pf_service import PfService
from meridian_twin.vf import Vf
from test_frames import connect, on_wire
from two_pfs import OF_TWO_PORTS, TWO_PFS
from wide import WIDE

pytestmark = pytest.mark.seconds(34)
__all__ = ["connect"]
PARENTS = {4: 0, 5: 0, 6: 1, 7: 1}
VECTOR = 3


def address(function: int) -> bytes:
    return MINE[:5] + bytes([function])


@pytest.fixture
def configuration(own_dma: bool) -> tuple[str, ...]:
    return TWO_PFS if own_dma else ("--functions", "8")


def two_pfs(card: Any, connect: Any, **setting: Any) -> list[Host]:
    """PF 0 and 1, each with a service for its VFs."""
    first = connect(card)
    pfs = [first, Host(first.link, 1, first.memory)]
    for pf in pfs:
        pf.bring_up(queues=2, base=64 * pf.function, tables=pf.function == 0, **setting)
        pf.card.set_flags(pf.function, True, False, False, True)
        pf.add_mac(address(pf.function))
        PfService(pf, range(64 * pf.function + 16, 64 * pf.function + 32))
        pf.settle()
    return pfs


def start(pfs: list[Host], function: int) -> Vf:
    pf = pfs[PARENTS[function]]
    vf = Vf(pf.link, function, pf.memory, pf.function)
    vf.bring_up(1, QueueSetting(c2h_irq=True, vector=VECTOR))
    pfs[0].add_mac(address(function), function)
    pf.settle()
    return vf


@pytest.fixture
def functions(run_card: Any, connect: Any, configuration: tuple[str, ...]) -> tuple[Any, list[Host], dict[int, Vf]]:
    card = run_card(configuration=configuration)
    pfs = two_pfs(card, connect)
    return card, pfs, {function: start(pfs, function) for function in PARENTS}


def frames_pass(card: Any, pfs: list[Host], one: Any, number: int) -> None:
    card.wires[0].send(frame(300, number, address(one.function)))
    assert one.receive(1) == [frame(300, number, address(one.function))]
    one.send(frame(200, number, PEER, address(one.function)))
    assert on_wire(pfs[0], card.wires[0], 1)[0].data == frame(200, number, PEER, address(one.function))


def test_frames_and_interrupts_of_the_vfs_of_two_pfs_pass(functions: Any) -> None:
    card, pfs, vfs = functions
    for number, one in enumerate((*pfs, *vfs.values())):
        frames_pass(card, pfs, one, number)
    for function in vfs:
        assert pfs[0].link.take_interrupts(function, VECTOR) >= 1
    assert pfs[0].link.dma["astray"] == 0


def test_a_vf_has_one_pf(functions: Any, own_dma: bool) -> None:
    """Its messages go to its PF, whichever it names, and the card refuses another."""
    _, pfs, vfs = functions
    if own_dma:
        with pytest.raises(LinkError, match="function 6 is a VF of PF 1 in this card, not of PF 0"):
            pfs[0].link.enable(6, True, 0)
    assert vfs[6].ask(Op.ACTIVE_COUNT).source == 1
    assert vfs[4].ask(Op.ACTIVE_COUNT).source == 0


def test_the_reset_of_a_pf_takes_its_vfs_alone(functions: Any) -> None:
    card, pfs, vfs = functions
    pfs[1].link.reset_function(1)
    for vf in vfs.values():
        is_own = PARENTS[vf.function] == 1
        assert pfs[0].contexts.read(Select.SW_H2C, vf.base)["enable"] == (0 if is_own else 1)
    for one in (pfs[0], vfs[4], vfs[5]):
        frames_pass(card, pfs, one, 7)
    # Its VFs come back when it does.
    pfs[1].link.enable(1)
    pfs[0].remove_mac(address(6))
    frames_pass(card, pfs, start(pfs, 6), 8)


def test_the_reset_of_a_vf_takes_it_alone(functions: Any) -> None:
    card, pfs, vfs = functions
    pfs[0].link.reset_function(6)
    assert pfs[0].contexts.read(Select.SW_H2C, vfs[6].base)["enable"] == 0
    for one in (*pfs, vfs[4], vfs[5], vfs[7]):
        frames_pass(card, pfs, one, 9)
    pfs[0].remove_mac(address(6))
    frames_pass(card, pfs, start(pfs, 6), 10)


def test_functions_of_two_pfs_have_frames_on_both_ports(run_card: Any, connect: Any, own_dma: bool) -> None:
    """Two PFs and a VF of each, on both ports."""
    card = run_card(configuration=OF_TWO_PORTS if own_dma else WIDE)
    pfs = two_pfs(card, connect, ports=(0, 1))
    everybody = [*pfs, start(pfs, 4), start(pfs, 7)]
    for port, wire in enumerate(card.wires):
        for one in everybody:
            pfs[0].card.set_function_port(one.function, port)
            if port:
                pfs[0].remove_mac(address(one.function))
                pfs[0].add_mac(address(one.function), one.function, port=port)
        pfs[0].settle()
        for number, one in enumerate(everybody):
            wire.send(frame(400, number, address(one.function)))
            assert one.receive(1) == [frame(400, number, address(one.function))]
            one.send(frame(1500, number, PEER, address(one.function)))
            assert on_wire(pfs[0], wire, 1)[0].data == frame(1500, number, PEER, address(one.function))
    for port in range(2):
        assert pfs[0].card.counters("PORT_COUNTERS", port)["rx_frames"] == len(everybody)
