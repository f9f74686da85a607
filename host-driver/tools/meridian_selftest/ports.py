# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Check of each port: its link."""

from __future__ import annotations

import time
from collections.abc import Callable

from . import ethtool, system
from .card import port_of
from .context import Context
from .result import FAIL, PASS, SKIP, Fail, Line, Skip

#: In which a receiver without a signal is reset at least once (register receiver: every 800 ms in the end).
WATCH_SECONDS = 1.0
LINK_SECONDS = 3
NO_ARM_INTERFACE = "no driver has made an interface of the card: 'modprobe meridian_ps', and look at 'dmesg'"
NO_LIGHT = "Look whether the partner's laser is on and its rate is the bitstream's ('ethtool -m' there), and at cable and module"
NO_LINK = "Plug in a cable; switch FEC and autonegotiation off at the partner ('ethtool --set-fec ... encoding off')"


def line_of(context: Context, check_name: str, port: int, check: Callable[[], str]) -> Line:
    """The line of a check that each port has."""
    name = f"{check_name}.{port}"
    wanted = context.options.ports
    if wanted is not None and port not in wanted:
        return Line(name, SKIP, "--ports leaves it out")
    try:
        return Line(name, PASS, check())
    except Fail as error:
        return Line(name, FAIL, str(error))
    except Skip as error:
        return Line(name, SKIP, str(error))
    except ethtool.Detached as error:
        return Line(name, SKIP, str(error), is_detached=True)


def _host_port(context: Context, port: int) -> str:
    interface = next((name for name in context.host.interfaces if port_of(name) == port), "")
    if context.dump().link_up(port):
        rate = f"{context.dump(interface).gigabits} Gb/s" if interface else "no PF is bound to it"
        return f"port {port} has a link, {rate} ({interface or 'no interface'})"
    if not interface:
        raise Fail(f"port {port} has no link", f"{NO_LINK}; or name the ports that have a cable with --ports")
    before = context.dump(interface).receiver_resets
    time.sleep(WATCH_SECONDS)
    resets = context.dump(interface).receiver_resets - before
    if resets:
        raise Fail(
            f"port {port} ({interface}) has no link: its receiver finds no signal ({resets} resets in a second)",
            NO_LIGHT,
        )
    raise Fail(
        f"port {port} ({interface}) has no link: its receiver is locked, the MAC is not aligned",
        f"{NO_LINK}; or name the ports that have a cable with --ports",
    )


def host_links(context: Context) -> list[Line]:
    """A line for each port of the card."""
    count = context.dump().ports
    return [line_of(context, "link", port, lambda port=port: _host_port(context, port)) for port in range(count)]


def _arm_port(context: Context, interface: str) -> str:
    if not ethtool.is_up(interface):
        raise Skip(f"{interface} is down: 'ip link set {interface} up'")
    ethtool.driver(interface)  # raises Detached
    carrier = system.NET / interface / "carrier"
    if not system.until(lambda: system.read(carrier) == "1", context.patience(LINK_SECONDS)):
        raise Fail(f"{interface} has no link", NO_LINK)
    return f"{interface} has a link, {system.number(system.NET / interface / 'speed')} Mb/s"


def arm_links(context: Context) -> list[Line]:
    """A line for each port of the card, from its ARM side."""
    if not context.arm.interfaces:
        raise Skip(NO_ARM_INTERFACE)
    return [
        line_of(context, "link", port_of(name), lambda name=name: _arm_port(context, name))
        for name in sorted(context.arm.interfaces, key=port_of)
    ]
