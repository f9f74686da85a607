# SPDX-License-Identifier: Apache-2.0
"""testpmd with net_meridian on VFs of meridian.ko, on vfio-pci behind an IOMMU; and on the PF itself.

The machine is of bookworm, for whose DPDK a mirror is sure to have the headers of drivers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from driver_machine import Link, linked
from meridian_machine import Hardware, tools
from meridian_machine.guest import MODULE, PF_DEVICE
from meridian_machine.testpmd import LIBRARY, MachineTestpmd, give_to, prepare_vfio, vf_name
from testpmd_checks import (
    FAR,
    LARGE,
    SIZES,
    address,
    check_mac,
    check_rxonly,
    check_txonly,
    on_wire,
    pieces,
    send,
    text,
    to_vf,
    udp,
    until_quiet,
)

pytestmark = pytest.mark.qemu
PF = "0000:01:00.0"
FLOWS = 128  # so many that none of eight queues is left out


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    """Two VFs on vfio-pci. What the functions send goes to the wire, to the own address, too."""
    library = tools.built("build-dpdk", "--suite", "bookworm", minutes=10)
    with linked("bookworm", {LIBRARY: library}, Hardware(memory=2048, iommu=True)) as it:
        prepare_vfio(it.guest)
        it.guest.run(f"echo 0 >{PF_DEVICE}/sriov_drivers_autoprobe; echo 2 >{PF_DEVICE}/sriov_numvfs")
        it.guest.run("bridge link set dev eth0 hwmode vepa")
        for number in (0, 1):
            it.guest.run(f"ip link set eth0 vf {number} mac {text(address(number))}")
            give_to(it.guest, vf_name(it.guest, number), "vfio-pci")
        yield it


def testpmd(link: Link, vf: int, *options: str, **named: object) -> MachineTestpmd:
    return MachineTestpmd(link.guest, [vf_name(link.guest, vf)], *options, name=f"vf{vf}", **named)  # type: ignore[arg-type]


testpmd.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.quick
def test_frames_pass_through_a_vf(link: Link) -> None:
    """In the hands of a user: each size, there and back, with the PF at work beside it."""
    with testpmd(link, 0, *LARGE) as pmd:
        check_mac(link, pmd)


@pytest.mark.long
@pytest.mark.parametrize("queues", [1, 2, 4, 8])
def test_testpmd_forwards_each_flow_in_order_through_its_queue(link: Link, queues: int) -> None:
    """Flows are spread over the queues, each stays in its own and in order, and all come back."""
    with testpmd(link, 0, *LARGE, f"--rxq={queues}", f"--txq={queues}", "--rss-ip") as pmd:
        pmd.start("io")
        send(link, to_vf(0))
        assert sorted(on_wire(link, address(0), len(SIZES))) == sorted(to_vf(0))
        frames = [udp(address(0), address(0), 100, number, number % FLOWS) for number in range(4 * FLOWS)]
        for half in (frames[: 2 * FLOWS], frames[2 * FLOWS :]):
            send(link, half)
            back = on_wire(link, address(0), len(half))
            for flow in range(FLOWS):
                port = (1000 + flow).to_bytes(2, "big")
                assert [frame for frame in back if frame[34:36] == port] == half[flow::FLOWS]
        used = re.findall(r"RX Port= 0/Queue=\s*(\d+)", pmd.command("show fwd stats all"))
        assert len(used) == (queues if queues > 1 else 0), used


@pytest.mark.long
def test_testpmd_receives_all_frames_of_a_vf(link: Link) -> None:
    with testpmd(link, 0, *LARGE) as pmd:
        check_rxonly(link, pmd)


@pytest.mark.long
@pytest.mark.parametrize("size", [64, 300, 9600])
def test_testpmd_sends_frames_of_a_vf_in_one_or_more_pieces(link: Link, size: int) -> None:
    with testpmd(link, 0, *LARGE, f"--txpkts={pieces(size)}") as pmd:
        check_txonly(link, pmd, size)


@pytest.mark.long
def test_the_card_fills_in_the_checksums_that_testpmd_asks_for(link: Link) -> None:
    """What the card fills in is what the frame had: testpmd takes the checksums out before it asks for them."""
    with testpmd(link, 0) as pmd:
        pmd.command(f"set eth-peer 0 {text(FAR)}")
        for layer in ("ip", "udp"):
            assert "rror" not in pmd.command(f"csum set {layer} hw 0")
        pmd.start("csum")
        frames = to_vf(0, (60, 64, 500, 1514))
        send(link, frames)
        back = on_wire(link, address(0), len(frames))
        assert back == [FAR + address(0) + frame[12:] for frame in frames]


@pytest.mark.long
def test_two_processes_have_a_vf_each_and_one_outlives_the_other(link: Link) -> None:
    """Each has a VF; one is killed, the other goes on, and the VF of the first is another's."""
    with testpmd(link, 0) as first:
        second = testpmd(link, 1)
        for vf, pmd in ((0, first), (1, second)):
            pmd.start("io")
            frames = to_vf(vf, (60, 500, 1514))
            send(link, frames)
            assert on_wire(link, address(vf), 3) == frames
        second.kill()
        with testpmd(link, 1) as again:
            again.start("io")
            for vf in (0, 1):
                send(link, to_vf(vf, (64, 1000)))
                assert on_wire(link, address(vf), 2) == to_vf(vf, (64, 1000))
        link.guest.ping()


