# SPDX-License-Identifier: Apache-2.0
"""A VF that is to be in a VLAN has no say in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driver_machine import Link, linked, vfs_apart
from meridian_machine import tools

pytestmark = pytest.mark.qemu
GROUPS = 26  # far more than one of two VFs is promised, and with those of IPv6 no more than it may have


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    """Two VFs, up."""
    with linked(tools.SUITES[0]) as it, vfs_apart(it.guest, 2):
        for vf in (0, 1):
            it.guest.run(f"ip netns exec vf{vf} ip link set eth{vf + 1} up")
            it.guest.until(f"ip netns exec vf{vf} ip link show eth{vf + 1}", "LOWER_UP")
        yield it


def test_vfs_that_conspire_do_not_keep_one_of_them_out_of_a_vlan(link: Link) -> None:
    """In a VLAN its groups are others, and there are not as many: those that it shares are not free when it leaves."""
    guest = link.guest
    for vf in (0, 1):
        joins = "; ".join(f"ip maddress add 01:00:5e:50:00:{n:02x} dev eth{vf + 1}" for n in range(GROUPS))
        guest.run(f"ip netns exec vf{vf} sh -c '{joins}'")
    guest.until("ethtool -S eth0", r"vf_messages: [0-9]{2,}")
    guest.run("sleep 3")
    guest.run("ip link set eth0 vf 0 vlan 7")
    assert "vlan 7" in guest.run("ip link show eth0")
    assert "function 4 loses a multicast group" in guest.log()
    # The VF hears of it when it asks next, and asks for its groups again.
    guest.until("dmesg", r"the PF has taken [0-9]+ addresses from the VF: they are asked for again", 60)
    guest.run("ip link set eth0 vf 0 vlan 0")
    assert "vlan 7" not in guest.run("ip link show eth0")
