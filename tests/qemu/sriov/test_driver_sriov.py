# SPDX-License-Identifier: Apache-2.0
"""VFs of the Linux driver: made by the PF, driven by the same module, held to what the PF allows."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from driver_machine import running, vfs_apart
from machine_report import run_folder
from meridian_machine import Setting, Twin, tools
from meridian_machine.guest import PF_DEVICE, Guest

pytestmark = [pytest.mark.qemu, pytest.mark.quick]


@pytest.fixture(scope="module")
def guest() -> Iterator[Guest]:
    with (
        run_folder() as folder,
        Twin(Setting(suite=tools.SUITES[0]), folder) as twin,
        running(twin) as guest,
    ):
        with vfs_apart(guest, 2):
            for vf in (0, 1):
                up(guest, vf)
            yield guest
        guest.ping()


def inside(vf: int, command: str) -> str:
    return f"ip netns exec vf{vf} {command}"


def up(guest: Guest, vf: int) -> None:
    device = f"eth{vf + 1}"
    guest.run(inside(vf, f"ip address replace 10.44.0.{10 + vf}/24 dev {device}"))
    guest.run(inside(vf, f"ip link set {device} up"))
    guest.until(inside(vf, f"ip link show {device}"), "LOWER_UP")


def ping(guest: Guest, vf: int, count: int = 3) -> None:
    guest.ping(count, enter=inside(vf, ""))


def test_vfs_and_pf_reach_the_far_end(guest: Guest) -> None:
    guest.ping()
    for vf in (0, 1):
        ping(guest, vf)
        assert "driver: meridian" in guest.run(inside(vf, f"ethtool -i eth{vf + 1}"))


def test_the_pf_names_its_vfs(guest: Guest) -> None:
    text = guest.run("ip -s link show eth0")
    for vf in (0, 1):
        own = guest.run(inside(vf, f"cat /sys/class/net/eth{vf + 1}/address")).strip()
        assert re.search(rf"vf {vf} +link/ether {own}.*spoof checking on.*trust off", text)
    assert re.search(r"vf 0.*\n\s+RX:.*\n\s+[1-9]", text), text


def test_a_vf_goes_down_and_up_with_other_rings_and_queues(guest: Guest) -> None:
    guest.run(inside(0, "ethtool -G eth1 rx 128 tx 128"))
    guest.run(inside(0, "ethtool -L eth1 combined 1"))
    guest.run(inside(0, "ip link set eth1 down"))
    up(guest, 0)
    ping(guest, 0)
    ping(guest, 1)


def test_a_vf_that_is_reset_comes_back(guest: Guest) -> None:
    """Its queues are gone with a function level reset; Linux tells its driver before and after."""
    for _ in range(3):
        guest.run(f"echo 1 >{PF_DEVICE}/virtfn0/reset")
        guest.until(inside(0, "ip link show eth1"), "LOWER_UP")
        ping(guest, 0)
    ping(guest, 1)
    guest.ping()


def test_a_vf_may_change_its_address_until_the_pf_has_chosen_one(guest: Guest) -> None:
    guest.run(inside(0, "ip link set eth1 address 02:aa:00:00:00:01"))
    ping(guest, 0)
    assert "02:aa:00:00:00:01" in guest.run("ip link show eth0")
    assert guest.try_run(inside(1, "ip link set eth2 address 02:aa:00:00:00:01"))[0] != 0, "it is VF 0's"
    guest.run("ip link set eth0 vf 1 mac 02:aa:00:00:00:02")
    assert guest.try_run(inside(1, "ip link set eth2 address 02:aa:00:00:00:03"))[0] != 0
    # Its driver learns of it when it comes again.
    guest.run(f"basename $(readlink {PF_DEVICE}/virtfn1) >/tmp/vf1")
    guest.run("cat /tmp/vf1 >/sys/bus/pci/drivers/meridian/unbind")
    guest.run("ip link set eth0 vf 1 mac 00:00:00:00:00:00")
    assert "02:aa:00:00:00:02" not in guest.run("ip link show eth0"), "it is free"
    guest.run("ip link set eth0 vf 0 mac 02:aa:00:00:00:02 && ip link set eth0 vf 0 mac 02:aa:00:00:00:01")
    guest.run("ip link set eth0 vf 1 mac 02:aa:00:00:00:02")
    guest.run("cat /tmp/vf1 >/sys/bus/pci/drivers/meridian/bind")
    guest.run("ip link set eth2 netns vf1 2>/dev/null || ip link set eth1 netns vf1 name eth2")
    assert guest.run(inside(1, "cat /sys/class/net/eth2/address")).strip() == "02:aa:00:00:00:02"
    up(guest, 1)
    ping(guest, 1)


def test_a_false_source_address_is_dropped(guest: Guest) -> None:
    ping(guest, 0, 1)
    before = spoofed(guest)
    guest.run(inside(0, "ip link add link eth1 name mac0 type macvlan && ") + "true")
    guest.run(inside(0, "ip address add 10.44.0.77/24 dev mac0 && ") + inside(0, "ip link set mac0 up"))
    assert guest.try_run(inside(0, "ping -c 2 -W 1 -I mac0 10.44.0.1"))[0] != 0
    assert spoofed(guest) > before
    guest.run(inside(0, "ip link del mac0"))
    ping(guest, 0)


def spoofed(guest: Guest) -> int:
    """Frames of VF 0 that the card dropped for their source."""
    text = guest.run("ip -s link show eth0").split(" vf 0 ")[1].split(" vf 1 ")[0]
    found = re.search(r"TX: (.*dropped)\s*\n\s+([\d ]+)", text)
    assert found, text
    return int(dict(zip(found[1].split(), found[2].split(), strict=True))["dropped"])
