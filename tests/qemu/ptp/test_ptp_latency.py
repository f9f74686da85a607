# SPDX-License-Identifier: Apache-2.0
"""What a frame takes between the connector and where the MAC stamps it: an offset and a longer path while the driver does
not know it, neither of them when it does, and an error that stays when it is another one at each link-up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean

import pytest
from meridian_machine import PsHardware, Twin
from meridian_machine.guest import Guest
from meridian_twin.control import Control
from ptp_run import CYCLE_NS, Grandmaster, Samples, ps_with, pulse_errors, pulses, running
from stamp_latency import FOLDER, latencies, latency_tree

pytestmark = [pytest.mark.qemu, pytest.mark.long]
SAMPLES, PULSES = 24, 3
RX_NS, TX_NS, SPREAD_NS = 413, 127, 60
END_TO_END = Grandmaster("end to end", 0, "transport=udp4", "-4 -E", 1500, 17)
PEER_DELAY = Grandmaster("peer delay", 1, "transport=ethernet", "-2 -P", -800, 99)


@contextmanager
def card(folder: Path, *options: str) -> Iterator[tuple[Twin, Guest]]:
    """With latencies, which the device tree has for its rate."""
    latency = ["--rx-latency", str(RX_NS), "--tx-latency", str(TX_NS)]
    hardware = PsHardware(tree=latency_tree(folder, 1000 * RX_NS, 1000 * TX_NS))
    with ps_with([END_TO_END, PEER_DELAY], folder, [*latency, *options], hardware=hardware) as (twin, guest):
        assert latencies(guest) == [1000 * RX_NS, 1000 * TX_NS]
        yield twin, guest


def tell(guest: Guest, rx_ps: int, tx_ps: int) -> None:
    guest.run(f"echo {rx_ps} >{FOLDER}/rx_ps && echo {tx_ps} >{FOLDER}/tx_ps")


def follow(twin: Twin, guest: Guest, grandmaster: Grandmaster) -> tuple[Samples, float]:
    """What ptp4l says when it has settled, and how late the card's pulses are, in ns."""
    with running(guest, grandmaster.found()) as it:
        it.settle()
        had = len(pulses(twin.folder))
        samples = it.next(SAMPLES, 60 + SAMPLES)
        it.reach(lambda _: len(pulses(twin.folder)) >= had + PULSES, "pulses", 60)
    return samples, mean(pulse_errors(grandmaster, pulses(twin.folder)[had:]))


def check(found: tuple[Samples, float], delay_ns: float, late_ns: float) -> None:
    """late_ns: of the card's clock, as the pulse shows it; ptp4l cannot see it."""
    samples, pulse_ns = found
    assert abs(mean(samples.offsets)) <= 1 and samples.peak() <= 4, samples.offsets
    assert all(abs(delay - delay_ns) <= 1.5 for delay in samples.delays), samples.delays
    assert -1.5 <= pulse_ns - late_ns <= CYCLE_NS + 1.5, pulse_ns


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Twin, Guest]]:
    with card(tmp_path_factory.mktemp("fixed")) as it:
        yield it


@pytest.mark.parametrize("grandmaster", [END_TO_END, PEER_DELAY], ids=["E2E", "P2P"])
def test_latencies_that_are_known_cost_nothing(fixed: tuple[Twin, Guest], grandmaster: Grandmaster) -> None:
    """Unknown ones make the path longer by half their sum, and the clock late by half their difference."""
    twin, guest = fixed
    tell(guest, 0, 0)
    longer, late = (RX_NS + TX_NS) / 2, (RX_NS - TX_NS) / 2
    check(follow(twin, guest, grandmaster), grandmaster.link_delay_ns + longer, late)
    tell(guest, 1000 * RX_NS, 1000 * TX_NS)
    check(follow(twin, guest, grandmaster), grandmaster.link_delay_ns, 0)


def test_a_latency_of_each_link_up_stays_an_error(tmp_path: Path) -> None:
    """Within half the spread, and another one after each time: docs/timestamps.md says so."""
    control = tmp_path / "control"
    errors, delays = [], []
    options = ("--latency-spread", str(SPREAD_NS), "--control", str(control))
    with card(tmp_path, *options) as (twin, guest), Control(control) as asked:
        for _ in range(4):
            samples, pulse_ns = follow(twin, guest, END_TO_END)
            errors.append(pulse_ns)
            delays.append(mean(samples.delays))
            for up in (False, True):
                asked.ask("link", port=0, up=up)
            guest.wait_link()
    assert all(abs(error) <= SPREAD_NS / 2 + CYCLE_NS + 2 for error in errors), errors
    assert all(-2 <= delay - END_TO_END.link_delay_ns <= SPREAD_NS + 2 for delay in delays), delays
    assert max(errors) - min(errors) > 8 or max(delays) - min(delays) > 8, (errors, delays)
