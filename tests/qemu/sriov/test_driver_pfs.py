# SPDX-License-Identifier: Apache-2.0
"""Two PFs of one card in one machine: an interface each, contexts and filter shared without harm."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driver_machine import changed, running
from machine_report import run_folder
from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine.guest import HERE, PEER, Guest, unanswered
from qemu_monitor import NATIVE_HOT_PLUG, Monitor, options

pytestmark = pytest.mark.qemu
SECOND = "ip netns exec two"
THERE = "10.44.0.3"  # the second PF's
FILTER = 0x110000  # of BAR2
HASH_KEYS = (0x40, 0x44, 0x48)
HASH_STATUS, HASH_IGNORED = 0x4C, 0x50
DRAWN = 2
#: A kernel before 6.18 does not tell a driver that a recovery has failed. The parameter does it in its place, for PF 0.
TOLD = (
    "linux/functions/meridian_recovery.c",
    r"(const struct pci_error_handlers meridian_error_handlers)",
    (
        "static int tell(const char *value, const struct kernel_param *param)\n{\n"
        "\tstruct pci_dev *pdev = pci_get_domain_bus_and_slot(0, 1, 0);\n\n"
        "\tif (!pdev)\n\t\treturn -ENODEV;\n"
        "\tdevice_lock(&pdev->dev);\n\terror_detected(pdev, pci_channel_io_perm_failure);\n"
        "\tdevice_unlock(&pdev->dev);\n\tpci_dev_put(pdev);\n\treturn 0;\n}\n\n"
        "module_param_call(recovery_failed, tell, NULL, NULL, 0200);\n\n\\1"
    ),
)


@pytest.fixture(scope="module")
def slot() -> Iterator[tuple[Guest, Monitor]]:
    with run_folder() as folder:
        path = folder / "monitor"
        hardware = Hardware(device="id=card,pfs=2", kernel="iomem=relaxed", extra=[*options(path), *NATIVE_HOT_PLUG])
        with (
            changed(*TOLD) as driver,
            Twin(Setting(suite=tools.SUITES[0], hardware=hardware, driver=driver), folder) as twin,
            running(twin) as guest,
            Monitor(path) as monitor,
        ):
            yield guest, monitor


@pytest.fixture(scope="module")
def guest(slot: tuple[Guest, Monitor]) -> Iterator[Guest]:
    guest, _ = slot
    guest.run("ip netns add two && ip link set eth1 netns two")
    guest.run(f"{SECOND} ip address add {THERE}/24 dev eth1 && {SECOND} ip link set eth1 up")
    guest.until(f"{SECOND} ip link show eth1", "LOWER_UP")
    yield guest
    guest.run("ip netns del two")


def test_both_pfs_reach_the_far_end_and_each_other(guest: Guest) -> None:
    assert "function 1, port 0 of 1" in guest.log()
    guest.ping(3)
    guest.ping(3, enter=f"{SECOND} ")
    guest.ping(3, to=THERE)
    guest.ping(3, to=HERE, enter=f"{SECOND} ")


def test_each_pf_has_its_own_frames(guest: Guest) -> None:
    before = guest.run(f"{SECOND} ethtool -S eth1 | grep card_rx_delivered")
    guest.ping(5)
    after = guest.run(f"{SECOND} ethtool -S eth1 | grep card_rx_delivered")
    assert int(after.split()[1]) - int(before.split()[1]) < 5, "what is for eth0 is not for eth1"


def test_one_pf_goes_down_and_up_while_the_other_works(guest: Guest) -> None:
    text = guest.run(
        f"(set -e; for i in 1 2 3; do {SECOND} ip link set eth1 down; {SECOND} ip link set eth1 up; done) & "
        f"ping -c 20 -w 40 -i 0.5 {PEER}; wait $!"
    )
    assert not unanswered(text, 20), text
    guest.until(f"{SECOND} ip link show eth1", "LOWER_UP")
    guest.ping(enter=f"{SECOND} ")


def test_both_pfs_have_vfs_that_reach_the_far_end(guest: Guest) -> None:
    """The second PF's begin behind those of the first; each is served by its own PF."""
    devices = ["/sys/bus/pci/devices/0000:01:00.0", "/sys/bus/pci/devices/0000:01:00.1"]
    for number, device in enumerate(devices):
        assert guest.run(f"cat {device}/sriov_totalvfs").strip() == "2"
        guest.run(f"echo 2 >{device}/sriov_numvfs")
        for vf in (0, 1):
            space = f"vf{number}{vf}"
            name = guest.run(f"ls {device}/virtfn{vf}/net").strip()
            enter = f"ip netns exec {space}"
            guest.run(f"ip netns add {space} && ip link set {name} netns {space}")
            guest.run(f"{enter} ip address add 10.44.0.{10 + 2 * number + vf}/24 dev {name}")
            guest.run(f"{enter} ip link set {name} up")
            guest.until(f"{enter} ip link show {name}", "LOWER_UP")
    for space in ("vf00", "vf01", "vf10", "vf11"):
        assert " 3 received" in guest.run(f"ip netns exec {space} ping -c 3 -i 0.5 -W 10 10.44.0.1")
    for number, device in enumerate(devices):
        guest.run(f"ip netns del vf{number}0 && ip netns del vf{number}1 && echo 0 >{device}/sriov_numvfs")
    guest.ping(3)


