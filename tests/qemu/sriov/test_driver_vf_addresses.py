# SPDX-License-Identifier: Apache-2.0
"""What a VF of the Linux driver receives when its PF does not take all that Linux wants."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from driver_machine import linked, vfs_apart
from meridian_machine import tools
from vf_frames import VfFrames, group

pytestmark = pytest.mark.qemu
STRANGER = bytes.fromhex("02cccccccc03")
GROUPS = [group(number) for number in range(40)]  # more than a PF keeps of a VF


@pytest.fixture(scope="module")
def vf() -> Iterator[VfFrames]:
    with linked(tools.SUITES[0]) as link, vfs_apart(link.guest):
        it = VfFrames(link)
        it.up()
        yield it


def test_a_vf_that_was_promiscuous_before_it_was_trusted_is_promiscuous_then(vf: VfFrames) -> None:
    guest = vf.link.guest
    vf.run("ip link set eth1 promisc on")
    assert not vf.receives(STRANGER)
    for _ in range(2):
        guest.run("ip link set eth0 vf 0 trust on")
        assert vf.settles(STRANGER, True)
        guest.run("ip link set eth0 vf 0 trust off")
        assert vf.settles(STRANGER, False)
    vf.run("ip link set eth1 down")
    guest.run("ip link set eth0 vf 0 trust on")
    vf.up()
    assert vf.settles(STRANGER, True)
    vf.run("ip link set eth1 promisc off")
    assert vf.settles(STRANGER, False)
    guest.run("ip link set eth0 vf 0 trust off")


def test_a_trusted_vf_with_more_groups_than_its_pf_keeps_receives_all_multicast(vf: VfFrames) -> None:
    guest = vf.link.guest
    guest.run("ip link set eth0 vf 0 trust on")
    lines = guest.log().count("\n")
    vf.change_groups("add", *GROUPS)
    for wanted in (GROUPS[0], GROUPS[-1]):
        assert vf.settles(wanted, True), wanted.hex(":")
    assert vf.receives(group(41)), "it is all multicast"
    log = guest.log().splitlines()[lines:]
    assert len(log) < 5 and any("all multicast" in line for line in log), "\n".join(log)
    vf.change_groups("del", *GROUPS[:20])
    assert vf.settles(GROUPS[0], False), "the rest has room"
    assert vf.receives(GROUPS[-1])
    vf.change_groups("del", *GROUPS[20:])
    assert vf.settles(GROUPS[-1], False)
    guest.run("ip link set eth0 vf 0 trust off")


def test_a_vf_without_trust_and_with_too_many_groups_says_so_once(vf: VfFrames) -> None:
    guest = vf.link.guest
    lines = guest.log().count("\n")
    vf.change_groups("add", *GROUPS)
    assert vf.settles(GROUPS[0], True)
    log = guest.log().splitlines()[lines:]
    assert sum("does not take" in line for line in log) == 1 and len(log) < 5, "\n".join(log)
    guest.run("ip link set eth0 vf 0 trust on")
    assert vf.settles(GROUPS[-1], True), "with trust they all come"
    guest.run("ip link set eth0 vf 0 trust off")
    vf.change_groups("del", *GROUPS)
    assert vf.settles(GROUPS[0], False)
    assert not re.search("refuses", "\n".join(guest.log().splitlines()[lines:]))
