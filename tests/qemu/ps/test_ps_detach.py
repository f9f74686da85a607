# SPDX-License-Identifier: Apache-2.0
"""A port whose rings the card cannot end, as memory does not answer it, is detached until it can."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

import pytest
from driver_machine import Link
from meridian_machine.guest import Guest
from meridian_twin.control import Control
from peer import BROADCAST, ethernet
from ps_link import ps_link

pytestmark = pytest.mark.qemu
MODULE = "/run/twin/meridian_ps.ko"
MARK = 0x88B5
SOON = 1.0  # seconds in which others usually have the network's lock
ENDS = "the card does not end the rings"


@pytest.fixture(scope="module")
def ps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Link, Control]]:
    path = tmp_path_factory.mktemp("control") / "socket"
    with ps_link(card=["--control", str(path)]) as link, Control(path) as control:
        yield link, control


@contextmanager
def memory_stands_still(link: Link, control: Control) -> Iterator[None]:
    control.ask("ps_memory", on=False)
    try:
        for _ in range(4):
            link.peer.wire.send(ethernet(BROADCAST, link.peer.mac, MARK, b"nowhere to go"))
        yield
    finally:
        control.ask("ps_memory", on=True)


def usual_wait(guest: Guest, count: int) -> float:
    """Seconds that somebody who changes another interface waits; the median, as the machine may be slow."""
    waits = []
    for _ in range(count):
        began = time.monotonic()
        guest.run("ip link set lo mtu 65535")
        waits.append(time.monotonic() - began)
    return median(waits)


def is_back(guest: Guest, times: int) -> None:
    guest.until("dmesg", "(?s)" + "the port is back.*" * times, 90)
    guest.until("ip link set eth0 up; cat /sys/class/net/eth0/carrier", "^1")
    guest.ping()


def test_a_port_whose_rings_do_not_end_is_detached(ps: tuple[Link, Control]) -> None:
    link, control = ps
    guest = link.guest
    with memory_stands_still(link, control):
        status, text = guest.try_run("ip link set eth0 mtu 2000")
        assert status != 0 and "timed out" in text, text
        waits = usual_wait(guest, 9)
        assert waits < SOON, f"others wait for the network's lock for {waits:.1f} s"
        assert guest.log().count(ENDS) == 1
        assert guest.try_run("ethtool -G eth0 rx 64")[0] != 0
        assert guest.run("cat /sys/class/net/eth0/carrier") == "0\n"
    is_back(guest, 1)
    assert guest.run("cat /sys/class/net/eth0/mtu") == "1500\n"
    # Closed meanwhile, it comes back closed, and can be opened.
    with memory_stands_still(link, control):
        guest.run("ip link set eth0 down")
        assert guest.log().count(ENDS) == 2
        assert guest.try_run("ip link set eth0 up")[0] != 0
    guest.until("dmesg", "(?s)the port is back.*the port is back", 90)
    guest.run("ip link set eth0 up; ip address replace 10.44.0.3/24 dev eth0")
    is_back(guest, 2)
    assert guest.statistics()["restarts_failed"] == 2


def test_a_driver_that_goes_leaves_the_rings_to_the_card(ps: tuple[Link, Control]) -> None:
    link, control = ps
    guest = link.guest
    with memory_stands_still(link, control):
        guest.run("rmmod meridian_ps")
        assert "memory that the card may still write to is kept for it" in guest.log()
    time.sleep(0.5)
    guest.run(f"insmod {MODULE} && ip link set eth0 up && ip address add 10.44.0.3/24 dev eth0")
    guest.wait_link()
    guest.ping()
    assert not re.search("WARNING", guest.log())
