# SPDX-License-Identifier: Apache-2.0
"""What the PFs of a card share, when one of them goes or the card takes no more: errors, switching, VFs, the filter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driver_machine import changed, running
from machine_report import run_folder
from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine.guest import HERE, PF_DEVICE, Guest

pytestmark = pytest.mark.qemu
SECOND = "/sys/bus/pci/devices/0000:01:00.1"
DRIVER = "/sys/bus/pci/drivers/meridian"
COMPLETION_DOORBELL = 0x18000 + 0xC
PARAMETERS = "/sys/module/meridian/parameters"
# VFs that a Xen domain has are marked so; and a filter may be full.
ASSIGNED = "#include <linux/moduleparam.h>\\nstatic bool assigned;\\nmodule_param(assigned, bool, 0600);\\n"
FULL = "#include <linux/moduleparam.h>\\nstatic bool full;\\nmodule_param(full, bool, 0600);\\n"
INSTALL = r"(int meridian_install\(struct meridian \*m, u32 function, const struct meridian_entry \*entry\)\n\{\n)"


@pytest.fixture(scope="module")
def guest() -> Iterator[Guest]:
    """Two PFs, eth0 and eth1, with the first one's address on the wire."""
    hardware = Hardware(device="pfs=2", kernel="iomem=relaxed")
    with (
        changed(
            "linux/card/meridian_entry.c", INSTALL, FULL + "\\n\\g<1>\\tif (full)\\n\\t\\treturn -ENOSPC;\\n"
        ) as filtered,
        changed(
            "linux/functions/meridian_sriov.c", r"(?s)(#define VF_LIMIT)", ASSIGNED + "\\n\\g<1>", filtered
        ) as declared,
        changed("linux/functions/meridian_sriov.c", r"pci_vfs_assigned\(m->pdev\)", "assigned", declared) as driver,
        run_folder() as folder,
        Twin(Setting(suite=tools.SUITES[0], hardware=hardware, driver=driver), folder) as twin,
        running(twin) as it,
    ):
        it.run("ip link set eth1 up")
        yield it


def first_again(guest: Guest) -> None:
    guest.run(f"echo 0000:01:00.0 >{DRIVER}/bind && ip address add {HERE}/24 dev eth0 && ip link set eth0 up")
    guest.wait_link()


def bar0(guest: Guest, device: str) -> int:
    return int(guest.run(f"head -n 1 {device}/resource").split()[0], 16)


def bridge_mode(guest: Guest, interface: str) -> str:
    return (
        "VEPA"
        if "VEPA" in guest.run(f"bridge link show dev {interface}; bridge -d link show dev {interface}")
        else "VEB"
    )


def test_errors_are_taken_by_another_pf_when_the_first_goes(guest: Guest) -> None:
    guest.run(f"echo 0000:01:00.0 >{DRIVER}/unbind; dmesg -C")
    # An index of completions that cannot be.
    guest.run(f"busybox devmem {bar0(guest, SECOND) + COMPLETION_DOORBELL:#x} 32 {1 << 28 | 500:#x}")
    guest.until("dmesg", "0000:01:00.1 eth1: QDMA errors .* c2h 0x4000 ")
    first_again(guest)
    guest.ping()


def test_a_pf_that_comes_leaves_the_ports_switching_as_it_was_set(guest: Guest) -> None:
    guest.run("bridge link set dev eth0 hwmode vepa")
    assert bridge_mode(guest, "eth0") == "VEPA"
    guest.run(f"echo 0000:01:00.1 >{DRIVER}/unbind; echo 0000:01:00.1 >{DRIVER}/bind; ip link set eth1 up")
    assert bridge_mode(guest, "eth0") == "VEPA"
    guest.run("devlink dev reload pci/0000:01:00.0")
    assert bridge_mode(guest, "eth0") == "VEPA"
    guest.run("bridge link set dev eth1 hwmode veb")
    assert bridge_mode(guest, "eth0") == "VEB"
    guest.run(f"ip address replace {HERE}/24 dev eth0 && ip link set eth0 up")
    guest.wait_link()


