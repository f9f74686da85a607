# SPDX-License-Identifier: Apache-2.0
"""What the Linux driver leaves behind when it stops: no memory that the card may still write to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driver_machine import Link, linked, vfs_apart
from faulty_driver import faulty, parameter
from meridian_machine import Hardware, tools
from meridian_machine.guest import HERE, PF_DEVICE, Guest
from peer import BROADCAST, ethernet

pytestmark = pytest.mark.qemu
STUCK, REFUSED, STUCK_RINGS, DEAF = (parameter(name) for name in ("stuck", "refused", "stuck_rings", "deaf"))
STUBBORN = parameter("stubborn")
DRIVER = "/sys/bus/pci/drivers/meridian"
FUNCTION, FUNCTION_STRIDE = 0x200000, 0x1000
FLAGS, ANY_FRAME = 0x4, 0x7
VF_FUNCTION, VF_QUEUE = 4, 256  # the first VF of the first PF


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    """A card that can be told to be busy, behind an IOMMU."""
    hardware = Hardware(memory=1024, iommu=True, kernel="iomem=relaxed")
    with faulty() as driver, linked(tools.SUITES[0], hardware=hardware, driver=driver) as it:
        yield it


def write(guest: Guest, offset: int, value: int) -> None:
    guest.run(f"busybox devmem {guest.bar(2) + offset:#x} 32 {value:#x}")


def is_master(guest: Guest, device: str) -> bool:
    return bool(int(guest.run(f"od -An -tu1 -j4 -N1 {device}/config")) & 4)


def storm(link: Link, function: int, queue: int) -> None:
    """Frames for a function that the shell believes to have one queue still."""
    base = FUNCTION + FUNCTION_STRIDE * function
    write(link.guest, base, queue << 16 | 1)
    write(link.guest, base + FLAGS, ANY_FRAME)
    for _ in range(20):
        link.peer.wire.send(ethernet(BROADCAST, link.peer.mac, 0x88B5, bytes(1000)))
    link.guest.run("sleep 1")
    write(link.guest, base, 0)


def is_kept_from_memory(link: Link, device: str, function: int = 0, queue: int = 0) -> None:
    """Whatever the card has of its queues."""
    storm(link, function, queue)
    log = link.guest.run("dmesg")
    assert "DMAR: [DMA" not in log, log
    assert not is_master(link.guest, device)


@pytest.mark.parametrize(
    ("is_vf", "why"), [(False, STUCK), (True, STUCK), (True, DEAF)], ids=["PF", "VF", "VF of a deaf PF"]
)
def test_memory_goes_back_only_when_the_card_has_let_go_of_it(link: Link, is_vf: bool, why: str) -> None:
    guest = link.guest
    if is_vf:
        with vfs_apart(guest):
            stop_and_see(link, "ip netns exec vf0 ", "eth1", f"{PF_DEVICE}/virtfn0", VF_FUNCTION, VF_QUEUE, why)
    else:
        stop_and_see(link, "", "eth0", PF_DEVICE, 0, 0, why)
        guest.wait_link()
        guest.ping()


def stop_and_see(link: Link, enter: str, interface: str, device: str, function: int, queue: int, why: str) -> None:
    guest = link.guest
    guest.run("dmesg -C")
    guest.run(f"{enter}ip link set {interface} up; sleep 1; echo 1 >{why}; {enter}ip link set {interface} down")
    is_kept_from_memory(link, device, function, queue)
    assert "does not end the queues" in guest.run("dmesg")
    status, _ = guest.try_run(f"{enter}ip link set {interface} up")
    assert status != 0, "its queues may run still"
    # A PF's late answer to an earlier question may cost a try.
    guest.run(f"echo 0 >{why}")
    guest.until(f"{enter}ip link set {interface} up && echo is up", "is up")
    guest.until(f"{enter}cat /sys/class/net/{interface}/carrier", "^1")
    assert is_master(guest, device)
    guest.run("dmesg -C")
    guest.run(f"{enter}ip link set {interface} down; {enter}ip link set {interface} up")
    assert "does not end" not in guest.run("dmesg")


def test_queues_that_neither_all_start_nor_end_keep_their_memory(link: Link) -> None:
    """The first pair starts, the second does not."""
    guest = link.guest
    guest.run(f"ip link set eth0 down; dmesg -C; echo 1 >{STUCK}; echo 1 >{REFUSED}")
    assert guest.try_run("ip link set eth0 up")[0] != 0
    is_kept_from_memory(link, PF_DEVICE)
    assert "does not end the queues" in guest.run("dmesg")
    guest.run(f"echo 0 >{REFUSED}")
    assert guest.try_run("ip link set eth0 up")[0] != 0, "what has started runs still"
    guest.run(f"echo 0 >{STUCK}; ip link set eth0 up")
    guest.wait_link()
    guest.ping()


def begin_anew(guest: Guest) -> None:
    """The PF with a driver that knows nothing of before, whether it has one or none."""
    name = PF_DEVICE.rsplit("/", 1)[1]
    guest.run(f"[ ! -e {PF_DEVICE}/driver ] || echo {name} >{DRIVER}/unbind; echo {name} >{DRIVER}/bind")
    guest.run(f"ip address add {HERE}/24 dev eth0 && ip link set eth0 up")
    guest.wait_link()
    guest.ping()


def test_a_pf_that_goes_down_while_it_does_not_answer_keeps_no_access_to_memory(
    link: Link,
) -> None:
    """Its queues cannot be ended, and it may be there again at any time."""
    guest, name = link.guest, PF_DEVICE.rsplit("/", 1)[1]
    guest.run(f"dmesg -C; setpci -s {name} COMMAND=0:2")
    guest.until("dmesg", "does not answer any more")
    assert is_master(guest, PF_DEVICE)
    guest.run(f"ip link set eth0 down; setpci -s {name} COMMAND=2:2")
    is_kept_from_memory(link, PF_DEVICE)
    begin_anew(guest)


def test_interrupt_rings_that_do_not_end_are_kept_from_memory(link: Link) -> None:
    """Then they are freed, for nothing is written to them."""
    guest, device = link.guest, "pci/0000:01:00.0"
    guest.run(f"devlink dev param set {device} name msix_vec_per_pf_max value 2 cmode driverinit")
    guest.run(f"devlink dev reload {device}; ip address add {HERE}/24 dev eth0 && ip link set eth0 up")
    guest.wait_link()
    guest.ping()
    guest.run(f"dmesg -C; echo 1 >{STUCK_RINGS}; echo {device[4:]} >{DRIVER}/unbind")
    is_kept_from_memory(link, PF_DEVICE)
    assert "they are not freed" not in guest.run("dmesg")
    guest.run(f"echo 0 >{STUCK_RINGS}")
    begin_anew(guest)


def test_a_pf_that_is_down_accesses_memory_again_when_its_queues_have_ended(
    link: Link,
) -> None:
    """Else its VFs' messages would no longer interrupt."""
    guest = link.guest
    guest.run(f"echo 1 >{STUCK}; ip link set eth0 down")
    assert not is_master(guest, PF_DEVICE)
    guest.run(f"echo 0 >{STUCK}")
    guest.until(f"od -An -tu1 -j4 -N1 {PF_DEVICE}/config", "[67]")
    with vfs_apart(guest):
        guest.run("ip netns exec vf0 ip link set eth1 up")
    guest.run("ip link set eth0 up")
    guest.wait_link()
    guest.ping()


