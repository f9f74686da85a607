# SPDX-License-Identifier: Apache-2.0
"""A VF that is moved to a VLAN for which the card has no room: it and others are as before, with all that they receive."""

from __future__ import annotations

import pytest
from driver_machine import changed, linked, vfs_apart
from meridian_machine import tools
from vf_frames import VfFrames, group

pytestmark = pytest.mark.qemu
ALONE, SHARED, UNTRUSTED = group(1), group(2), group(3)
#: A card with few groups is full soon. Of these each VF is promised what it needs in a VLAN.
FEW = (r"(#define MERIDIAN_GROUPS\s+)256\b", r"\g<1>24")
OF_PF = "01:00:5e:51:00"
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
