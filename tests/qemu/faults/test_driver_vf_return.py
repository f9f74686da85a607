# SPDX-License-Identifier: Apache-2.0
"""A card that a VF does not see for longer than any reset should last, and then again: the VF starts anew by itself."""

from __future__ import annotations

import time

import pytest
from driver_machine import changed, linked, vfs_apart
from meridian_machine import tools
from meridian_machine.guest import PF_DEVICE
from vf_frames import VfFrames

pytestmark = pytest.mark.qemu
GONE, BACK = "the card does not answer any more", "the card answers again: the VF starts anew"
#: A PF that is slow about coming back from a reset.
SLOW = (r"(\terror = meridian_start_function\(m\);\n)", "\tssleep(6);\n\\g<1>")


def works(vf: VfFrames) -> None:
    vf.has_carrier(60)
    assert vf.settles(vf.own(), True)


def test_a_vf_that_saw_no_card_for_a_while_starts_anew() -> None:
    """bits of its command register: without the first it reads ones; a reset takes the second, too."""
    with linked(tools.SUITES[0]) as link, vfs_apart(link.guest):
        guest, vf = link.guest, VfFrames(link)
        name = guest.run(f"basename $(readlink {PF_DEVICE}/virtfn0)").strip()
        vf.up()
        works(vf)
        for bits, is_up, seconds in ((2, True, 0), (6, True, 5), (6, False, 5)):
            if not is_up:
                vf.run("ip link set eth1 down")
            guest.run(f"dmesg -C; setpci -s {name} COMMAND=0:{bits}")
            guest.until("dmesg", GONE, 60)
            time.sleep(seconds)
            assert guest.try_run(f"{vf.enter}ip link set eth1 up")[0] == (0 if is_up else 2)
            guest.run(f"setpci -s {name} COMMAND=2:2")
            guest.until("dmesg", BACK, 60)
            vf.up()
            works(vf)
            log = guest.run("dmesg")
            assert log.count(GONE) == log.count(BACK) == 1, log
            guest.check()


def test_a_vf_starts_anew_after_a_long_reset_of_its_pf() -> None:
    with (
        changed("linux/functions/meridian_recovery.c", *SLOW) as driver,
        linked(tools.SUITES[0], driver=driver) as link,
        vfs_apart(link.guest, 2),
    ):
        guest, vfs = link.guest, [VfFrames(link, number) for number in (0, 1)]
        for vf in vfs:
            vf.up()
            works(vf)
        for _ in range(2):
            guest.run(f"dmesg -C; echo 1 >{PF_DEVICE}/reset", 120)
            assert guest.run("dmesg").count(GONE) == 2, "the reset was not longer than a VF waits"
            for vf in vfs:
                works(vf)
            guest.wait_link()
            guest.ping()
            guest.check()
