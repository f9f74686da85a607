# SPDX-License-Identifier: Apache-2.0
"""Loopbacks, test patterns and registers of the transceivers, in the whole shell with the model of a transceiver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from frames import PEER, frame
from meridian_eye.lane import Lane as EyeLane
from meridian_eye.lane import LaneError
from meridian_eye.scan import Scanner
from meridian_selftest.registers import Registers
from meridian_twin import Host, Ps
from meridian_twin.control import Control

US, MS = 10**6, 10**9  # in ps
ARM = bytes.fromhex("020000000001")
pytestmark = pytest.mark.long

#: A card that the tests of the self-test block run, too.
CARD = ("--self-test", "true")
NEAR, FAR = (1, 2), (4, 6)
RESERVED, HOST_ENABLED, PS_ENABLED = 1, 2, 3
DONE, TIMEOUT, HUNG = 1, 2, 3


class Lane:
    """Port 0: its transceiver's page, from the PS, and what is around it."""

    def __init__(self, card: Any, host: Host, ps: Ps, control: Control) -> None:
        self.card, self.host, self.ps, self.control = card, host, ps, control
        self.regs = ps.card.regs

    def read(self, name: str) -> int:
        return self.ps.card.read(self.regs.ps_address("TRANSCEIVER", name, 0), "ps")

    def write(self, name: str, value: int) -> None:
        self.ps.card.write(self.regs.ps_address("TRANSCEIVER", name, 0), value, "ps")

    def status(self, field: str) -> int:
        return self.regs.field("TRANSCEIVER", "STATUS", field).of(self.read("STATUS"))

    def locked(self) -> bool:
        """Whether the pattern is found: asked for some windows of the lock, as the card leaves out idle time."""
        return [self.status("PRBS_LOCKED") for _ in range(20)][-1] == 1

    def loopback(self, mode: int) -> None:
        self.host.link.advance(2 * MS)  # nothing is traffic any more
        self.write("LOOPBACK", mode)
        assert self.status("REFUSAL") == 0
        self.host.link.advance(100 * US)

    def link(self) -> bool:
        return bool(self.ps.card.read(self.regs.ps_address("PORT", "LINK_STATUS", 0), "ps") & 1)

    def drp(self, address: int, write: int | None = None) -> tuple[int, int]:
        self.write("DRP_COMMAND", address | (0 if write is None else 1 << 15 | write << 16))
        for _ in range(2000):
            status = self.read("DRP_STATUS")
            if not self.regs.field("TRANSCEIVER", "DRP_STATUS", "BUSY").of(status):
                return self.regs.field("TRANSCEIVER", "DRP_STATUS", "RESULT").of(status), status & 0xFFFF
        raise AssertionError("an access by DRP does not end")

    def errors(self) -> int:
        words = [self.drp(address) for address in (0x25E, 0x25F)]
        assert [result for result, _ in words] == [DONE, DONE]
        return words[0][1] | words[1][1] << 16


@pytest.fixture
def lane(run_card: Callable[..., Any], tmp_path: Path) -> Iterator[Lane]:
    card = run_card("--control", str(tmp_path / "control"), "--time", "lockstep", configuration=CARD)
    with (
        Control(tmp_path / "control") as control,
        Host.connect(card.socket, lockstep=True) as host,
        Ps.connect(card.socket) as ps,
    ):
        yield Lane(card, host, ps, control)


def receive(lane: Lane, count: int) -> list[bytes]:
    found: list[bytes] = []
    for _ in range(20):
        lane.host.link.advance(10 * US)
        found += [frame.data for frame in lane.ps.ports[0].poll()]
        if len(found) >= count:
            break
    return found


def test_a_near_loopback_returns_the_ports_own_frames(lane: Lane) -> None:
    """With no cable: nothing leaves, and what the PS sends it receives."""
    lane.control.ask("link", up=False)
    lane.host.link.advance(MS)
    for mode in NEAR:
        assert not lane.link()
        lane.loopback(mode)
        assert lane.link(), "a loopback needs no cable"
        lane.ps.start(0, ARM)
        sent = [frame(60 + 7 * number, number, ARM, PEER) for number in range(20)]
        for one in sent:
            lane.ps.send(one)
        assert receive(lane, len(sent)) == sent
        lane.card.wires[0].send(frame(100, 1, ARM))  # the wire is not listened to
        lane.host.link.advance(100 * US)
        assert not lane.ps.ports[0].poll()
        lane.ps.card.set_ps_filter(0, False)
        lane.loopback(0)
    assert not lane.card.wires[0].take(), "nothing leaves by the wire"


def test_a_far_loopback_sends_back_what_comes_in(lane: Lane) -> None:
    for mode in FAR:
        lane.loopback(mode)
        sent = [frame(100 + number, number, PEER) for number in range(20)]
        for one in sent:
            lane.card.wires[0].send(one)
        lane.host.link.advance(200 * US)
        assert [one.data for one in lane.card.wires[0].take()] == sent
        lane.ps.start(0, ARM)
        lane.ps.send(frame(100, 1, PEER, ARM))
        lane.host.link.advance(200 * US)
        assert not lane.card.wires[0].take(), "the card's own frames do not leave"
        lane.ps.card.set_ps_filter(0, False)
        lane.loopback(0)


