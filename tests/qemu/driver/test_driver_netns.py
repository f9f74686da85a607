# SPDX-License-Identifier: Apache-2.0
"""A network namespace that ends while it has the devlink instance of a PF: the instance comes back, whatever goes on."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from driver_machine import Link, changed, linked
from meridian_machine import Hardware, tools
from meridian_machine.driver import SOURCE
from meridian_machine.guest import HERE, PF_DEVICE, Guest
from qemu_monitor import NATIVE_HOT_PLUG, Monitor, options

pytestmark = pytest.mark.qemu
DEVICE = "pci/0000:01:00.0"
AWAY = "ip netns exec away "
#: What the kernel says of an instance that keeps a namespace which is no more.
LEFT_BEHIND = "Failed to reload"
#: The second PF of the card is slow about an error of PCIe, and the first waits for it in the middle of its own.
SLOW = (
    r"(return answers\(pdev\) \? PCI_ERS_RESULT_RECOVERED : PCI_ERS_RESULT_NEED_RESET;)",
    "if (PCI_FUNC(pdev->devfn))\\n\\t\\tssleep(10);\\n\\t\\g<1>",
)
#: The first does not come back from an error of PCIe for which the slot is reset, of which the second tells late.
LATE = (
    r"(\tmeridian_devlink_lock\(devlink\);\n\tm = devlink->m;\n)",
    "\tif (PCI_FUNC(pdev->devfn))\n\t\tssleep(10);\n\\g<1>",
)
LOST = (r"(\tpci_clear_master\(pdev\);\n\tif \()(answers\(pdev\))", r"\g<1>PCI_FUNC(pdev->devfn) && \g<2>")


def go_away(guest: Guest) -> None:
    guest.run(f"ip netns add away && devlink dev reload {DEVICE} netns away && {AWAY}ip link set eth0 up")
    guest.until(f"{AWAY}cat /sys/class/net/eth0/carrier", "^1")


def is_back(guest: Guest) -> None:
    guest.until("devlink dev show", DEVICE)
    guest.until("ip link show", "eth0")
    guest.run(f"ip address replace {HERE}/24 dev eth0 && ip link set eth0 up")
    guest.wait_link()
    guest.ping()
    assert LEFT_BEHIND not in guest.run("dmesg")
    guest.check()


def test_a_pf_in_another_namespace_has_no_vfs_and_comes_back_when_that_ends() -> None:
    with linked(tools.SUITES[0]) as link:
        guest = link.guest
        guest.run(f"echo 1 >{PF_DEVICE}/sriov_numvfs")
        status, text = guest.try_run(f"ip netns add away && devlink dev reload {DEVICE} netns away")
        assert status != 0 and "there are VFs" in text, text
        guest.run(f"ip netns del away && echo 0 >{PF_DEVICE}/sriov_numvfs")
        for _ in range(2):
            go_away(guest)
            status, text = guest.try_run(f"echo 1 >{PF_DEVICE}/sriov_numvfs")
            guest.run("ip netns del away")
            is_back(guest)
            assert status != 0 and "not supported" in text.lower(), text
            assert "no VFs while the PF's devlink is in another network namespace" in guest.run("dmesg")
        guest.run(f"echo 1 >{PF_DEVICE}/sriov_numvfs && ip link set eth1 up")
        guest.until("cat /sys/class/net/eth1/carrier", "^1")
        guest.run(f"echo 0 >{PF_DEVICE}/sriov_numvfs")


@contextmanager
def recovery(*changes: tuple[str, str]) -> Iterator[tuple[Link, Monitor]]:
    """A card with two PFs, whose driver is changed."""
    with ExitStack() as stack:
        driver = SOURCE
        for change in changes:
            driver = stack.enter_context(changed("linux/functions/meridian_recovery.c", *change, source=driver))
        path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "monitor"
        hardware = Hardware(device="id=card,pfs=2", extra=[*options(path), *NATIVE_HOT_PLUG])
        with linked(tools.SUITES[0], hardware=hardware, driver=driver) as link, Monitor(path) as monitor:
            yield link, monitor


def test_a_pf_comes_back_from_a_namespace_that_ends_during_a_reset() -> None:
    with recovery(SLOW) as (link, monitor):
        guest = link.guest
        go_away(guest)
        guest.run("dmesg -C")
        monitor.inject("COMP_TIME")
        guest.until("dmesg", "0000:01:00.0: PCIe has told of an error")
        guest.run("ip netns del away")
        guest.until("devlink dev show", DEVICE)
        assert "device recovery successful" not in guest.run("dmesg"), "the reset goes on"
        guest.until("dmesg", "device recovery successful", 60)
        is_back(guest)


def test_a_reload_brings_a_pf_back_whose_namespace_has_ended_during_a_reset_that_failed() -> None:
    """PCIe tells of no end of such a reset."""
    with recovery(LATE, LOST) as (link, monitor):
        guest = link.guest
        go_away(guest)
        guest.run("dmesg -C")
        monitor.inject("MALF_TLP")
        guest.until("dmesg", "0000:01:00.1: PCIe has told of an error")
        guest.run("ip netns del away")
        guest.until("dmesg", "device recovery failed", 60)
        assert guest.try_run("ip link show eth0")[0] != 0, "the recovery has brought it back"
        guest.run(f"devlink dev reload {DEVICE}")
        is_back(guest)
