# SPDX-License-Identifier: Apache-2.0
"""What the Linux driver asks of the card's receive filter: the card delivers that, and drops the rest."""

from __future__ import annotations

import pytest
from driver_fixtures import Machine, driver_guest, machine_with_driver, qemu, statistics
from peer import ethernet

__all__ = ["driver_guest", "machine_with_driver", "qemu"]
pytestmark = pytest.mark.qemu
STRANGER = bytes.fromhex("02cccccccc03")
KIND = 0x88B5


def address(machine: Machine, device: str = "eth0") -> bytes:
    return bytes.fromhex(machine.guest.run(f"cat /sys/class/net/{device}/address").strip().replace(":", ""))


def fate(machine: Machine, to: bytes, vid: int | None = None, count: int = 3) -> str:
    """What becomes of frames to that address: the counter that grows by their number."""
    names = ("card_rx_delivered", "port_rx_no_match", "port_rx_no_listener", "card_rx_copy_cut")
    frame = ethernet(to, machine.peer.mac, KIND, bytes(80))
    if vid is not None:
        frame = frame[:12] + b"\x81\x00" + vid.to_bytes(2, "big") + frame[12:]
    before = statistics(machine.guest)
    for _ in range(count):
        machine.peer.wire.send(frame)
    for _ in range(50):
        now = statistics(machine.guest)
        grown = [name for name in names if now[name] - before[name] >= count]
        if grown:
            return grown[0]
    raise AssertionError(f"frames to {to.hex(':')} went nowhere")


def settled(machine: Machine, to: bytes, wanted: str, vid: int | None = None) -> bool:
    """Linux may take a moment to tell the driver."""
    return any(fate(machine, to, vid) == wanted for _ in range(20))


def test_unicast_is_received_by_address(machine_with_driver: Machine) -> None:
    machine = machine_with_driver
    assert fate(machine, address(machine)) == "card_rx_delivered"
    assert fate(machine, STRANGER) == "port_rx_no_match"
    assert fate(machine, b"\xff" * 6) == "card_rx_delivered"


def test_promiscuous_takes_all_and_ends(machine_with_driver: Machine) -> None:
    machine = machine_with_driver
    machine.guest.run("ip link set eth0 promisc on")
    assert settled(machine, STRANGER, "card_rx_delivered")
    machine.guest.run("ip link set eth0 promisc off")
    assert settled(machine, STRANGER, "port_rx_no_match")


def test_a_new_address_takes_the_place_of_the_old(machine_with_driver: Machine) -> None:
    machine = machine_with_driver
    old = address(machine)
    machine.guest.run("ip link set eth0 address 02:dd:dd:dd:dd:04")
    assert fate(machine, bytes.fromhex("02dddddddd04")) == "card_rx_delivered"
    assert fate(machine, old) == "port_rx_no_match"
    machine.guest.run(f"ip link set eth0 address {old.hex(':')}")
    assert fate(machine, old) == "card_rx_delivered"


def test_multicast_is_received_by_group(machine_with_driver: Machine) -> None:
    machine = machine_with_driver
    group = bytes.fromhex("3333ff010002")  # the solicited node of fd00::1:2
    assert fate(machine, group) == "port_rx_no_listener"
    machine.guest.run("ip addr add fd00::1:2/64 dev eth0")
    assert settled(machine, group, "card_rx_delivered")
    machine.guest.run("ip addr del fd00::1:2/64 dev eth0")
    assert settled(machine, group, "port_rx_no_listener")


def test_all_multicast(machine_with_driver: Machine) -> None:
    machine = machine_with_driver
    group = bytes.fromhex("01005e0a0b0c")
    machine.guest.run("ip link set eth0 allmulticast on")
    assert settled(machine, group, "card_rx_delivered")
    machine.guest.run("ip link set eth0 allmulticast off")
    assert settled(machine, group, "port_rx_no_listener")


def test_vlans_are_received_by_number(machine_with_driver: Machine) -> None:
    machine = machine_with_driver
    guest, mine = machine.guest, address(machine)
    guest.run("modprobe 8021q")
    assert fate(machine, mine, vid=100) == "port_rx_no_match"
    guest.run("ip link add link eth0 name eth0.100 type vlan id 100 && ip link set eth0.100 up")
    assert fate(machine, mine, vid=100) == "card_rx_delivered"
    assert fate(machine, mine, vid=101) == "port_rx_no_match"
    assert fate(machine, mine) == "card_rx_delivered"
    guest.until("cat /sys/class/net/eth0.100/statistics/rx_packets", "^[1-9]")

    # An address of the VLAN's own is a second one of the card's function.
    guest.run("ip link set eth0.100 down && ip link set eth0.100 address 02:ee:ee:ee:ee:05")
    guest.run("ip link set eth0.100 up")
    assert settled(machine, bytes.fromhex("02eeeeeeee05"), "card_rx_delivered", vid=100)

    guest.run("ethtool -K eth0 rx-vlan-filter off")
    assert fate(machine, mine, vid=101) == "card_rx_delivered"
    guest.run("ethtool -K eth0 rx-vlan-filter on")
    assert fate(machine, mine, vid=101) == "port_rx_no_match"
    guest.run("ip link delete eth0.100")
    assert settled(machine, mine, "port_rx_no_match", vid=100)
    guest.run("rmmod 8021q")


def test_entries_are_there_again_after_down_and_up(machine_with_driver: Machine) -> None:
    machine = machine_with_driver
    machine.guest.run("ip link set eth0 down")
    machine.guest.run("ip link set eth0 up")
    machine.guest.until("cat /sys/class/net/eth0/carrier", "1")
    assert fate(machine, address(machine)) == "card_rx_delivered"
    assert fate(machine, STRANGER) == "port_rx_no_match"