def test_the_link_falls_with_a_change_and_comes_back(lane: Lane, tmp_path: Path) -> None:
    lane.control.ask("follow")
    lane.write("LOOPBACK", 2)
    lane.host.link.advance(10 * US)
    assert not lane.link(), "the receiver is reset, and looks for its signal"
    lane.host.link.advance(30 * US)
    assert lane.link()
    lane.loopback(0)
    assert lane.link()
    lane.control.ask("stats")
    assert [event["up"] for event in lane.control.events if event["ev"] == "link"] == [False, True] * 2
    assert [event["ev"] for event in lane.control.events].count("rx_reset") == 2


def test_a_port_in_use_is_left_alone_without_force(lane: Lane) -> None:
    lane.write("LOOPBACK", 3)
    assert lane.status("REFUSAL") == RESERVED
    lane.ps.start(0, ARM)
    lane.write("LOOPBACK", 2)
    assert lane.status("REFUSAL") == PS_ENABLED and lane.read("LOOPBACK") == 0 and lane.link()
    lane.write("PRBS", 0x505)
    assert lane.status("REFUSAL") == PS_ENABLED and lane.read("PRBS") == 0
    lane.write("LOOPBACK", 0x102)
    assert lane.status("REFUSAL") == 0 and lane.read("LOOPBACK") == 2
    lane.ps.card.set_ps_filter(0, False)
    lane.loopback(0)
    lane.host.card.enable_host(0)
    lane.host.settle()
    # A PF has the same page.
    place = lane.regs.address("TRANSCEIVER", "LOOPBACK", 0)
    lane.host.card.write(place, 1)
    lane.host.settle()
    assert lane.status("REFUSAL") == HOST_ENABLED and lane.host.card.read(place) == 0


def test_patterns_through_a_loopback_lock_and_count_errors(lane: Lane) -> None:
    lane.loopback(2)
    for pattern in (1, 2, 3, 4, 5):
        lane.write("PRBS", pattern << 8 | pattern)
        lane.host.link.advance(200 * US)
        assert not lane.link(), "a pattern is no frame"
        assert lane.locked() and lane.status("PRBS_ERROR") == 0
        lane.write("COMMAND", 2)
        lane.host.link.advance(10 * US)
        assert lane.errors() == 0
        for _ in range(3):
            lane.write("COMMAND", 1)
            lane.host.link.advance(US)
        assert lane.errors() == 3 and lane.status("PRBS_ERROR") == 1
        lane.write("PRBS", 5 << 8 | 1 if pattern != 1 else 1 << 8 | 5)
        lane.host.link.advance(200 * US)
        assert not lane.locked(), "another pattern"
    lane.write("PRBS", 0)
    lane.host.link.advance(200 * US)
    assert lane.link()


def test_the_checker_locks_to_a_peers_pattern_and_to_none_without_one(lane: Lane) -> None:
    lane.write("PRBS", 5 << 8)
    lane.host.link.advance(200 * US)
    assert not lane.locked() and lane.errors() > 1000, "the peer sends frames"
    lane.control.ask("transceiver", pattern=5, error_rate=1e-6)
    assert lane.locked()
    lane.write("COMMAND", 2)
    before = lane.control.ask("stats")["t_ps"]
    lane.host.link.advance(300 * MS)  # a receiver without a link would be reset by now
    errors, passed = lane.errors(), lane.control.ask("stats")["t_ps"] - before
    assert lane.locked() and lane.status("PRBS_ERROR") == 1
    assert errors / (passed * 25.78125e-3) == pytest.approx(1e-6, rel=0.2)
    lane.control.ask("link", up=False)
    lane.host.link.advance(MS)
    assert not lane.locked(), "no cable"


def test_accesses_to_a_transceiver_that_does_not_answer_end_in_a_timeout(lane: Lane) -> None:
    assert lane.drp(0x123, 0xABCD)[0] == DONE
    assert lane.drp(0x123) == (DONE, 0xABCD)
    lane.control.ask("transceiver", answers=False)
    assert lane.drp(0x123)[0] == TIMEOUT
    assert lane.drp(0x123)[0] == HUNG
    lane.control.ask("transceiver", answers=True)
    assert lane.drp(0x123)[0] == HUNG
    lane.write("COMMAND", 0x10)
    assert lane.drp(0x123) == (DONE, 0xABCD)


class Window:
    """The card's registers as the program that measures eyes has them. Time passes with each access by DRP."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane

    def read(self, address: int) -> int:
        return self.lane.ps.card.read(address, "ps")

    def write(self, address: int, value: int) -> None:
        self.lane.ps.card.write(address, value, "ps")
        self.lane.host.link.advance(10 * US)


def test_the_program_finds_the_modelled_eye(lane: Lane) -> None:
    """Its opening at 1e-5 is 0.765 of the ellipse, to a step of the grid at each side."""
    eye_lane = EyeLane(Window(lane), Registers(), 0, slow=20)
    eye_lane.set_loopback(2)
    for width, height in ((0.9, 200), (0.4, 80)):
        lane.control.ask("transceiver", eye_width=width, eye_height=height)
        scanner = Scanner(eye_lane, 0)
        scanner.prepare()
        lane.host.link.advance(100 * US)
        scanner.align()
        eye = scanner.scan(8, 8)
        assert eye.least() < 1e-5
        assert eye.width(1e-5) == pytest.approx(0.765 * width, abs=2 / 16)
        assert eye.height(1e-5) == pytest.approx(0.765 * height, abs=2 * 15)
    eye_lane.set_loopback(0)
    lane.control.ask("link", up=False)
    with pytest.raises(LaneError, match="there is no eye: nothing comes in"):
        scanner.align()
