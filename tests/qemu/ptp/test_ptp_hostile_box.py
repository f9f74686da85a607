# SPDX-License-Identifier: Apache-2.0
"""The card keeps time beside a user's module that takes no frames, or that answers no access to its registers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hostile_box import (
    BOX,
    CONTROL,
    FOR_THE_HOST,
    HANGS,
    HOST_ENABLE,
    READY,
    REGISTERS_HUNG,
    RX_HUNG,
    SAMPLES,
    SILENT,
    STATUS,
    WINDOW,
    keeps_time,
    write,
)
from meridian_machine import PsHardware
from meridian_machine.guest import Guest
from ps_link import WRITABLE, register
from ptp_run import Running, Samples, ps_with, running
from ptp_under_load import BUSY, CLOCKS, GIVEN, SERVO

pytestmark = [pytest.mark.qemu, pytest.mark.long]


@pytest.fixture(scope="module")
def ps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Guest, Running, Samples]]:
    """ptp4l follows, and what it says beside a module that passes frames on.

    It asks for the delay once a second, as under load. The card skips no time within 4096 cycles of a frame of the module,
    and on a busy computer so many would take longer than the pause between eight requests a second.
    """
    folder, hardware = tmp_path_factory.mktemp("box"), PsHardware(kernel=WRITABLE)
    with ps_with([BUSY], folder, CLOCKS, more=FOR_THE_HOST, hardware=hardware, shell=BOX) as (_, guest):
        write(guest, HOST_ENABLE, 3)
        with running(guest, f"{BUSY.found()} {SERVO} {GIVEN}") as ptp4l:
            ptp4l.settle(300)
            yield guest, ptp4l, ptp4l.next(SAMPLES, 300)


@pytest.mark.parametrize(("mood", "hung"), [(HANGS, RX_HUNG), (SILENT, REGISTERS_HUNG)], ids=["hangs", "silent"])
def test_a_module_that_hangs_costs_the_clock_nothing(ps: tuple[Guest, Running, Samples], mood: int, hung: int) -> None:
    guest, ptp4l, alone = ps
    write(guest, WINDOW, mood)
    if mood == SILENT:
        write(guest, WINDOW, mood)
    guest.until(f"echo $(( $(busybox devmem {STATUS:#x} 32) & {hung} ))", f"^{hung}", 120)
    keeps_time(guest, ptp4l, alone)
    for reset in (1, 0):
        write(guest, CONTROL, reset)
    assert register(guest, STATUS) & (hung | READY) == READY
    keeps_time(guest, ptp4l, alone)
