# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Check of temperatures and voltages, which the SYSMON of the ARM side's chip measures (Linux's driver xilinx-ams)."""

from __future__ import annotations

import re
from pathlib import Path

from . import system
from .context import Context
from .result import Fail, Skip

DRIVER = "xilinx-ams"
#: Junction temperature at which a part of the extended grade is out of its range (DS925).
HOT = 100.0
#: Part by which a supply may differ from the nominal voltage (DS925 has 3 to 5 percent).
SPREAD = 0.05
#: Volts by the labels that the driver of newer kernels gives, for speed grades up to -2 (DS925, "Recommended Operating
#: Conditions"). Supplies that a board chooses are not here.
NOMINAL = {"VCC_PSINTLP": 0.85, "VCC_PSINTFP": 0.85, "VCC_PSAUX": 1.8, "VCCAUX": 1.8}


def _device() -> Path:
    places = system.ROOT / "sys/bus/iio/devices"
    for name in system.names(places):
        if system.read(places / name / "name") == DRIVER:
            return places / name
    raise Skip(
        "Linux has no SYSMON here: the kernel needs CONFIG_XILINX_AMS and the device tree the node xlnx,zynqmp-ams"
    )


def values(device: Path, kind: str) -> dict[str, float]:
    """Degrees or volts by the label of the channel. kind: temp or voltage."""
    found = {}
    for name in system.names(device):
        match = re.fullmatch(rf"(in_{kind}\d+.*)_raw", name)
        if not match:
            continue
        stem = match[1]
        raw = system.number(device / name)
        offset = system.number(device / f"{stem}_offset")
        scale = float(system.read(device / f"{stem}_scale", "0"))
        found[system.read(device / f"{stem}_label", stem)] = (raw + offset) * scale / 1000
    return found


def sensors(context: Context) -> str:
    """No temperature is too high and no supply is off."""
    device = _device()
    degrees, volts = values(device, "temp"), values(device, "voltage")
    if not degrees:
        raise Fail(f"{device.name} measures no temperature", "'dmesg | grep ams' says why")
    for label, value in degrees.items():
        if not 0 < value < HOT:
            raise Fail(f"{label} is at {value:.0f} C, the part is made for 0 to {HOT:.0f} C", "Look at fan and airflow")
    for label, value in volts.items():
        nominal = NOMINAL.get(label)
        if nominal and abs(value - nominal) > SPREAD * nominal:
            raise Fail(
                f"{label} is {value:.3f} V, not {nominal:g} V within {100 * SPREAD:.0f} percent",
                "Look at the board's supplies, and at the speed grade that the bitstream is built for",
            )
    known = [label for label in volts if label in NOMINAL]
    return f"{max(degrees.values()):.0f} C at most; {len(known)} supplies as they should be, {len(volts)} read"
