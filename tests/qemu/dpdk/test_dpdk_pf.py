# SPDX-License-Identifier: Apache-2.0
"""testpmd as the PF of a card on PCIe, which serves VFs: another testpmd's, and Linux's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dpdk_pf import PF_ADDRESS, TOKEN, serving, take_pf
from driver_machine import Link, linked
from meridian_machine import Hardware, tools
from meridian_machine.guest import MODULE, PF_DEVICE
from meridian_machine.testpmd import LIBRARY, MachineTestpmd, give_to, prepare_vfio, vf_name
from testpmd_checks import FAR, LARGE, SIZES, address, on_wire, send, text, to_vf, udp
from vf_attacks import faults

pytestmark = [pytest.mark.qemu, pytest.mark.long]
FRAMES = 20


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    library = tools.built("build-dpdk", "--suite", "bookworm", minutes=10)
    with linked("bookworm", {LIBRARY: library}, Hardware(memory=2048, iommu=True)) as it:
        prepare_vfio(it.guest)
        take_pf(it.guest)
        yield it


@pytest.fixture
def pf(link: Link) -> Iterator[MachineTestpmd]:
    with serving(link, 2) as it:
        yield it


def vf_testpmd(link: Link, number: int, *options: str) -> MachineTestpmd:
    give_to(link.guest, vf_name(link.guest, number), "vfio-pci")
    return MachineTestpmd(
        link.guest, [vf_name(link.guest, number)], *options, name=f"vf{number}", eal=("-l", "0-1", *TOKEN)
    )


def check_back(link: Link, frames: list[bytes], to: bytes) -> None:
    """What testpmd gives back as it came."""
    send(link, frames)
    assert sorted(on_wire(link, frames[0][6:12], len(frames))) == sorted(frames), text(to)


def test_vfs_of_two_processes_get_their_own_frames_and_one_comes_again(link: Link, pf: MachineTestpmd) -> None:
    """Each frame to the function that has its address, the PF's to the PF; one VF is killed and comes again."""
    with vf_testpmd(link, 0, *LARGE) as first:
        first.start("io")
        second = vf_testpmd(link, 1)
        second.start("io")
        check_back(link, to_vf(0), address(0))
        check_back(link, to_vf(1, (60, 500, 1514)), address(1))
        check_back(link, [udp(PF_ADDRESS, PF_ADDRESS, size, size) for size in (60, 1514)], PF_ADDRESS)
        second.kill()
        check_back(link, to_vf(0, SIZES[:3]), address(0))
        with vf_testpmd(link, 1) as again:
            again.start("io")
            check_back(link, to_vf(1, (64, 1000)), address(1))
        assert first.statistics()["RX-packets"] == len(SIZES) + 3
    assert pf.statistics()["RX-packets"] == 2


def test_a_vf_that_is_killed_leaves_no_queue_behind(link: Link, pf: MachineTestpmd) -> None:
    """Frames for its address go nowhere when the VF may access memory again, before any driver has come."""
    function = vf_name(link.guest, 0)
    vf = vf_testpmd(link, 0)
    vf.start("io")
    check_back(link, to_vf(0, (64, 1514)), address(0))
    vf.kill()
    assert faults(link.guest) == set()
    device = f"/sys/bus/pci/devices/{function}"
    link.guest.run(f"echo on >{device}/power/control; setpci -s {function} COMMAND=6:6")
    send(link, [udp(address(0), FAR, 100, number) for number in range(FRAMES)])
    check_back(link, [udp(PF_ADDRESS, PF_ADDRESS, size, size) for size in (64, 1514)], PF_ADDRESS)
    assert faults(link.guest) == set(), "a frame went where the process's buffers were"
    link.guest.run(f"setpci -s {function} COMMAND=0:6; echo auto >{device}/power/control")
    with vf_testpmd(link, 0) as again:
        again.start("io")
        check_back(link, to_vf(0, (64,)), address(0))


def test_a_reset_from_outside_is_told_and_the_port_comes_back(link: Link, pf: MachineTestpmd) -> None:
    frames = [udp(PF_ADDRESS, PF_ADDRESS, size, size) for size in (64, 1514)]
    check_back(link, frames, PF_ADDRESS)
    link.guest.run(f"echo 1 >{PF_DEVICE}/reset")
    pf.wait("the event", lambda: "Port 0: reset event" in pf.output())
    assert "the function was reset from outside" in pf.output()
    pf.command("stop")
    pf.command("port stop 0")
    pf.command("port reset 0")
    pf.command("set promisc 0 off")
    pf.start("io")
    check_back(link, frames, PF_ADDRESS)


def test_a_vf_of_linux_works_on_a_pf_of_dpdk(link: Link, pf: MachineTestpmd) -> None:
    """Its driver asks a PF of DPDK for all that it asks a PF of Linux for."""
    guest = link.guest
    function = vf_name(guest, 0)
    guest.run(f"insmod {MODULE}")
    give_to(guest, function, "meridian")
    interface = guest.run(f"ls /sys/bus/pci/devices/{function}/net").strip()
    assert guest.address(interface) == address(0)
    guest.run(f"ip address add 10.44.0.2/24 dev {interface} && ip link set {interface} up")
    guest.until(f"cat /sys/class/net/{interface}/operstate", "up")
    guest.ping(5, 1400)
    guest.run(f"ip link set {interface} mtu 9000; ethtool -L {interface} combined 2", 60)
    guest.ping(5, 8000)
    assert "vf_messages: 0\n" not in pf.command("show port xstats 0")
    guest.run("rmmod meridian", 60)


def test_a_process_that_does_not_know_the_token_gets_no_vf(link: Link, pf: MachineTestpmd) -> None:
    give_to(link.guest, vf_name(link.guest, 0), "vfio-pci")
    options = f"-d /run/twin/{LIBRARY} -m 64 --no-telemetry --file-prefix=alien -l 0 -a {vf_name(link.guest, 0)}"
    _, said = link.guest.try_run(f"timeout 60 dpdk-testpmd {options} -- --total-num-mbufs=2000 </dev/null 2>&1", 90)
    assert "Getting a vfio_dev_fd" in said and "No probed ethernet devices" in said, said
    frames = [udp(PF_ADDRESS, PF_ADDRESS, 100, 1)]
    check_back(link, frames, FAR)
    assert pf.statistics()["RX-packets"] == 1
