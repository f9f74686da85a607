# SPDX-License-Identifier: Apache-2.0
"""Many VLANs at once, as `bridge vlan add` has them: what they cost, and what is received of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from driver_machine import Link, link
from peer import ethernet

__all__ = ["link"]
pytestmark = pytest.mark.qemu
TABLE = 1024  # entries of the card's MAC table
PART = TABLE // 4  # of them, that a PF may have for single VLANs
#: Writes to the card's registers for an entry: find and add, five each.
WRITES = 10
PROBE = "/sys/kernel/tracing"


@pytest.fixture(scope="module")
def bridged(link: Link) -> Iterator[Link]:
    """The PF is the one port of a bridge that has VLANs; the kernel counts the driver's writes."""
    guest = link.guest
    guest.run("modprobe bridge; mount -t tracefs none /sys/kernel/tracing 2>/dev/null; true")
    guest.run(f"echo 'p:card/write meridian_write' >{PROBE}/kprobe_events && echo 1 >{PROBE}/events/card/enable")
    guest.run("ip link add br0 type bridge vlan_filtering 1 && ip link set eth0 master br0 && ip link set br0 up")
    yield link
    guest.run(f"ip link del br0; echo 0 >{PROBE}/events/card/enable; echo >{PROBE}/kprobe_events")


def written(link: Link) -> int:
    return int(re.search(r"write\s+(\d+)", link.guest.run(f"cat {PROBE}/kprobe_profile"))[1])


@contextmanager
def at_most(link: Link, writes: int) -> Iterator[None]:
    before = written(link)
    yield
    assert written(link) - before <= writes


def vlans(link: Link, verb: str, vids: str) -> None:
    link.guest.run(f"bridge vlan {verb} dev eth0 vid {vids}", 300)


def received(link: Link, vid: int) -> bool:
    """Whether frames of a VLAN to the PF's address come."""
    before = link.guest.statistics()
    frame = ethernet(link.guest.address(), link.peer.mac, 0x88B5, bytes(80))
    for _ in range(5):
        link.peer.wire.send(frame[:12] + b"\x81\0" + vid.to_bytes(2, "big") + frame[12:])
    for _ in range(50):
        now = link.guest.statistics()
        for name in ("card_rx_delivered", "port_rx_no_match"):
            if now[name] >= before[name] + 5:
                return name == "card_rx_delivered"
    grown = {name: now[name] - before[name] for name in now if now[name] != before[name]}
    raise AssertionError(f"frames of VLAN {vid} went nowhere: {grown}")


def settled(link: Link, vid: int, wanted: bool) -> bool:
    return any(received(link, vid) == wanted for _ in range(10))


def test_a_vlan_more_costs_one_entry(bridged: Link) -> None:
    vlans(bridged, "add", "2-100")
    assert received(bridged, 100) and not received(bridged, 101)
    with at_most(bridged, 3 * WRITES):
        vlans(bridged, "add", "101")
    assert received(bridged, 101)
    with at_most(bridged, 3 * WRITES):
        vlans(bridged, "del", "101")
    assert not received(bridged, 101)


def test_all_vlans_cost_no_more_than_the_part_of_the_table_that_a_pf_may_have(bridged: Link) -> None:
    # In and out again, with room for what is written beside.
    with at_most(bridged, 2 * PART * WRITES + 200):
        vlans(bridged, "add", "2-4094")
    assert received(bridged, 2) and received(bridged, 4094)
    assert "does not take" not in bridged.guest.log(), "there was room all the time"
    with at_most(bridged, PART * WRITES + 200):
        vlans(bridged, "del", "51-4094")
    assert received(bridged, 50)
    assert settled(bridged, 4094, False), "few VLANs are received by number again"
