# SPDX-License-Identifier: Apache-2.0
"""A VF in a virtual machine of its own: QEMU with VFIO in the host machine, meridian.ko in both."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from host_network import FAR, Network, network
from meridian_machine.guest import MODULE, PF_DEVICE
from meridian_machine.nested_vm import HOST, SUITE, Vm, vm_files
from meridian_machine.testpmd import prepare_vfio, vf_name

pytestmark = [pytest.mark.qemu, pytest.mark.long]
VM = "10.44.0.50"
LOST = "the VF has lost its queues by a reset"
RESETS = 6  # as many moments of the driver's round of 250 ms


@pytest.fixture(scope="module")
def net() -> Iterator[Network]:
    """The PF, a VF in a network namespace, and another for virtual machines: VF 0."""
    with network(vfs=0, suite=SUITE, hardware=HOST, files=vm_files()) as it:
        prepare_vfio(it.guest, hugepages=0)
        it.make_vfs_for_vm()
        yield it
        it.end_vfs()


@contextmanager
def vm_of(net: Network) -> Iterator[Vm]:
    vm = Vm(net.guest, vf_name(net.guest, 0))
    try:
        vm.up(VM)
        yield vm
    finally:
        if vm.is_running():
            vm.kill()


@contextmanager
def pings(net: Network) -> Iterator[None]:
    """Of PF and the other VF to the wire, two a second, of which none may be lost."""
    lines = [f"{function.enter}ping -i 0.5 -W 20 {FAR}" for function in net.functions()]
    each = "\n".join(f"{line} >/tmp/ping{n} 2>&1 & echo $! >>/tmp/pings" for n, line in enumerate(lines))
    net.guest.run(f"rm -f /tmp/pings\n{each}")
    try:
        yield
    finally:
        net.guest.run("sleep 2; kill -INT $(cat /tmp/pings); sleep 1")
    for n, line in enumerate(lines):
        found = re.search(r"(\d+) packets transmitted, (\d+) received", net.guest.run(f"cat /tmp/ping{n}"))
        assert found, line
        sent, received = int(found[1]), int(found[2])
        assert sent > 3 and received >= sent - 1, f"{line}: {received} of {sent}"


def test_a_vm_reaches_the_wire_and_its_neighbours(net: Network) -> None:
    with vm_of(net) as vm:
        print("up")
        vm.ping(FAR)
        vm.ping(FAR, size=1472)
        for function in net.functions():
            vm.ping(function.address)
            function.ping(to=VM)
        vm.power_off()
    net.guest.check()


def test_a_vm_that_is_killed_leaves_a_vf_for_the_next(net: Network) -> None:
    """It receives and sends when it dies; VFIO resets the VF, PF and the other VF notice nothing."""
    with vm_of(net) as vm:
        with pings(net):
            vm.run(f"ping -i 0.2 {FAR} >/dev/null &")
            time.sleep(3)
            vm.kill()
            time.sleep(3)
        net.guest.check()
    with vm_of(net) as vm:
        vm.ping(FAR)
        with pings(net):
            vm.reboot()
        vm.up(VM)
        vm.ping(FAR)
        net.guest.check()


def test_a_vf_that_is_reset_goes_on_in_its_vm(net: Network) -> None:
    """By the VM itself, whose Linux tells the driver; and by the host, with the VM told nothing."""
    with vm_of(net) as vm:
        with pings(net):
            vm.run("device=$(readlink -f /sys/class/net/eth0/device); echo 1 >$device/reset")
            vm.wait_link()
        vm.ping(FAR)
        vm.run(f"! dmesg | grep '{LOST}'")
        with pings(net):
            for count in range(1, RESETS + 1):
                net.guest.run(f"echo 1 >{PF_DEVICE}/virtfn0/reset")
                seen = f"[ $(dmesg | grep -c '{LOST}') = {count} ]"
                vm.run(f"for try in $(seq 100); do {seen} && break; sleep 0.1; done; {seen} && sleep 1")
                vm.wait_link()
                vm.ping(FAR)
        vm.run("! dmesg | grep 'does not answer'")
    net.guest.check()


def test_a_pf_driver_that_goes_takes_the_vf_out_of_the_vm(net: Network) -> None:
    """VFIO asks for the VF, QEMU unplugs it, the VM goes on; with the driver comes a VF to plug in again."""
    guest = net.guest
    with vm_of(net) as vm:
        vm.ping(FAR)
        net.vfs.clear()
        guest.run("ip netns del vf1; rmmod meridian", 180)
        assert "eth0" not in vm.run("ls /sys/class/net")
        guest.run(f"insmod {MODULE}")
        guest.run(f"ip address add {net.pf.address}/24 dev eth0; ip link set eth0 up")
        net.pf.ping()
        net.make_vfs_for_vm()
        vm.monitor(f"device_add vfio-pci,host={vf_name(guest, 0)},bus=vfport,id=vf")
        vm.run("for try in $(seq 100); do [ -e /sys/class/net/eth0 ] && break; sleep 0.5; done; ls /sys/class/net/eth0")
        vm.up(VM)
        vm.ping(FAR)
        for function in net.functions():
            function.ping()
    guest.check()