def test_each_port_says_that_the_filter_is_full(guest: Guest) -> None:
    """And says so again only when there was room meanwhile."""
    guest.run(f"dmesg -C; echo 1 >{PARAMETERS}/full")
    for group in (1, 2):
        guest.run(f"for i in 0 1; do ip maddress add 01:00:5e:00:02:0{group} dev eth$i; done; sleep 0.5")
    log = guest.run("dmesg")
    for interface in ("eth0", "eth1"):
        assert log.count(f"{interface}: the card's filter does not take") == 1, log
    guest.run(
        f"echo 0 >{PARAMETERS}/full; for i in 0 1; do ip maddress del 01:00:5e:00:02:01 dev eth$i; done; sleep 0.5"
    )
    guest.run(
        f"echo 1 >{PARAMETERS}/full; ip maddress add 01:00:5e:00:02:03 dev eth0; sleep 0.5; echo 0 >{PARAMETERS}/full"
    )
    assert guest.run("dmesg").count("eth0: the card's filter does not take") == 2


def test_a_vf_that_cannot_be_moved_stays_in_its_vlan(guest: Guest) -> None:
    """The tag that its frames get and its address are those of before, and it can be moved when there is room."""
    guest.run(f"echo 1 >{PF_DEVICE}/sriov_numvfs && ip link set eth0 vf 0 vlan 5")
    guest.run("ip netns add vf0 && ip link set eth2 netns vf0")
    guest.run(f"echo 1 >{PARAMETERS}/full")
    status, text = guest.try_run("ip link set eth0 vf 0 vlan 9 qos 3")
    guest.run(f"echo 0 >{PARAMETERS}/full")
    assert status != 0, text
    assert "vlan 5" in guest.run("ip link show eth0")
    guest.run("ip link add link eth0 name eth0.5 type vlan id 5 && ip address add 10.45.0.1/24 dev eth0.5")
    guest.run("ip link set eth0.5 up && ip netns exec vf0 ip address add 10.45.0.2/24 dev eth2")
    guest.run("ip netns exec vf0 ip link set eth2 up")
    guest.until("ip netns exec vf0 cat /sys/class/net/eth2/carrier", "^1")
    guest.ping(to="10.45.0.2")
    guest.run("ip link set eth0 vf 0 vlan 9")
    assert "vlan 9" in guest.run("ip link show eth0")
    guest.run(f"ip link del eth0.5; ip netns del vf0; echo 0 >{PF_DEVICE}/sriov_numvfs")


def test_vfs_of_virtual_machines_outlive_their_pfs_driver(guest: Guest) -> None:
    """They have no queues until the next driver serves them."""
    guest.run(f"echo 1 >{PF_DEVICE}/sriov_numvfs && ip netns add vf0 && ip link set eth2 netns vf0")
    guest.run(f"ip netns exec vf0 ip address add 10.44.0.9/24 dev eth2 && echo 0000:01:00.4 >{DRIVER}/unbind")
    guest.run(f"echo 1 >{PARAMETERS}/assigned; echo 0000:01:00.0 >{DRIVER}/unbind")
    assert "VFs are in use by virtual machines" in guest.run("dmesg")
    assert guest.run(f"cat {PF_DEVICE}/sriov_numvfs").strip() == "1"
    first_again(guest)
    assert "vf 0" in guest.run("ip link show eth0")
    guest.run(f"echo 0 >{PARAMETERS}/assigned; echo 0000:01:00.4 >{DRIVER}/bind")
    name = guest.run("ls /sys/bus/pci/devices/0000:01:00.4/net").strip()
    guest.run(f"ip link set {name} netns vf0 && ip netns exec vf0 ip address add 10.44.0.9/24 dev {name}")
    guest.run(f"ip netns exec vf0 ip link set {name} up")
    guest.until(f"ip netns exec vf0 cat /sys/class/net/{name}/carrier", "^1")
    guest.ping(enter="ip netns exec vf0 ")
    guest.run(f"ip netns del vf0; echo 0 >{PF_DEVICE}/sriov_numvfs")
    guest.ping()
