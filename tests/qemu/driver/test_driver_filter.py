# SPDX-License-Identifier: Apache-2.0
"""What the Linux driver asks of the card's receive filter: the card delivers that, and drops the rest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from driver_machine import Link, link
from peer import ethernet

__all__ = ["link"]
pytestmark = pytest.mark.qemu
STRANGER = bytes.fromhex("02cccccccc03")
KIND = 0x88B5


def fate(link: Link, to: bytes, vid: int | None = None, count: int = 3) -> str:
    """What becomes of frames to that address: the counter that grows by their number."""
    names = ("card_rx_delivered", "port_rx_no_match", "port_rx_no_listener", "card_rx_copy_cut")
    frame = ethernet(to, link.peer.mac, KIND, bytes(80))
    if vid is not None:
        frame = frame[:12] + b"\x81\x00" + vid.to_bytes(2, "big") + frame[12:]
    before = link.guest.statistics()
    for _ in range(count):
        link.peer.wire.send(frame)
    for _ in range(50):
        now = link.guest.statistics()
        grown = [name for name in names if now[name] - before[name] >= count]
        if grown:
            return grown[0]
    raise AssertionError(f"frames to {to.hex(':')} went nowhere")


def settled(link: Link, to: bytes, wanted: str, vid: int | None = None) -> bool:
    """Linux may take a moment to tell the driver."""
    return any(fate(link, to, vid) == wanted for _ in range(20))


def test_every_verdict_on_a_frame_of_nobody_has_its_counter(link: Link) -> None:
    text = (Path(__file__).parents[3] / "host-driver/include/meridian_regs.h").read_text()
    registers = set(re.findall(r"HOST_PORT_COUNTERS_COUNTER_(RX_\w+)", text))
    # Those that a function has, whose frame it then is.
    owned = {"RX_DELIVERED", "RX_DISABLED", "RX_BAD_QUEUE", "RX_QUEUE_FULL", "RX_BYTES", "RX_COPIES"}
    wanted = {f"port_{name.lower()}" for name in registers - owned}
    assert len(wanted) == 5 and wanted <= set(link.guest.statistics())


def test_unicast_is_received_by_address(link: Link) -> None:
    assert fate(link, link.guest.address()) == "card_rx_delivered"
    assert fate(link, STRANGER) == "port_rx_no_match"
    assert fate(link, b"\xff" * 6) == "card_rx_delivered"


def test_a_promiscuous_interface_takes_all_frames_until_it_is_not(link: Link) -> None:
    link.guest.run("ip link set eth0 promisc on")
    assert settled(link, STRANGER, "card_rx_delivered")
    link.guest.run("ip link set eth0 promisc off")
    assert settled(link, STRANGER, "port_rx_no_match")


def test_a_new_address_takes_the_place_of_the_old(link: Link) -> None:
    old = link.guest.address()
    link.guest.run("ip link set eth0 address 02:dd:dd:dd:dd:04")
    assert fate(link, bytes.fromhex("02dddddddd04")) == "card_rx_delivered"
    assert fate(link, old) == "port_rx_no_match"
    link.guest.run(f"ip link set eth0 address {old.hex(':')}")
    assert fate(link, old) == "card_rx_delivered"


def test_multicast_is_received_by_group(link: Link) -> None:
    group = bytes.fromhex("3333ff010002")  # the solicited node of fd00::1:2
    assert fate(link, group) == "port_rx_no_listener"
    link.guest.run("ip addr add fd00::1:2/64 dev eth0")
    assert settled(link, group, "card_rx_delivered")
    link.guest.run("ip addr del fd00::1:2/64 dev eth0")
    assert settled(link, group, "port_rx_no_listener")


def test_allmulticast_takes_all_groups_until_it_is_off(link: Link) -> None:
    group = bytes.fromhex("01005e0a0b0c")
    link.guest.run("ip link set eth0 allmulticast on")
    assert settled(link, group, "card_rx_delivered")
    link.guest.run("ip link set eth0 allmulticast off")
    assert settled(link, group, "port_rx_no_listener")


def test_vlans_are_received_by_number(link: Link) -> None:
    guest, mine = link.guest, link.guest.address()
    assert fate(link, mine, vid=100) == "port_rx_no_match"
    guest.run("ip link add link eth0 name eth0.100 type vlan id 100 && ip link set eth0.100 up")
    assert fate(link, mine, vid=100) == "card_rx_delivered"
    assert fate(link, mine, vid=101) == "port_rx_no_match"
    assert fate(link, mine) == "card_rx_delivered"
    guest.until("cat /sys/class/net/eth0.100/statistics/rx_packets", "^[1-9]")

    # An address of the VLAN's own is a second one of the card's function.
    guest.run("ip link set eth0.100 down && ip link set eth0.100 address 02:ee:ee:ee:ee:05")
    guest.run("ip link set eth0.100 up")
    assert settled(link, bytes.fromhex("02eeeeeeee05"), "card_rx_delivered", vid=100)

    guest.run("ethtool -K eth0 rx-vlan-filter off")
    assert fate(link, mine, vid=101) == "card_rx_delivered"
    guest.run("ethtool -K eth0 rx-vlan-filter on")
    assert fate(link, mine, vid=101) == "port_rx_no_match"
    guest.run("ip link del eth0.100")
    assert settled(link, mine, "port_rx_no_match", vid=100)


def test_entries_are_there_again_after_down_and_up(link: Link) -> None:
    link.guest.run("ip link set eth0 down")
    link.guest.run("ip link set eth0 up")
    link.guest.until("cat /sys/class/net/eth0/carrier", "^1")
    assert fate(link, link.guest.address()) == "card_rx_delivered"
    assert fate(link, STRANGER) == "port_rx_no_match"
