# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Check of each port's module and its light, over the I2C bus that the device tree names."""

from __future__ import annotations

import errno
from pathlib import Path

from .. import system
from ..card import port_of
from ..context import Context
from ..ports import NO_ARM_INTERFACE, line_of
from ..result import Fail, Line, Skip
from . import optics

LOOK = "Look at fibre and partner: is its laser on, are the fibre's ends clean, are its two cores swapped?"
LASER = "Its laser is switched off (TX_DISABLE of the cage, low power mode) or worn out: try another module there"
BUS = "'dmesg | grep i2c' says why; another device may hold the bus's clock or data down"
PAGE = "Wait until the program that has selected it ends; if there is none, pull the module out and push it in again"
PLUG = "Push a module in until it latches, or leave the port out with --ports"


def _cell(path: Path) -> int | None:
    """A property of the device tree that is one number."""
    try:
        return int.from_bytes(path.read_bytes(), "big")
    except OSError:
        return None


def bus_of(name: str, port: int) -> tuple[Path, int]:
    """The bus of a port's cage and the port's lane there. name: of the card's device. Skips if there is none."""
    node = system.ROOT / f"sys/bus/platform/devices/{name}/of_node/ethernet-ports/ethernet-port@{port}"
    wanted = _cell(node / "meridian,module-bus")
    if wanted is None:
        raise Skip(f"the device tree names no I2C bus of port {port}'s cage (meridian,module-bus)")
    buses = system.ROOT / "sys/bus/i2c/devices"
    for bus in system.names(buses):
        if bus.startswith("i2c-") and _cell(buses / bus / "of_node/phandle") == wanted:
            break
    else:
        raise Skip(f"Linux has no driver for the I2C bus of port {port}'s cage: 'dmesg | grep i2c' says why")
    device = system.ROOT / "dev" / bus
    if not device.exists():
        raise Skip(f"there is no {device}: 'modprobe i2c-dev'")
    lane = _cell(node / "meridian,module-lane") or 0
    if lane >= optics.QSFP_LANES:
        has = f"which has 0 to {optics.QSFP_LANES - 1}"
        raise Fail(f"the device tree says lane {lane} of port {port}'s module, {has}", "Correct meridian,module-lane")
    return device, lane


def _module(context: Context, port: int) -> str:
    device, lane = bus_of(context.arm.name, port)
    try:
        with optics.opened(device) as read:
            found = optics.module(read, lane)
    except optics.DamagedError as error:
        raise Fail(
            f"port {port}'s module has invalid data: {error}", "Try another module there, and this one elsewhere"
        ) from None
    except optics.PageError as error:
        raise Skip(f"port {port}'s module ({device.name}): {error}. {PAGE}") from None
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise Skip(f"a driver of Linux has the module of port {port} ({device.name})") from None
        if error.errno in optics.NO_ANSWER:
            raise Fail(f"port {port} has no module: nothing answers on {device.name}", PLUG) from None
        raise Fail(f"port {port}'s module cannot be read on {device.name}: {error.strerror}", BUS) from None
    told = f"port {port}'s module ({found.name})"
    if found.celsius is not None and not found.coldest <= found.celsius <= found.hottest:
        limit = found.hottest if found.celsius > found.hottest else found.coldest
        raise Fail(f"{told} is at {found.celsius:.0f} C, its own limit is {limit:.0f} C", "Look at fan and airflow")
    light = "" if found.milliwatts is None else f" ({optics.dbm(found.milliwatts)})"
    if found.faults:
        raise Fail(f"{told} says: {' and '.join(found.faults)}{light}", LOOK)
    if not found.is_ready:
        raise Skip(f"{told} has not measured anything yet, as after it was plugged in: run the check again")
    if found.milliwatts is None:
        return f"{told} answers; {found.reason}"
    if found.sent is not None and found.sent < found.least:
        limit = f", its own limit is {optics.dbm(found.least)}" if found.sent else ""
        raise Fail(f"{told} sends {optics.dbm(found.sent)}{limit}", LASER)
    if found.is_dark:
        raise Fail(f"{told} receives {optics.dbm(found.milliwatts)}, its own limit is {optics.dbm(found.lowest)}", LOOK)
    if found.milliwatts > found.highest:
        raise Fail(
            f"{told} receives {optics.dbm(found.milliwatts)}, its own limit is {optics.dbm(found.highest)}",
            "The partner's laser is too strong for so short a fibre: put an attenuator into it, or it wears the receiver out",
        )
    return f"{told} receives {optics.dbm(found.milliwatts)} and is at {found.celsius:.0f} C"


def modules(context: Context) -> list[Line]:
    """A line for each port that has an interface."""
    if not context.arm.interfaces:
        raise Skip(NO_ARM_INTERFACE)
    ports = sorted(port_of(name) for name in context.arm.interfaces)
    return [line_of(context, "module", port, lambda port=port: _module(context, port)) for port in ports]
