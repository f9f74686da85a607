# SPDX-License-Identifier: Apache-2.0
"""PAUSE and PFC at the wire of a shell with egress queues: which queue stops, for how long, and what is counted."""

from __future__ import annotations

from typing import Any

import pytest
from frames import MINE, PEER, frame
from meridian_twin import Host
from meridian_twin.driver import Queues
from meridian_twin.wire import WireFrame
from senders import US
from test_frames import connect

__all__ = ["connect"]
pytestmark = pytest.mark.long  # the shell is built for it and test_egress.py alone

EGRESS = ("--ports", "2", "--egress", "true")
VF = 4
OTHER = MINE[:5] + bytes([VF])
TO = bytes.fromhex("0180c2000001")
QUANTUM = 512 * 40  # ps at 25 Gb/s
UNIT = (1 << 20) * 40  # of the watchdog
UPPER, LOWER = 5, 1  # a priority of each queue
MOST = 0xFFFF


def control(opcode: int, *words: int) -> bytes:
    """A frame of MAC control, IEEE 802.3 annexes 31B and 31D."""
    return (TO + PEER + b"".join(word.to_bytes(2, "big") for word in (0x8808, opcode, *words))).ljust(60, b"\0")


def pfc(priority: int, quanta: int) -> bytes:
    return control(0x0101, 1 << priority, *(quanta if n == priority else 0 for n in range(8)))


def pause(quanta: int) -> bytes:
    return control(1, quanta)


class World:
    """The PF sends on port 0, a VF on port 1; each of their frames has a priority."""

    def __init__(self, card: Any, host: Host) -> None:
        self.card, self.host = card, host
        host.bring_up(1, ports=range(2))
        host.card.set_function_port(VF, 1)
        host.bring_up_vf(VF, 1, 64)
        host.add_mac(OTHER, VF, 1)
        host.settle()
        self.number = 0

    def set(self, register: str, port: int = 0, **fields: int) -> None:
        """In force when this ends: writes are posted, and a frame of the wire would overtake one."""
        regs = self.host.card.regs
        word = sum(regs.field("FLOW_CONTROL", register, name.upper()).at(value) for name, value in fields.items())
        self.host.card.write(regs.address("FLOW_CONTROL", register, port), word)
        self.host.card.read(regs.address("FLOW_CONTROL", register, port))

    def get(self, register: str, name: str, port: int = 0) -> int:
        regs = self.host.card.regs
        return regs.field("FLOW_CONTROL", register, name).of(
            self.host.card.read(regs.address("FLOW_CONTROL", register, port))
        )

    def counters(self, port: int = 0) -> dict[str, int]:
        return self.host.card.counters("FLOW_CONTROL", port)

    def run(self, ps: int) -> int:
        return self.host.link.advance(ps)

    def receive(self, data: bytes, port: int = 0) -> None:
        """It is behind the pins of the port when this ends, and little later."""
        self.card.wires[port].send(data)
        self.run(1 * US)

    def send(self, *priorities: int, port: int = 0) -> list[bytes]:
        queues: Queues = self.host.functions[VF] if port else self.host
        sent = []
        for priority in priorities:
            self.number += 1
            plain = frame(300, self.number, PEER, OTHER if port else MINE)
            sent.append(plain[:12] + b"\x81\x00" + (priority << 13).to_bytes(2, "big") + plain[12:])
            queues.send(sent[-1])
        return sent

    def sent(self, port: int = 0) -> list[WireFrame]:
        return self.card.wires[port].take()


@pytest.fixture
def world(run_card: Any, connect: Any) -> World:
    card = run_card("--time", "lockstep", "--seed", "1", configuration=EGRESS)
    return World(card, connect(card, lockstep=True))


def data(frames: list[WireFrame]) -> list[bytes]:
    return [each.data for each in frames]


