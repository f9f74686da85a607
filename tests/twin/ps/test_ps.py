# SPDX-License-Identifier: Apache-2.0
"""The PS beside a host: rings in its memory, timestamps, the PTP clock."""

from __future__ import annotations

from typing import Any

import pytest
from frames import MINE, PEER, frame
from meridian_twin import Host, Ps
from test_frames import connect

__all__ = ["connect"]
ARM = bytes.fromhex("020000000001")


@pytest.fixture(params=[True, False], ids=["mapped", "messages"])
def both(request: Any, run_card: Any, connect: Any) -> Any:
    card = run_card()
    ps = Ps.connect(card.socket, mapped=request.param)
    request.addfinalizer(ps.close)
    host = connect(card)
    host.bring_up()
    ps.start(0, ARM)
    ps.card.access(0, None, "ps")  # behind the writes of the start
    return card, host, ps


def receive(ps: Ps, count: int) -> list[Any]:
    return ps.link.collect(ps.ports[0].poll, count, "frames for the PS")


def test_host_and_ps_get_their_own_frames(both: tuple[Any, Host, Ps]) -> None:
    card, host, ps = both
    card.wires[0].send(frame(100, 1, ARM))
    card.wires[0].send(frame(100, 2, MINE))
    card.wires[0].send(frame(100, 3, b"\xff" * 6))
    assert [f.data for f in receive(ps, 2)] == [frame(100, 1, ARM), frame(100, 3, b"\xff" * 6)]
    assert host.receive(2) == [frame(100, 2, MINE), frame(100, 3, b"\xff" * 6)]


def test_a_frame_that_comes_before_another_is_sent_is_not_lost(both: tuple[Any, Host, Ps]) -> None:
    card, _, ps = both
    card.wires[0].send(frame(100, 1, ARM))
    ps.link.wait(lambda: ps.ports[0].counters()["rx_frames"] == 1, "a frame in the ring")
    ps.send(frame(100, 2, PEER, ARM))
    assert [f.data for f in receive(ps, 1)] == [frame(100, 1, ARM)]


