# SPDX-License-Identifier: Apache-2.0
"""Receive buffers count when the card has read their descriptors, which a far link delays."""

from __future__ import annotations

from typing import Any

import pytest
from frames import MINE, frame
from meridian_twin import Host
from meridian_twin.control import Control

FAR = ("--pcie", "3:8", "--pcie-round-trip", "50000")
LONG_PS = 100_000_000  # two round trips
SHORT_PS = 900_000  # too short for the simulation to skip it; behind a skip the shell's clocks lock again


def test_a_frame_ahead_of_the_descriptors_is_dropped_and_a_card_that_rests_has_them(
    run_card: Any, own_dma: bool
) -> None:
    if not own_dma:
        pytest.skip("the model of the QDMA IP counts buffers at the doorbell")
    card = run_card("--time", "lockstep", *FAR)
    with Control(card.control) as inside, Host.connect(card.socket, lockstep=True) as host:

        def is_busy() -> bool:
            return inside.ask("stats")["simulation"]["busy"]

        host.add_mac(MINE)
        host.bring_up(queues=1)
        card.wires[0].send(frame(100, 1))
        host.link.advance(2_000_000)
        assert host.card.counters("FUNCTION", 0)["rx_queue_full"] == 1
        assert is_busy()
        host.link.advance(LONG_PS)
        host.link.advance(SHORT_PS)
        assert not is_busy() and not host.take()
        card.wires[0].send(frame(100, 2))
        host.link.advance(LONG_PS)
        assert host.take() == [frame(100, 2)]
        assert host.card.counters("FUNCTION", 0)["rx_queue_full"] == 1
