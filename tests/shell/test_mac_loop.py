# SPDX-License-Identifier: Apache-2.0
"""The loopback at the MAC's host side in whole shells: from host queue to host queue, of the PS and of the port's test."""

from __future__ import annotations

import pytest
from bench import WIRE_OVERHEAD, Bench
from conftest import Start
from port_test import PortTest, of_test, other, self_test_bench
from test_isolation import BOB, PS, WIRE

pytestmark = pytest.mark.long

MAC_LOOP, FORCE = 8, 0x100
HOST_ENABLED, PS_ENABLED, TRAFFIC = 2, 3, 4


@pytest.fixture
def bench(start: Start) -> Bench:
    return self_test_bench(start)


class MacLoop:
    """The loopback of a port; bus: who sets it, the PS or a PF."""

    def __init__(self, bench: Bench, port: int = 0, bus: str = "ps") -> None:
        self.bench, self.port, self.bus = bench, port, bus

    def _at(self, page: str, register: str) -> int:
        regs = self.bench.shell.regs
        return (regs.ps_address if self.bus == "ps" else regs.address)(page, register, self.port)

    def read(self, register: str, page: str = "TRANSCEIVER") -> int:
        return self.bench.shell.read(self._at(page, register), bus=self.bus)

    def set(self, value: int, function: int = 0) -> int:
        """What refuses it, or 0."""
        self.bench.shell.write(self._at("TRANSCEIVER", "LOOPBACK"), value, function=function, bus=self.bus)
        return self.read("STATUS") & 15

    @property
    def on(self) -> bool:
        return bool(self.read("STATUS") & 1 << 9)

    def switch(self, on: bool) -> None:
        assert self.set(MAC_LOOP | FORCE if on else 0) == 0
        self.bench.step(5_000)
        assert self.on == on


def hosts(bench: Bench) -> list[bytes]:
    return [bytes.fromhex(event["hex"]) for event in bench.seen.c2h]


def test_frames_pass_from_host_queue_to_host_queue_without_a_cable(bench: Bench) -> None:
    """A link is there, frames of all sizes come back, the wire has none, and of what it brings none is seen."""
    bench.sim.send("link", port=0, up=False)
    loop = MacLoop(bench)
    bench.step(5_000)
    assert not loop.read("LINK_STATUS", "PORT") & 1
    loop.switch(True)
    assert loop.read("LINK_STATUS", "PORT") & 1
    sizes = [60, 61, 64, 127, 1514, 4000, 9600, *range(200, 260)]
    sent = [other(BOB, number, size) for number, size in enumerate(sizes)]
    for data in sent:
        bench.shell.h2c(0, data, metadata=0)
        bench.shell.rx(other(BOB, 77, 300), 0)
        bench.step(2_000)
    bench.step(50_000)
    assert hosts(bench) == sent
    assert not bench.seen.wire[0] and loop.read("MAC_LOOP_LOST") == 0
    counters = bench.shell.counters("PORT_COUNTERS", 0)
    assert counters["tx_from_host"] == counters["tx_frames"] == len(sent)
    assert counters["rx_good_frames"] == counters["rx_to_host"] == len(sent)
    loop.switch(False)
    assert not loop.read("LINK_STATUS", "PORT") & 1
    bench.sim.send("link", port=0, up=True)
    bench.step(5_000)
    bench.shell.h2c(0, other(WIRE, 1), metadata=0)
    bench.shell.rx(other(BOB, 2), 0)
    bench.step(20_000)
    assert hosts(bench) == [*sent, other(BOB, 2)]
    assert [bytes.fromhex(event["hex"]) for event in bench.seen.wire[0]] == [other(WIRE, 1)]


def test_the_loopback_is_refused_while_host_or_ps_has_the_port(bench: Bench) -> None:
    """As any loopback: refused while host or PS have the port, by force too for the host while the PS has it, and behind
    frames."""
    of_ps, of_host = MacLoop(bench), MacLoop(bench, bus="pf")
    assert of_ps.set(MAC_LOOP) == of_host.set(MAC_LOOP) == HOST_ENABLED
    assert of_host.set(MAC_LOOP | FORCE) == PS_ENABLED
    bench.enable_host(0, False, False)
    assert of_ps.set(MAC_LOOP) == of_host.set(MAC_LOOP) == of_host.set(MAC_LOOP | FORCE) == PS_ENABLED
    bench.set_ps_filter(0, False, False, False, False)
    bench.shell.rx(other(PS, 1), 0)
    bench.step(3_000)
    assert of_ps.set(MAC_LOOP) == of_host.set(MAC_LOOP) == TRAFFIC
    bench.step(1_100_000)
    assert not of_ps.on and of_ps.read("LOOPBACK") == 0
    assert of_host.set(MAC_LOOP) == 0
    bench.step(5_000)
    assert of_host.on and of_ps.read("LOOPBACK") == MAC_LOOP
    assert of_host.set(0) == 0  # which is never refused
    bench.step(5_000)
    assert not of_host.on


