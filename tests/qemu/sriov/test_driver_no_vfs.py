# SPDX-License-Identifier: Apache-2.0
"""A PF whose SR-IOV capability offers no VFs, as the IP may be set up: it is a function like any other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from driver_machine import Link, linked
from meridian_machine import tools
from meridian_machine.driver import modules
from meridian_machine.guest import PF_DEVICE, Guest

pytestmark = [pytest.mark.qemu, pytest.mark.long]
NO_VFS = Path(__file__).with_name("no_vfs")
FIRST_EXTENDED, SRIOV, TOTAL_VFS = 0x100, 0x10, 0xE


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    suite = tools.SUITES[0]
    with linked(suite, dict(modules(suite, NO_VFS))) as it:  # type: ignore[arg-type]
        yield it


def capability(guest: Guest, wanted: int) -> int:
    """Where the PF has an extended capability."""
    text = guest.run(f"od -An -v -t x4 -w4 {PF_DEVICE}/config")
    words = [int(word, 16) for word in text.split()]
    place = FIRST_EXTENDED
    while words[place // 4] & 0xFFFF != wanted:
        place = words[place // 4] >> 20
        assert place >= FIRST_EXTENDED, "the PF has no such capability"
    return place


def test_a_pf_that_offers_no_vfs_works_and_says_nothing_of_them(link: Link) -> None:
    guest = link.guest
    where = capability(guest, SRIOV) + TOTAL_VFS
    device = guest.run(f"basename $(readlink -f {PF_DEVICE})").strip()
    guest.run(f"insmod /run/twin/no_vfs.ko device={device} where={where}")
    # Linux looks at the capability when it finds the device.
    guest.run(f"dmesg -C; echo 1 >{PF_DEVICE}/remove; echo 1 >/sys/bus/pci/rescan")
    guest.until("ip link set eth0 up; ip address replace 10.44.0.2/24 dev eth0; cat /sys/class/net/eth0/carrier", "^1")
    guest.ping(3)
    assert guest.try_run(f"cat {PF_DEVICE}/sriov_totalvfs")[0] != 0
    assert "sriov_totalvfs" not in guest.log() and "VFs at most" not in guest.log()
