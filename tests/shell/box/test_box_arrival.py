# SPDX-License-Identifier: Apache-2.0
"""A module at the host is told when each frame came from the wire: the time that the ARM has of the same frame."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from bench import Bench
from conftest import ROOT, Start
from meridian_golden.frame import BROADCAST
from test_isolation import ALICE, BOB, BUFFER, CAROL, VF_ALICE, VF_BOB, WIRE, got

pytestmark = pytest.mark.long

ARRIVAL = ("--host-box", str(Path(__file__).with_name("arrival_host_box.sv")))
AT_WIRE = ("--box", str(ROOT / "examples" / "boxes" / "time_stamp.vhd"))
VF_CAROL = VF_BOB + 1
#: Port and address of each function: two share a port, so that a broadcast there is copied.
WHO = {VF_ALICE: (0, ALICE), VF_BOB: (1, BOB), VF_CAROL: (0, CAROL)}
TIMES = slice(14, 32)
#: What the module at the host writes if it is told no time.
UNKNOWN = 0xFFFFFFFF * 10**9 + 0xFFFFFFFF


def frame(to: bytes, number: int, size: int, source: bytes = WIRE) -> bytes:
    """The bytes of `TIMES` are for the modules."""
    return (to + source + b"\x88\xb5" + bytes(18) + number.to_bytes(4, "big")).ljust(size, bytes([number & 0xFF]))


def number_of(data: bytes) -> int:
    return int.from_bytes(data[32:36], "big")


def times(data: bytes) -> tuple[int, int]:
    """In ns: what a module at the wire has written, and the module at the host."""
    return tuple(10**9 * int.from_bytes(data[at : at + 4], "big") + int.from_bytes(data[at + 4 : at + 8], "big") for at in (16, 24))  # fmt: skip


def unstamped(data: bytes) -> bytes:
    return data[: TIMES.start] + bytes(TIMES.stop - TIMES.start) + data[TIMES.stop :]


def made(start: Start, *also: str) -> Bench:
    """The ARM gets a copy of every frame, and each function gets those to its address, and broadcasts."""
    bench = Bench(start(configuration=(*ARRIVAL, *also)), ring_log2=10)
    bench.shell.enforce_credit(True)
    for port in range(bench.geometry.ports):
        bench.enable_host(port, True, True)
        bench.set_ps_filter(port, True, True, True, True)
        bench.ps[port].start()
    for function in range(bench.geometry.functions):
        bench.set_flags(function, False, False, False, False)
    for function, (port, address) in WHO.items():
        if port < bench.geometry.ports:
            bench.set_function_port(function, port)
            bench.set_flags(function, True, False, False, False)
            bench.set_queues(function, bench.queue_home(function), 1)
            bench.add_address(port, address, None, function)
            bench.shell.set_buffer_size(bench.queue_home(function), BUFFER)
            bench.shell.post(bench.queue_home(function), 60_000, BUFFER)
    bench.step(10_000)
    return bench


def came(bench: Bench) -> dict[int, dict[int, bytes]]:
    """By function and number."""
    return {function: {number_of(data): data for data in got(bench, bench.queue_home(function))} for function in WHO}


def test_times_at_two_ports_are_those_that_the_arm_has(start: Start) -> None:
    bench = made(start, "--ports", "2")
    random, sent = Random(7), {}
    for number in range(1, 121):
        port = random.randrange(2)
        to = random.choice([BROADCAST, *(address for at, address in WHO.values() if at == port)])
        sent[number] = (port, frame(to, number, random.choice((60, 64, 65, 96, 300, 1514))))
        bench.rx(*sent[number])
        bench.step(random.choice((0, 0, 0, 1000)))
    bench.drain()
    arm = {number_of(seen.data): seen for port in range(2) for seen in bench.seen.ps[port]}
    assert set(arm) == set(sent) and all(seen.stamped for seen in arm.values())
    assert len({seen.time_ns for seen in arm.values()}) > 100
    arrived = came(bench)
    for function, (port, address) in WHO.items():
        mine = {number for number, (at, data) in sent.items() if at == port and data[:6] in (address, BROADCAST)}
        assert set(arrived[function]) == mine and len(mine) > 20
        for number, data in arrived[function].items():
            assert unstamped(data) == sent[number][1]
            assert times(data)[1] == arm[number].time_ns, f"frame {number} of function {function}"


def test_a_frame_from_inside_the_card_has_no_time(start: Start) -> None:
    bench = made(start, "--ports", "2")
    bench.set_veb(0, True)
    for number in range(1, 6):
        bench.rx(0, frame(ALICE, number, 200))
        bench.h2c(bench.queue_home(VF_ALICE), frame(CAROL, 10 + number, 200, source=ALICE))
        bench.ps_send(0, frame(ALICE, 20 + number, 200))
        bench.step(5_000)
    bench.drain()
    arrived = came(bench)
    assert set(arrived[VF_CAROL]) == set(range(11, 16))
    assert set(arrived[VF_ALICE]) == {*range(1, 6), *range(21, 26)}
    for data in (*arrived[VF_ALICE].values(), *arrived[VF_CAROL].values()):
        assert (times(data)[1] == UNKNOWN) == (number_of(data) > 10), number_of(data)


def test_a_module_at_the_wire_passes_the_time_on(start: Start) -> None:
    bench = made(start, *AT_WIRE)
    sent = {number: frame((ALICE, CAROL, BROADCAST)[number % 3], number, 60 + 7 * number) for number in range(1, 61)}
    for data in sent.values():
        bench.rx(0, data)
    bench.drain()
    arm = {number_of(seen.data): seen.time_ns for seen in bench.seen.ps[0]}
    arrived = came(bench)
    assert len(arrived[VF_ALICE]) == len(arrived[VF_CAROL]) == 40
    for data in (*arrived[VF_ALICE].values(), *arrived[VF_CAROL].values()):
        assert times(data) == (arm[number_of(data)],) * 2