@pytest.mark.parametrize(("size", "count"), [(60, 1000), (1514, 100), (9596, 30)])
def test_the_ports_own_frames_go_round_at_line_rate(bench: Bench, size: int, count: int) -> None:
    """Without a link of the MAC, and not forced."""
    bench.sim.send("link", port=0, up=False)
    loop, test = MacLoop(bench), PortTest(bench.shell)
    loop.switch(True)
    bench.step(1_100_000)
    test.start(size, count, patience=20)
    began = bench.sim.now_ns()
    bench.step(1_060_000)
    while test.state != "idle":
        bench.step(1_000)
    ns = bench.sim.now_ns() - began - 1_048_576 - 20_000
    bytes_ = count * size
    assert test.counts() == {"sent": count, "sent_bytes": bytes_, "good": count, "received_bytes": bytes_}
    ideal = count * (size + WIRE_OVERHEAD) * 8 / bench.rate
    print(f"{count} frames of {size} bytes in {ns} ns, line rate is {ideal:.0f}")
    assert ns <= ideal + 25_000  # of which 16 us are those in which the last records come
    assert not of_test(bench) and not bench.seen.c2h and not bench.seen.ps[0]


def test_a_frame_of_the_ps_comes_back_with_both_stamps(bench: Bench) -> None:
    """They refer to the moment in which it goes round: they are as far apart as the crossing takes, 40 ns at most."""
    MacLoop(bench).switch(True)
    for number in range(10):
        bench.ps_send(0, other(PS, number, 100 + number, source=PS), tag=number)
        for _ in range(2):  # it rings its doorbell behind the first
            bench.step(10_000)
    assert [got.data for got in bench.seen.ps[0]] == [other(PS, n, 100 + n, source=PS) for n in range(10)]
    stamps = bench.seen.stamps[0]
    assert [stamp.tag for stamp in stamps] == list(range(10))
    for came, went in zip(bench.seen.ps[0], stamps, strict=True):
        assert came.stamped and 0 <= came.time_ns - went.time_ns <= 40
    assert not bench.seen.wire[0] and not bench.seen.c2h


def test_the_loopback_changes_between_frames_under_traffic(bench: Bench) -> None:
    """Each frame of host and PS goes out or comes round, whole and once; the other port is not concerned."""
    loop, test = MacLoop(bench), PortTest(bench.shell)
    test.start(700, force=True)
    on, number = False, 0
    for _ in range(40):
        for _ in range(5):
            bench.shell.h2c(0, other(BOB, number, 60 + 37 * number % 1400), metadata=0)
            bench.ps_send(0, other(PS, number, 90, source=PS))
            bench.shell.rx(other(BOB, number, 100, source=PS), 1)
            number += 1
        bench.step(1_000 + 700 * number % 1_500)
        on = not on
        assert loop.set(MAC_LOOP | FORCE if on else 0) == 0
    bench.step(50_000)
    test.stop()
    bench.step(200_000)
    out = [bytes.fromhex(event["hex"]) for event in bench.seen.wire[0]]
    of_host = [other(BOB, n, 60 + 37 * n % 1400) for n in range(number)]
    of_ps = [other(PS, n, 90, source=PS) for n in range(number)]
    for sent, back in ((of_host, hosts(bench)), (of_ps, [got.data for got in bench.seen.ps[0]])):
        round_ = [data for data in back if data in sent]
        gone = [data for data in out if data in sent]
        assert len(round_) > 20 and len(gone) > 20
        assert sorted(round_ + gone) == sorted(sent) and round_ == [data for data in sent if data in round_]
    counts = test.counts()
    assert counts["good"] + len(of_test(bench)) == counts["sent"]
    assert set(counts) <= {"sent", "sent_bytes", "good", "received_bytes", "skipped"}
    assert loop.read("MAC_LOOP_LOST") == 0
