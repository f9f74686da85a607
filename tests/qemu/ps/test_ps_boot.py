# SPDX-License-Identifier: Apache-2.0
"""The card's own Linux in machines of both suites: it boots, sees the shell at its window, and its driver has a port."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from meridian_machine import PsHardware, Setting, Twin, tools
from meridian_machine import driver as drivers
from meridian_machine import peer as far_end
from meridian_machine.guest import Guest
from meridian_twin import Link
from meridian_twin.card import LinkedCard

pytestmark = pytest.mark.qemu
WINDOW = 0xA000_0000
HERE = far_end.address(0, drivers.PS)
MODULE = "/run/twin/meridian_ps.ko"
needs_driver = pytest.mark.skipif(not drivers.PS_SOURCE.is_dir(), reason="the tree has no driver for the PS")


@contextmanager
def booted(suite: str, folder: Path, driver: bool) -> Iterator[tuple[Twin, Guest]]:
    """A PS whose port's wire ends in an interface of a namespace."""
    source = drivers.PS_SOURCE if driver else None
    with (
        Twin(Setting(suite, hardware=None, ps=PsHardware(), ps_driver=source), folder) as twin,
        twin.ps_machine() as machine,
    ):
        yield twin, Guest(machine)
        machine.power_off()


@pytest.mark.parametrize("suite", tools.SUITES)
def test_the_ps_boots_and_sees_the_shell(suite: str, tmp_path: Path) -> None:
    with booted(suite, tmp_path, driver=False) as (twin, guest):
        assert guest.run("uname -m; hostname; nproc").split() == ["aarch64", "ps", "2"]
        with Link(twin.card.socket) as host:
            card = LinkedCard(host)
            magic = card.read(card.regs.address("IDENT", "MAGIC"))
        assert int(guest.run(f"busybox devmem {WINDOW:#x}"), 16) == magic
        place = guest.run(f"cat {drivers.PLATFORM}/of_node/compatible")
        assert place.rstrip("\0\n").split("\0") == ["meridian,shell-1", "meridian,shell"]
        assert guest.run("which ethtool ip phc_ctl ping ptp4l tcpdump") != ""
        guest.check()


@needs_driver
@pytest.mark.parametrize("suite", tools.SUITES)
def test_ping_crosses_card_and_wire(suite: str, tmp_path: Path) -> None:
    """Both ways, the longest frames of an MTU of 1500 among them; and again with the module loaded anew."""
    with booted(suite, tmp_path, driver=True) as (twin, guest):
        interface = guest.run(f"ls {drivers.PLATFORM}/net").strip()
        guest.until(f"cat /sys/class/net/{interface}/carrier", "^1")
        for size in (0, 56, 1472):
            guest.ping(size=size)
        guest.run("(echo hello | setsid nc -l -N 7000) >/dev/null 2>&1 &")
        guest.until("ss -tln", ":7000")
        twin.peer.do("bash", "-c", f'read -rt 15 word </dev/tcp/{HERE}/7000 && [ "$word" = hello ]')
        address = guest.address(interface)
        assert address[0] & 3 == 2  # of one station, given by nobody
        guest.run(f"rmmod meridian_ps && insmod {MODULE}")
        # It is made of the board's serial number.
        assert guest.address(interface) == address
        assert "by chance" not in guest.log()
        guest.run(f"ip address add {HERE}/24 dev {interface} && ip link set {interface} up")
        guest.until(f"cat /sys/class/net/{interface}/carrier", "^1")
        guest.ping()
        guest.check()
