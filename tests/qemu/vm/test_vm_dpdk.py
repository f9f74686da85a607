# SPDX-License-Identifier: Apache-2.0
"""testpmd with net_meridian in a virtual machine, on its VF behind its own IOMMU, and the host's behind that."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driver_machine import Link, linked
from meridian_machine import tools
from meridian_machine.guest import PF_DEVICE
from meridian_machine.nested_vm import HOST, SUITE, VF, DebianVm, debian_vm_files
from meridian_machine.testpmd import LIBRARY, MachineTestpmd, give_to, prepare_vfio, vf_name
from testpmd_checks import LARGE, address, check_mac, check_rxonly, check_txonly, pieces, text

pytestmark = [pytest.mark.qemu, pytest.mark.long]


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    library = tools.built("build-dpdk", "--suite", SUITE, minutes=10)
    with linked(SUITE, debian_vm_files({LIBRARY: library}), HOST) as it:
        prepare_vfio(it.guest, hugepages=0)
        it.guest.run(f"echo 0 >{PF_DEVICE}/sriov_drivers_autoprobe; echo 1 >{PF_DEVICE}/sriov_numvfs")
        it.guest.run(f"bridge link set dev eth0 hwmode vepa; ip link set eth0 vf 0 mac {text(address(0))}")
        give_to(it.guest, vf_name(it.guest, 0), "vfio-pci")
        yield it


@pytest.fixture(scope="module")
def vm(link: Link) -> Iterator[DebianVm]:
    it = DebianVm(link.guest, vf_name(link.guest, 0))
    try:
        prepare_vfio(it.inside, hugepages=80)
        give_to(it.inside, VF, "vfio-pci")
        yield it
        it.power_off()
    finally:
        if it.is_running():
            it.kill()
    link.guest.check()


def testpmd(vm: DebianVm, *options: str) -> MachineTestpmd:
    """Its two threads share the only processor."""
    return MachineTestpmd(vm.inside, [VF], *LARGE, *options, eal=("--lcores", "0@0,1@0"))


testpmd.__test__ = False  # type: ignore[attr-defined]


def test_testpmd_in_a_vm_forwards_with_new_addresses(link: Link, vm: DebianVm) -> None:
    with testpmd(vm) as pmd:
        check_mac(link, pmd)
    vm.inside.check()


def test_testpmd_in_a_vm_receives_all_frames_of_its_vf(link: Link, vm: DebianVm) -> None:
    with testpmd(vm) as pmd:
        check_rxonly(link, pmd)
    vm.inside.check()


@pytest.mark.parametrize("size", [64, 9600])
def test_testpmd_in_a_vm_sends_frames_in_one_or_more_pieces(link: Link, vm: DebianVm, size: int) -> None:
    with testpmd(vm, f"--txpkts={pieces(size)}") as pmd:
        check_txonly(link, pmd, size)
    vm.inside.check()
