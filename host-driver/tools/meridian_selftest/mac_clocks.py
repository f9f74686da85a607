# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""The clocks of the ports' MACs against the card's PTP clock. The card latches both at once, so the time that the driver
takes to read them adds no error, and a second is enough on a slow machine, too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from . import ethtool, system
from .card import has_carrier
from .result import Fail

#: Cycles in a second, by the speed of the port in Mb/s: 64 bits a cycle.
NOMINAL = {10_000: 156_250_000, 25_000: 390_625_000}
DIRECTIONS = {"transmit": "port_tx_clock", "receive": "port_rx_clock"}
#: The card's counts are of 32 bits, and so are seconds.
WRAP = 1 << 32


@dataclass(frozen=True)
class Latch:
    """The clocks of a port's MAC. cycles: by direction; None: the clock stands still. link: the port has one."""

    phc_ns: int
    cycles: dict[str, int | None]
    link: bool


def latch(interface: str) -> Latch | None:
    """Latches the clocks of an interface's MAC. Returns None if bitstream or driver have no such counts, or if the interface
    is detached. Raises Fail if the card does not end the latch."""
    try:
        found = ethtool.statistics(interface)
    except ethtool.Detached:
        return None
    if "port_clock_unknown" not in found:
        return None
    if found["port_clock_unknown"]:
        raise Fail(
            f"the card does not say what the clocks of {interface} have counted",
            "If a program on the host latches them again and again, end it; else load the bitstream again",
        )
    cycles = {way: None if found[f"{name}_still"] else found[name] for way, name in DIRECTIONS.items()}
    time_ns = 10**9 * found["port_clock_seconds"] + found["port_clock_nanoseconds"]
    return Latch(time_ns, cycles, has_carrier(interface))


def latches(interfaces: Iterable[str]) -> dict[str, Latch]:
    """Latches those interfaces that have the counts."""
    return {name: found for name in interfaces if (found := latch(name)) is not None}


def _ppm(interface: str, cycles: int, elapsed_ns: int) -> float:
    """How much faster a clock runs than its nominal rate. Without a link the port's speed is not known, and the nearest rate is
    taken. cycles: modulo 2^32."""

    def against(nominal: int) -> float:
        expected = nominal * elapsed_ns / 1e9
        return 1e6 * ((cycles + WRAP * round((expected - cycles) / WRAP)) / expected - 1)

    speed = system.number(system.NET / interface / "speed")
    return min((against(rate) for rate in ([NOMINAL[speed]] if speed in NOMINAL else NOMINAL.values())), key=abs)


def compare(clock: str, begun: dict[str, Latch], ended: dict[str, Latch], bound_ppm: float) -> str:
    """Says how fast each clock runs against the PTP clock. A receive clock is the partner's, so it is compared only with a
    link. Raises Fail if a clock stands still or exceeds the bound."""
    words = []
    for interface, first in begun.items():
        if (last := ended.get(interface)) is None:
            continue
        elapsed_ns = (last.phc_ns - first.phc_ns) % (10**9 * WRAP)
        for direction in DIRECTIONS if first.link and last.link else ("transmit",):
            before, now = first.cycles[direction], last.cycles[direction]
            if before is None or now is None:
                raise Fail(
                    f"the {direction} clock of {interface} stands still",
                    "See 'Clocks' of the page on the first day: the reference clock of the transceivers",
                )
            ppm = _ppm(interface, now - before, elapsed_ns)
            words.append(f"{interface} {direction} {ppm:+.1f}")
            if abs(ppm) > bound_ppm:
                raise Fail(
                    f"the {direction} clock of {interface} runs {ppm:+.1f} ppm against {clock}, more than {bound_ppm} ppm",
                    "See 'Clocks' of the page on the first day: the reference clock of the transceivers, or that of the "
                    "PTP clock; a program that sets the clock (ptp4l) follows its grandmaster",
                )
    return f"; the MACs' clocks against it, in ppm: {', '.join(words)}" if words else ""