def filter_register(guest: Guest, offset: int) -> int:
    line = guest.run("sed -n 3p /sys/bus/pci/devices/0000:01:00.0/resource")
    return int(guest.run(f"busybox devmem {int(line.split()[0], 16) + FILTER + offset:#x}"), 16)


def test_the_filters_hash_is_drawn_while_the_filter_is_empty_and_nobody_reads_its_key(guest: Guest) -> None:
    assert filter_register(guest, HASH_STATUS) == DRAWN
    assert [filter_register(guest, key) for key in HASH_KEYS] == [0, 0, 0]
    ignored = filter_register(guest, HASH_IGNORED)
    guest.run("echo 1 >/sys/bus/pci/devices/0000:01:00.1/remove && echo 1 >/sys/bus/pci/rescan")
    guest.run("ip link set eth1 netns two")
    # The first PF has its addresses in the filter: the second one's driver changes nothing, and has no reason to warn.
    assert filter_register(guest, HASH_IGNORED) == ignored + 3
    assert filter_register(guest, HASH_STATUS) == DRAWN
    assert "hash" not in guest.log()
    guest.ping(3)
    # Without either, the filter is empty, and the next driver draws a key.
    guest.run("rmmod meridian")
    guest.load()
    assert filter_register(guest, HASH_IGNORED) == ignored + 3


def test_one_pf_leaves_the_bus_and_the_other_works_on(guest: Guest) -> None:
    guest.run("echo 1 >/sys/bus/pci/devices/0000:01:00.1/remove")
    guest.ping(3)
    guest.run("echo 1 >/sys/bus/pci/rescan && ip link set eth1 netns two")
    guest.run(f"{SECOND} ip address add {THERE}/24 dev eth1 && {SECOND} ip link set eth1 up")
    guest.until(f"{SECOND} ip link show eth1", "LOWER_UP")
    guest.ping(enter=f"{SECOND} ")


def back(guest: Guest) -> None:
    """Both PFs are as before, once the first has been reloaded."""
    guest.run(f"ip address add {HERE}/24 dev eth0; ip link set eth0 up; dmesg -C")
    guest.until("cat /sys/class/net/eth0/carrier", "^1", 60)
    guest.ping(3)
    guest.run("echo 0000:01:00.1 >/sys/bus/pci/drivers/meridian/bind && ip link set eth1 netns two")
    guest.run(f"{SECOND} ip address add {THERE}/24 dev eth1 && {SECOND} ip link set eth1 up")
    guest.until(f"{SECOND} ip link show eth1", "LOWER_UP")
    guest.ping(enter=f"{SECOND} ")


@pytest.mark.long
@pytest.mark.parametrize("is_told", [True, False], ids=["Linux 6.18", "before"])
def test_a_reload_recovers_a_pf_whose_sibling_has_no_driver(
    guest: Guest, slot: tuple[Guest, Monitor], is_told: bool
) -> None:
    """The second PF has no driver, so PCIe recovers neither: a reload brings the first back, at once if it was told."""
    _, monitor = slot
    first = "pci/0000:01:00.0"
    guest.run("echo 0000:01:00.1 >/sys/bus/pci/drivers/meridian/unbind; dmesg -C")
    monitor.inject("COMP_TIME")
    guest.until("dmesg", "device recovery failed", 60)
    if is_told:
        guest.run("echo 1 >/sys/module/meridian/parameters/recovery_failed")
    if "PCIe has not recovered from an error" in guest.run("dmesg"):
        assert "the card does not come back from a reset" in guest.run("dmesg")
        guest.run(f"devlink dev reload {first}")
        back(guest)
        return
    status, said = guest.try_run(f"devlink dev reload {first}")
    assert status and "PCIe resets the card: try again in a minute" in said
    status, said = guest.try_run("echo 1 >/sys/bus/pci/devices/0000:01:00.0/sriov_numvfs")
    assert status and "busy" in said
    assert "there are no VFs while the card does not answer, or PCIe resets it or a sibling" in guest.run("dmesg")
    guest.until(f"devlink dev reload {first} && echo it is reloaded || true", "it is reloaded", 120)
    back(guest)
