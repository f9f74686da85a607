# SPDX-License-Identifier: Apache-2.0
"""Edge virtual bridging as the machines see it: between VFs, PF and PS, and a reset of a VF under it."""

from __future__ import annotations

from typing import Any

import pytest
from frames import MINE, PEER, frame
from meridian_twin import Host, Ps
from meridian_twin.pf_service import PfService
from test_frames import connect, on_wire
from test_ps import ARM, receive
from test_vf import FIRST, pf, start

__all__ = ["connect", "pf"]
EVERYBODY = b"\xff" * 6


def address(function: int) -> bytes:
    return MINE[:5] + bytes([function])


def counters(host: Host, function: int, *names: str) -> list[int]:
    found = host.card.counters("FUNCTION", function)
    return [found[name] for name in names]


@pytest.fixture
def bridge(pf: tuple[Any, Host, PfService]) -> tuple[Any, Host, list[Any]]:
    """A PF and three VFs on a port that switches."""
    card, host, _ = pf
    vfs = [start(host, FIRST + n) for n in range(3)]
    host.add_mac(MINE)
    host.card.set_veb(0, True)
    host.settle()
    return card, host, vfs


def test_vf_to_vf_stays_inside(bridge: tuple[Any, Host, list[Any]]) -> None:
    card, host, (alice, bob, carol) = bridge
    sizes = (60, 61, 1514, 9600)
    sent = [frame(size, n, address(bob.function), address(alice.function)) for n, size in enumerate(sizes)]
    for data in sent:
        alice.send(data)
    assert bob.receive(len(sent)) == sent
    short = frame(30, 9, MINE, address(bob.function))
    bob.send(short)
    assert host.receive(1) == [short.ljust(60, b"\0")]
    alice.send(frame(100, 10, PEER, address(alice.function)))
    assert [f.data for f in on_wire(host, card.wires[0], 1)] == [frame(100, 10, PEER, address(alice.function))]
    assert counters(host, alice.function, "tx_switched", "tx_sent") == [len(sizes), 1]
    assert counters(host, bob.function, "rx_delivered", "tx_switched") == [len(sizes), 1]
    assert not carol.take()


def test_broadcast_goes_everywhere_but_back(bridge: tuple[Any, Host, list[Any]]) -> None:
    card, host, (alice, bob, carol) = bridge
    data = frame(200, 1, EVERYBODY, address(alice.function))
    alice.send(data)
    for other in (host, bob, carol):
        assert other.receive(1) == [data]
    assert [f.data for f in on_wire(host, card.wires[0], 1)] == [data]
    assert not alice.take()
    assert counters(host, alice.function, "tx_sent", "tx_copies_switched", "rx_delivered") == [1, 1, 0]


def test_what_is_its_own_or_spoofed_goes_nowhere(bridge: tuple[Any, Host, list[Any]]) -> None:
    card, host, (alice, bob, _) = bridge
    alice.send(frame(100, 1, address(alice.function), address(alice.function)))
    alice.send(frame(100, 2, address(bob.function), address(bob.function)))
    alice.send(frame(100, 3, PEER, address(alice.function)))
    assert len(on_wire(host, card.wires[0], 1)) == 1
    assert counters(host, alice.function, "tx_hairpin", "tx_spoof", "tx_sent") == [1, 1, 1]
    assert not alice.take() and not bob.take()


def test_reset_of_a_vf_leaves_the_others_talking(bridge: tuple[Any, Host, list[Any]]) -> None:
    _, host, (alice, bob, carol) = bridge
    for number in range(20):
        alice.send(frame(1000, number, address(bob.function), address(alice.function)))
    host.link.reset_function(bob.function)
    alice.send(frame(100, 1, address(bob.function), address(alice.function)))  # is still the table's
    alice.send(frame(100, 2, address(carol.function), address(alice.function)))
    assert carol.receive(1) == [frame(100, 2, address(carol.function), address(alice.function))]
    # One that meets the reset on its way finds the function there and its queue gone.
    fates = counters(host, bob.function, "rx_delivered", "rx_disabled", "rx_bad_queue", "rx_queue_full")
    assert counters(host, alice.function, "tx_switched") == [22]
    assert sum(fates) == 21, fates


