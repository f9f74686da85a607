# SPDX-License-Identifier: Apache-2.0
"""PTP behind VLAN tags: the real ptp4l on a VLAN interface of the PS follows grandmasters whose frames have one tag or
two, over each transport and by both delay mechanisms, as near as one without tags."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from meridian_machine import Twin
from meridian_machine.guest import Guest
from ptp_run import CYCLE_NS, Grandmaster, Tag, make_vlans, ps_with, ptp4l, pulse_errors, pulses

pytestmark = [pytest.mark.qemu, pytest.mark.long]
SAMPLES = 56  # of each run, eight a second: the last five pulses come a second or more behind the first of them
PULSES = 5
TAGS = {
    "one-tag": (Tag(100),),
    "service-tag": (Tag(200, service=True),),
    "two-tags": (Tag(200, service=True), Tag(100)),
}
TRANSPORTS = {
    "E2E-UDP": ("transport=udp4", "-4 -E"),
    "P2P-UDP": ("transport=udp4,two_step=0", "-4 -P"),
    "E2E-IPv6": ("transport=udp6,two_step=0", "-6 -E"),
    "P2P-IPv6": ("transport=udp6", "-6 -P"),
    "E2E-Ethernet": ("transport=ethernet", "-2 -E"),
    "P2P-Ethernet": ("transport=ethernet", "-2 -P"),
}


def grandmasters(tags: tuple[Tag, ...]) -> dict[str, Grandmaster]:
    """One for each transport, behind these tags."""
    return {
        name: Grandmaster(name, domain, spec, options, 4000 * (domain - 3), 1_000_000 * domain, tags=tags)
        for domain, (name, (spec, options)) in enumerate(TRANSPORTS.items())
    }


@pytest.fixture(scope="module", params=list(TAGS))
def ps(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Twin, Guest, dict[str, Grandmaster]]]:
    tags = TAGS[request.param]
    masters = grandmasters(tags)
    with ps_with(list(masters.values()), tmp_path_factory.mktemp("ptp")) as (twin, guest):
        make_vlans(guest, tags, "10.43.0.5/24")
        yield twin, guest, masters


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_ptp4l_locks_in_a_vlan(ps: tuple[Twin, Guest, dict[str, Grandmaster]], transport: str) -> None:
    twin, guest, masters = ps
    grandmaster = masters[transport]
    before = guest.statistics()
    edges = len(pulses(twin.folder))
    samples = ptp4l(guest, grandmaster, SAMPLES)
    assert set(samples.states) == {"s2"}, samples.text[-2000:]
    assert samples.rms() < 1 and samples.peak() <= 2, samples.offsets
    assert {abs(delay - grandmaster.link_delay_ns) for delay in samples.delays} <= {0, 1}, samples.delays
    errors = pulse_errors(grandmaster, pulses(twin.folder)[edges:][-PULSES:])
    assert len(errors) == PULSES
    assert all(-1 <= error <= CYCLE_NS + 1 for error in errors), errors
    counted = guest.statistics()
    assert all(counted[f"tx_stamps_{name}"] == before[f"tx_stamps_{name}"] for name in ("late", "unknown", "skipped"))
