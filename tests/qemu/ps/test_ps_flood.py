# SPDX-License-Identifier: Apache-2.0
"""The PS keeps its time while the wire is full of the smallest frames to its address and it looks at its ring only twice
a millisecond: its driver's limits let through what the ring has room for, and every message of PTP. Without them the
messages are lost. Twin time is some thousand times slower then than the machine's, as in test_ptp_load."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from host_load import MAC, host_load
from meridian_machine.guest import Guest
from meridian_twin.control import Control
from meridian_twin.patience import deadline_in
from ps_link import POLICERS, set_policer
from ptp_run import Running, Samples, ps_with, running
from ptp_under_load import BUSY, CLOCKS, GIVEN, LINE, SERVO

pytestmark = [pytest.mark.qemu, pytest.mark.long]
SMALLEST, AROUND = 64, 20  # with FCS, and what the wire needs around it
TRAIN, GAP_PS = 2000, 600_000  # room for a message of PTP, and for a frame of the host
PACE_PS = (SMALLEST + AROUND) * 8 / LINE * 1e12
RATE = round(TRAIN * 1e12 / (TRAIN * PACE_PS + GAP_PS))
ADDRESS = "02:00:00:00:02:0f"
FLOOD = f"traffic:size={SMALLEST},burst={TRAIN},rate={RATE}pps,dmac={ADDRESS}"
TO_HOST = f"traffic:size=500,rate=3000pps,dmac={MAC.hex(':')},id=1"
SYNC_SECONDS = 2.0 ** BUSY.logs[0]
SYNCS = 30
LOOK_US = 500
LOST = (
    "port_rx_ps_ptp_policed", "port_rx_ps_overflow", "card_rx_no_descriptor", "card_rx_errors",
    "tx_stamps_late", "tx_stamps_unknown", "tx_stamps_skipped",
)  # fmt: skip


def seconds(control: Control) -> float:
    """Twin time."""
    return control.ask("stats")["t_ps"] * 1e-12


def during(ptp4l: Running, control: Control, syncs: int) -> Samples:
    """What ptp4l has said of as many Sync."""
    had, end = len(ptp4l.samples().offsets), seconds(control) + syncs * SYNC_SECONDS
    deadline = deadline_in(900)
    while seconds(control) < end:
        assert time.monotonic() < deadline, "twin time goes too slowly"
        time.sleep(1)
    said = ptp4l.samples()
    return Samples(said.offsets[had:], said.delays[had:], said.states[had:], said.text)


def grown(guest: Guest, before: dict[str, int]) -> dict[str, int]:
    return {name: value - before[name] for name, value in guest.statistics().items()}


def test_a_flood_at_its_address_costs_the_ps_no_message_of_ptp(tmp_path: Path) -> None:
    options = [*CLOCKS, "--control", str(tmp_path / "control")]
    with (
        ps_with([BUSY], tmp_path, options, more=f"{FLOOD}+{TO_HOST}") as (twin, guest),
        host_load(twin.card.socket, receives=True) as load,
        Control(tmp_path / "control") as control,
    ):
        guest.run(f"ethtool -C eth0 rx-usecs {LOOK_US} rx-frames 0")
        guest.run(f"ip link set eth0 address {ADDRESS}")
        with running(guest, f"{BUSY.found()} {SERVO} {GIVEN}") as ptp4l:
            ptp4l.settle(900)
            before, of_host, since = guest.statistics(), load.received, seconds(control)
            samples = during(ptp4l, control, SYNCS)
            now, took, passed = grown(guest, before), load.received - of_host, seconds(control) - since
            load.check()
            print(f"{len(samples.offsets)} samples of {SYNCS} Sync, offset {samples.rms():.2f} ns r.m.s.")
            print(f"{now['port_rx_ps_policed']} over the limit, {now['card_rx_frames']} taken, host {took}")
            assert now["port_rx_frames"] > 0.9 * RATE * passed
            assert now["port_rx_ps_policed"] > 0.9 * now["port_rx_frames"]
            assert {name: now[name] for name in LOST} == dict.fromkeys(LOST, 0)
            assert len(samples.offsets) >= SYNCS - 2
            assert set(samples.states) == {"s2"} and samples.peak() <= 2
            assert took > 0 and abs(now["port_rx_to_host"] - took) < 20

            for policer in POLICERS:
                set_policer(guest, policer, 0)
            before = guest.statistics()
            samples = during(ptp4l, control, SYNCS)
            now = grown(guest, before)
            for policer, (rate, burst) in POLICERS.items():
                set_policer(guest, policer, rate, burst)
            print(f"without limits {len(samples.offsets)} samples, {now['card_rx_no_descriptor']} without descriptor")
            assert now["card_rx_no_descriptor"] > now["port_rx_ps_policed"]
            assert len(samples.offsets) < SYNCS // 2
