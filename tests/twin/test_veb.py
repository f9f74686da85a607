# SPDX-License-Identifier: Apache-2.0
"""Edge virtual bridging as the machines see it: VF to VF and to the PF, and a reset of a VF under it."""

from __future__ import annotations

from typing import Any

import pytest
from meridian_twin import Host
from meridian_twin.pf_service import PfService
from test_frames import MINE, PEER, connect, frame, on_wire
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
    delivered, disabled = counters(host, bob.function, "rx_delivered", "rx_disabled")
    assert counters(host, alice.function, "tx_switched") == [22] and delivered + disabled == 21


def test_switch_is_off_after_start(pf: tuple[Any, Host, PfService]) -> None:
    card, host, _ = pf
    alice, bob = start(host, FIRST), start(host, FIRST + 1)
    data = frame(100, 1, address(bob.function), address(alice.function))
    alice.send(data)
    assert [f.data for f in on_wire(host, card.wires[0], 1)] == [data]
    assert not bob.take()
