# SPDX-License-Identifier: Apache-2.0
"""A wire full of the smallest frames to the PS's address, a grandmaster behind them: PTP and the host miss nothing while
the PS has limits."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from meridian_golden.limit import UNIT, is_ptp
from meridian_twin import CardProcess, Host, Ps, QueueSetting

ARM, MINE = bytes.fromhex("02000000010f"), bytes.fromhex("02000000aa01")
LINE = 25e9
AROUND = 20  # bytes of the wire around a frame with its FCS
SMALLEST, TRAIN = 64, 1000
PACE_PS = (SMALLEST + AROUND) * 8 / LINE * 1e12
GAP_PS = 250_000  # for a message of PTP and a frame for the host
START_PS, STEP_PS = 2 * 10**9, 100_000_000
FLOOD = round(TRAIN * 1e12 / (TRAIN * PACE_PS + GAP_PS))
OTHERS, PTP = (134, 200), (21, 64)  # 200,000 and 32,000 frames a second
MESSAGES = 40  # of PTP, 1024 Sync a second and as many that follow
WIRES = "+".join(
    [
        f"traffic:size={SMALLEST},burst={TRAIN},rate={FLOOD}pps,dmac={ARM.hex(':')},start=2ms",
        f"traffic:size=300,rate=20000pps,dmac={MINE.hex(':')},start=2ms,id=1",
        "ptp:transport=ethernet,log_sync=-10,log_announce=-6",
    ]
)


class World:
    def __init__(self, card: CardProcess, is_limited: bool) -> None:
        self.host = Host.connect(card.socket, lockstep=True, memory=64 << 20)
        self.ps = Ps.connect(card.socket)
        self.host.bring_up(1, setting=QueueSetting(ring=513, completions=1025, buffer=2048))
        self.host.card.set_flags(0, False, False, False, True)
        self.host.add_mac(MINE)
        self.ps.card.set_ps_limit(0, OTHERS if is_limited else None, PTP)
        self.ps.start(0, ARM)
        self.host.settle()
        self.of_host = 0
        self.of_ps: Counter[bool] = Counter()  # by whether it is of PTP

    def look(self) -> None:
        self.of_host += len(self.host.take())
        self.of_ps.update(is_ptp(frame.data) for frame in self.ps.ports[0].poll())

    def run(self) -> tuple[dict[str, int], dict[str, int], float]:
        """Counters of the port and of the ring once so many messages have come, and seconds of flood until all is seen."""
        while self.host.card.counters("PORT_COUNTERS")["rx_multicast"] < MESSAGES:
            self.host.link.advance(STEP_PS)
            self.look()
        counters, ring = self.host.card.counters("PORT_COUNTERS"), self.ps.ports[0].counters()
        self.look()
        return counters, ring, (self.host.link.advance(0) - START_PS) * 1e-12


@pytest.mark.parametrize("is_limited", [True, False], ids=["limits", "none"])
def test_a_flood_of_the_smallest_frames(built_card: Any, tmp_path: Path, is_limited: bool) -> None:
    """Without limits PTP is lost, so the flood is one."""
    with CardProcess(built_card(), "--time", "lockstep", "--wire", f"0={WIRES}") as card:
        world = World(card, is_limited)
        try:
            before = world.host.card.counters("PORT_COUNTERS")["rx_multicast"]
            port, ring, seconds = world.run()
        finally:
            world.host.close()
            world.ps.close()
    sent = port["rx_multicast"] - before
    flood = port["rx_unicast"] - port["rx_to_host"] + port["rx_multicast"]
    print(f"{seconds * 1e3:.1f} ms, {flood} frames of flood, {world.of_ps} to the PS, {world.of_host} to the host")
    assert flood > 0.9 * FLOOD * seconds
    assert port["rx_host_overflow"] == 0
    assert world.of_host >= port["rx_to_host"] - port["rx_multicast"] - 8  # but for the last
    if is_limited:
        assert world.of_ps[True] >= sent - 1 and port["rx_ps_ptp_policed"] == 0
        most = OTHERS[1] + OTHERS[0] * UNIT * seconds
        assert 0.9 * most < world.of_ps[False] <= most + 1
        assert (port["rx_ps_overflow"], ring["rx_no_descriptor"]) == (0, 0)
        assert port["rx_ps_policed"] + world.of_ps[False] >= flood
    else:
        assert world.of_ps[True] < sent // 2
        assert ring["rx_no_descriptor"] > flood // 2 and port["rx_ps_policed"] == 0
