# SPDX-License-Identifier: Apache-2.0
"""Two cards in one process with a cable between them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import pytest
from frames import MINE, PEER, frame
from meridian_twin import CardError, CardProcess, Host, Ps, QueueSetting

ARMS = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
DELAY_NS = 500
PTP_FRAME = 86  # a Sync over UDP and IPv4
Two = tuple[Path, Path]


@pytest.fixture
def two_cards(built_card: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Callable[..., Two]:
    """Starts two cards, port 0 to port 0; the sockets of both."""

    def start(delay: str = f"{DELAY_NS}ns") -> Two:
        second = tmp_path / "second"
        cable = ("--cable", f"0.0=1.0,delay={delay}")
        process = CardProcess(built_card(), "--time", "free", *cable, "--card", "--socket", str(second), "--seed", "2")
        request.addfinalizer(process.close)
        request.addfinalizer(process.check)
        return process.socket, second

    return start


@pytest.fixture
def hosts(request: pytest.FixtureRequest) -> Callable[..., list[Host]]:
    def connect(sockets: Two, **setting: Any) -> list[Host]:
        result = []
        for socket in sockets:
            result.append(Host.connect(socket))
            request.addfinalizer(result[-1].close)
            result[-1].bring_up(**setting)
        return result

    return connect


def test_frames_of_every_size_pass_the_cable_both_ways(two_cards: Any, hosts: Any) -> None:
    pair = hosts(two_cards())
    sizes = [60, 61, 64, 127, 1514, 4096, 9600]
    sent = [[frame(size, size, MINE, PEER) for size in sizes], [frame(size, 2 * size, PEER, MINE) for size in sizes]]
    for host, frames in zip(pair, sent, strict=True):
        for data in frames:
            host.send(data)
    assert pair[1].receive(len(sizes)) == sent[0]
    assert pair[0].receive(len(sizes)) == sent[1]


def test_timestamps_of_both_ends_tell_the_cable(two_cards: Any, request: pytest.FixtureRequest) -> None:
    """As PTP measures it: the mean of both ways is the delay, half their difference the offset of the clocks."""
    ends = [Ps.connect(socket) for socket in two_cards()]
    for ps, arm in zip(ends, ARMS, strict=True):
        request.addfinalizer(ps.close)
        ps.start(0, arm)
        ps.link.wait(ps.phc.followed, "the clocks of the MACs")
    ways: list[list[float]] = [[], []]
    for number in range(8):
        for way in (0, 1):
            data = frame(PTP_FRAME, number, ARMS[1 - way], ARMS[way])
            ends[way].send(data, tag=number, timestamp=True)
            got: list[Any] = []
            stamps: list[Any] = []

            def done(way: int = way, got: list[Any] = got, stamps: list[Any] = stamps) -> bool:
                ends[way].ports[0].poll()
                got.extend(ends[1 - way].ports[0].poll())
                stamps.extend(ends[way].ports[0].timestamps())
                return bool(got and stamps)

            ends[way].link.wait(done, "a frame and its timestamp")
            assert [f.data for f in got] == [data]
            assert [s.tag for s in stamps] == [number]
            ways[way].append(got[0].time_ns - stamps[0].time_ns)
    for forth, back in zip(*ways, strict=True):
        assert abs((forth + back) / 2 - DELAY_NS) <= 4
        assert abs(forth - back) / 2 <= 12  # both clocks began at their own reset


class Flows:
    """One direction: flows of numbered frames from all queues of one host to the other, checked as they arrive."""

    EACH_QUEUE = 4
    IN_FLIGHT = 3800  # fewer than one receive ring holds, wherever RSS puts them
    BATCH = 128

    def __init__(self, source: Host, sink: Host, total: int, seed: int) -> None:
        self.source, self.sink, self.total = source, sink, total
        random = Random(seed)
        self.filler = random.randbytes(4096)
        flows = self.EACH_QUEUE * len(source.pairs)
        self.heads = [
            MINE
            + PEER
            + bytes.fromhex("080045000030000000004011")
            + random.randbytes(10)
            + random.randbytes(4)
            + b"\0" * 4
            for _ in range(flows)
        ]
        self.sent_of = [0] * flows
        self.due_of = [0] * flows
        self.queue_of: dict[int, int] = {}
        self.sent = self.received = 0
        self.turns = cycle(range(flows))

    def data(self, flow: int, number: int) -> bytes:
        at = 13 * number % 4000
        head = self.heads[flow] + flow.to_bytes(2, "big") + number.to_bytes(4, "big")
        return head + self.filler[at : at + 12 + number % 64]

    def push(self) -> None:
        """A batch for each queue that has room, one doorbell each."""
        for queue, pair in enumerate(self.source.pairs):
            room = min(self.BATCH, self.total - self.sent, self.IN_FLIGHT - (self.sent - self.received))
            if room <= 0:
                return
            if pair.h2c.room() < self.BATCH:
                continue
            for _ in range(room):
                flow = queue * self.EACH_QUEUE + next(self.turns) % self.EACH_QUEUE
                pair.h2c.post(self.data(flow, self.sent_of[flow]))
                self.sent_of[flow] += 1
            pair.h2c.ring()
            self.sent += room

    def pull(self) -> None:
        self.sink.link.serve()
        for queue, pair in enumerate(self.sink.pairs):
            for data in pair.c2h.poll():
                flow = int.from_bytes(data[42:44], "big")
                assert self.queue_of.setdefault(flow, queue) == queue, f"flow {flow} came to two queues"
                assert data == self.data(flow, self.due_of[flow]), f"flow {flow}: not frame {self.due_of[flow]}"
                self.due_of[flow] += 1
                self.received += 1


def exchange(pair: list[Host], total: int, seconds: float) -> None:
    """total frames, half of them each way; all of them arrive, the order of each flow is kept."""
    ways = [Flows(pair[0], pair[1], total // 2, 1), Flows(pair[1], pair[0], total // 2, 2)]

    def done() -> bool:
        for way in ways:
            way.push()
            way.pull()
        return all(way.received == way.total for way in ways)

    pair[0].link.wait(done, f"{total} frames", seconds)
    for way in ways:
        assert way.due_of == way.sent_of
        assert len(set(way.queue_of.values())) > 1  # RSS has spread them
        counters = way.sink.card.counters("FUNCTION", 0)
        assert counters["rx_delivered"] == counters["tx_sent"] == total // 2
        assert counters["rx_queue_full"] == 0


SETTING = QueueSetting(ring=4097, completions=8193, buffer=2048)


def test_no_frame_is_lost_and_the_order_of_each_flow_is_kept(two_cards: Any, hosts: Any) -> None:
    exchange(hosts(two_cards(), queues=4, setting=SETTING), 8_000, 120)


@pytest.mark.long
def test_a_million_frames_pass_in_order_and_none_is_lost(two_cards: Any, hosts: Any) -> None:
    exchange(hosts(two_cards(), queues=4, setting=SETTING), 1_000_000, 3600)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["0.0"], "give two ports, as 0.0=1.0"),
        (["0.0=1"], '"1" is not CARD.PORT'),
        (["0.0=0.0"], "cannot be cabled to itself"),
        (["0.0=1.0,delay=soon"], 'option delay cannot be "soon", it takes a time'),
        (["0.0=1.0,length=3"], "no option is named length, it takes delay"),
        (["0.0=2.0"], "--cable to 2.0: there is no card 2, the last one is 1"),
        (["0.0=1.7"], "--cable to 1.7: there is no port 7"),
        (["0.0=1.0", "--cable", "1.0=0.0"], "that port has a cable"),
        (["0.0=1.0", "--wire", "0=none"], "--cable to 0.0: that port has a --wire"),
        (["0.0=1.0", "--rate", "10"], "the cards differ in --rate"),
    ],
)
def test_a_wrong_cable_is_refused_with_the_reason(
    built_card: Any, tmp_path: Path, options: list[str], message: str
) -> None:
    with pytest.raises(CardError) as error:
        CardProcess(built_card(), "--cable", *options, "--card", "--socket", str(tmp_path / "second"))
    assert message in str(error.value)
    assert error.value.status == 2
