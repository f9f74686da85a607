# SPDX-License-Identifier: Apache-2.0
"""A wire full of the smallest frames to the PS's address, a grandmaster behind them: PTP and the host miss nothing while
the PS has limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from meridian_golden.limit import UNIT, is_ptp
from meridian_twin import CardProcess, Host, Ps, QueueSetting
from wide import WIDE

pytestmark = pytest.mark.seconds(120)
ARM, MINE = bytes.fromhex("02000000010f"), bytes.fromhex("02000000aa01")
AROUND = 20  # bytes of the wire around a frame with its FCS
SMALLEST, TRAIN = 64, 1000
GAP_PS = 250_000  # for a message of PTP and a frame for the host
START_PS, STEP_PS = 5 * 10**9, 100_000_000
OTHERS, PTP = (134, 200), (21, 64)  # 200,000 and 32,000 frames a second
RING_LOG2 = 9  # with bursts, of the size that Linux gives them
MESSAGES = 40  # of PTP, 1024 Sync a second and as many that follow
CONFIGURATIONS = {
    "default": (),
    "10G": ("--line-rate", "10"),
    "wide": WIDE,
    "4 ports": ("--ports", "4"),
}


@dataclass(frozen=True)
class Flood:
    """On each wire of a card, with a grandmaster and frames for the host in its gaps."""

    line_rate: int  # Gb/s
    ports: int

    @classmethod
    def at(cls, configuration: tuple[str, ...]) -> Flood:
        of = dict(zip(configuration[::2], configuration[1::2], strict=True))
        return cls(int(of.get("--line-rate", 25)), int(of.get("--ports", 1)))

    @property
    def rate(self) -> int:
        """Frames a second."""
        pace_ps = (SMALLEST + AROUND) * 8 / self.line_rate * 1e3
        return round(TRAIN * 1e12 / (TRAIN * pace_ps + GAP_PS))

    def options(self) -> list[str]:
        sources = [
            f"traffic:size={SMALLEST},burst={TRAIN},rate={self.rate}pps,dmac={ARM.hex(':')},start={START_PS}ps",
            f"traffic:size=300,rate=20000pps,dmac={MINE.hex(':')},start={START_PS}ps,id=1",
            "ptp:transport=ethernet,log_sync=-10,log_announce=-6",
        ]
        wires = [word for port in range(self.ports) for word in ("--wire", f"{port}={'+'.join(sources)}")]
        return ["--rate", str(self.line_rate), *wires]


class World:
    def __init__(self, card: CardProcess, ports: int, is_limited: bool) -> None:
        self.ports = range(ports)
        self.host = Host.connect(card.socket, lockstep=True, memory=64 << 20)
        self.ps = Ps.connect(card.socket)
        setting = QueueSetting(ring=513, completions=1025, buffer=2048)
        self.host.bring_up(1, setting=setting, ports=self.ports)
        self.host.card.set_flags(0, False, False, False, True)
        for port in self.ports:
            self.host.add_mac(MINE, port=port)
            self.ps.card.set_ps_limit(port, OTHERS if is_limited else None, PTP)
            self.ps.start(port, ARM, RING_LOG2 if is_limited else 8)
        self.host.settle()
        self.of_host = 0
        self.of_ps: list[Counter[bool]] = [Counter() for _ in self.ports]  # by whether it is of PTP

    def look(self) -> None:
        self.of_host += len(self.host.take())
        for port in self.ports:
            self.of_ps[port].update(is_ptp(frame.data) for frame in self.ps.ports[port].poll())

    def counters(self) -> list[dict[str, int]]:
        return [self.host.card.counters("PORT_COUNTERS", port) for port in self.ports]

    def run(self) -> tuple[list[dict[str, int]], list[dict[str, int]], float]:
        """Counters of ports and rings once so many messages have come, and seconds of flood until all is seen."""
        while min(port["rx_multicast"] for port in self.counters()) < MESSAGES:
            self.host.link.advance(STEP_PS)
            self.look()
        counters, rings = self.counters(), [self.ps.ports[port].counters() for port in self.ports]
        self.look()
        return counters, rings, (self.host.link.advance(0) - START_PS) * 1e-12

    def close(self) -> None:
        self.host.close()
        self.ps.close()


def check(flood: Flood, card: Path, is_limited: bool) -> None:
    """Without limits PTP is lost, so the flood is one."""
    with CardProcess(card, "--time", "lockstep", *flood.options()) as process:
        world = World(process, flood.ports, is_limited)
        try:
            before = world.counters()
            after, rings, seconds = world.run()
        finally:
            world.close()
    print(f"{seconds * 1e3:.1f} ms, {world.of_ps} to the PS, {world.of_host} to the host")
    of_host = sum(port["rx_to_host"] - port["rx_multicast"] for port in after)
    assert world.of_host >= of_host - 8 * flood.ports  # but for the last
    for was, port, ring, of_ps in zip(before, after, rings, world.of_ps, strict=True):
        sent = port["rx_multicast"] - was["rx_multicast"]
        come = port["rx_unicast"] - port["rx_to_host"] + port["rx_multicast"]
        assert come > 0.9 * flood.rate * seconds
        assert port["rx_host_overflow"] == 0
        if is_limited:
            assert of_ps[True] >= sent - 1 and port["rx_ps_ptp_policed"] == 0
            most = OTHERS[1] + OTHERS[0] * UNIT * seconds
            assert 0.9 * most < of_ps[False] <= most + 1
            assert (port["rx_ps_overflow"], ring["rx_no_descriptor"]) == (0, 0)
            assert port["rx_ps_policed"] + of_ps[False] >= come
        else:
            assert of_ps[True] < sent // 2
            assert ring["rx_no_descriptor"] > come // 2 and port["rx_ps_policed"] == 0


# Without limits the promise is broken, which test_flood.py shows of the shell alone.
@pytest.mark.parametrize("is_limited", [True, pytest.param(False, marks=pytest.mark.long)], ids=["limits", "none"])
@pytest.mark.parametrize(
    "name", [name if name == "default" else pytest.param(name, marks=pytest.mark.long) for name in CONFIGURATIONS]
)
def test_a_flood_of_the_smallest_frames_costs_ptp_nothing_with_limits(
    built_card: Callable[..., Path], name: str, is_limited: bool
) -> None:
    configuration = CONFIGURATIONS[name]
    check(Flood.at(configuration), built_card(*configuration), is_limited)
