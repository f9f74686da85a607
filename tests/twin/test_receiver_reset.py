# SPDX-License-Identifier: Apache-2.0
"""A receiver that finds no lock: the card resets it by itself, and says so to the PS and to the host."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from meridian_twin import Host
from meridian_twin.control import Control
from meridian_twin.driver import Ps
from wide import WIDE

MS = 10**9  # in ps
INTERVAL_MS, PULSE_PS = 100, 10**6


def test_a_receiver_that_locks_only_after_a_reset_is_reset_by_the_card(
    run_card: Callable[..., Any], tmp_path: Path
) -> None:
    """A module that is plugged in while the receiver has adapted to noise: the first reset brings the link."""
    log = tmp_path / "log"
    card = run_card("--control", str(tmp_path / "control"), "--log", str(log), "--time", "lockstep")
    with (
        Control(tmp_path / "control") as control,
        Host.connect(card.socket, lockstep=True) as host,
        Ps.connect(card.socket) as ps,
    ):
        status, receiver = (ps.card.regs.ps_address("PORT", name, 0) for name in ("LINK_STATUS", "RECEIVER"))
        resets = ps.card.regs.field("PORT", "RECEIVER", "RESETS")

        def link() -> bool:
            return bool(ps.card.read(status, "ps") & 1)

        host.link.advance(300 * MS)
        assert link() and ps.card.read(receiver, "ps") == 0, "a receiver with a link is left alone"

        # No cable: it is reset again and again, and that helps nothing.
        control.ask("link", up=False)
        host.link.advance(450 * MS)
        assert not link() and resets.of(ps.card.read(receiver, "ps")) == 4

        # A cable and a receiver that has to be reset once more.
        control.ask("link", up=True, until_reset=True)
        host.link.advance(20 * MS)
        assert not link()
        host.link.advance(60 * MS)
        assert link() and resets.of(ps.card.read(receiver, "ps")) == 5
        host.link.advance(1000 * MS)
        assert resets.of(ps.card.read(receiver, "ps")) == 5
        assert control.ask("stats")["ports"][0]["rx_resets"] == 5
        assert resets.of(host.card.read(host.card.regs.address("PORT", "RECEIVER", 0))) == 5
    events = [json.loads(line) for line in log.read_text().splitlines()]
    gone = next(event["t_ps"] for event in events if event["ev"] == "link" and not event["up"])
    times = [event["t_ps"] for event in events if event["ev"] == "rx_reset"]
    for number, time in enumerate(times, 1):
        # Two synchronisers and the simulation's steps; and the resets before it.
        late = time - gone - number * INTERVAL_MS * MS - (number - 1) * PULSE_PS
        assert 0 <= late < 10**6, f"reset {number} comes {late} ps late"


@pytest.mark.long
def test_each_lane_is_reset_alone(run_card: Callable[..., Any], tmp_path: Path) -> None:
    card = run_card("--control", str(tmp_path / "control"), "--time", "lockstep", configuration=WIDE)
    with Control(tmp_path / "control") as control, Host.connect(card.socket, lockstep=True) as host:
        control.ask("link", port=1, up=True, until_reset=True)
        host.link.advance(350 * MS)
        ports = control.ask("stats")["ports"]
        assert [port["rx_resets"] for port in ports] == [0, 1]
        assert [port["link_up"] for port in ports] == [True, True]