def pages_of_rings(guest: Guest) -> int:
    """Objects of 4 KiB, of all kinds of caches: a receive ring's list of buffers is one."""
    lines = guest.run("grep '^kmalloc.*-4k ' /proc/slabinfo").splitlines()
    return sum(int(line.split()[1]) for line in lines)


@pytest.mark.leaks
def test_memory_that_a_card_keeps_is_lost_once_however_often_the_port_is_tried() -> None:
    """A card that neither ends its queues nor minds its Bus Master bit."""
    tries = 50
    with faulty() as driver, linked(tools.SUITES[0], driver=driver) as link:
        guest = link.guest
        guest.run(f"dmesg -C; echo 1 >{STUBBORN}; echo 1 >{STUCK}; ip link set eth0 down")
        before = pages_of_rings(guest)
        guest.run(f"for i in $(seq {tries}); do ! ip link set eth0 up || exit 1; done", 120)
        assert pages_of_rings(guest) - before < tries / 2
        assert guest.run("dmesg").count("Bus Master bit stays set") == 1
        guest.run(f"echo 0 >{STUCK}; ip link set eth0 up")
        guest.wait_link()
        guest.ping()
        guest.check()


def test_reports_end_before_devlink_does(link: Link) -> None:
    guest = link.guest
    name = PF_DEVICE.rsplit("/", 1)[1]
    guest.run(
        "touch /run/go\n"
        "for reporter in tx rx qdma; do\n"
        "  while [ -e /run/go ]; do devlink health test pci/0000:01:00.0 reporter $reporter; done >/dev/null 2>&1 &\n"
        "done"
    )
    for _ in range(10):
        guest.run(f"echo {name} >/sys/bus/pci/drivers/meridian/unbind; echo {name} >/sys/bus/pci/drivers/meridian/bind")
        guest.run("sleep 0.5")
    guest.run("rm /run/go; wait")
    guest.check()
    guest.run(f"ip address replace {HERE}/24 dev eth0 && ip link set eth0 up")
    guest.wait_link()
    guest.ping()
