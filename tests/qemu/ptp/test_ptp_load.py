# SPDX-License-Identifier: Apache-2.0
"""The card keeps time while its wire is full both ways without a pause, so that every Sync and every Delay_Req waits for
a frame of the host, and while the host's queues are full. Twin time is some thousand times slower then than the
machine's, so there are a thousand Sync a second of it, and ptp4l's servo is the same a sample as at eight a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from host_load import LENGTH, MAC, host_load
from meridian_twin.control import Control
from ptp_run import Grandmaster, Samples, ps_with, running
from ptp_under_load import BUSY, CLOCKS, GIVEN, LINE, SERVO

pytestmark = [pytest.mark.qemu, pytest.mark.long]
AROUND = 24  # bytes of the wire around a frame and its FCS
TRAIN, TRAIN_PS = 100, 100 * 26_880
GAP_PS = 160_000  # room for one message of PTP between two trains
SAMPLES = 60
IDLE = Grandmaster("idle", 0, "transport=ethernet", "-2 -E", 12_000)
UNHARMED = ("card_rx_no_descriptor", "card_rx_errors", "tx_stamps_late", "tx_stamps_unknown", "tx_stamps_skipped")


def share(before: dict[str, Any], after: dict[str, Any], way: str, length: int) -> float:
    """Of the line that frames of this length took between two looks at the counters."""
    frames = after["ports"][0][way]["frames"] - before["ports"][0][way]["frames"]
    return frames * (length + AROUND) * 8 / LINE / ((after["t_ps"] - before["t_ps"]) * 1e-12)


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    with ps_with([IDLE], tmp_path_factory.mktemp("idle"), CLOCKS) as (_, guest), running(guest, IDLE.found()) as ptp4l:
        ptp4l.settle()
        return ptp4l.next(SAMPLES, 60)


@pytest.mark.parametrize("receives", [True, False], ids=["at-work", "queues-stand"])
def test_a_full_wire_costs_the_clock_nothing(idle: Samples, receives: bool, tmp_path: Path) -> None:
    length = LENGTH if receives else 64
    pace_ps = round((length + AROUND) * 8 / LINE * 1e12)
    rate = round(TRAIN * 1e12 / (TRAIN * pace_ps + GAP_PS))
    traffic = f"traffic:size={length},burst={TRAIN},rate={rate}pps,dmac={MAC.hex(':')}"
    options = [*CLOCKS, "--control", str(tmp_path / "control")]
    with (
        ps_with([BUSY], tmp_path, options, more=traffic) as (twin, guest),
        host_load(twin.card.socket, receives) as load,
        Control(tmp_path / "control") as control,
        running(guest, f"{BUSY.found()} {SERVO} {GIVEN}") as ptp4l,
    ):
        ptp4l.settle(900)
        before, counted = control.ask("stats"), guest.statistics()
        samples = ptp4l.next(SAMPLES, 900)
        after, now = control.ask("stats"), guest.statistics()
        load.check()
    sent, came = share(before, after, "tx", LENGTH), share(before, after, "rx", length)
    print(
        f"offset {samples.rms():.2f} ns r.m.s. ({idle.rms():.2f} idle), peak {samples.peak()}, delay {set(samples.delays)}"
    )
    print(f"{sent:.1%} of the line sent, {came:.1%} received, {load.received} frames taken by the host")
    assert sent > 0.97
    assert came > 0.9
    assert (load.received > 0) == receives
    assert {name: now[name] - counted[name] for name in UNHARMED} == dict.fromkeys(UNHARMED, 0)
    assert set(samples.states) == {"s2"}
    assert samples.rms() < idle.rms() + 0.5
    assert samples.peak() <= 2
    assert max(samples.delays) - min(samples.delays) <= 2
