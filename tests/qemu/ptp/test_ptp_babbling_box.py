# SPDX-License-Identifier: Apache-2.0
"""The card keeps time beside a user's module, at the wire or at the host, that sends without a pause and interrupts without
end."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile_box import (
    BOX,
    CONTROL,
    FLOODS,
    FOR_THE_HOST,
    HOST_BOX,
    HOST_ENABLE,
    READY,
    REGISTERS_HUNG,
    RX_HUNG,
    SAMPLES,
    STATUS,
    WINDOW,
    keeps_time,
    write,
)
from meridian_machine import PsHardware
from ps_link import WRITABLE, register
from ptp_run import ps_with, running
from ptp_under_load import BUSY, CLOCKS, GIVEN, SERVO

pytestmark = [pytest.mark.qemu, pytest.mark.long]
#: Counters of frames that the shell refused to take from the module.
REFUSED = 0xA001_8058, 0xA001_8078
#: From the module of port 0 to that at the host.
HOST_WINDOW, HOST_PAGE = 0x4_0000, 0x4000
#: Its interrupts, for a program on the card.
FILES = "/sys/bus/platform/devices/a0000000.ethernet/box"


@pytest.mark.parametrize(
    ("shell", "window", "page", "file"),
    [(BOX, 0, 0, "port0"), (HOST_BOX, HOST_WINDOW, HOST_PAGE, "host")],
    ids=["at the wire", "at the host"],
)
def test_a_module_that_floods_and_babbles_costs_the_clock_nothing(
    shell: tuple[str, str], window: int, page: int, file: str, tmp_path: Path
) -> None:
    """Both directions of the module are full, so twin time is slow as in test_ptp_load.py. A program takes each interrupt.

    The same machine shows first how it keeps time beside the module while that passes frames on.
    """
    hardware = PsHardware(kernel=WRITABLE)
    with ps_with([BUSY], tmp_path, CLOCKS, more=FOR_THE_HOST, hardware=hardware, shell=shell) as (_, guest):
        write(guest, HOST_ENABLE, 3)
        with running(guest, f"{BUSY.found()} {SERVO} {GIVEN}") as ptp4l:
            ptp4l.settle(300)
            alone = ptp4l.next(SAMPLES, 300)
            write(guest, WINDOW + window, FLOODS)
            guest.run(f"(while echo 1 >{FILES}/{file}; do sleep 0.1; done) & echo $! >/tmp/listener")
            before = [register(guest, page + counter) for counter in REFUSED]
            told = int(guest.run(f"cat {FILES}/{file}"))
            keeps_time(guest, ptp4l, alone, 900)
            after = [register(guest, page + counter) for counter in REFUSED]
            assert all(more - had > 1000 for had, more in zip(before, after, strict=True)), (before, after)
            assert int(guest.run(f"cat {FILES}/{file}")) - told > 1
        assert register(guest, page + STATUS) & (RX_HUNG | REGISTERS_HUNG) == 0
        for reset in (1, 0):
            write(guest, page + CONTROL, reset)
        assert register(guest, page + STATUS) & READY == READY
        guest.run("kill $(cat /tmp/listener)")
        now = [register(guest, page + counter) for counter in REFUSED]
        guest.run("sleep 1")
        assert [register(guest, page + counter) for counter in REFUSED] == now
