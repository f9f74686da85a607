# SPDX-License-Identifier: Apache-2.0
"""The keys of the hashes that spread frames over queues: nobody's is another's, and no start has one of before."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

from dpdk_fixtures import library, testpmd
from meridian_twin import Link
from meridian_twin.protocol import Role
from test_twin_pf import pf_of, python_vf
from test_twin_vf import FIRST
from testpmd import Testpmd

__all__ = ["library", "testpmd"]  # fixtures
FUNCTION, STRIDE, HASH_KEY, WORDS = 0x200000, 0x1000, 0x600, 10  # in BAR2


def key_at(link: Link, function: int) -> tuple[int, ...]:
    """As the card has it."""
    start = FUNCTION + STRIDE * function + HASH_KEY
    return tuple(link.read(1, 2, start + 4 * word) for word in range(WORDS))


def test_no_function_has_the_rss_key_of_another_or_of_an_earlier_start(
    run_card: Any, testpmd: Callable[..., Testpmd]
) -> None:
    """Of the PF and two VFs, the first of which comes twice, with each of two starts of the PF's driver.

    Two random keys have half of their 320 bits in common; what has less than 90 or more than 230 is not random.
    """
    card = run_card()
    other = Link(card.socket, Role.PCIE_FUNCTION, function=1)
    keys = []
    try:
        keys.append(key_at(other, 0))  # after reset, which is public
        for _ in range(2):
            pmd = pf_of(testpmd, card)
            keys.append(key_at(other, 0))
            for function in (FIRST, FIRST + 1, FIRST):
                with python_vf(card, function) as vf:
                    vf.bring_up(queues=1)
                    keys.append(key_at(other, function))
            pmd.quit()
    finally:
        other.close()
    assert len(keys) == 9
    for one, another in combinations(keys, 2):
        differing = sum((a ^ b).bit_count() for a, b in zip(one, another, strict=True))
        assert 90 < differing < 230, (one, another)
