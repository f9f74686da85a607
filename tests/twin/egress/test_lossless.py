# SPDX-License-Identifier: Apache-2.0
"""Flow control that a card sends by the fill of its receive buffer, and that another card obeys at the end of a cable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from frames import MINE, PEER
from meridian_twin import CardProcess, Host, QueueSetting
from senders import US
from test_flow_control import OTHER, QUANTUM, TO
from test_flow_control import World as Wires
from test_frames import connect
from test_pool import POOL

__all__ = ["connect"]
pytestmark = pytest.mark.long  # the shell is built for tests of the pool alone

#: The host of this card takes 4 Gb/s at most, and a line brings 25.
SLOW_HOST = ("--pcie", "2:1")
UNIT = 64  # of thresholds, in bytes
BUFFER = 65536 // UNIT
#: Beside them there is room for what comes until the sender has stopped, with frames of 1,518 bytes and 100 m of fibre.
XOFF, XON, LOSSY = BUFFER - 500, 300, 200
LOSSLESS, LOST = 3, 1  # priorities
STATION = bytes.fromhex("02000000000a")
BATCH = 64
IN_FLIGHT = 3000


def tagged(priority: int, number: int, size: int) -> bytes:
    head = MINE + PEER + b"\x81\0" + (priority << 13).to_bytes(2, "big") + b"\x88\xb5" + number.to_bytes(4, "big")
    return head.ljust(size, bytes([priority]))


@dataclass
class End:
    """A host at one end of a cable."""

    host: Host
    port: int = 0

    def place(self, register: str, index: int = 0) -> int:
        return self.host.card.regs.address("FLOW_CONTROL", register, self.port, index)

    def write(self, register: str, value: int, index: int = 0) -> None:
        """In force when this ends."""
        self.host.card.write(self.place(register, index), value)
        self.host.card.read(self.place(register, index))

    def read(self, register: str) -> int:
        return self.host.card.read(self.place(register))

    def send_flow_control(
        self, pause: bool = False, pfc: int = 0, lossy: int = LOSSY, fills: tuple[int, int] = (XOFF, XON)
    ) -> None:
        self.write("ADDRESS_LOW", int.from_bytes(STATION[:4], "little"))
        self.write("ADDRESS_HIGH", int.from_bytes(STATION[4:], "little"))
        self.write("BUFFER_THRESHOLD", fills[1] << 16 | fills[0])
        self.write("LOSSY", lossy)
        self.write("SEND", pfc << 8 | pause)
        assert self.read("REFUSAL") == 0

    def counters(self) -> dict[str, int]:
        return self.host.card.counters("FLOW_CONTROL", self.port)


@pytest.fixture
def ends(built_card: Any, tmp_path: Path) -> Iterator[tuple[End, End]]:
    """Who sends, and who takes less than that: one queue a priority."""
    second = tmp_path / "second"
    cable = ("--cable", "0.0=1.0,delay=500ns")
    wires = ("--wire", "1=none")
    other = ("--card", "--socket", str(second), "--seed", "2", *SLOW_HOST, *wires)
    with CardProcess(built_card(*POOL), "--time", "free", *wires, *cable, *other) as process:
        hosts = [Host.connect(process.socket), Host.connect(second)]
        # A paced queue waits where others lose frames while their class is stopped.
        for host, queues, paced in zip(hosts, (2, 1), (True, False), strict=True):
            host.bring_up(queues, setting=QueueSetting(ring=4097, completions=8193, buffer=2048, paced=paced))
        hosts[1].add_mac(MINE)
        yield End(hosts[0]), End(hosts[1])
        for host in hosts:
            host.close()


def lost(source: Host, sink: Host) -> int:
    """By the queues of who sends, and by the receive buffer at the other end."""
    return source.card.counters("FUNCTION", 0)["tx_queue_full"] + overflown(sink)


def overflown(sink: Host) -> int:
    return sink.card.counters("PORT_COUNTERS", 0)["rx_host_overflow"]


def flood(ends: tuple[End, End], total: int, priorities: tuple[int, ...]) -> dict[int, list[int]]:
    """So many frames of each priority, each from a queue of its own; the numbers of those that came."""
    source, sink = (end.host for end in ends)
    sent = dict.fromkeys(priorities, 0)
    came: dict[int, list[int]] = {priority: [] for priority in priorities}

    def work() -> bool:
        sink.link.serve()
        for data in sink.pairs[0].c2h.poll():
            came[data[14] >> 5].append(int.from_bytes(data[18:22], "big"))
        waiting = sum(sent.values()) - sum(map(len, came.values())) - lost(source, sink)
        for pair, priority in zip(source.pairs, priorities, strict=False):
            # The ring of the slow host never runs out of descriptors.
            room = min(BATCH, total - sent[priority], IN_FLIGHT - waiting)
            if room > 0 and pair.h2c.room() >= room:
                for _ in range(room):
                    pair.h2c.post(tagged(priority, sent[priority], 100 + 37 * sent[priority] % 1400))
                    sent[priority] += 1
                pair.h2c.ring()
                waiting += room
        return waiting == 0 and all(number == total for number in sent.values())

    source.link.wait(work, f"{total} frames of priorities {priorities}", 300)
    return came


def switched_on(counters: dict[str, int]) -> set[str]:
    return {name for name, value in counters.items() if value}


def test_a_lossless_priority_passes_to_a_slow_host_whole_and_another_loses_frames(ends: tuple[End, End]) -> None:
    source, sink = ends
    source.write("RECEIVE", 0xFF << 8)
    sink.send_flow_control(pfc=1 << LOSSLESS)
    came = flood(ends, 4000, (LOSSLESS, LOST))
    assert came[LOSSLESS] == list(range(4000))
    assert came[LOST] == sorted(set(came[LOST])) and 400 < len(came[LOST]) < 3600
    assert len(came[LOST]) + overflown(sink.host) == 4000
    sent, obeyed = sink.counters(), source.counters()
    assert switched_on(sent) == {"tx_pfc_xoff", "tx_pfc_xon", f"stopped_{LOSSLESS}"}
    assert switched_on(obeyed) == {"rx_pfc", f"paused_{LOSSLESS}"}
    assert sent["tx_pfc_xoff"] >= sent["tx_pfc_xon"] > 20
    assert obeyed["rx_pfc"] == sent["tx_pfc_xoff"] + sent["tx_pfc_xon"]
    # Either end counts by its own clock.
    assert abs(sent[f"stopped_{LOSSLESS}"] - obeyed[f"paused_{LOSSLESS}"]) < 200 * sent["tx_pfc_xon"]
    port = sink.host.card.counters("PORT_COUNTERS", 0)
    assert port["tx_frames"] == obeyed["rx_pfc"] and port["tx_from_host"] == port["tx_from_ps"] == 0


def test_pause_keeps_frames_of_all_priorities_and_ends_when_it_is_switched_off(ends: tuple[End, End]) -> None:
    source, sink = ends
    source.write("RECEIVE", 1)
    sink.send_flow_control(pause=True, lossy=1)
    came = flood(ends, 2000, (LOSSLESS, LOST))
    assert all(numbers == list(range(2000)) for numbers in came.values()) and overflown(sink.host) == 0
    sent = sink.counters()
    assert sent["tx_pause_xoff"] >= sent["tx_pause_xon"] > 10 and sent["tx_pfc_xoff"] == 0
    sink.write("SEND", 0)
    came = flood(ends, 2000, (LOSSLESS, LOST))
    assert sum(map(len, came.values())) + overflown(sink.host) == 4000 and overflown(sink.host) > 100
    assert sink.counters()["tx_pause_xoff"] == sent["tx_pause_xoff"]


def test_settings_that_change_under_load_lose_nothing_that_they_promise(ends: tuple[End, End]) -> None:
    """PFC is switched off and on again for other priorities while frames come; each of those that have it is whole then."""
    source, sink = ends
    source.write("RECEIVE", 0xFF << 8)
    for priorities in ((LOSSLESS, LOST), (LOST, LOSSLESS), (LOSSLESS, LOST)):
        sink.write("SEND", 0)
        sink.send_flow_control(pfc=1 << priorities[0])
        came = flood(ends, 1500, priorities)
        assert came[priorities[0]] == list(range(1500))
    assert sink.read("STATE") == 0


@pytest.fixture
def wires(run_card: Any, connect: Any) -> Wires:
    card = run_card("--time", "lockstep", "--seed", "1", *SLOW_HOST, configuration=POOL)
    return Wires(card, connect(card, lockstep=True))


@pytest.mark.parametrize(("port", "stopped"), [(0, {LOSSLESS, 7}), (1, {LOSSLESS})])
def test_a_port_that_fills_tells_its_own_partner_and_again_until_it_is_empty(
    wires: Wires, port: int, stopped: set[int]
) -> None:
    """Frames as IEEE 802.3 annex 31D has them: of all priorities with PFC, or of one over a threshold of its own."""
    quanta = 400
    end = End(wires.host, port)
    end.write("QUANTA", quanta)
    if len(stopped) == 1:
        end.write("THRESHOLD", 50 << 16 | 100, LOSSLESS)
    end.send_flow_control(pfc=0x88, fills=(0, 0) if len(stopped) == 1 else (100, 50))
    to = MINE if port == 0 else OTHER
    for number in range(60):  # more than the DMA engine stores, and less than the receive buffer
        wires.card.wires[port].send(to + tagged(LOSSLESS, number, 1500)[6:])
    wires.run(400 * US)
    told = wires.sent(port)
    assert not wires.sent(1 - port)
    assert all(frame.data[:12] == TO + STATION and len(frame.data) == 60 for frame in told)
    words = [[int.from_bytes(frame.data[i : i + 2], "big") for i in range(12, 34, 2)] for frame in told]
    classes = sum(1 << n for n in stopped)
    stop = [0x8808, 0x0101, classes, *(quanta if n in stopped else 0 for n in range(8))]
    assert words == [stop] * (len(words) - 1) + [stop[:3] + [0] * 8] and len(words) > 3
    gaps = [(b.time_ps - a.time_ps) / QUANTUM for a, b in pairwise(told[:-1])]
    assert all(abs(gap - quanta / 2) < 5 for gap in gaps)
