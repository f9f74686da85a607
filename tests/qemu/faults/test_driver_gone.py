# SPDX-License-Identifier: Apache-2.0
"""A card that is gone: whoever asks its interfaces is answered at once, and nobody waits for it."""

from __future__ import annotations

import time

import pytest
from driver_machine import linked
from meridian_machine import tools
from meridian_machine.guest import PF_DEVICE, Guest

pytestmark = pytest.mark.qemu
VF = "ip netns exec vf0 "
#: What a machine of the twin takes for a command at most, with room for a busy host; the driver's waits are 10 s long.
AT_ONCE = 4
QUESTIONS = (
    "ip link show eth0",
    "ip -s link show eth0",
    "ethtool eth0",
    "ethtool -i eth0",
    "ethtool -S eth0",
    "ethtool -t eth0 online",
    "ethtool -d eth0",
    "ethtool -x eth0",
    "devlink dev info pci/0000:01:00.0",
    "devlink health diagnose pci/0000:01:00.0 reporter tx",
    "ip link set eth0 vf 0 mac 02:00:00:00:00:55",
    "ip link set eth0 vf 0 vlan 9",
    "ip maddress add 01:00:5e:00:02:09 dev eth0",
    "ip link set eth0 address 02:00:00:00:00:56",
    f"{VF}ip link set eth1 address 02:00:00:00:00:57",
    f"{VF}ethtool -S eth1",
    f"{VF}ethtool -t eth1 online",
    f"{VF}ip maddress add 01:00:5e:00:02:09 dev eth1",
    f"{VF}ip link set eth1 down",
    f"{VF}ip link set eth1 up",
    "ethtool -L eth0 combined 1",
    "ip link set eth0 down",
    "ip link set eth0 up",
)


def seconds_of(guest: Guest, script: str) -> float:
    """How long it takes, whatever comes of it."""
    started = time.monotonic()
    guest.try_run(script, 120)
    return time.monotonic() - started


def slow_ones(guest: Guest) -> dict[str, float]:
    return {script: took for script in QUESTIONS if (took := seconds_of(guest, script)) > AT_ONCE}


@pytest.mark.parametrize("is_known", [False, True], ids=["at once", "when it is known"])
def test_nobody_waits_for_a_card_that_is_gone(is_known: bool) -> None:
    with linked(tools.SUITES[0], watched=False) as link:
        guest = link.guest
        guest.run(f"echo 1 >{PF_DEVICE}/sriov_numvfs && ip netns add vf0 && ip link set eth1 netns vf0")
        guest.run(f"{VF}ip link set eth1 up")
        guest.until(f"{VF}cat /sys/class/net/eth1/carrier", "^1")
        guest.ping()
        link.twin.card.stop()
        if is_known:
            guest.until("dmesg", "eth0: the card does not answer any more")
        slow = slow_ones(guest)
        assert not slow, f"these took so many seconds: {slow}"
        assert seconds_of(guest, "rmmod meridian") < 2 * AT_ONCE
        guest.check()


def seconds_to_remove(guest: Guest) -> float:
    return seconds_of(guest, f"echo 1 >{PF_DEVICE}/remove")


def test_a_card_that_is_taken_off_the_bus_when_it_is_gone_ends_at_once() -> None:
    """As a port does that sees its slot empty, before the driver has noticed.

    Linux itself waits for RCU and SR-IOV, long on a slow machine. A card that works shows how long.
    """
    with linked(tools.SUITES[0], watched=False) as link:
        guest = link.guest
        two_vfs = f"echo 2 >{PF_DEVICE}/sriov_numvfs && ip link set eth1 up"
        guest.run(two_vfs)
        guest.until("cat /sys/class/net/eth1/carrier", "^1")
        of_one_that_works = seconds_to_remove(guest)
        guest.run(f"echo 1 >/sys/bus/pci/rescan && ip link set eth0 up && {two_vfs}")
        guest.until("cat /sys/class/net/eth0/carrier /sys/class/net/eth1/carrier", "1\n1")
        link.twin.card.stop()
        of_one_that_is_gone = seconds_to_remove(guest)
        assert of_one_that_is_gone < 2 * of_one_that_works + AT_ONCE
        assert "eth" not in guest.run("ls /sys/class/net")
        guest.check()