def test_the_switch_is_off_after_start(pf: tuple[Any, Host, PfService]) -> None:
    card, host, _ = pf
    alice, bob = start(host, FIRST), start(host, FIRST + 1)
    data = frame(100, 1, address(bob.function), address(alice.function))
    alice.send(data)
    assert [f.data for f in on_wire(host, card.wires[0], 1)] == [data]
    assert not bob.take()


@pytest.fixture
def with_ps(bridge: tuple[Any, Host, list[Any]], request: Any) -> tuple[Any, Host, list[Any], Ps]:
    card, host, vfs = bridge
    ps = Ps.connect(card.socket)
    request.addfinalizer(ps.close)
    ps.start(0, ARM)
    ps.card.access(0, None, "ps")
    host.settle()
    return card, host, vfs, ps


def test_pf_and_vf_talk_to_the_ps(with_ps: tuple[Any, Host, list[Any], Ps]) -> None:
    card, host, (alice, *_), ps = with_ps
    sent = [frame(30, 1, ARM, MINE), frame(9600, 2, ARM, MINE)]
    for data in sent:
        host.send(data)
    got = receive(ps, 2)
    assert [f.data for f in got] == [sent[0].ljust(60, b"\0"), sent[1]] and all(f.inside for f in got)
    alice.send(frame(100, 3, ARM, address(alice.function)))
    card.wires[0].send(frame(100, 4, ARM))
    got = receive(ps, 2)
    assert sorted((f.data, f.inside) for f in got) == sorted(
        [(frame(100, 3, ARM, address(alice.function)), True), (frame(100, 4, ARM), False)]
    )
    assert all(f.time_ns > 0 for f in got if not f.inside)
    assert not card.wires[0].take()
    assert counters(host, 0, "tx_to_ps", "tx_sent") == [2, 0]


def test_ps_talks_to_functions(with_ps: tuple[Any, Host, list[Any], Ps]) -> None:
    card, host, (alice, bob, carol), ps = with_ps
    ps.send(frame(200, 1, address(alice.function), ARM))
    ps.send(frame(20, 2, MINE, ARM))
    ps.send(frame(200, 3, PEER, ARM), tag=7, timestamp=True)
    ps.send(frame(200, 4, EVERYBODY, ARM))
    assert alice.receive(2) == [frame(200, 1, address(alice.function), ARM), frame(200, 4, EVERYBODY, ARM)]
    assert host.receive(2) == [frame(20, 2, MINE, ARM).ljust(60, b"\0"), frame(200, 4, EVERYBODY, ARM)]
    assert bob.receive(1) == carol.receive(1) == [frame(200, 4, EVERYBODY, ARM)]
    wire = on_wire(host, card.wires[0], 2)
    assert [f.data for f in wire] == [frame(200, 3, PEER, ARM), frame(200, 4, EVERYBODY, ARM)]
    found = host.card.events("PS_RING", 0)
    assert (found["tx_frames"], found["tx_switched"], found["tx_copies_switched"]) == (4, 2, 1)


def test_broadcast_of_a_function_reaches_the_ps(with_ps: tuple[Any, Host, list[Any], Ps]) -> None:
    card, host, (alice, bob, _), ps = with_ps
    data = frame(300, 1, EVERYBODY, address(alice.function))
    alice.send(data)
    assert [(f.data, f.inside) for f in receive(ps, 1)] == [(data, True)]
    assert bob.receive(1) == [data] and on_wire(host, card.wires[0], 1)[0].data == data
    assert counters(host, alice.function, "tx_copies_switched", "tx_copies_to_ps") == [1, 1]
