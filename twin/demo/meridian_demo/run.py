# SPDX-License-Identifier: Apache-2.0
"""Sends a capture through the card: wire to PS and host queues, their answers back to the wire."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from meridian_golden.frame import parse
from meridian_golden.shell import GoldenShell, RxOutcome, padded
from meridian_twin.driver import Host, Ps
from meridian_twin.ps_port import PsPort
from meridian_twin.qdma import QueueSetting
from meridian_twin.wire import Wire

from .capture import Frame
from .plan import FIRST_VF, PF, PTP_ADDRESSES, QUEUES_EACH, Plan

PORT = 0
BURST = 64  # frames that come back to back at line rate before PS and host empty their rings
DAMAGE_EVERY = 97  # one frame in so many gets a bad FCS on the way
ANSWERS = 40  # frames each function answers
RING = QueueSetting(ring=257, completions=513, buffer=16384)
QUIET_PS = 10_000_000  # without a frame anywhere
LOOK_PS = 2_000_000
STRANGER = bytes.fromhex("02deadbeef00")


@dataclass
class Received:
    """What came out, and what the golden model says should have. Frames in the order in which they came, with the
    time: of the wire, the PS's timestamp, or when the host looked.
    """

    ps: list[tuple[int, bytes]] = field(default_factory=list)
    queues: dict[int, list[tuple[int, bytes]]] = field(default_factory=lambda: defaultdict(list))
    wire: list[tuple[int, bytes]] = field(default_factory=list)
    outcomes: list[tuple[Frame, bool, RxOutcome]] = field(default_factory=list)
    answers: list[tuple[int, bytes, str]] = field(default_factory=list)  # queue or -1 for the PS, frame, verdict
    sent_ns: int = 0
    counters: dict[str, dict[str, int]] = field(default_factory=dict)


class Machines:
    """The host, the PS and the wire around one card, in lockstep with it."""

    def __init__(self, socket: Path, wire: Path) -> None:
        self.host = Host.connect(socket, lockstep=True, memory=1 << 29)
        self.ps = Ps.connect(socket)
        self.wire = Wire(wire)
        self.now_ps = 0

    def close(self) -> None:
        self.wire.close()
        self.ps.close()
        self.host.close()

    def advance(self, ps: int) -> None:
        self.now_ps = self.host.link.advance(ps)


def set_up(machines: Machines, golden: GoldenShell, plan: Plan) -> PsPort:
    """The same configuration for the card, as its drivers make it, and for the golden model."""
    host = machines.host
    golden.ports[PORT].rx_enable = golden.ports[PORT].tx_enable = True
    host.bring_up(QUEUES_EACH, plan.queue_base(PF), RING, ports=(PORT,))
    for function in range(4):
        golden.functions[function].promiscuous = golden.functions[function].all_multicast = function == PF
        golden.functions[function].trusted = function == PF
    for function, addresses in plan.functions.items():
        base = plan.queue_base(function)
        indirection = [index % QUEUES_EACH for index in range(128)]
        if function != PF:
            host.bring_up_vf(function, QUEUES_EACH, base, RING)
        golden.set_queues(function, base, QUEUES_EACH)
        golden.functions[function].indirection = indirection
        pf = function == PF
        host.card.set_flags(function, broadcast=True, all_multicast=pf, promiscuous=pf, trusted=pf)
        for address in addresses:
            host.add_mac(address, function, PORT)
            golden.addresses[PORT, address, None] = function
    listed = [*([plan.ps_address] if plan.ps_address else []), *PTP_ADDRESSES]
    port = machines.ps.start(PORT)
    machines.ps.card.set_ps_filter(PORT, enable=True, broadcast=True, all_multicast=False)
    for index, address in enumerate(listed[: machines.ps.card.geometry.ps_addresses]):
        machines.ps.card.set_ps_address(PORT, index, address)
    golden.ports[PORT].ps_enable, golden.ports[PORT].ps_all_multicast = True, False
    golden.ports[PORT].ps_addresses = set(listed)
    machines.advance(20_000_000)
    return port


def _collect(machines: Machines, ps: PsPort, result: Received) -> None:
    """Until nothing has come out for a while."""
    quiet = 0
    while quiet < QUIET_PS:
        machines.advance(LOOK_PS)
        quiet += LOOK_PS
        for frame in ps.poll():
            result.ps.append((1000 * frame.time_ns, frame.data))
            quiet = 0
        for queues in machines.host.functions.values():
            for pair in queues.pairs:
                for data in pair.c2h.poll():
                    result.queues[pair.absolute].append((machines.now_ps, data))
                    quiet = 0
        for sent in machines.wire.take():
            result.wire.append((sent.time_ps, sent.data))
            quiet = 0


def _answer(frame: bytes) -> bytes:
    return frame[6:12] + frame[:6] + frame[12:]


def send(
    machines: Machines,
    golden: GoldenShell,
    plan: Plan,
    ps: PsPort,
    frames: list[Frame],
    progress: Callable[[int], None],
) -> Received:
    """The whole capture in, then the answers of the functions and the PS out."""
    result = Received()
    for start in range(0, len(frames), BURST):
        begin = machines.now_ps
        for number, frame in enumerate(frames[start : start + BURST], start):
            bad = number % DAMAGE_EVERY == DAMAGE_EVERY - 1
            machines.wire.send(frame.data, bad_fcs=bad)
            result.outcomes.append((frame, bad, golden.receive(PORT, frame.data, bad)))
        _collect(machines, ps, result)
        result.sent_ns += (machines.now_ps - begin) // 1000
        progress(min(start + BURST, len(frames)))
    answered: Counter[int] = Counter()
    for function, queues in machines.host.functions.items():
        for pair in queues.pairs:
            for _, frame in result.queues[pair.absolute]:
                header = parse(frame)
                if answered[function] < ANSWERS and not header.multicast and not header.broadcast:
                    answered[function] += 1
                    _send(golden, result, pair, _answer(frame))
        if function >= FIRST_VF:  # an address that is not the function's: must not leave the card
            _send(golden, result, queues.pairs[0], (b"\xff" * 6 + STRANGER).ljust(80, b"\x5a"))
    for _, frame in result.ps[:ANSWERS]:
        ps.send(_answer(frame))
        result.answers.append((-1, _answer(frame), "sent"))
    while ps.sending:
        _collect(machines, ps, result)
    _collect(machines, ps, result)
    card = machines.host.card
    result.counters = {"port": card.counters("PORT_COUNTERS", PORT)}
    result.counters["nobody"] = card.counters("HOST_PORT_COUNTERS", PORT)
    for function in plan.functions:
        result.counters[plan.name(function)] = card.counters("FUNCTION", function)
    return result


def _send(golden: GoldenShell, result: Received, pair, frame: bytes) -> None:
    pair.h2c.send(frame)
    result.answers.append((pair.absolute, padded(frame), golden.transmit(pair.absolute, frame).verdict))
