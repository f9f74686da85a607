# SPDX-License-Identifier: Apache-2.0
"""Timers of the DMA engine count its user clock, which boards have at 250 or 125 MHz: a microsecond is one with both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dpdk_fixtures import library, testpmd
from meridian_twin import Link
from meridian_twin.protocol import Role
from testpmd import Testpmd
from zcu106 import ZCU106

__all__ = ["library", "testpmd"]  # fixtures
TIMER_TICK = 0xB0C  # of BAR0, in cycles


@pytest.mark.parametrize(
    ("configuration", "options", "mhz"),
    [((), (), 250), pytest.param(ZCU106, ("--rate", "10"), 125, marks=pytest.mark.long)],
    ids=["default", "zcu106"],
)
def test_a_tick_of_the_timers_is_a_microsecond(
    run_card: Any, testpmd: Callable[..., Testpmd], configuration: tuple[str, ...], options: tuple[str, ...], mhz: int
) -> None:
    card = run_card(*options, configuration=configuration)
    pmd = testpmd(card)
    # Another PF reads what the driver has written.
    other = Link(card.socket, Role.PCIE_FUNCTION, function=1)
    try:
        assert other.read(1, 0, TIMER_TICK) == mhz
    finally:
        other.close()
    pmd.quit()
