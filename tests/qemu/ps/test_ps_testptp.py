# SPDX-License-Identifier: Apache-2.0
"""The Linux kernel's own testptp on the card's PS: each of its requests, and its answer beside the card's clock, as its
registers and pins show it. The periodic output is at the pin for external timestamps."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from meridian_machine import PsHardware, tools
from meridian_machine.guest import Guest
from meridian_twin.patience import deadline_in
from ptp_run import SECOND_PS, edges, ps_with, pulses

pytestmark = pytest.mark.qemu
SECOND = 10**9
CYCLE_NS = 4
EXACT = 64 * SECOND  # the largest step
STAMP_NS = CYCLE_NS + 1  # of an edge: half a cycle either way, and what the simulated pin is late
REGISTERS = 0xA000_1000
INCREMENT, NOMINAL, PEROUT = 0x38, 0x40, 0x4C
# The clock itself, without the driver.
RAW = f"""
raw() {{
  busybox devmem {REGISTERS:#x} 32 1
  echo raw $(busybox devmem {REGISTERS + 0x14:#x}) $(busybox devmem {REGISTERS + 0x18:#x})
}}
t=/run/twin/testptp
"""


@dataclass
class Clock:
    """The card's, and testptp at it."""

    guest: Guest
    folder: Path

    def ask(self, *options: str, status: int = 0) -> tuple[str, int, int]:
        """What testptp says; what time the card had before and after, in ns."""
        ended, text = self.guest.try_run(f"{RAW}raw; $t {' '.join(options)}; was=$?; raw; exit $was", 120)
        before, after = (int(sec, 16) * SECOND + int(ns, 16) for sec, ns in re.findall(r"raw (\S+) (\S+)", text))
        said = re.sub(r"raw .*\n?", "", text)
        assert ended == status, said
        return said, before, after

    def register(self, offset: int) -> int:
        return int(self.guest.run(f"busybox devmem {REGISTERS + offset:#x}"), 16)

    def increment(self, offset: int = INCREMENT) -> int:
        """Per cycle, in 2^-32 ns."""
        return self.register(offset) << 32 | self.register(offset + 4)

    def until(self, read: Callable[[Path], list], count: int) -> list:
        """So many more edges; the first may be of a moment ago."""
        had, deadline = len(read(self.folder)), deadline_in(60)
        while len(found := read(self.folder)) < had + count:
            assert time.monotonic() < deadline, f"no {count} edges"
            time.sleep(0.1)
        return found[had:]


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clock]:
    folder = tmp_path_factory.mktemp("testptp")
    files = {"testptp": tools.built("build/build-testptp", minutes=15)}
    # Its registers are the driver's, and read here beside it.
    hardware = PsHardware(kernel="iomem=relaxed")
    with ps_with([], folder, ["--ext-ts", "loop:pin=perout"], hardware=hardware, files=files) as (_, guest):
        yield Clock(guest, folder)


def test_the_clock_reports_what_it_can_do(clock: Clock) -> None:
    said, _, _ = clock.ask("-c", "-l")
    told = {name.strip(): int(value) for value, name in re.findall(r"^ +(\d+) (.*)$", said, re.MULTILINE)}
    assert told == {
        "maximum frequency adjustment (ppb)": 500000,
        "programmable alarms": 0,
        "external time stamp channels": 1,
        "programmable periodic signals": 1,
        "pulse per second": 1,
        "programmable pins": 2,
        "cross timestamping": 0,
        "adjust_phase": 0,
        "maximum phase adjustment (ns)": 0,
    }


def test_time_is_set_and_read(clock: Clock) -> None:
    said, _, after = clock.ask("-T 1700000000")
    assert said == "set time okay\n"
    assert 0 <= after - 1_700_000_000 * SECOND < 30 * SECOND
    said, before, after = clock.ask("-g")
    got = re.search(r"clock time: (\d+)\.(\d{9}) or ", said)
    assert got and before < int(got[1]) * SECOND + int(got[2]) < after, said
    system = int(clock.guest.run("date +%s"))
    _, _, after = clock.ask("-s")
    assert -1 <= after / SECOND - system < 30
    clock.ask("-T 1800000000")
    clock.ask("-S")
    assert 0 <= int(clock.guest.run("date +%s")) - 1_800_000_000 < 60


@pytest.mark.parametrize("step", [2000, 64, 50])
def test_time_before_1970_is_refused(clock: Clock, step: int) -> None:
    """Of a step that sets the clock, and of those that the card makes, up to a minute."""
    clock.ask("-T 1")
    said, before, after = clock.ask(f"-t -{step}")
    # By the kernel's PTP core, or, where that does not look, by the driver.
    assert re.match("clock_adjtime: (Invalid argument|Numerical result out of range)", said)
    assert SECOND <= before < after < 40 * SECOND


@pytest.mark.parametrize("step", [(1000, 0), (-7, 0), (0, 123456789), (0, -999999999), (63, 250000001)])
def test_a_shift_of_the_time_is_exact(clock: Clock, step: tuple[int, int]) -> None:
    """In whole seconds by the registers, below them by the pulse."""
    clock.ask("-T 1700000000")
    old = clock.until(pulses, 2)[-1]
    said, before, after = clock.ask(*(f"-{name} {value}" for name, value in zip("tn", step, strict=True) if value))
    assert said == "time shift okay\n"
    new = clock.until(pulses, 2)[-1]
    whole = step[0] * SECOND + step[1]
    moved = (old - new - 1000 * whole) % SECOND_PS
    # Beyond a minute the time between reading and setting is lost.
    assert whole > EXACT or min(moved, SECOND_PS - moved) <= 2000 * CYCLE_NS, moved
    assert whole <= after - before < whole + 30 * SECOND


@pytest.mark.parametrize("ppb", [100000, -499999, 1, 0])
def test_an_adjusted_frequency_is_that_of_the_pulses(clock: Clock, ppb: int) -> None:
    said, _, _ = clock.ask(f"-f {ppb}")
    assert said == "frequency adjustment okay\n"
    nominal = clock.increment(NOMINAL)
    change = nominal * int(abs(ppb) * 65.536) // (10**6 << 16)
    assert clock.increment() == nominal + (change if ppb >= 0 else -change)
    rises = clock.until(pulses, 5)[1:]
    wanted = (len(rises) - 1) * SECOND_PS / (1 + ppb * 1e-9)
    assert abs(rises[-1] - rises[0] - wanted) <= 2000 * CYCLE_NS, (rises, wanted)


def test_a_frequency_beyond_the_clocks_is_refused(clock: Clock) -> None:
    before = clock.increment()
    for ppb in (500001, -500001):
        assert "clock_adjtime: Numerical result out of range" in clock.ask(f"-f {ppb}")[0]
    assert clock.increment() == before


def test_the_pulse_per_second_comes_only_while_it_is_on(clock: Clock) -> None:
    def counted() -> int:
        return int(clock.guest.run("cat /sys/class/pps/pps0/assert").partition("#")[2] or 0)

    clock.ask("-P 0")
    count, edge = counted(), pulses(clock.folder)
    clock.guest.run("sleep 2.5")
    assert (counted(), pulses(clock.folder)) == (count, edge)
    assert clock.ask("-P 1")[0] == "pps for system time request okay\n"
    rises = clock.until(pulses, 3)
    assert all(abs(b - a - SECOND_PS) <= 1000 * CYCLE_NS for a, b in pairwise(rises))
    assert counted() >= count + 2


@pytest.mark.parametrize(
    ("period", "width", "phase"), [(250, None, None), (250, 50, None), (1000, 300, 100), (40, 1, 7)]
)
def test_the_periodic_output_has_the_period_width_and_phase_that_were_asked_for(
    clock: Clock, period: int, width: int | None, phase: int | None
) -> None:
    """In milliseconds. Its edges are where they were asked to be from the pulse per second."""
    options = [f"-p {period}000000", f"-w {width}000000" if width else "", f"-H {phase}000000" if phase else ""]
    assert clock.ask(*options)[0] == "periodic output request okay\n"
    clock.until(lambda folder: edges(folder, "perout"), 12)
    clock.until(pulses, 1)
    found, second = edges(clock.folder, "perout")[-12:], pulses(clock.folder)[-1]
    milli = SECOND_PS // 1000
    for (at, level), (then, after) in pairwise(found):
        assert level != after
        high = (width or period / 2) * milli
        assert abs(then - at - (high if level else period * milli - high)) <= 1000 * CYCLE_NS
        if level:
            away = (at - second - (phase or 0) * milli) % (period * milli)
            assert min(away, period * milli - away) <= 2000 * CYCLE_NS, away
    clock.ask("-p 0")
    assert clock.register(PEROUT) == 0
    time.sleep(1)
    silent = edges(clock.folder, "perout")
    clock.guest.run("sleep 2")
    assert edges(clock.folder, "perout") == silent


def test_what_the_output_cannot_do_is_refused(clock: Clock) -> None:
    for options, sentence in (
        ("-p 100", "PTP_PEROUT_REQUEST: Numerical result out of range"),
        ("-p 1000000 -w 999990", "PTP_PEROUT_REQUEST: Numerical result out of range"),
        ("-i 1 -p 1000000", "PTP_PEROUT_REQUEST: Invalid argument"),
    ):
        assert sentence in clock.ask(options)[0]
    assert clock.register(PEROUT) == 0
    for options in ("-w 100", "-H 100"):
        assert "can only be specified together with -p" in clock.ask(options, status=255)[0]


def test_external_edges_are_stamped_at_their_time(clock: Clock) -> None:
    """Of the periodic output, whose edges the card has put where the clock has them."""
    clock.ask("-p 250000000 -H 70000000")
    said, before, after = clock.ask("-e 8")
    stamps = [int(sec) * SECOND + int(ns) for sec, ns in re.findall(r"event index 0 at (\d+)\.(\d{9})", said)]
    assert said.startswith("external time stamp request okay\n") and len(stamps) == 8, said
    for stamp in stamps:
        away = (stamp - 70_000_000 + 125_000_000) % 250_000_000 - 125_000_000
        assert abs(away) <= STAMP_NS, (stamp, away)
    assert all(abs(b - a - 250_000_000) <= CYCLE_NS for a, b in pairwise(stamps))
    assert before < stamps[0] and stamps[-1] < after
    clock.ask("-p 0")
    assert "PTP_EXTTS_REQUEST: Invalid argument" in clock.ask("-i 1 -e 1")[0]


def test_unknown_flags_of_external_timestamps_are_refused(clock: Clock) -> None:
    """The older request takes any; the newer one has to say which edges, and nothing that the kernel does not know."""
    said = clock.ask("-z")[0]
    told = [(number, int(status)) for number, status in re.findall(r"REQUEST(.) flags 0x\w+ : \((-?\d+)\)", said)]
    assert told == [(" ", 0)] * 5 + [("2", -1), ("2", 0), ("2", 0), ("2", 0), ("2", -1)], said


def nanoseconds(text: str) -> list[int]:
    return [int(sec) * SECOND + int(ns) for sec, ns in re.findall(r"time(?: before| after)?: (\d+)\.(\d{9})", text)]


@pytest.mark.parametrize("option", ["-k", "-x"])
def test_samples_of_the_clock_lie_between_those_of_the_system_clock(clock: Clock, option: str) -> None:
    first = int(clock.guest.run("date +%s%N"))
    said, before, after = clock.ask(f"{option} 25")
    last = int(clock.guest.run("date +%s%N"))
    times = nanoseconds(said)
    assert len(times) == 75, said
    cards = times[1::3]
    assert before < cards[0] and cards[-1] < after and all(a < b for a, b in pairwise(cards))
    systems = [time for place, time in enumerate(times) if place % 3 != 1]
    assert first <= systems[0] and systems[-1] <= last and systems == sorted(systems)
    if option == "-x":
        # As far as the two clocks go alike, which they do not in twin time: no sample is long.
        assert all(after - before < SECOND for before, after in zip(times[::3], times[2::3], strict=True))


def test_samples_may_be_taken_beside_the_monotonic_clock(clock: Clock) -> None:
    first = float(clock.guest.run("cut -d' ' -f1 /proc/uptime")) - 0.01
    times = nanoseconds(clock.ask("-y monotonic -x 3")[0])
    last = float(clock.guest.run("cut -d' ' -f1 /proc/uptime")) + 0.01
    assert len(times) == 9 and first * SECOND <= times[0] <= times[8] <= last * SECOND


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("-X", "PTP_SYS_OFFSET_PRECISE: Operation not supported"),
        ("-o 100", "clock_adjtime: Operation not supported"),
        ("-L 0,1", "PTP_PIN_SETFUNC: Invalid argument"),
    ],
)
def test_requests_that_the_clock_does_not_support_are_refused(clock: Clock, options: str, sentence: str) -> None:
    assert sentence in clock.ask(options)[0]
