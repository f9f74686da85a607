# SPDX-License-Identifier: Apache-2.0
"""A system whose first process is dead is reset, by the layer's settings of systemd: who feeds the watchdog, with which
time, and that nobody does any more when systemd has crashed.

The watchdog is Linux' software one, as QEMU's ZynqMP has no model of the processors'. So what is not run here, nor on
hardware: the watchdog itself, U-Boot's start of it, that Linux takes it over without a gap, and the reset by the PMU
firmware. The boot script goes on without one, which test_sd_firmware.py shows by starting.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from meridian_machine.sd_machine import default_image
from sd_power import Rig, until_well

pytestmark = [pytest.mark.qemu, pytest.mark.long]
TIMEOUT = 30  # RuntimeWatchdogSec of meridian-watchdog.conf
WATCHDOG = "/sys/class/watchdog/watchdog0"
FED = f"cd {WATCHDOG} && cat state timeout identity"


def moment(text: str, sentence: str) -> float:
    """When the kernel has said so, in seconds of the machine's clock."""
    found = re.search(rf"\[ *([\d.]+)\] {sentence}", text)
    assert found, text[-2000:]
    return float(found[1])


def test_a_system_whose_first_process_has_crashed_is_reset(tmp_path: Path) -> None:
    rig = Rig(default_image(), tmp_path)
    with rig.up() as machine:
        until_well(machine)
        machine.run("modprobe softdog", check=True)
        # systemd looks for one from time to time.
        machine.run(f"until [ $(cat {WATCHDOG}/state) = active ]; do sleep 1; done", check=True)
        assert machine.run(FED, check=True).text.split("\n")[:3] == ["active", str(TIMEOUT), "Software Watchdog"]
        # It is fed: the machine is there when two of its times are over.
        machine.run(f"sleep {2 * TIMEOUT}", check=True)
        # A systemd that has crashed closes all files and stands still for ever; what it says of that is in the journal.
        machine.run("kill -SEGV 1", check=True)
        machine.wait_end(4 * TIMEOUT)
        crashed = moment(machine.text(), "watchdog: watchdog0: watchdog did not stop!")
        assert moment(machine.text(), "softdog: Initiating system reboot") - crashed < TIMEOUT + 1
    with rig.up() as machine:
        machine.power_off()