@pytest.mark.long
def test_a_second_process_shares_the_queues_of_one_vf(link: Link) -> None:
    """Two queues, a process on each; the second ends, and the first has its queue for itself."""
    queues = ["--rxq=2", "--txq=2", "--rss-ip", "--num-procs=2"]
    frames = [udp(address(0), address(0), 100, number, number % FLOWS) for number in range(FLOWS)]
    with testpmd(link, 0, *queues, "--proc-id=0") as first:
        first.start("io")
        also = ("-l", "0-1", "--proc-type=secondary", "--file-prefix=vf0")
        second = MachineTestpmd(link.guest, [vf_name(link.guest, 0)], *queues, "--proc-id=1", name="second", eal=also)
        with second:
            assert "Link status: up" in second.command("show port info 0")
            send(link, frames)
            alone = on_wire(link, address(0), len(frames) // 8) + until_quiet(link, address(0))
            assert len(alone) < len(frames), "half of them is the second one's"
            second.start("io")
            assert sorted(alone + on_wire(link, address(0), len(frames) - len(alone))) == sorted(frames)
        send(link, frames)
        assert sorted(on_wire(link, address(0), len(alone))) == sorted(alone)


@pytest.mark.long
def test_an_argument_that_nobody_knows_makes_no_port(link: Link) -> None:
    options = f"-d /run/twin/{LIBRARY} -m 64 --no-telemetry -l 0 -a {vf_name(link.guest, 0)},vf=2"
    _, said = link.guest.try_run(f"timeout 60 dpdk-testpmd {options} -- --total-num-mbufs=2000 </dev/null 2>&1", 90)
    assert '"vf=2": a function on PCIe knows queues, mac, vfs' in said, said
    assert "No probed ethernet devices" in said, said


@pytest.mark.long
def test_promiscuous_is_for_a_vf_that_is_trusted(link: Link) -> None:
    """testpmd asks for it at once, and goes on without."""
    frame = udp(bytes.fromhex("02cccccccccc"), address(0), 64, 1)
    with testpmd(link, 0) as pmd:
        assert "Operation not permitted - ignore" in pmd.start_text
        assert "ip link set DEVICE vf NUMBER trust on" in pmd.start_text
        pmd.start("rxonly")
        assert "Promiscuous mode: disabled" in pmd.command("show port info 0")
        send(link, [frame, *to_vf(0, (64,))])
        pmd.wait("the frame", lambda: pmd.statistics()["RX-packets"] == 1)
        link.guest.run("ip link set eth0 vf 0 trust on")
        pmd.command("set promisc 0 on")
        send(link, [frame])
        pmd.wait("the frame of somebody else", lambda: pmd.statistics()["RX-packets"] == 2)
        # Trust goes while the port is down: it starts all the same, without.
        pmd.command("stop")
        pmd.command("port stop all")
        link.guest.run("ip link set eth0 vf 0 trust off")
        pmd.start("rxonly")
        assert "Promiscuous mode: disabled" in pmd.command("show port info 0")
        send(link, [frame, *to_vf(0, (64,))])
        pmd.wait("the frame", lambda: pmd.statistics()["RX-packets"] == 3)


@pytest.mark.long
def test_a_reset_from_outside_is_told_and_the_port_comes_back(link: Link) -> None:
    with testpmd(link, 0) as pmd:
        pmd.start("io")
        send(link, to_vf(0, (64,)))
        assert on_wire(link, address(0), 1) == to_vf(0, (64,))
        link.guest.run(f"echo 1 >{PF_DEVICE}/virtfn0/reset")
        pmd.wait("the event", lambda: "Port 0: reset event" in pmd.output())
        assert "the VF has lost its queues" in pmd.output()
        pmd.command("stop")
        pmd.command("port stop 0")
        pmd.command("port reset 0")
        pmd.start("io")
        send(link, to_vf(0, (64, 1514)))
        assert on_wire(link, address(0), 2) == to_vf(0, (64, 1514))
        link.guest.ping()


@pytest.mark.long
def test_an_address_that_the_pf_gives_is_the_ports_after_a_reset(link: Link) -> None:
    with testpmd(link, 0) as pmd:
        pmd.start("io")
        link.guest.run(f"ip link set eth0 vf 0 mac {text(address(7))}")
        try:
            pmd.command("stop")
            pmd.command("port stop 0")
            pmd.command("port reset 0")
            pmd.start("io")
            assert text(address(7)) in pmd.command("show port info 0").lower()
            send(link, to_vf(7, (64,)))
            assert on_wire(link, address(7), 1) == to_vf(7, (64,))
        finally:
            link.guest.run(f"ip link set eth0 vf 0 mac {text(address(0))}")


@pytest.mark.long
def test_a_pf_that_goes_takes_its_vfs_along(link: Link) -> None:
    """VFIO asks for them back; an application that listens gives them, and the driver is unloaded and loaded."""
    guest = link.guest
    with testpmd(link, 0, "--hot-plug") as pmd:
        pmd.start("io")
        send(link, to_vf(0, (64,)))
        assert on_wire(link, address(0), 1) == to_vf(0, (64,))
        guest.run("rmmod meridian", 60)
        pmd.wait("the device's removal", lambda: "Device is detached" in pmd.output())
    guest.run(f"insmod {MODULE} && ip address add 10.44.0.2/24 dev eth0 && ip link set eth0 up")
    guest.wait_link()
    guest.ping()
    guest.run(f"echo 0 >{PF_DEVICE}/sriov_drivers_autoprobe; echo 2 >{PF_DEVICE}/sriov_numvfs")
    guest.run("bridge link set dev eth0 hwmode vepa")
    for number in (0, 1):
        guest.run(f"ip link set eth0 vf {number} mac {text(address(number))}")
        give_to(guest, vf_name(guest, number), "vfio-pci")
    with testpmd(link, 0) as pmd:
        pmd.start("io")
        send(link, to_vf(0, (64,)))
        assert on_wire(link, address(0), 1) == to_vf(0, (64,))


@pytest.mark.long
@pytest.mark.parametrize("queues", [1, 4])
def test_the_pf_itself_goes_to_dpdk_and_back(link: Link, queues: int) -> None:
    """From meridian.ko to DPDK and back."""
    guest = link.guest
    guest.run("rmmod meridian", 60)
    give_to(guest, PF, "vfio-pci")
    options = [*LARGE, f"--rxq={queues}", f"--txq={queues}", "--rss-ip"]
    with MachineTestpmd(guest, [f"{PF},mac={text(address(9))}"], *options, name="pf") as pmd:
        pmd.start("io")
        frames = [udp(address(9), FAR, size, size, size % 16) for size in SIZES]
        send(link, frames)
        pmd.wait("all", lambda: pmd.statistics()["TX-packets"] == len(frames))
        assert sorted(on_wire(link, FAR, len(frames))) == sorted(frames)
    give_to(guest, PF, "")
    guest.run(f"insmod {MODULE} && ip address add 10.44.0.2/24 dev eth0 && ip link set eth0 up")
    guest.wait_link()
    guest.ping()
