# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Checks of the card's PTP clock, which belongs to its ARM side: its drift against the machine's clock and against those of
the MACs, and its pulse per second."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import mac_clocks, system
from .changes import changed
from .context import Context
from .result import Fail, Skip

#: Two crystals of 50 ppm each, and as much again.
BOUND_PPM = 200
#: A pair of times is right within so much, which is as long as a read of the clock takes.
READ_SECONDS = 2e-6
QUICK_SECONDS = 2
#: The MACs' clocks are counted in the last so many seconds of the measurement, or in its second half if it is shorter than
#: two of them.
COUNT_SECONDS = 1
#: The drift changes by no more than this while they are counted, unless a program sets the clock: no crystal changes
#: faster, and a servo steers gently.
STEADY_PPM = 20
SAMPLES = 20
#: Between two looks at the clock. A card that a program simulates may be late for some milliseconds.
PAUSE_SECONDS = 0.005
PULSE_SECONDS = 3
#: In which a pulse that is on comes, and as much time as a reading takes.
SECOND = 1.2
#: PTP_ENABLE_PPS of linux/ptp_clock.h: _IOW('=', 4, int).
PTP_ENABLE_PPS = 0x40043D04


def _clock(context: Context) -> str:
    """The name of the card's clock, as ptp0."""
    found = system.names(system.ROOT / "sys/bus/platform/devices" / context.arm.name / "ptp")
    if not found:
        raise Fail("the card's driver has no PTP clock", "'dmesg | grep meridian_ps' says why")
    return found[0]


@contextmanager
def _opened(name: str) -> Iterator[int]:
    handle = os.open(system.ROOT / "dev" / name, os.O_RDWR)
    try:
        yield handle
    finally:
        os.close(handle)


def pair(handle: int) -> tuple[int, int]:
    """(nanoseconds of the machine, of the clock) of the same moment, from some looks.

    Only looks that were about as short as the shortest count. An answer that is late tells an earlier time of the clock,
    so of these the one in which it is furthest is the best.
    """
    clock = (~handle << 3) | 3  # as FD_TO_CLOCKID of the kernel
    looks = []
    for number in range(SAMPLES):
        if number:
            time.sleep(PAUSE_SECONDS)
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        theirs = time.clock_gettime_ns(clock)
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        looks.append((after - before, (before + after) // 2, theirs))
    longest = 2 * min(looks)[0]
    return max((look[1:] for look in looks if look[0] <= longest), key=lambda look: look[1] - look[0])


def drift_ppm(first: tuple[int, int], last: tuple[int, int]) -> float:
    """How much faster the clock is than the machine, between two pairs."""
    machine, clock = last[0] - first[0], last[1] - first[1]
    return 1e6 * (clock - machine) / machine


@dataclass(frozen=True)
class _Counted:
    """The MACs' clocks at both ends of the part of the measurement that counts them. pair: the times at its beginning."""

    pair: tuple[int, int]
    begun: dict[str, mac_clocks.Latch]
    ended: dict[str, mac_clocks.Latch]


def _measure(
    handle: int, interfaces: Iterable[str], seconds: float
) -> tuple[tuple[int, int], tuple[int, int], _Counted | None]:
    """Measures for so long. Returns the pairs of times at both ends, and what the MACs' clocks counted, or None if the
    driver does not report it."""
    counting = list(mac_clocks.latches(interfaces))
    part = min(COUNT_SECONDS, seconds / 2) if counting else 0
    first = pair(handle)
    time.sleep(seconds - part)
    if not counting:
        return first, pair(handle), None
    middle, begun = pair(handle), mac_clocks.latches(counting)
    time.sleep(part)
    ended = mac_clocks.latches(counting)
    return first, pair(handle), _Counted(middle, begun, ended)


def _against_macs(context: Context, name: str, first: tuple[int, int], last: tuple[int, int], counted: _Counted) -> str:
    """Says how fast the MACs' clocks run against the PTP clock. If a program steps that meanwhile, nothing is compared."""
    before, within = drift_ppm(first, counted.pair), drift_ppm(counted.pair, last)
    spans = [(pairs[1][0] - pairs[0][0]) / 1e9 for pairs in ((first, counted.pair), (counted.pair, last))]
    steady = STEADY_PPM + sum(1e6 * 2 * context.bound(READ_SECONDS) / span for span in spans)
    if abs(within - before) > steady:
        return (
            f"; not compared with the MACs' clocks: {name} was set or steered while they were counted "
            f"({within:+.1f} ppm, before {before:+.1f} ppm)"
        )
    return mac_clocks.compare(name, counted.begun, counted.ended, BOUND_PPM)


def drift(context: Context) -> str:
    """The clock runs, and about as fast as the machine's and the MACs'."""
    name = _clock(context)
    seconds = min(QUICK_SECONDS, context.options.seconds) if context.options.quick else context.options.seconds
    with _opened(name) as handle:
        first, last, counted = _measure(handle, context.arm.interfaces, seconds)
    if first[1] == last[1]:
        raise Fail(f"{name} stands still", "The logic's clock is missing: see 'Clocks' of the page on the first day")
    ppm, bound = drift_ppm(first, last), BOUND_PPM + 1e6 * 2 * context.bound(READ_SECONDS) / seconds
    words = f"{name} runs {ppm:+.1f} ppm against this machine over {seconds:g} s"
    if abs(ppm) > bound:
        raise Fail(
            f"{words}, more than {bound:.0f} ppm",
            "If a program sets the clock (ptp4l), see what it follows; else the board's clock is not the one that the "
            "bitstream is built for",
        )
    macs = _against_macs(context, name, first, last, counted) if counted else ""
    return f"{words}, at most {bound:.0f} ppm{macs}"


def _pulses(name: str) -> Path:
    """Where the kernel counts the pulses of a clock."""
    places = system.ROOT / "sys/class/pps"
    for source in system.names(places):
        if system.read(places / source / "name") == name:
            return places / source / "assert"
    raise Skip(f"the kernel has no source of pulses for {name} (CONFIG_PPS)")


def pulse(context: Context) -> str:
    """A pulse comes within three seconds."""
    name = _clock(context)
    counter = _pulses(name)
    before = system.read(counter)

    def comes() -> bool:
        return system.until(lambda: system.read(counter) != before, context.patience(PULSE_SECONDS), 0.05)

    if system.until(lambda: system.read(counter) != before, context.patience(SECOND), 0.05):
        return f"pulses of {name} come: {system.read(counter)}"
    context.may_disturb(f"switches the pulse of {name} on")
    with _opened(name) as handle:

        def switch(on: bool) -> None:
            fcntl.ioctl(handle, PTP_ENABLE_PPS, int(on))

        with changed(lambda: switch(True), lambda: switch(False), f"the pulse of {name}"):
            if not comes():
                raise Fail(
                    f"no pulse of {name} comes in {context.patience(PULSE_SECONDS):g} s",
                    "See whether the interrupt of meridian_ps counts in /proc/interrupts",
                )
    return f"a pulse of {name} came: {system.read(counter)}"
