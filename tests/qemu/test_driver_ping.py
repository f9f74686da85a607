# SPDX-License-Identifier: Apache-2.0
"""The Linux driver in a guest: probe, frames both ways, link, removal."""

from __future__ import annotations

import re

import pytest
from driver_fixtures import PEER, Machine, driver_guest, machine_with_driver, qemu

__all__ = ["driver_guest", "machine_with_driver", "qemu"]
pytestmark = pytest.mark.qemu


def test_ping_crosses_card_and_wire(machine_with_driver: Machine) -> None:
    guest = machine_with_driver.guest
    log = guest.log()
    assert "function 0, port 0 of 1" in log
    assert "link up" in log
    assert "3 packets received" in guest.run(f"ping -c 3 -i 0.2 -w 20 {PEER}")
    # 60 bytes on the wire, and the longest that an MTU of 1500 lets through.
    for size in (0, 1472):
        assert "2 packets received" in guest.run(f"ping -c 2 -i 0.2 -w 20 -s {size} {PEER}")
    assert re.search(r"[1-9]\d* .*eth0-0", guest.run("cat /proc/interrupts"))
    # Down and up again: rings are made anew.
    guest.run("ip link set eth0 down")
    guest.run("ip link set eth0 up")
    guest.until("cat /sys/class/net/eth0/carrier", "1")
    assert "2 packets received" in guest.run(f"ping -c 2 -i 0.2 -w 20 {PEER}")
    # And so is everything when the module comes again.
    guest.run("rmmod meridian && insmod /meridian.ko")
    guest.run("ip addr add 10.0.0.1/24 dev eth0 && ip link set eth0 up")
    guest.until("cat /sys/class/net/eth0/carrier", "1")
    assert "2 packets received" in guest.run(f"ping -c 2 -i 0.2 -w 20 {PEER}")
