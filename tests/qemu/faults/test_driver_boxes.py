# SPDX-License-Identifier: Apache-2.0
"""Two users' modules that hang at the same time: devlink's reporter `box` names both, and both are reset."""

from __future__ import annotations

import pytest
from driver_machine import running
from machine_report import run_folder
from meridian_machine import Hardware, Setting, Twin, tools
from test_driver_box import BOX, DEVICE, SILENT, WINDOW

pytestmark = [pytest.mark.qemu, pytest.mark.long]
#: Behind the window of a port's module is that of the next.
STRIDE = 0x10000
TRACING = "/sys/kernel/tracing"
#: A look of the driver may fall between the two.
TRIES = 5
BOTH = "the user's modules of port 0, of port 1 hang"


def test_a_report_names_each_module_that_hangs() -> None:
    with run_folder() as folder:
        setting = Setting(
            suite=tools.SUITES[0],
            hardware=Hardware(device="pfs=2", kernel="iomem=relaxed"),
            ports=2,
            shell=("--box", str(BOX)),
        )
        with Twin(setting, folder) as twin, running(twin) as guest:
            guest.run("ip link set eth1 up")
            guest.until("cat /sys/class/net/eth1/carrier", "^1")
            guest.run(f"mountpoint -q {TRACING} || mount -t tracefs none {TRACING}")
            guest.run(f"echo 1 >{TRACING}/events/devlink/devlink_health_report/enable")
            bar2 = guest.bar(2) + WINDOW
            hang = "; ".join(f"busybox devmem {bar2 + port * STRIDE:#x} 32 {SILENT}" for port in (0, 1, 0, 1))
            for _ in range(TRIES):
                guest.run(hang)
                guest.until(f"cat {TRACING}/trace", "reporter_name=box: the user's module", 90)
                guest.until(f"devlink health show {DEVICE} reporter box", "state healthy", 90)
                if BOTH in guest.run(f"cat {TRACING}/trace; echo >{TRACING}/trace"):
                    break
            else:
                raise AssertionError("no report names both")
            guest.ping()
