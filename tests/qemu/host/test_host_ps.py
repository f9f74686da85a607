# SPDX-License-Identifier: Apache-2.0
"""PF and VF of a machine and the card's PS talk inside the card, which the driver lets them; the wire sees none of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from driver_machine import Link, linked, vfs_apart
from host_network import FAR, Function
from meridian_machine import tools
from meridian_machine.guest import Guest
from ps_host import MAC, PsHost, ps_host

pytestmark = [pytest.mark.qemu, pytest.mark.quick]
PS = "10.44.0.50"


@dataclass
class Three:
    """The machine's functions, the PS, and the wire."""

    link: Link
    ps: PsHost
    functions: dict[str, Function]

    @property
    def guest(self) -> Guest:
        return self.link.guest

    def count(self, which: str) -> dict[str, int]:
        function = self.functions[which]
        return self.guest.statistics(function.interface, function.enter)

    def mac(self, which: str) -> bytes:
        function = self.functions[which]
        return self.guest.address(function.interface, function.enter)

    def on_wire(self, *addresses: bytes) -> list[bytes]:
        """Frames between two of these that came to the wire."""
        return [frame for frame in self.link.peer.other if {frame[:6], frame[6:12]} == set(addresses)]


@pytest.fixture(scope="module")
def three() -> Iterator[Three]:
    with linked(tools.SUITES[0]) as link, ps_host(link.twin.card.socket, PS) as ps, vfs_apart(link.guest):
        functions = {
            "pf": Function(link.guest, "eth0", "10.44.0.2"),
            "vf": Function(link.guest, "eth1", "10.44.0.10", "vf0"),
        }
        functions["vf"].up()
        yield Three(link, ps, functions)


@pytest.fixture(params=["pf", "vf"])
def which(three: Three, request: pytest.FixtureRequest) -> Iterator[str]:
    three.link.peer.other.clear()
    three.ps.other.clear()
    yield request.param
    three.guest.check()


@contextmanager
def grows(read: Callable[[], int], least: int) -> Iterator[None]:
    before = read()
    yield
    assert read() - before >= least


def test_functions_reach_the_ps(three: Three, which: str) -> None:
    function, own = three.functions[which], three.mac(which)
    with (
        grows(lambda: three.count(which)["card_tx_to_ps"], 8),
        grows(lambda: three.count(which)["card_rx_delivered"], 8),
        grows(lambda: three.ps.rings.inside, 8),
        grows(lambda: three.ps.rings.counters()["tx_switched"], 8),
    ):
        for size in (56, 1472):
            function.ping(4, size, PS)
    assert not three.on_wire(own, MAC)


def test_the_ps_reaches_functions(three: Three, which: str) -> None:
    own = three.mac(which)
    three.ps.wire.send(three.ps.request(own, three.functions[which].address))
    assert three.ps.answered(MAC + own)
    assert not three.on_wire(own, MAC)


def test_functions_and_ps_reach_the_wire_as_well(three: Three, which: str) -> None:
    three.functions[which].ping(4, 1472, FAR)
    wire = three.link.peer
    wire.wire.send(wire.request(MAC, PS))
    assert wire.answered(wire.mac + MAC)
    three.ps.wire.send(three.ps.request(wire.mac, FAR))
    assert three.ps.answered(MAC + wire.mac)


def test_frames_that_the_switch_outside_does_not_return_do_not_come_in(three: Three, which: str) -> None:
    """Nobody out there sends it back."""
    function, own = three.functions[which], three.mac(which)
    function.ping(1, to=PS)
    three.guest.run("bridge link set dev eth0 hwmode vepa")
    try:
        assert three.guest.try_run(f"{function.enter}ping -c 2 -i 0.1 -W 1 {PS}")[0] != 0
        assert three.on_wire(own, MAC)
    finally:
        three.guest.run("bridge link set dev eth0 hwmode veb")
        three.link.peer.other.clear()
    function.ping(1, to=PS)


RECEIVED = ("rx_frames", "rx_errors", "rx_no_descriptor", "rx_buffer_small", "rx_disabled", "rx_inside")


def test_each_frame_for_the_ps_is_counted_once(three: Three) -> None:
    for function in three.functions.values():
        function.ping(20, 1000, PS)

    def counts() -> tuple[int, int]:
        functions = {which: three.count(which) for which in three.functions}
        sent = sum(count["card_tx_to_ps"] + count["card_tx_copies_to_ps"] for count in functions.values())
        rings = three.ps.rings.counters()
        return sent + functions["pf"]["port_rx_to_ps"], sum(rings[name] for name in RECEIVED)

    found = [counts()]
    while len(found) < 10 and (len(found) == 1 or found[-1] != found[-2]):  # until nothing is on its way
        found.append(counts())
    sent, received = found[-1]
    assert sent == received > 40, found
