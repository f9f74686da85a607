# SPDX-License-Identifier: Apache-2.0
"""The host's driver on a board whose host clock is 125 MHz: ethtool's microseconds are microseconds there, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from driver_machine import running
from meridian_machine import Hardware, Setting, Twin
from zcu106 import ZCU106

pytestmark = [pytest.mark.qemu, pytest.mark.long]
TIMER_TICK = 0xB0C  # of BAR0, in cycles
MHZ = 125


def test_a_tick_of_the_timers_is_a_microsecond(tmp_path: Path) -> None:
    hardware = Hardware(kernel="iomem=relaxed")  # a test reads registers that the driver has
    # The DMA engine of our own has 250 MHz alone.
    setting = Setting(hardware=hardware, shell=ZCU106, dma="qdma", card_options=["--rate", "10"])
    with Twin(setting, tmp_path) as twin, running(twin) as guest:
        bar0 = guest.bar(0)
        guest.ping(3)
        assert int(guest.run(f"busybox devmem {bar0 + TIMER_TICK:#x}"), 16) == MHZ
        guest.run("echo 1 >/sys/bus/pci/devices/0000:01:00.0/reset")
        guest.wait_link()
        assert int(guest.run(f"busybox devmem {bar0 + TIMER_TICK:#x}"), 16) == MHZ
