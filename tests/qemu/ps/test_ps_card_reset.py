# SPDX-License-Identifier: Apache-2.0
"""The card under the PS's driver is lost and comes back as after power-on: rings, filter and clock are made anew, the
clock while no port is up, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from meridian_machine import PsHardware, computer, tools
from meridian_machine import driver as drivers
from meridian_machine.guest import PEER, Guest
from peer import Peer
from ps_link import CLOCK_REGISTERS, WRITABLE, register, until

pytestmark = pytest.mark.qemu
MODULE = "/run/twin/meridian_ps.ko"
INCREMENT, NOMINAL, PPS = CLOCK_REGISTERS + 0x38, CLOCK_REGISTERS + 0x40, CLOCK_REGISTERS + 0x48


def frequency_ppb(guest: Guest) -> float:
    """What the card's clock runs at, not what somebody has told it."""
    increment, nominal = (register(guest, at) << 32 | register(guest, at + 4) for at in (INCREMENT, NOMINAL))
    return (increment / nominal - 1) * 1e9


def test_a_card_that_was_reset_is_served_again(run_card: Callable[..., Any], tmp_path: Path) -> None:
    place = tmp_path / "card"
    first = run_card("--time", "wall")
    place.symlink_to(first.socket)
    ps = computer.ps(tools.SUITES[0], PsHardware(kernel=WRITABLE), drivers.PS_SOURCE)
    with ps.boot(tmp_path, place, lambda: None) as machine:
        guest = Guest(machine)
        guest.wait_link()
        with Peer(first.wires[0], PEER):
            guest.ping()
            guest.run("phc_ctl eth0 freq 100000")
            first.stop()
            guest.until("dmesg", "the card does not answer any more")
            assert guest.run("cat /sys/class/net/eth0/carrier").strip() == "0"
        second = run_card("--time", "wall")
        place.unlink()
        place.symlink_to(second.socket)
        guest.until("dmesg", "the card was reset")
        guest.wait_link()
        with Peer(second.wires[0], PEER):
            guest.ping()
        until(lambda: abs(frequency_ppb(guest) - 100_000) < 1, "frequency that is back")
        assert guest.statistics()["restarts_card_reset"] == 1
        assert guest.statistics()["restarts_failed"] == 0
        # Rings that do not end are not waited for again and again: the port is detached until another card is there.
        second.stop()
        status, text = guest.try_run("ip link set eth0 mtu 2000")
        assert status != 0 and "timed out" in text, text
        assert guest.try_run("ip link set eth0 mtu 2000")[0] != 0
        assert guest.log().count("the card does not end the rings") == 1
        # Their memory does not sleep either, however often somebody asks for that.
        asleep, _ = guest.try_run("echo devices >/sys/power/pm_test && echo freeze >/sys/power/state", 90)
        assert asleep != 0
        third = run_card("--time", "wall")
        place.unlink()
        place.symlink_to(third.socket)
        guest.until("dmesg", "the port is back", 90)
        guest.wait_link()
        with Peer(third.wires[0], PEER):
            guest.ping()
        assert guest.run("cat /sys/class/net/eth0/mtu") == "1500\n"
        # So is its clock while no port is up, with what hangs on it.
        guest.run("echo 1 >/sys/class/ptp/ptp0/pps_enable; phc_ctl eth0 freq -- -70000; ip link set eth0 down")
        third.stop()
        fourth = run_card("--time", "wall")
        place.unlink()
        place.symlink_to(fourth.socket)
        until(lambda: register(guest, PPS) & ~0x7FFFFFFE == 1, "pulse that is back")  # all ones: no card
        assert abs(frequency_ppb(guest) + 70_000) < 1
        guest.run("echo 0 >/sys/class/ptp/ptp0/pps_enable; ip link set eth0 up")
        guest.wait_link()
        # A ring of which nothing is known keeps its memory, and a card that is not there is refused in a sentence.
        fourth.stop()
        guest.until("dmesg", "does not answer any more[^$]*does not answer any more")
        guest.run(f"rmmod meridian_ps && insmod {MODULE}")
        assert "memory that the card may still write to is kept for it" in guest.log()
        assert "no Meridian shell here: its magic is 0xffffffff, not 0x4d52444e" in guest.log()
        guest.check()
        machine.power_off()
