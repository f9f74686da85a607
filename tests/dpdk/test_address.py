# SPDX-License-Identifier: Apache-2.0
"""The address of a port that is given none: the card keeps it for any driver that comes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from dpdk_fixtures import library, testpmd
from meridian_twin import Link
from meridian_twin.protocol import Role
from testpmd import Testpmd
from two_pfs import OF_TWO_PORTS

pytestmark = pytest.mark.seconds(90)
__all__ = ["library", "testpmd"]  # fixtures
LOW, HIGH = 0x102010, 0x102014  # of PF 0 on port 0, in BAR2
PORT_STRIDE, PF_STRIDE = 0x1000, 8
VALID = 1 << 31
CHANCE = "the card has no address for the PF"


@pytest.mark.parametrize("ports", [1, 2])
def test_a_port_has_the_address_that_the_card_keeps(
    run_card: Any, testpmd: Callable[..., Testpmd], ports: int, own_dma: bool
) -> None:
    """One by chance, then that again, then what the PS writes; and one by chance again for a group, which is none.

    It is the last port's, which a PF of the same number has.
    """
    of_two_ports = OF_TWO_PORTS if own_dma else ("--ports", "2")
    card = run_card(configuration=of_two_ports if ports > 1 else ())
    function = ports - 1
    asked = function ^ 1
    at = PORT_STRIDE * function + PF_STRIDE * function
    other = Link(card.socket, Role.PCIE_FUNCTION, function=asked)

    def begins_with() -> tuple[bytes, bool]:
        pmd = testpmd(card, function=function)
        found = re.search(r"MAC address: ([0-9A-F:]{17})", pmd.command("show port info 0"))
        assert found
        pmd.quit()
        return bytes.fromhex(found[1].replace(":", "")), CHANCE in pmd.said

    def write(address: bytes) -> None:
        other.write(asked, 2, LOW + at, int.from_bytes(address[:4], "little"))
        other.write(asked, 2, HIGH + at, int.from_bytes(address[4:], "little") | VALID)

    try:
        first, is_by_chance = begins_with()
        assert is_by_chance and first[0] & 3 == 2
        assert begins_with() == (first, False)
        board = bytes.fromhex("025060708090")
        write(board)
        assert begins_with() == (board, False)
        write(bytes.fromhex("035060708090"))
        again, is_by_chance = begins_with()
        assert is_by_chance and again[0] & 3 == 2 and again not in (first, board)
    finally:
        other.close()
