# SPDX-License-Identifier: Apache-2.0
"""A module at the host that hangs while the PF goes that has reported it: the next PF reports it, and resets it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from driver_machine import Link, linked
from meridian_machine import Hardware, tools
from meridian_machine.guest import HERE
from test_driver_box import HANGS
from test_driver_host_box import BOXES, WINDOW

pytestmark = [pytest.mark.qemu, pytest.mark.long]
DRIVER = "/sys/bus/pci/drivers/meridian"
PFS = ("0000:01:00.0", "0000:01:00.1")


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    """Both PFs leave what hangs to the administrator."""
    hardware = Hardware(device="pfs=2", kernel="iomem=relaxed")
    with linked(tools.SUITES[0], hardware=hardware, shell=("--host-box", BOXES)) as it:
        for pf in PFS:
            it.guest.run(f"devlink health set pci/{pf} reporter box auto_recover false")
        yield it


def wait(link: Link, pf: str, state: str, recovered: int) -> int:
    """Its errors. A module that hangs in both directions may be two."""
    wanted = rf"state {state} error (\d+) recover {recovered}"
    text = link.guest.until(f"devlink health show pci/{pf} reporter box", wanted, 90)
    found = re.search(wanted, text)
    assert found
    return int(found[1])


def hang(link: Link) -> None:
    """The module hangs with its next frame."""
    bar2 = link.guest.bar(2)
    link.guest.run(f"busybox devmem {bar2 + WINDOW:#x} 32 {HANGS}")
    assert link.guest.try_run("ping -c 1 -W 1 10.44.0.1")[0] != 0


def test_the_next_pf_reports_what_hangs_and_resets_it(link: Link) -> None:
    guest = link.guest
    guest.ping()
    hang(link)
    first, second = PFS
    wait(link, first, "error", 0)
    assert wait(link, second, "healthy", 0) == 0
    guest.run(f"dmesg -C; echo {first} >{DRIVER}/unbind")
    assert wait(link, second, "error", 0) == 1
    assert f"{second}" in guest.run("dmesg | grep 'the box at the host hangs'")
    guest.run(f"devlink health recover pci/{second} reporter box")
    wait(link, second, "healthy", 1)
    guest.run(f"echo {first} >{DRIVER}/bind; ip address add {HERE}/24 dev eth0; ip link set eth0 up")
    guest.wait_link()
    guest.ping()


def test_a_module_that_was_reset_is_reported_again(link: Link) -> None:
    second = PFS[1]
    before = wait(link, second, "healthy", 1)
    hang(link)
    assert wait(link, second, "error", 1) > before
    link.guest.run(f"devlink health recover pci/{second} reporter box; dmesg -C")
    wait(link, second, "healthy", 2)
    link.guest.ping()
    link.guest.check()