@pytest.mark.parametrize("priority", [UPPER, LOWER])
def test_pfc_stops_one_queue_of_one_port(world: World, priority: int) -> None:
    world.set("RECEIVE", pfc=0xFF)
    world.receive(pfc(priority, MOST))
    goes_on = LOWER if priority == UPPER else UPPER
    held, free = world.send(priority), world.send(goes_on, goes_on)
    other = world.send(priority, port=1)
    world.run(60 * US)
    assert data(world.sent()) == free and data(world.sent(1)) == other
    assert world.get("STATE", "PAUSED") == 1 << priority and world.get("STATE", "PAUSED", 1) == 0
    world.receive(pfc(priority, 0))
    world.run(5 * US)
    assert data(world.sent()) == held and world.get("STATE", "PAUSED") == 0
    counters = world.counters()
    assert (counters["rx_pfc"], counters["rx_pause"], counters["rx_ignored"]) == (2, 0, 0)
    assert counters[f"paused_{priority}"] > 60000 and counters[f"paused_{goes_on}"] == 0
    assert not any(world.counters(1).values())


def test_pause_stops_both_queues_until_its_quanta_are_over(world: World) -> None:
    world.set("RECEIVE", pause=1)
    quanta = 4000
    world.receive(pause(quanta))
    began = world.run(0)  # at most 1 us behind the frame
    held = world.send(UPPER, LOWER)
    other = world.send(UPPER, port=1)
    world.run(60 * US)
    assert not world.sent() and data(world.sent(1)) == other
    world.run(quanta * QUANTUM)
    frames = world.sent()
    assert data(frames) == held
    gone = frames[0].time_ps - began
    assert quanta * QUANTUM - 1 * US < gone < quanta * QUANTUM + 1 * US
    assert world.counters()["rx_pause"] == 1


def test_pause_and_pfc_are_ignored_unless_they_are_switched_on(world: World) -> None:
    def to_host() -> int:
        return world.host.card.counters("PORT_COUNTERS", 0)["rx_to_host"]

    for stop in (pause(MOST), pfc(UPPER, MOST)):
        before = to_host()
        world.receive(stop)
        held = world.send(UPPER, LOWER)
        world.run(20 * US)
        assert data(world.sent()) == held and to_host() == before + 1
    assert not any(world.counters().values())
    world.set("RECEIVE", pfc=0x01)
    before = to_host()
    world.receive(pause(MOST))
    world.receive(control(0x0100, 7))
    held = world.send(UPPER, LOWER)
    world.run(20 * US)
    assert data(world.sent()) == held and to_host() == before
    assert world.counters()["rx_ignored"] == 2


def test_both_kinds_at_once_are_refused(world: World) -> None:
    world.set("RECEIVE", pause=1, pfc=1)
    reasons = world.host.card.regs.value_names("PAUSE_REFUSAL")
    assert reasons[world.get("REFUSAL", "REASON")] == "receive_both"
    world.receive(pause(MOST))
    held = world.send(UPPER, LOWER)
    world.run(20 * US)
    assert data(world.sent()) == held
    world.set("RECEIVE", pause=1)
    assert reasons[world.get("REFUSAL", "REASON")] == "none"


def test_a_storm_ends_by_the_watchdog(world: World) -> None:
    """The other end asks for a pause again and again, and never says that it is over."""
    world.set("RECEIVE", pfc=1 << UPPER)
    world.set("WATCHDOG", limit=2)
    world.receive(pfc(UPPER, MOST))
    began = world.run(0)
    held = world.send(UPPER)
    world.run(UNIT)
    world.receive(pfc(UPPER, MOST))
    assert not world.sent() and world.get("EVENTS", "STORM") == 0
    world.run(3 * UNIT)
    frames = world.sent()
    assert data(frames) == held and 1.9 * UNIT < frames[0].time_ps - began < 3.1 * UNIT
    assert world.get("STATE", "STORM") == world.get("EVENTS", "STORM") == 1 << UPPER
    counters = world.counters()
    assert counters[f"storms_{UPPER}"] == 1 and counters["rx_pfc"] == 2
    world.receive(pfc(UPPER, 0))
    world.run(5 * US)
    world.receive(pfc(UPPER, MOST))
    held = world.send(UPPER)
    world.run(20 * US)
    assert world.get("STATE", "STORM") == 0 and not world.sent(), "the next pause is obeyed again"


def test_a_pause_ends_when_flow_control_is_switched_off(world: World) -> None:
    world.set("RECEIVE", pfc=0xFF)
    world.receive(pfc(UPPER, MOST))
    world.set("RECEIVE", pfc=0)
    held = world.send(UPPER)
    world.run(20 * US)
    assert data(world.sent()) == held and world.get("STATE", "PAUSED") == 0
