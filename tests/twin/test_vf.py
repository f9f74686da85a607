# SPDX-License-Identifier: Apache-2.0
"""VFs, which reach nothing but their own rings, and ask the PF for the rest."""

from __future__ import annotations

from typing import Any

import pytest
from frames import MINE, PEER, frame
from meridian_twin import Host, QueueSetting
from meridian_twin.contexts import Select
from meridian_twin.mailbox import Code, MailboxError, Op, QueueRequest, place
from meridian_twin.pf_service import PfService
from meridian_twin.vf import Vf
from test_frames import connect, on_wire

__all__ = ["connect"]
FIRST = 4


@pytest.fixture
def pf(run_card: Any, connect: Any) -> tuple[Any, Host, PfService]:
    card = run_card()
    host = connect(card)
    host.bring_up(queues=2)
    return card, host, PfService(host, range(64, 128))


def start(host: Host, function: int, queues: int = 1, **setting: Any) -> Vf:
    vf = Vf(host.link, function, host.memory)
    vf.bring_up(queues, QueueSetting(**setting))
    host.add_mac(MINE[:5] + bytes([function]), function)
    host.settle()
    return vf


def test_frames_of_three_vfs_pass_both_ways(pf: tuple[Any, Host, PfService]) -> None:
    card, host, service = pf
    vfs = [start(host, FIRST + n, queues=2) for n in range(3)]
    assert [vf.number for vf in vfs] == [FIRST, FIRST + 1, FIRST + 2]
    assert [(s.base, s.count) for s in service.vfs.values()] == [(64, 2), (66, 2), (68, 2)]
    for vf in vfs:
        mine = MINE[:5] + bytes([vf.function])
        card.wires[0].send(frame(1000, vf.function, mine))
        assert vf.receive(1) == [frame(1000, vf.function, mine)]
        vf.send(frame(500, vf.function, PEER, mine), queue=1)
        assert on_wire(host, card.wires[0], 1)[0].data == frame(500, vf.function, PEER, mine)
    card.wires[0].send(frame(60, 1, b"\xff" * 6))
    for everybody in (host, *vfs):
        assert everybody.receive(1) == [frame(60, 1, b"\xff" * 6)]


def test_a_vf_cannot_send_as_another(pf: tuple[Any, Host, PfService]) -> None:
    _, host, _ = pf
    vf = start(host, FIRST)
    vf.send(frame(100, 1, PEER, MINE))
    host.link.wait(lambda: host.card.counters("FUNCTION", FIRST)["tx_spoof"] == 1, "the spoofed frame's counter")


def test_what_is_not_its_own_is_refused(pf: tuple[Any, Host, PfService]) -> None:
    card, host, service = pf
    vf = start(host, FIRST)

    def refused(op: Op, payload: bytes) -> int:
        with pytest.raises(MailboxError) as error:
            vf.ask(op, payload)
        return error.value.code

    good = QueueSetting()
    assert refused(Op.CONTEXT_WRITE, QueueRequest(0, False, FIRST, 0, 0, good).pack()) == Code.QUEUE
    assert refused(Op.CONTEXT_INVALIDATE, place((6, "H", 1), (8, "B", 1))) == Code.QUEUE
    assert refused(Op.FMAP, place((8, "i", 0), (12, "I", 2))) == Code.QUEUE_COUNT
    assert refused(Op.QUEUE_REQUEST, place((8, "i", -1), (12, "I", 1000))) == Code.QUEUE_COUNT
    assert refused(Op.RING_WRITE, place((8, "B", 1), (12, "I", 0))) == Code.BAD_PARAMETER
    assert refused(Op.REGISTERS, b"") == Code.NOT_SUPPORTED
    assert refused(Op.QUEUE_ADD, place((6, "H", 64), (8, "I", 9))) in (Code.QUEUE, Code.BAD_MESSAGE)
    assert service.refused == 7
    host.send(frame(100, 3, PEER, MINE))  # the PF's queue 0 is as it was
    assert on_wire(host, card.wires[0], 1)[0].data == frame(100, 3, PEER, MINE)


def test_values_that_the_tables_do_not_have_are_refused(pf: tuple[Any, Host, PfService]) -> None:
    _, host, _ = pf
    vf = Vf(host.link, FIRST, host.memory)
    vf.hello()
    vf.ask(Op.QUEUE_REQUEST, place((8, "i", -1), (12, "I", 1)))
    for setting, code in (
        (QueueSetting(ring=100), Code.RING_SIZE),
        (QueueSetting(completions=100), Code.RING_SIZE),
        (QueueSetting(buffer=100), Code.BUFFER_SIZE),
        (QueueSetting(counter=3), Code.COUNTER),
        (QueueSetting(timer=3), Code.TIMER),
    ):
        with pytest.raises(MailboxError) as error:
            vf.write_context(QueueRequest(64, True, FIRST, 0x1000, 0x2000, setting))
        assert error.value.code == code


def test_a_vf_leaves_and_comes_back(pf: tuple[Any, Host, PfService]) -> None:
    card, host, service = pf
    for number in range(3):
        vf = Vf(host.link, FIRST, host.memory)
        vf.bring_up(2)
        if number == 0:
            host.add_mac(MINE, FIRST)
        host.settle()
        card.wires[0].send(frame(70, number))
        assert vf.receive(1) == [frame(70, number)]
        vf.stop()
        host.link.wait(lambda: not service.vfs, "the good-bye")


def test_a_function_level_reset_takes_the_vfs_queues_and_nobody_elses(pf: tuple[Any, Host, PfService]) -> None:
    card, host, _ = pf
    vf, other = start(host, FIRST), start(host, FIRST + 1)
    vf.send(frame(100, 1, PEER, MINE[:5] + bytes([FIRST])))
    host.link.reset_function(FIRST)
    assert host.contexts.read(Select.SW_H2C, 64)["enable"] == 0
    card.wires[0].send(frame(70, 1, MINE[:5] + bytes([FIRST])))
    card.wires[0].send(frame(70, 2, MINE[:5] + bytes([FIRST + 1])))
    assert other.receive(1) == [frame(70, 2, MINE[:5] + bytes([FIRST + 1]))]
    host.remove_mac(MINE[:5] + bytes([FIRST]))  # the table is the PF's business
    again = start(host, FIRST)
    card.wires[0].send(frame(70, 3, MINE[:5] + bytes([FIRST])))
    assert again.receive(1) == [frame(70, 3, MINE[:5] + bytes([FIRST]))]