def test_a_ring_that_is_read_while_the_card_writes_is_understood(
    both: tuple[Any, Host, Ps], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each descriptor such a read has the old first half, and the new flags."""
    card, _, ps = both
    read, before = ps.memory.read, dict[int, bytes]()

    def torn(address: int, count: int) -> bytes:
        now = read(address, count)
        old = before.get(address, now)
        before[address] = now
        if count < 4096:
            return now
        return b"".join((now if at % 32 >= 24 else old)[at : at + 8] for at in range(0, count, 8))

    monkeypatch.setattr(ps.memory, "read", torn)
    ps.ports[0].poll()
    for number in range(3):
        card.wires[0].send(frame(100 + number, number, ARM))
        assert [f.data for f in receive(ps, 1)] == [frame(100 + number, number, ARM)]
        ps.send(frame(200 + number, number, PEER, ARM), tag=number)
        ps.link.wait(lambda: not ps.ports[0].poll() and not ps.ports[0].sending, "a frame that is sent")


def test_sent_frames_of_the_ps_get_timestamps_as_far_apart_as_on_the_wire(both: tuple[Any, Host, Ps]) -> None:
    card, _, ps = both
    port = ps.ports[0]
    for number in range(5):
        ps.send(frame(200, number, PEER, ARM), tag=100 + number, timestamp=True)
    sent: list[Any] = []
    stamps: list[Any] = []

    def done() -> bool:
        sent.extend(card.wires[0].take())
        port.poll()
        stamps.extend(port.timestamps())
        return len(sent) == 5 and len(stamps) == 5

    ps.link.wait(done, "5 frames and their timestamps")
    assert [f.data for f in sent] == [frame(200, number, PEER, ARM) for number in range(5)]
    assert [stamp.tag for stamp in stamps] == [100, 101, 102, 103, 104]
    # The clock may be off the wire by what it takes to cross, and its own start; the distances are those of the wire.
    for a, b, x, y in zip(sent, sent[1:], stamps, stamps[1:], strict=False):
        assert abs((b.time_ps - a.time_ps) / 1000 - (y.time_ns - x.time_ns)) <= 10


def test_receive_timestamps_follow_the_clock(both: tuple[Any, Host, Ps]) -> None:
    card, _, ps = both
    ps.phc.set_ns(1_000_000_000_000)
    ps.link.wait(ps.phc.followed, "the clocks of the MACs")
    card.wires[0].send(frame(100, 1, ARM))
    first = receive(ps, 1)[0].time_ns
    assert 0 <= first - 1_000_000_000_000 < 100_000_000
    ps.phc.adjust_ns(500_000_000)
    ps.link.wait(ps.phc.followed, "the clocks of the MACs")
    card.wires[0].send(frame(100, 2, ARM))
    assert 500_000_000 <= receive(ps, 1)[0].time_ns - first < 600_000_000


def test_clock_is_set_read_and_sped_up(run_card: Any, connect: Any, request: Any) -> None:
    card = run_card()
    ps = Ps.connect(card.socket, lockstep=True)
    request.addfinalizer(ps.close)
    ps.phc.set_ns(5_000_000_123)

    # The clock and the card's time are read some register accesses apart, below a microsecond; what is looked for is
    # a hundred times that.
    apart, span = 1_000_000, 100_000_000_000

    def gained() -> int:
        """How far the clock gets ahead of the card's time in the span, in ps."""
        before, at = ps.phc.time_ns(), ps.link.advance(0)
        ps.link.advance(span)
        after, then = ps.phc.time_ns(), ps.link.advance(0)
        return (after - before) * 1000 - (then - at)

    assert ps.phc.time_ns() - 5_000_000_123 < 10_000
    assert abs(gained()) < apart
    ps.phc.adjust_frequency(1_000_000)  # 1000 ppm
    assert abs(gained() - span // 1000) < apart
    ps.phc.adjust_frequency(-1_000_000)
    assert abs(gained() + span // 1000) < apart
    before = ps.phc.time_ns()
    ps.phc.adjust_ns(-400)
    assert ps.phc.time_ns() - before < 2000


def test_the_ps_gets_frames_after_the_host_was_reset_or_has_left(both: tuple[Any, Host, Ps]) -> None:
    card, host, ps = both
    host.link.reset()
    card.wires[0].send(frame(100, 1, ARM))
    assert [f.data for f in receive(ps, 1)] == [frame(100, 1, ARM)]
    host.close()
    card.wires[0].send(frame(100, 2, ARM))
    assert [f.data for f in receive(ps, 1)] == [frame(100, 2, ARM)]


def test_a_ps_that_goes_takes_nothing_along(both: tuple[Any, Host, Ps]) -> None:
    """Host and clock go on while no PS answers; the next PS starts with whatever rings it finds."""
    card, host, ps = both
    before = ps.phc.time_ns()
    ps.close()
    for number in range(3):
        card.wires[0].send(frame(100, number, ARM))  # into rings whose memory is gone
        card.wires[0].send(frame(100, number, MINE))
    assert host.receive(3) == [frame(100, number, MINE) for number in range(3)]
    host.send(frame(100, 9, PEER, MINE))
    host.drain()
    with Ps.connect(card.socket) as again:
        assert again.phc.time_ns() > before
        again.start(0, ARM)
        again.card.access(0, None, "ps")
        card.wires[0].send(frame(100, 7, ARM))
        assert [f.data for f in receive(again, 1)] == [frame(100, 7, ARM)]
        again.send(frame(100, 8, PEER, ARM))
        sent: list[bytes] = []
        again.link.wait(
            lambda: bool(sent.extend(f.data for f in card.wires[0].take()) or len(sent) == 2), "both frames"
        )
        assert sent == [frame(100, 9, PEER, MINE), frame(100, 8, PEER, ARM)]
