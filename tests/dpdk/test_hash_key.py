# SPDX-License-Identifier: Apache-2.0
"""The hash of the card's MAC table: the PMD draws its key at start, while the table is empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpdk_fixtures import library, testpmd
from meridian_twin import Link
from meridian_twin.protocol import Role
from testpmd import Testpmd

__all__ = ["library", "testpmd"]  # fixtures
FILTER = 0x110000  # of BAR2
HASH_KEYS = (0x40, 0x44, 0x48)
HASH_STATUS, HASH_IGNORED = 0x4C, 0x50
DRAWN = 2


def test_the_key_of_the_filters_hash_is_drawn_once_and_not_under_entries(
    run_card: Any, testpmd: Callable[..., Testpmd]
) -> None:
    card = run_card()
    other = Link(card.socket, Role.PCIE_FUNCTION, function=1)
    try:
        assert other.read(1, 2, FILTER + HASH_STATUS) == 0
        pmd = testpmd(card)
        assert other.read(1, 2, FILTER + HASH_STATUS) == DRAWN
        assert other.read(1, 2, FILTER + HASH_IGNORED) == 0
        pmd.command("set promisc 0 off")
        pmd.start("io")  # its address is in the table
        for key in HASH_KEYS:
            other.write(1, 2, FILTER + key, 0x12345678)
            assert other.read(1, 2, FILTER + key) == 0
        assert other.read(1, 2, FILTER + HASH_IGNORED) == len(HASH_KEYS)
        pmd.quit()
    finally:
        other.close()
