# SPDX-License-Identifier: Apache-2.0
"""testpmd as the PF of a card on PCIe, which serves VFs; the machine's vfio-pci has been prepared.

VFIO lets a VF go to who knows the token of who has the PF.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from driver_machine import Link
from meridian_machine.guest import PF_DEVICE, Guest
from meridian_machine.testpmd import MachineTestpmd, give_to
from testpmd_checks import address, text

PF = "0000:01:00.0"
TOKEN = ("--vfio-vf-token", "6d657269-6469-416e-8000-000000000001")
PF_ADDRESS = bytes.fromhex("02aabbccddee")


def take_pf(guest: Guest) -> None:
    """From meridian.ko, so that it may have VFs."""
    guest.run("rmmod meridian && echo 1 >/sys/module/vfio_pci/parameters/enable_sriov", 60)
    give_to(guest, PF, "vfio-pci")


@contextmanager
def serving(link: Link, vfs: int) -> Iterator[MachineTestpmd]:
    """At work, with VFs that nobody has."""
    guest = link.guest
    device = f"{PF},mac={text(PF_ADDRESS)},vfs={vfs},vf_mac={text(address(0))}"
    with MachineTestpmd(guest, [device], name="pf", eal=("-l", "0-1", *TOKEN)) as pmd:
        pmd.command("set promisc 0 off")
        pmd.start("io")
        guest.run(f"echo 0 >{PF_DEVICE}/sriov_drivers_autoprobe; echo {vfs} >{PF_DEVICE}/sriov_numvfs")
        yield pmd
        guest.run(f"echo 0 >{PF_DEVICE}/sriov_numvfs", 60)
        guest.check()
