# SPDX-License-Identifier: Apache-2.0
"""What the Linux driver leaves behind when it stops: no memory that the card may still write to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driver_machine import Link, changed, linked, vfs_apart
from meridian_machine import Hardware, tools
from meridian_machine.guest import HERE, PF_DEVICE, Guest
from peer import BROADCAST, ethernet

pytestmark = pytest.mark.qemu
STUCK = "/sys/module/meridian/parameters/stuck"
FUNCTION, FUNCTION_STRIDE = 0x200000, 0x1000
FLAGS, ANY_FRAME = 0x4, 0x7
VF_FUNCTION, VF_QUEUE = 4, 256  # the first VF of the first PF
# A card that is busy does nothing of what a driver says when it stops a queue.
STOP = r"(?s)(static int each\(.*?\n\tu32 i;\n)"
STUCK_STOP = (
    "#include <linux/moduleparam.h>\\nstatic bool stuck;\\nmodule_param(stuck, bool, 0600);\\n\\g<1>"
    "\\n\\tif (stuck && op == QDMA_CONTEXT_INVALIDATE)\\n\\t\\treturn -EBUSY;\\n"
)


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    """A card that can be told to be busy, behind an IOMMU."""
    hardware = Hardware(memory=1024, iommu=True, kernel="iomem=relaxed")
    with (
        changed("qdma/qdma_queue.c", STOP, STUCK_STOP) as driver,
        linked(tools.SUITES[0], hardware=hardware, driver=driver) as it,
    ):
        yield it


def bar2(guest: Guest) -> int:
    return int(guest.run(f"sed -n 3p {PF_DEVICE}/resource").split()[0], 16)


def write(guest: Guest, offset: int, value: int) -> None:
    guest.run(f"busybox devmem {bar2(guest) + offset:#x} 32 {value:#x}")


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


@pytest.mark.parametrize("is_vf", [False, True], ids=["PF", "VF"])
def test_memory_goes_back_only_when_the_card_has_let_go_of_it(link: Link, is_vf: bool) -> None:
    guest = link.guest
    if is_vf:
        with vfs_apart(guest):
            stop_and_see(link, "ip netns exec vf0 ", "eth1", f"{PF_DEVICE}/virtfn0", VF_FUNCTION, VF_QUEUE)
    else:
        stop_and_see(link, "", "eth0", PF_DEVICE, 0, 0)
        guest.wait_link()
        guest.ping()


def stop_and_see(link: Link, enter: str, interface: str, device: str, function: int, queue: int) -> None:
    guest = link.guest
    guest.run("dmesg -C")
    guest.run(f"{enter}ip link set {interface} up; sleep 1; echo 1 >{STUCK}; {enter}ip link set {interface} down")
    storm(link, function, queue)
    log = guest.run("dmesg")
    assert "DMAR: [DMA" not in log, log
    assert "does not end the queues" in log
    assert not is_master(guest, device)
    status, _ = guest.try_run(f"{enter}ip link set {interface} up")
    assert status != 0, "its queues may run still"
    guest.run(f"echo 0 >{STUCK}; {enter}ip link set {interface} up")
    guest.until(f"{enter}cat /sys/class/net/{interface}/carrier", "1")
    assert is_master(guest, device)
    guest.run("dmesg -C")
    guest.run(f"{enter}ip link set {interface} down; {enter}ip link set {interface} up")
    assert "does not end" not in guest.run("dmesg")


def test_a_pf_that_is_down_accesses_memory_again_when_its_queues_have_ended(link: Link) -> None:
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
    with (
        changed("qdma/qdma_queue.c", STOP, STUCK_STOP) as stuck,
        changed("linux/rings/meridian_ring.c", r"\tpci_clear_master\(m->pdev\);\n", "", stuck) as driver,
        linked(tools.SUITES[0], driver=driver) as link,
    ):
        guest = link.guest
        guest.run(f"dmesg -C; echo 1 >{STUCK}; ip link set eth0 down")
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
