# SPDX-License-Identifier: Apache-2.0
"""What a virtual machine may do with its VF, and what it may not: memory of others, addresses of others, its PF's time."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver_machine import Link, linked, tool
from frames import frame
from meridian_machine.guest import PF_DEVICE
from meridian_machine.nested_vm import HOST, SUITE, Vm, vm_files
from meridian_machine.testpmd import give_to, prepare_vfio, vf_name
from meridian_twin.patience import deadline_in
from vf_attacks import build_attack, faults

pytestmark = [pytest.mark.qemu, pytest.mark.long]
HERE = Path(__file__).parent
OWN, STOLEN = "02:aa:bb:cc:dd:00", "02:66:66:66:66:66"
FRAMES = 20


@pytest.fixture(scope="module")
def attacker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_attack(tmp_path_factory.mktemp("attack"))


@pytest.fixture(scope="module")
def link(attacker: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    """VF 0 for virtual machines, VF 1 of the host in a network namespace, the PF; behind an IOMMU."""
    sender = tool(tmp_path_factory.mktemp("tools"), HERE / "send_frames.c")
    files = vm_files({"send_frames": sender, "vf_attack": attacker}) | {"vf_attack": attacker}
    with linked(SUITE, files, HOST) as it:
        guest = it.guest
        prepare_vfio(guest, hugepages=0)
        guest.run(f"echo 2 >{PF_DEVICE}/sriov_numvfs; ip link set eth0 vf 0 mac {OWN}")
        interface = guest.run(f"ls {PF_DEVICE}/virtfn1/net").strip()
        guest.run(f"ip netns add vf1; ip link set {interface} netns vf1 name eth1")
        guest.run("ip netns exec vf1 ip address add 10.44.0.11/24 dev eth1; ip netns exec vf1 ip link set eth1 up")
        yield it
        guest.run(f"ip netns del vf1; echo 0 >{PF_DEVICE}/sriov_numvfs")


def others_go_on(link: Link) -> None:
    link.guest.ping(3)
    text = link.guest.run("ip netns exec vf1 ping -c 3 -i 0.5 -W 10 10.44.0.1")
    assert " 3 received" in text, text


def spoofed(link: Link) -> int:
    """Frames of VF 0 that the card has dropped for their source address."""
    entry = json.loads(link.guest.run("ip -s -j link show eth0"))[0]
    return entry["vfinfo_list"][0]["stats"]["tx"]["dropped"]


def test_dma_of_a_vf_without_memory_is_caught(link: Link, attacker: Path) -> None:
    """Nobody drives it, so nothing is mapped for it; its rings are at addresses of its choice."""
    name = vf_name(link.guest, 0)
    link.guest.run(f"echo {name} >{PF_DEVICE}/virtfn0/driver/unbind; echo 1 >{PF_DEVICE}/virtfn0/enable")
    assert faults(link.guest) == set()
    link.guest.run(f"/run/twin/vf_attack $(readlink -f {PF_DEVICE}/virtfn0) 3000 1", 300)
    assert faults(link.guest) == {name.removeprefix("0000:")}
    others_go_on(link)
    link.guest.run(f"echo 1 >{PF_DEVICE}/virtfn0/reset; echo 0 >{PF_DEVICE}/virtfn0/enable; dmesg -C")
    link.guest.check()


def test_a_vm_sends_with_its_own_address_only(link: Link) -> None:
    give_to(link.guest, vf_name(link.guest, 0), "vfio-pci")
    vm = Vm(link.guest, vf_name(link.guest, 0))
    try:
        vm.run("ip link set eth0 up; sleep 2")
        link.peer.other.clear()
        before = spoofed(link)
        vm.run(f"/send_frames eth0 {FRAMES} {STOLEN}; /send_frames eth0 {FRAMES} {OWN}")
        deadline = deadline_in(60)
        while sum(frame[6:12] == bytes.fromhex(OWN.replace(":", "")) for frame in link.peer.other) < FRAMES:
            assert time.monotonic() < deadline, "what it may send comes"
            time.sleep(0.1)
        assert not any(frame[6:12] == bytes.fromhex(STOLEN.replace(":", "")) for frame in link.peer.other)
        assert spoofed(link) - before == FRAMES
        status, text = vm.try_run(f"ip link set eth0 address {STOLEN}")
        assert status != 0, text
    finally:
        vm.kill()
    link.guest.check()


def test_a_vm_that_is_killed_leaves_no_queue_behind(link: Link) -> None:
    """Frames for its address go nowhere when the VF may access memory again, before any driver has come."""
    name = vf_name(link.guest, 0)
    give_to(link.guest, name, "vfio-pci")
    vm = Vm(link.guest, name)
    try:
        vm.up("10.44.0.50")
        vm.ping("10.44.0.1")
    finally:
        vm.kill()
    assert faults(link.guest) == set()
    device = f"/sys/bus/pci/devices/{name}"
    link.guest.run(f"echo on >{device}/power/control; setpci -s {name} COMMAND=6:6")
    for number in range(FRAMES):
        link.peer.wire.send(frame(100 + number, number, bytes.fromhex(OWN.replace(":", ""))))
    others_go_on(link)
    assert faults(link.guest) == set(), "a frame went where the machine's buffers were"
    link.guest.run(f"setpci -s {name} COMMAND=0:6; echo auto >{device}/power/control")
    link.guest.check()


def test_a_vm_that_writes_nonsense_harms_itself_only(link: Link) -> None:
    """Messages, doorbells and DMA to anywhere from inside: it may not live through that, all others do."""
    give_to(link.guest, vf_name(link.guest, 0), "vfio-pci")
    vm = Vm(link.guest, vf_name(link.guest, 0))
    try:
        vm.run("device=$(readlink -f /sys/class/net/eth0/device); echo ${device##*/} >$device/driver/unbind")
        vm.run("echo 1 >$device/enable; /vf_attack $device 100000 7 >/dev/null 2>&1 &")
        own, deadline = {vf_name(link.guest, 0).removeprefix("0000:")}, deadline_in(180)
        for turn in itertools.count():
            others_go_on(link)
            seen = faults(link.guest)
            if seen and turn >= 6:
                break
            assert time.monotonic() < deadline, "its DMA to anywhere is caught"
            time.sleep(2)
        assert seen == own
    finally:
        vm.kill()
    assert link.guest.statistics()["vf_messages"] > 100
    link.guest.check()
    again = Vm(link.guest, vf_name(link.guest, 0))
    again.run("ip address add 10.44.0.50/24 dev eth0; ip link set eth0 up; sleep 2")
    again.ping("10.44.0.1")
    again.power_off()
    others_go_on(link)
