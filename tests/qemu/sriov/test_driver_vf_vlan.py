# SPDX-License-Identifier: Apache-2.0
"""A VF that is moved to a VLAN for which the card has no room: it and others are as before, with all that they receive."""

from __future__ import annotations

from pathlib import Path

import pytest
from driver_machine import changed, linked, vfs_apart
from meridian_machine import tools
from meridian_machine.guest import PF_DEVICE
from meridian_machine.testpmd import vf_name
from vf_frames import VfFrames, group
from vf_mailbox import HELLO, ask, build_mailbox_tool, release_vf

pytestmark = pytest.mark.qemu
ALONE, SHARED, UNTRUSTED = group(1), group(2), group(3)
#: A card with few groups is full soon. Of these each VF is promised what it needs in a VLAN.
FEW = (r"(#define MERIDIAN_GROUPS\s+)256\b", r"\g<1>24")
OF_PF = "01:00:5e:51:00"
BROADCAST = b"\xff" * 6
HELLOS = 200
#: The PF joins groups until one finds no place; its number.
FILL = f"""for i in $(seq 10 40); do
ip maddress add {OF_PF}:$i dev eth0; sleep 1
dmesg | grep -q 'receiving all multicast instead' && break
done
echo $i"""


def test_a_trusted_vf_that_is_not_moved_keeps_its_groups() -> None:
    """A group that it shares needs a second place of the card in the VLAN, and others have all places.

    One of these has a VF without trust, which makes no room for broadcasts of a VLAN that nobody enters.
    """
    with (
        changed("linux/meridian.h", *FEW) as driver,
        linked(tools.SUITES[0], driver=driver) as link,
        vfs_apart(link.guest, 3),
    ):
        guest, first, second, third = link.guest, VfFrames(link), VfFrames(link, 1), VfFrames(link, 2)
        for vf in (first, second, third):
            guest.run(f"ip link set eth0 vf {vf.vf} trust {'on' if vf is not third else 'off'}")
            if vf is third:
                vf.run(f"sh -c 'echo 1 >/proc/sys/net/ipv6/conf/{vf.device}/disable_ipv6'")
            vf.up()
        first.change_groups("add", ALONE, SHARED)
        second.change_groups("add", SHARED)
        for vf, wanted in ((first, ALONE), (first, SHARED), (second, SHARED)):
            assert vf.settles(wanted, True)
        last = int(guest.run(FILL, 120))
        guest.run(f"for i in {last} {last - 1}; do ip maddress del {OF_PF}:$i dev eth0; done; sleep 3")
        third.change_groups("add", UNTRUSTED)
        assert third.settles(UNTRUSTED, True)
        for _ in range(2):
            status, text = guest.try_run("ip link set eth0 vf 0 vlan 9")
            assert status != 0, text
            assert "the card's filter does not take its addresses" in guest.run("dmesg")
            for wanted in (ALONE, SHARED):
                assert first.receives(wanted), f"{wanted.hex(':')} is lost"
            assert third.receives(UNTRUSTED)
        assert guest.statistics()["vf_addresses_evicted"] == 0
        assert "gets no broadcasts" not in guest.run("dmesg")
        guest.run(f"for i in $(seq 10 {last - 2}); do ip maddress del {OF_PF}:$i dev eth0; done")
        guest.until("ip link set eth0 vf 0 vlan 9; ip link show eth0", "vf 0 .*vlan 9", 60)
        guest.run("ip link set eth0 vf 0 vlan 0")
        for wanted in (ALONE, SHARED):
            assert first.settles(wanted, True), "it has moved, and back"
        guest.check()


def test_broadcasts_of_its_vlan_outlast_hellos_and_resets_of_a_vf_while_the_card_has_no_place(tmp_path: Path) -> None:
    """Their place is the VF's from the administrator's word on; so the log has nothing to say, however many hellos come."""
    files = {"mailbox_tool": build_mailbox_tool(tmp_path)}
    with (
        changed("linux/meridian.h", *FEW) as driver,
        linked(tools.SUITES[0], files, driver=driver) as link,
        vfs_apart(link.guest),
    ):
        guest, vf = link.guest, VfFrames(link, vid=7)
        guest.run("ip link set eth0 vf 0 vlan 7")
        vf.up()
        assert vf.settles(BROADCAST, True, vid=7)
        name = vf_name(guest, 0)
        release_vf(link)
        guest.run(FILL, 120)
        assert [status for status, _ in ask(link, *[HELLO] * HELLOS, seconds=300)] == [0] * HELLOS
        assert guest.statistics()["vf_messages"] >= HELLOS
        guest.run(f"echo 1 >{PF_DEVICE}/virtfn0/reset; sleep 2; echo 0 >{PF_DEVICE}/virtfn0/enable")
        assert "broadcasts" not in guest.log()
        guest.run(f"echo {name} >/sys/bus/pci/drivers/meridian/bind; ip link set eth1 netns vf0")
        vf.up()
        assert vf.receives(BROADCAST, vid=7)
        assert not vf.receives(BROADCAST, vid=8)
        assert "broadcasts" not in guest.log()
        guest.check()
