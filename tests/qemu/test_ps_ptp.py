# SPDX-License-Identifier: Apache-2.0
"""The real ptp4l on the card's own Linux follows the wire's grandmaster in twin time, whatever the MACs' clocks are off by."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from driver_machine import Guest
from meridian_machine import PsHardware, Setting, Twin, tools
from meridian_machine import driver as drivers

pytestmark = pytest.mark.qemu
DRIFT_PPB, DELAY_NS = 1500, 250
SERVO = re.compile(r"offset\s+(-?\d+) s2 freq\s+([-+]\d+) path delay\s+(-?\d+)")
SETTLE_SECONDS, HOLD = 60, 10
BOUND_NS = 3
# Of the MACs' clocks, which need not be the grandmaster's.
OFF = ["--ppm", "mac_rx_0=50", "--ppm", "mac_tx_0=-50"]


@pytest.mark.skipif(not drivers.PS_SOURCE.is_dir(), reason="the tree has no driver for the PS")
@pytest.mark.parametrize(
    ("wire", "ptp4l"), [("transport=udp4", "-4"), ("transport=ethernet,two_step=0", "-2")], ids=["udp4", "one-step"]
)
def test_ptp4l_locks_and_holds(wire: str, ptp4l: str, tmp_path: Path) -> None:
    setting = Setting(
        tools.SUITES[0],
        hardware=None,
        ps=PsHardware(cpus=1),
        wires=[f"0=ptp:{wire},drift_ppb={DRIFT_PPB},link_delay={DELAY_NS}ns"],
        card_options=OFF,
    )
    with Twin(setting, tmp_path) as twin, twin.ps_machine() as machine:
        guest = Guest(machine)
        guest.until("cat /sys/class/net/eth0/carrier", "1")
        # A slow machine answers late; stamps are the card's and do not mind.
        said = guest.run(
            f"timeout {SETTLE_SECONDS + HOLD} ptp4l -s -i eth0 -m {ptp4l} --tx_timestamp_timeout 2000 || [ $? = 124 ]",
            SETTLE_SECONDS + HOLD + 30,
        )
        last = [tuple(map(int, found)) for found in SERVO.findall(said)][-HOLD:]
        assert len(last) == HOLD, said
        assert all(abs(offset) <= BOUND_NS for offset, _, _ in last), said
        assert all(abs(frequency + DRIFT_PPB) <= BOUND_NS for _, frequency, _ in last), said
        assert all(abs(delay - DELAY_NS) <= BOUND_NS for _, _, delay in last), said
        guest.check()
        machine.power_off()
