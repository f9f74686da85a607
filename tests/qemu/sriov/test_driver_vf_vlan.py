# SPDX-License-Identifier: Apache-2.0
"""A VF that the administrator moves to a VLAN for which the card has no room: it is as before, with all that it receives."""

from __future__ import annotations

import pytest
from driver_machine import changed, linked, vfs_apart
from meridian_machine import tools
from vf_frames import VfFrames, group

pytestmark = pytest.mark.qemu
ALONE, SHARED = group(1), group(2)
#: A card with few groups is full soon.
FEW = (r"(#define MERIDIAN_GROUPS\s+)256\b", r"\g<1>12")
MORE = 20


def test_a_trusted_vf_that_is_not_moved_keeps_its_groups() -> None:
    """A group that it shares with another VF needs a second place of the card in the VLAN, and the PF has all others."""
    with (
        changed("linux/meridian.h", *FEW) as driver,
        linked(tools.SUITES[0], driver=driver) as link,
        vfs_apart(link.guest, 2),
    ):
        guest, first, second = link.guest, VfFrames(link), VfFrames(link, 1)
        for vf in (first, second):
            guest.run(f"ip link set eth0 vf {vf.vf} trust on")
            vf.up()
        first.change_groups("add", ALONE, SHARED)
        second.change_groups("add", SHARED)
        for wanted in (ALONE, SHARED):
            assert first.settles(wanted, True)
        assert second.settles(SHARED, True)
        fill = f"for i in $(seq 10 {10 + MORE}); do ip maddress add 01:00:5e:51:00:$i dev eth0; done"
        guest.run(fill)
        guest.until("dmesg", "receiving all multicast instead", 60)
        for _ in range(2):
            status, text = guest.try_run("ip link set eth0 vf 0 vlan 9")
            assert status != 0, text
            assert "the card's filter does not take its addresses" in guest.run("dmesg")
            for wanted in (ALONE, SHARED):
                assert first.receives(wanted), f"{wanted.hex(':')} is lost"
        assert guest.statistics()["vf_addresses_evicted"] == 0
        guest.run(fill.replace("maddress add", "maddress del"))
        guest.until("ip link set eth0 vf 0 vlan 9; ip link show eth0", "vf 0 .*vlan 9", 60)
        guest.run("ip link set eth0 vf 0 vlan 0")
        for wanted in (ALONE, SHARED):
            assert first.settles(wanted, True), "it has moved, and back"
        guest.check()
