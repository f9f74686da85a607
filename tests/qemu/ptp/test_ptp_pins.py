# SPDX-License-Identifier: Apache-2.0
"""The pins of the card's clock: its pulse stamped by itself, moved by a step, and ts2phc after the pulse of a receiver."""

from __future__ import annotations

import json
import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
from meridian_machine import PsHardware
from meridian_twin.control import Control
from meridian_twin.patience import deadline_in
from ps_link import CLOCK_REGISTERS, WRITABLE, register
from ptp_run import CLOCK, SECOND_PS, ps_with, pulses

pytestmark = [pytest.mark.qemu, pytest.mark.quick]
STATUS, EXTTS = CLOCK_REGISTERS + 0x4, CLOCK_REGISTERS + 0x6C
STAMPED = 1 << 17
CYCLE_NS = 4
STAMP_NS = CYCLE_NS + 1  # of an edge: half a cycle either way, and what the pulse and the simulated pin are late
STEPS = (0.25, -0.125000003, 30.000000501, -29.123456789, 3600.75, 1e8, -99_999_000.5)
READ_S = 1e-6  # more than phc_ctl rounds
LOCKED_NS = 3 * CYCLE_NS  # ts2phc's servo follows stamps that are a cycle coarse


def received(folder: Path) -> list[int]:
    """Twin time in ps of each edge of the receiver."""
    lines = (json.loads(line) for line in (folder / "card.jsonl").read_text().splitlines())
    return [event["t_ps"] for event in lines if event["ev"] == "ext_ts" and event["level"]]


def until_pulses(folder: Path, count: int) -> None:
    """So many more; the first may be of a moment ago."""
    had, deadline = len(pulses(folder)), deadline_in(30)
    while len(pulses(folder)) < had + count:
        assert time.monotonic() < deadline, f"no {count} pulses"
        time.sleep(0.1)


def test_the_clocks_own_pulse_is_stamped_at_the_second(tmp_path: Path) -> None:
    with ps_with([], tmp_path, ["--ext-ts", "loop", "--ppm", "ps=30"]) as (_, guest):
        guest.run(f"phc_ctl eth0 set 1000 && echo 0 1 >{CLOCK}/extts_enable")
        text = guest.run(f"for n in 1 2 3 4; do until grep . {CLOCK}/fifo; do sleep 0.1; done; done", 60)
        guest.run(f"echo 0 0 >{CLOCK}/extts_enable")
    stamps = [int(second) * 10**9 + int(rest) for second, rest in re.findall(r"0 (\d+) (\d+)", text)]
    assert len(stamps) == 4, text
    errors = [(stamp + 5 * 10**8) % 10**9 - 5 * 10**8 for stamp in stamps]
    assert max(map(abs, errors)) <= STAMP_NS, errors
    assert all(abs(after - before - 10**9) <= CYCLE_NS for before, after in pairwise(stamps))


def test_an_edge_that_nobody_waited_for_is_not_told_later(tmp_path: Path) -> None:
    """It was stamped while nobody listened, as one may be while its input is switched off."""
    fifo, path = f"{CLOCK}/fifo", tmp_path / "control"
    hardware = PsHardware(kernel=WRITABLE)
    with ps_with([], tmp_path, ["--control", str(path)], hardware=hardware) as (_, guest), Control(path) as control:

        def edge() -> None:
            for level in (True, False):
                control.ask("ext_ts", level=level)
                time.sleep(0.1)

        def stamped() -> bool:
            return bool(register(guest, STATUS) & STAMPED)

        # The driver takes the register for that of a card that was reset, and writes its own value again and again.
        on = f"busybox devmem {EXTTS:#x} 32 1"
        guest.run(f"(while [ ! -e /tmp/enough ]; do {on}; done; rm /tmp/enough) >/dev/null 2>&1 &")
        deadline = deadline_in(30)
        while not stamped():
            assert time.monotonic() < deadline, "no edge is stamped"
            edge()
        guest.run("touch /tmp/enough; while [ -e /tmp/enough ]; do sleep 0.1; done")
        for _ in range(2):
            now = float(re.search(r"clock time is ([\d.]+)", guest.run("phc_ctl eth0 get"))[1])  # type: ignore[index]
            guest.run(f"echo 0 1 >{CLOCK}/extts_enable")
            edge()
            told = guest.until(f"cat {fifo}", r"\d+ \d+ \d+").split()
            assert int(told[1]) + int(told[2]) * 1e-9 >= now
            guest.run(f"echo 0 0 >{CLOCK}/extts_enable")
            assert not stamped()


