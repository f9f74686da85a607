# SPDX-License-Identifier: Apache-2.0
"""Receivers are reset again and again in the middle of frames: other ports see nothing of it, what comes is whole and in
order, and no timestamp is wrong. And the shell of a board with 10G ports and a host clock of 125 MHz, under all traffic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import pytest
import test_changes
import test_random
from bench import WIRE_OVERHEAD, Bench
from conftest import Start
from wide import WIDE
from zcu106 import ZCU106

PS = bytes.fromhex("02000000000a")
GROUP = bytes.fromhex("011b19000000")
HOST = bytes.fromhex("02000000bb02")
WIRE = bytes.fromhex("020000000fff")
RESTART_NS = 700  # of buffers between clocks of which one was reset
SIZES = (60, 61, 64, 68, 100, 200, 600, 1514)


def frame(to: bytes, number: int, size: int) -> bytes:
    return (to + WIRE + b"\x88\xb5" + number.to_bytes(6, "big")).ljust(size, bytes([number & 0xFF]))


@dataclass
class Sent:
    data: bytes
    start_ns: float  # of its first byte behind the preamble
    end_ns: float
    may_be_lost: bool = False


@dataclass
class Lane:
    """What a port was given: frames of the wire, and tags of frames that the PS sent."""

    sent: list[Sent] = field(default_factory=list)
    tags: list[int] = field(default_factory=list)
    starts_ns: float = 0  # before that frames may be lost


class Lanes:
    def __init__(self, start: Start, seed: int, configuration: tuple[str, ...]) -> None:
        print(f"seed {seed}, configuration {' '.join(configuration)}")
        self.random = Random(seed)
        self.rate = int(dict(zip(configuration[::2], configuration[1::2], strict=True)).get("--line-rate", "25"))
        options = ("--seed", str(seed), "--rate", str(self.rate))
        self.bench = bench = Bench(start(*options, configuration=configuration), rate=self.rate, ring_log2=11)
        self.lanes = [Lane() for _ in range(bench.geometry.ports)]
        self.number = 0
        for port in range(len(self.lanes)):
            bench.enable_host(port, True, True)
            bench.set_function_port(port, port)
            bench.set_ps_filter(port, True, True, False, False)
            bench.add_ps_address(port, PS)
            bench.add_ps_address(port, GROUP)
            bench.set_queues(port, bench.queue_home(port), 1)
            bench.shell.post(bench.queue_home(port), 60000)
            bench.ps[port].all_stamped = False
            bench.ps[port].start()
        bench.step(20_000)

    def load(self, port: int, ns: int) -> None:
        """Frames for about that time, at a tenth of line rate, and now and then one of the PS."""
        bench, random = self.bench, self.random
        now = bench.sim.now_ns()
        end = now + ns
        while now < end:
            self.number += 1
            data = frame(random.choice((PS, GROUP, HOST, HOST)), self.number, random.choice(SIZES))
            line_ns = (len(data) + WIRE_OVERHEAD) * 8 / self.rate
            bench.rx(port, data, False, int(max(now, bench.wire_free_at(port))))
            over = bench._free_at[port]
            began = over - (len(data) + 16) * 8 / self.rate
            self.lanes[port].sent.append(Sent(data, began, over, began < self.lanes[port].starts_ns))
            now = int(over) + random.randrange(int(20 * line_ns))
        if random.random() < 0.5:
            self.number += 1
            self.lanes[port].tags.append(self.number & 0xFFFF)
            bench.ps_send(port, frame(HOST, self.number, 100), self.number & 0xFFFF)

    def reset(self, ports: list[int]) -> None:
        """Of their receivers; the link may go meanwhile."""
        bench, random = self.bench, self.random
        now = bench.sim.now_ns()
        for port in ports:
            bench.sim.send("reset", domain="mac_rx", port=port, on=True)
            if random.random() < 0.5:
                bench.sim.send("link", port=port, up=False)
        bench.step(random.choice((3, 10, 50, 400, 2000)))
        for port in ports:
            bench.sim.send("reset", domain="mac_rx", port=port, on=False)
            bench.sim.send("link", port=port, up=True)
            # The model's wire stands still in reset; then what was left of the frame that was on it takes its time.
            begun = (sent.end_ns for sent in self.lanes[port].sent if sent.start_ns < now + 100)
            bench._free_at[port] = bench.sim.now_ns() + max(0, max(begun, default=0) - now)
            for sent in self.lanes[port].sent:
                sent.may_be_lost |= sent.end_ns > now - 1000
            self.lanes[port].starts_ns = bench.sim.now_ns() + RESTART_NS

    def check(self, port: int) -> int:
        """Of what came by a port; how many frames had a timestamp."""
        bench, lane = self.bench, self.lanes[port]
        to_host = [bytes.fromhex(e["hex"]) for e in bench.seen.c2h if bench.home_of(e["queue"]) == port]
        to_ps = [it.data for it in bench.seen.ps[port]]
        wanted: list[tuple[str, list[bytes], Callable[[bytes], bool]]] = [
            ("host", to_host, lambda data: data[:6] != PS),
            ("PS", to_ps, lambda data: data[:6] != HOST),
        ]
        for who, came, belongs in wanted:
            due = [sent for sent in lane.sent if belongs(sent.data)]
            index = {sent.data: place for place, sent in enumerate(due)}
            assert all(data in index for data in came), f"port {port}: the {who} has a frame that was never sent"
            places = [index[data] for data in came]
            assert places == sorted(set(places)), f"port {port}: the {who} has frames out of order or twice"
            missing = {place for place, sent in enumerate(due) if not sent.may_be_lost} - set(places)
            assert not missing, f"port {port}: the {who} misses {len(missing)} of {len(due)} frames"
        began = {sent.data: sent.start_ns for sent in lane.sent}
        late = sorted(it.time_ns - began[it.data] for it in bench.seen.ps[port] if it.stamped)
        print(f"port {port}: {len(late)} of {len(to_ps)} have timestamps, {late[0]:.1f} to {late[-1]:.1f} ns behind")
        # The bench's own time is one of whole ns and cycles; a wrong time is off by far more.
        assert late[-1] - late[0] < 2.5 * 64 / self.rate + 3, f"port {port}: timestamps are off"
        assert [stamp.tag for stamp in bench.seen.stamps[port]] == lane.tags
        return len(late)


def run(start: Start, seed: int, configuration: tuple[str, ...], rounds: int) -> None:
    lanes = Lanes(start, seed, configuration)
    ports = range(len(lanes.lanes))
    for _ in range(rounds):
        for port in ports:
            lanes.load(port, 5000)
        lanes.bench.step(lanes.random.randrange(1, 4000))
        lanes.reset(lanes.random.sample(ports, lanes.random.choice((1, 1, len(ports)))))
        for port in ports:
            lanes.load(port, 2500)  # the first come before the time is known
        lanes.bench.step(lanes.random.choice((700, 3000, 12000)))
    lanes.bench.drain()
    for port in ports:
        assert lanes.check(port) > rounds


@pytest.mark.parametrize("configuration", [WIDE, pytest.param(ZCU106, marks=pytest.mark.long)], ids=["wide", "zcu106"])
@pytest.mark.parametrize("seed", range(501, 504))
def test_receivers_are_reset_under_traffic(start: Start, seed: int, configuration: tuple[str, ...]) -> None:
    run(start, seed, configuration, rounds=30)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(511, 513))
def test_a_board_with_10g_ports_and_125_mhz_carries_all_traffic(start: Start, seed: int) -> None:
    test_random.run(start, seed, ZCU106, rounds=60, lossless=True)
    test_random.run(start, seed, ZCU106, rounds=40, lossless=False)
    test_random.run(start, seed, ZCU106, rounds=60, lossless=True, setting=test_random.VEB)
    test_changes.run(start, seed, ZCU106, changes=25)
