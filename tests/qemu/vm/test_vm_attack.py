# SPDX-License-Identifier: Apache-2.0
"""A virtual machine whose VF is in hostile hands: the host's PF and other VF pay nothing, nor does the VF's next user."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest
from host_leaks import CHECKED
from host_network import FAR, Network, network
from meridian_machine.nested_vm import HOST, SUITE, VF, Vm, VmError, vm_files
from meridian_machine.testpmd import prepare_vfio, vf_name
from vf_attacks import Victims, add, build_attack, faults, parts, patience, slow_mail

pytestmark = [pytest.mark.qemu, pytest.mark.long]
OPERATIONS = int(os.environ.get("MERIDIAN_ATTACK", "10000"))
ADDRESS = "10.44.0.50"
LIVES = 3  # of a virtual machine in one part
DEVICE = f"/sys/bus/pci/devices/{VF}"
DRIVER = "/sys/bus/pci/drivers/meridian"


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    program = build_attack(tmp_path_factory.mktemp("attack"))
    hardware = replace(HOST, kernel=f"{HOST.kernel} {CHECKED.kernel}")
    with network(vfs=0, suite=SUITE, hardware=hardware, files=vm_files({program.name: program})) as it:
        prepare_vfio(it.guest, hugepages=0)
        slow_mail(it, 2)
        it.make_vfs_for_vm()
        yield it
        it.end_vfs()


class Hostile:
    """The virtual machine. It may die of what it does, as its rings may be anywhere in its memory; then comes another."""

    def __init__(self, net: Network) -> None:
        self.net, self.deaths = net, 0
        self.vm = Vm(net.guest, vf_name(net.guest, 0))

    def replace(self) -> None:
        """By a new one, with its driver on the VF."""
        self.vm.kill()
        self.vm = Vm(self.net.guest, vf_name(self.net.guest, 0))

    def release(self) -> None:
        """The VF has no driver in it, and answers."""
        self.vm.run(f"echo {VF} >{DRIVER}/unbind; echo 1 >{DEVICE}/enable")

    def use(self) -> None:
        """The VF, by its driver: it reaches the wire."""
        self.vm.up(ADDRESS)
        self.vm.ping(FAR)

    def attack(self, operations: int, totals: list[int]) -> None:
        for count, seed in parts(operations):
            self._part(count, seed, totals)
            self.net.guest.check()

    def _part(self, count: int, seed: int, totals: list[int]) -> None:
        for life in range(LIVES):
            try:
                said = self.vm.run(f"/vf_attack {DEVICE} {count} {seed + 1000 * life} around", patience(count))
                self.vm.run(f"echo 1 >{DEVICE}/reset")
                return add(totals, said)
            except VmError as error:
                print(f"it has died: {error}")
                self.deaths += 1
                self.replace()
                self.release()
        raise AssertionError(f"{LIVES} virtual machines did not live through {count} messages and doorbells")


def test_a_vm_that_writes_nonsense_harms_nobody(net: Network) -> None:
    """Its page of BAR2 is all that it has of it: what is beside that in its addresses is nothing, or its own."""
    victims = Victims(net, net.vfs[0])
    hostile = Hostile(net)
    try:
        with victims.usual():
            victims.download()
            hostile.use()
        hostile.release()
        with victims.attacked(OPERATIONS) as totals:
            hostile.attack(OPERATIONS, totals)
        assert faults(net.guest) <= {vf_name(net.guest, 0).removeprefix("0000:")}
        strays, pages = totals[4:]
        print(f"{strays} accesses beside its page of BAR2; {hostile.deaths} deaths")
        assert strays > OPERATIONS / 100 and pages > 0
        hostile.replace()
        hostile.use()
        for function in net.functions():
            function.ping()
        victims.check_kept()
        hostile.vm.power_off()
    finally:
        if hostile.vm.is_running():
            hostile.vm.kill()
    net.guest.check()