def test_a_step_is_exact(tmp_path: Path) -> None:
    """The pulse moves by what the clock was stepped; beyond a second the driver sets it, and adds what passed meanwhile."""
    path = tmp_path / "control"
    with ps_with([], tmp_path, ["--control", str(path)]) as (_, guest), Control(path) as control:

        def twin_seconds() -> float:
            return control.ask("stats")["t_ps"] / SECOND_PS

        def clock_ahead() -> tuple[float, float]:
            """Of twin time, in seconds: at least and at most, as the clock is read at some moment between two."""
            began = twin_seconds()
            text = guest.run("phc_ctl eth0 get")
            now = float(re.search(r"clock time is ([\d.]+)", text)[1])  # type: ignore[index]
            return now - twin_seconds(), now - began

        for step in STEPS:
            until_pulses(tmp_path, 2)
            (least, most), before = clock_ahead(), pulses(tmp_path)[-1]
            guest.run(f"phc_ctl eth0 adj -- {step}")
            least_after, most_after = clock_ahead()
            assert least_after - most - READ_S <= step <= most_after - least + READ_S
            until_pulses(tmp_path, 2)
            moved = (before - pulses(tmp_path)[-1] - round(step * SECOND_PS)) % SECOND_PS
            assert min(moved, SECOND_PS - moved) <= 1000 * CYCLE_NS, (step, moved)


def test_ts2phc_follows_a_receiver(tmp_path: Path) -> None:
    """Its pulse is 20 ppm fast, the card's clock 50 slow."""
    source = "pps:offset_ns=123456789,drift_ppb=20000"
    with ps_with([], tmp_path, ["--ext-ts", source, "--ppm", "ps=-50"]) as (_, guest):
        # It asks the system for the second, and its table for the leap seconds. If it is late by half a second, as it may be
        # when it starts on a busy computer, it takes the next; with a threshold it steps back from that.
        guest.run(f"echo 0 1 >{CLOCK}/extts_enable; until grep . {CLOCK}/fifo; do :; done; date -s @1704067200.1")
        guest.run(
            "ts2phc -c eth0 -s generic --step_threshold 0.1 -m -q -l 7 >/tmp/ts2phc 2>&1 & echo $! >/tmp/ts2phc.pid"
        )
        try:
            deadline = deadline_in(120)
            while True:
                text = guest.run("cat /tmp/ts2phc")
                offsets = [int(it) for it in re.findall(r"offset +(-?\d+) s2", text)]
                if len(offsets) >= 15 and max(map(abs, offsets[-8:])) <= LOCKED_NS:
                    break
                assert time.monotonic() < deadline, text[-2000:]
                time.sleep(0.5)
            # While the driver is there: a pulse of its own ends with it, and the receiver's does not.
            outside, own = received(tmp_path)[-6:-1], pulses(tmp_path)
        finally:
            guest.run("kill $(cat /tmp/ts2phc.pid)")
    errors = [min((edge - pulse for edge in own), key=abs) / 1000 for pulse in outside]
    assert max(map(abs, errors)) <= LOCKED_NS + CYCLE_NS, errors
    assert all(SECOND_PS * 0.99 < b - a < SECOND_PS for a, b in pairwise(outside))
