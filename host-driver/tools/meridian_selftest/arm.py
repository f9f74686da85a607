# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Check of the rings of the card's ARM side, from the host and from the ARM side itself."""

from __future__ import annotations

from . import ethtool
from .context import Context
from .result import Fail, Skip

#: rx_status.error and tx_status.error of the rings.
ERRORS = {1: "bus error on a descriptor", 2: "producer index beyond the ring", 3: "bus error on a completion"}
#: Counters of the ARM side's driver that stay 0 on a card that is well.
FAULTS = (
    "rx_bad_completion",
    "restarts_rx_error",
    "restarts_tx_error",
    "restarts_tx_timeout",
    "restarts_failed",
    "card_rx_errors",
    "card_tx_bad_descriptor",
    "card_tx_bus_errors",
    "card_bus_errors",
)
LOOK_THERE = "Log in to the card: 'dmesg | grep meridian_ps' and 'ethtool -S port0' there"


def host_rings(context: Context) -> str:
    """What the host sees of the ARM side: its rings run without an error."""
    running = []
    for interface in context.host.interfaces or [context.host.first_interface()]:
        dump = context.dump(interface)
        for side in ("RX", "TX"):
            error = dump.ring(f"{side}_STATUS", "ERROR")
            if error:
                raise Fail(
                    f"the ARM side's {side} ring of the port of {interface} has stopped: {ERRORS[error]}", LOOK_THERE
                )
        if dump.ring("RX_STATUS", "RUNNING") and dump.ring("TX_STATUS", "RUNNING"):
            running.append(interface)
    if not running:
        raise Skip(
            "no ring of the ARM side runs, which is right while its Linux is off or its interfaces are down; "
            "run meridian-selftest on the card to see why"
        )
    return f"the ARM side's rings run on the port(s) of {', '.join(running)}"


def arm_rings(context: Context) -> str:
    """The rings' counters tell of no error."""
    seen = []
    for interface in context.arm.interfaces:
        try:
            counts = ethtool.statistics(interface)
        except ethtool.Detached as error:
            raise Fail(
                f"{error}: the card does not end its rings", "'dmesg | grep meridian_ps' says since when"
            ) from None
        found = {name: counts[name] for name in FAULTS if counts.get(name)}
        if found:
            said = ", ".join(f"{name} {value}" for name, value in found.items())
            raise Fail(f"{interface} counts errors: {said}", "'dmesg | grep meridian_ps' tells of restarts")
        if ethtool.is_up(interface):
            seen.append(f"{interface} {counts['card_rx_frames']} in, {counts['card_tx_frames']} out")
    if not seen:
        raise Skip("no interface of the card is up here: 'ip link set port0 up'")
    return f"rings without an error: {'; '.join(seen)}"
