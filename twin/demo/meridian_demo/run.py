# SPDX-License-Identifier: Apache-2.0
"""Sends a capture through the card: wire to PS and functions, their answers back to the wire."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from meridian_card.ps import PsPort
from meridian_card.shell import Shell
from meridian_golden.frame import parse
from meridian_golden.shell import GoldenShell, RxOutcome, padded

from .capture import Frame
from .plan import FIRST_VF, PF, PTP_ADDRESSES, QUEUES_EACH, Plan

PORT = 0
BURST = 64  # frames that come back to back at line rate before the PS empties its ring
DAMAGE_EVERY = 97  # one frame in so many gets a bad FCS on the way
ANSWERS = 40  # frames each function answers
BUFFERS = 30_000
STRANGER = bytes.fromhex("02deadbeef00")


@dataclass
class Received:
    """What came out, and what the golden model says should have. Frames in the order in which they came."""

    ps: list[tuple[int, bytes]] = field(default_factory=list)
    queues: dict[int, list[tuple[int, bytes]]] = field(default_factory=lambda: defaultdict(list))
    wire: list[tuple[int, bytes]] = field(default_factory=list)
    outcomes: list[tuple[Frame, bool, RxOutcome]] = field(default_factory=list)
    answers: list[tuple[int, bytes, str]] = field(default_factory=list)  # queue or -1 for the PS, frame, verdict
    sent_ns: int = 0
    counters: dict[str, dict[str, int]] = field(default_factory=dict)


def set_up(shell: Shell, golden: GoldenShell, plan: Plan) -> PsPort:
    """The same configuration for the card, through its registers, and for the golden model."""
    golden.ports[PORT].rx_enable = golden.ports[PORT].tx_enable = True
    shell.enable_host(PORT)
    for function in range(4):
        golden.functions[function].promiscuous = golden.functions[function].all_multicast = function == PF
        golden.functions[function].trusted = function == PF
    for function, addresses in plan.functions.items():
        base = plan.queue_base(function)
        indirection = [index % QUEUES_EACH for index in range(128)]
        shell.set_queues(function, base, QUEUES_EACH)
        shell.set_indirection(function, indirection)
        golden.set_queues(function, base, QUEUES_EACH)
        golden.functions[function].indirection = indirection
        pf = function == PF
        shell.set_flags(function, broadcast=True, all_multicast=pf, promiscuous=pf, trusted=pf)
        for queue in range(base, base + QUEUES_EACH):
            shell.post(queue, BUFFERS)
        for address in addresses:
            if shell.mac_command("ADD", PORT, address, index=function) != "DONE":
                raise RuntimeError(f"the MAC table does not take {address.hex(':')}")
            golden.addresses[PORT, address, None] = function
    shell.set_ps_filter(PORT, enable=True, broadcast=True, all_multicast=False)
    listed = [*([plan.ps_address] if plan.ps_address else []), *PTP_ADDRESSES]
    for index, address in enumerate(listed[: shell.geometry.ps_addresses]):
        shell.set_ps_address(PORT, index, address)
    golden.ports[PORT].ps_enable, golden.ports[PORT].ps_all_multicast = True, False
    golden.ports[PORT].ps_addresses = set(listed)
    port = PsPort(shell, PORT, size_log2=8)
    port.start()
    shell.run(20_000)
    return port


def _collect(shell: Shell, ps: PsPort, result: Received) -> None:
    shell.drain()
    for frame in ps.poll():
        result.ps.append((1000 * frame.time_ns, frame.data))
    for event in shell.sim.take():
        if event["ev"] == "c2h":
            result.queues[event["queue"]].append((event["t_ps"], bytes.fromhex(event["hex"])))
        elif event["ev"] == "tx":
            result.wire.append((event["t_ps"], bytes.fromhex(event["hex"])))


def _answer(frame: bytes) -> bytes:
    return frame[6:12] + frame[:6] + frame[12:]


def send(shell: Shell, golden: GoldenShell, plan: Plan, ps: PsPort, frames: list[Frame], progress) -> Received:
    """The whole capture in, then the answers of the functions and the PS out."""
    result = Received()
    for start in range(0, len(frames), BURST):
        begin = shell.sim.now_ps
        for number, frame in enumerate(frames[start : start + BURST], start):
            bad = number % DAMAGE_EVERY == DAMAGE_EVERY - 1
            shell.rx(frame.data, PORT, bad=bad)
            result.outcomes.append((frame, bad, golden.receive(PORT, frame.data, bad)))
        _collect(shell, ps, result)
        result.sent_ns += (shell.sim.now_ps - begin) // 1000
        progress(min(start + BURST, len(frames)))
    answered: Counter[int] = Counter()
    for function in plan.functions:
        for queue in range(plan.queue_base(function), plan.queue_base(function) + QUEUES_EACH):
            for _, frame in result.queues[queue]:
                header = parse(frame)
                if answered[function] < ANSWERS and not header.multicast and not header.broadcast:
                    answered[function] += 1
                    _send(shell, golden, result, queue, _answer(frame))
        if function >= FIRST_VF:  # an address that is not the function's: must not leave the card
            _send(shell, golden, result, plan.queue_base(function), (b"\xff" * 6 + STRANGER).ljust(80, b"\x5a"))
    for _, frame in result.ps[:ANSWERS]:
        ps.send(_answer(frame))
        result.answers.append((-1, _answer(frame), "sent"))
    while ps.sending:
        _collect(shell, ps, result)
    _collect(shell, ps, result)
    result.counters = {"port": shell.counters("PORT_COUNTERS", PORT)}
    result.counters["nobody"] = shell.counters("HOST_PORT_COUNTERS", PORT)
    for function in plan.functions:
        result.counters[plan.name(function)] = shell.counters("FUNCTION", function)
    return result


def _send(shell: Shell, golden: GoldenShell, result: Received, queue: int, frame: bytes) -> None:
    shell.h2c(queue, frame)
    result.answers.append((queue, padded(frame), golden.transmit(queue, frame).verdict))
