# SPDX-License-Identifier: Apache-2.0
"""The card keeps PTP time by itself: the real ptp4l on its PS, on the real driver and the shell's own clock, follows
grandmasters of every kind. The card's pulse per second shows it without ptp4l's word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from meridian_machine import Twin
from meridian_machine.guest import Guest
from ptp_run import CYCLE_NS, Grandmaster, Tag, make_vlans, ps_with, ptp4l, pulse_errors, pulses

pytestmark = [pytest.mark.qemu, pytest.mark.quick]
SAMPLES = 56  # of each run, eight a second: the last five pulses come a second or more behind the first of them
TAGS = (Tag(200, service=True), Tag(100))
GRANDMASTERS = [
    Grandmaster("two-step E2E UDP", 0, "transport=udp4", "-4 -E", 1500, 17),
    Grandmaster(
        "one-step E2E UDP",
        1,
        "transport=udp4,two_step=0",
        "-4 -E",
        -20_000,
        250_000_000,
    ),
    Grandmaster("two-step P2P Ethernet", 2, "transport=ethernet", "-2 -P", 30_000, -100_000),
    Grandmaster(
        "one-step P2P Ethernet",
        3,
        "transport=ethernet,two_step=0",
        "-2 -P",
        -700,
        3_600_000_000_000,
    ),
    Grandmaster("two-step E2E Ethernet", 4, "transport=ethernet", "-2 -E", 100_000, 5),
    Grandmaster("two-step E2E IPv6 in two VLANs", 5, "transport=udp6", "-6 -E", 8000, tags=TAGS),
]


@pytest.fixture(scope="module")
def ps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Twin, Guest]]:
    with ps_with(GRANDMASTERS, tmp_path_factory.mktemp("ptp")) as it:
        make_vlans(it[1], TAGS, "10.43.0.5/24")
        yield it


#: Both ways of telling a time and of measuring a delay, each transport.
QUICK = ("two-step E2E IPv6 in two VLANs", "two-step P2P Ethernet", "one-step E2E UDP")


@pytest.mark.parametrize(
    "grandmaster",
    [pytest.param(it, marks=() if it.name in QUICK else pytest.mark.long) for it in GRANDMASTERS],
    ids=lambda it: it.name.replace(" ", "-"),
)
def test_ptp4l_locks(ps: tuple[Twin, Guest], grandmaster: Grandmaster) -> None:
    twin, guest = ps
    before = len(pulses(twin.folder))
    samples = ptp4l(guest, grandmaster, SAMPLES)
    assert set(samples.states) == {"s2"}, samples.text[-2000:]
    assert samples.rms() < 1, samples.offsets
    assert samples.peak() <= 2, samples.offsets
    assert {abs(delay - grandmaster.link_delay_ns) for delay in samples.delays} <= {
        0,
        1,
    }, samples.delays
    edges = pulses(twin.folder)[before:]
    errors = pulse_errors(grandmaster, edges[-5:])
    assert len(errors) == 5
    assert all(-1 <= error <= CYCLE_NS + 1 for error in errors), errors
    counted = guest.statistics()
    assert [counted[f"tx_stamps_{name}"] for name in ("late", "unknown", "skipped")] == [0, 0, 0]


@pytest.mark.long
def test_ptp4l_keeps_its_lock_with_clocks_that_are_off_and_a_wandering_grandmaster(tmp_path: Path) -> None:
    """Five minutes; every clock of the card 50 ppm off, each its own way."""
    card = [word for clock in ("ps=50", "mac_rx_0=-50", "mac_tx_0=50", "host=-50") for word in ("--ppm", clock)]
    wandering = Grandmaster("wandering", 0, "transport=ethernet,wander_ns=100,wander_ppb=1", "-2 -E", 1000)
    with ps_with([wandering], tmp_path, card=card) as (_, guest):
        samples = ptp4l(guest, wandering, 300 * 8)
    print(f"offset {samples.rms():.2f} ns r.m.s., {samples.peak()} ns peak, path delay {set(samples.delays)}")
    assert set(samples.states) == {"s2"}
    assert samples.rms() < 1
    assert samples.peak() <= 2
    assert max(samples.delays) - min(samples.delays) <= 2
