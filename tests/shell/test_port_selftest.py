# SPDX-License-Identifier: Apache-2.0
"""The self-test of the ports in whole shells: line rate, refusals, and what it leaves to host and PS."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from bench import WIRE_OVERHEAD, Bench
from conftest import Start
from port_test import Loop, PortTest, of_test, other, self_test_bench
from test_isolation import BOB, PS, WIRE

pytestmark = pytest.mark.long

WATCH_NS = 1_100_000


@pytest.fixture
def bench(start: Start) -> Bench:
    return self_test_bench(start)


@pytest.mark.parametrize(("size", "count"), [(60, 2000), (1514, 200), (9596, 40)])
def test_both_ports_test_at_line_rate(bench: Bench, size: int, count: int) -> None:
    tests = [PortTest(bench.shell, 0, "ps"), PortTest(bench.shell, 1, "pf")]
    loop = Loop(bench)
    for test in tests:
        test.start(size, count, patience=1000, force=True)
    while any(len(of_test(bench, port)) < count for port in range(2)):
        loop.step(20_000)
        assert all(test.end in ("none", "complete") for test in tests)
    loop.step(count * (size + 24) // 3 + 20_000)
    for port, test in enumerate(tests):
        test.off()
        loop.until_idle(test)
        events = of_test(bench, port)
        ns = (events[-1]["t_ps"] - events[0]["t_ps"]) / 1000
        ideal = (count - 1) * (size + WIRE_OVERHEAD) * 8 / bench.rate
        print(
            f"port {port}: {(count - 1) / ns * 1e3:.3f} million frames a second, line rate is {(count - 1) / ideal * 1e3:.3f}"
        )
        assert ns <= ideal * 1.001
        bytes_ = count * size
        assert test.counts() == {"sent": count, "sent_bytes": bytes_, "good": count, "received_bytes": bytes_}
        counters = bench.shell.counters("PORT_COUNTERS", port)
        assert counters["rx_nowhere"] == counters["rx_good_frames"] == counters["tx_frames"] == count
        assert counters["tx_from_host"] == counters["tx_from_ps"] == counters["rx_to_host"] == 0
    assert not bench.seen.c2h and not any(bench.seen.ps.values())


def test_a_rate_is_kept_on_the_wire(bench: Bench) -> None:
    """At a tenth of the line's bits, also by frames of which one waits for the longest of another source."""
    test, count, size = PortTest(bench.shell, bus="pf"), 200, 600
    loop = Loop(bench)
    # A beat of 8 bytes a cycle is the line's rate.
    test.start(size, count, patience=200, force=True, rate=(8 << 20) // 10, burst=10_000)
    loop.step(30_000)
    bench.ps_send(0, other(WIRE, 1, 9000, source=PS))
    loop.until_idle(test)
    events = of_test(bench)
    ns = (events[-1]["t_ps"] - events[0]["t_ps"]) / 1000
    ideal = (count - 1) * size * 8 / (bench.rate / 10)
    print(f"{ns / ideal:.4f} of the time by the rate")
    assert len(events) == count and ideal * 0.995 <= ns <= ideal * 1.002
    counts = test.counts()
    assert (counts["sent"], counts["good"]) == (count, count) and bench.shell.counters("PORT_COUNTERS", 0)[
        "tx_from_ps"
    ] == 1


def test_a_cable_from_port_to_port_brings_each_ports_frames_to_the_other(bench: Bench) -> None:
    tests = [PortTest(bench.shell, port) for port in range(2)]
    loop = Loop(bench, way={0: 1, 1: 0})
    for test in tests:
        test.start(500, 50, interval=2000, label=0x1234, force=True)
    loop.until_idle(*tests)
    for test in tests:
        assert test.counts() == {"sent": 50, "sent_bytes": 25_000, "good": 50, "received_bytes": 25_000}


def test_both_ends_of_a_cable_are_armed_before_a_frame_goes(bench: Bench) -> None:
    """One is started after the other; both send at line rate at once, and no frame is lost at the start."""
    tests = [PortTest(bench.shell, port, "pf") for port in range(2)]
    loop = Loop(bench, way={0: 1, 1: 0})
    for test in tests:
        test.start(60, 500, label=0x1234, patience=400, force=True, delay=True)
        loop.step(5000)  # the host takes its time
    assert [test.state for test in tests] == ["armed", "armed"]
    loop.until_idle(*tests, ns=500, rounds=1000)
    for test in tests:
        assert test.counts() == {"sent": 500, "sent_bytes": 30_000, "good": 500, "received_bytes": 30_000}


def test_traffic_refuses_a_start_unless_it_is_forced(bench: Bench) -> None:
    """Of the PS, as PTP is, with a code of its own."""
    test = PortTest(bench.shell)
    test.start(frames=5)
    bench.step(WATCH_NS)
    Loop(bench).until_idle(test)
    assert (test.refusal, test.end) == ("none", "complete")
    before = test.counts()
    for send, refusal in (
        (lambda: bench.shell.rx(other(BOB, 1)), "traffic"),
        (lambda: bench.shell.h2c(0, other(WIRE, 1), metadata=0), "traffic"),
        (lambda: bench.shell.rx(other(PS, 1)), "ps_traffic"),
        (lambda: bench.ps_send(0, other(WIRE, 1, source=PS)), "ps_traffic"),
    ):
        test.start(frames=5)
        bench.step(100_000)
        assert test.state == "starting"
        send()
        for _ in range(2):  # the PS rings its doorbell behind the first
            bench.step(10_000)
        assert (test.state, test.refusal, test.end) == ("idle", refusal, "complete")
        assert test.counts() == before
    assert len(of_test(bench)) == 5
    bench.ps_send(0, other(WIRE, 2, source=PS))
    test.start(frames=5, force=True)
    Loop(bench).until_idle(test)
    assert (test.refusal, test.end) == ("none", "complete")


def test_a_forced_test_costs_host_and_ps_no_frame(bench: Bench) -> None:
    """PS and host send and receive while the test has the rest of the wire; the PS's frames go first."""
    test = PortTest(bench.shell, bus="pf")
    loop = Loop(bench)
    test.start(1514, patience=500, force=True)
    for number in range(60):
        bench.shell.h2c(0, other(WIRE, number, 1000), metadata=0)
        bench.ps_send(0, other(WIRE, number, source=PS))
        bench.shell.rx(other(BOB, number))
        bench.shell.rx(other(PS, number))
        loop.step(2000)
    test.stop()
    for _ in range(100):
        loop.step(5000)
    test.off()
    loop.until_idle(test)
    sent = [bytes.fromhex(event["hex"]) for event in bench.seen.wire[0]]
    for source, size in ((WIRE, 1000), (PS, 200)):
        assert [f for f in sent if f[6:12] == source] == [other(WIRE, n, size, source=source) for n in range(60)]
    assert [bytes.fromhex(event["hex"]) for event in bench.seen.c2h] == [other(BOB, n) for n in range(60)]
    assert [got.data for got in bench.seen.ps[0]] == [other(PS, n) for n in range(60)]
    counts = test.counts()
    assert test.end == "command" and counts["sent"] == counts["good"] == len(of_test(bench)) > 100
    assert set(counts) == {"sent", "sent_bytes", "good", "received_bytes"}


def test_faults_of_the_wire_are_told_apart(bench: Bench) -> None:
    def wire(number: int, data: bytes) -> Iterator[tuple[bytes, bool]]:
        match number:
            case 10:
                yield data[:50] + bytes([data[50] ^ 1]) + data[51:], False
            case 20:
                yield data, True
            case 30:
                yield data[:-1], False
            case 40:
                return
            case 50:
                yield from ((data, False), (data, False))
            case 60:
                held.append(data)
            case _:
                yield data, False
                while held:
                    yield held.pop(), False

    held: list[bytes] = []
    test = PortTest(bench.shell)
    test.start(100, 80, patience=500, force=True)
    Loop(bench, wire).until_idle(test)
    counts = test.counts()
    for name, value in (("sent", 80), ("sent_bytes", 8000), ("received_bytes", 7999)):
        assert counts.pop(name) == value, name
    assert counts == {
        "good": 77, "damaged_pattern": 1, "damaged_fcs": 1, "damaged_length": 1, "skipped": 2, "repeated": 1, "late": 1,
        "bit_errors": 1,
    }  # fmt: skip


def test_a_test_that_ends_early_names_the_reason(bench: Bench) -> None:
    test, loop = PortTest(bench.shell), Loop(bench)
    # A disabled host has no say in it.
    bench.enable_host(0, False, False)
    test.start(frames=1000, interval=3000)
    bench.step(WATCH_NS)
    loop.step(100_000)
    assert test.state == "running"
    bench.sim.send("link", port=0, up=False)
    loop.until_idle(test)
    assert test.end == "link_down" and test.read("CUT") == 1000 - test.counts()["sent"] > 0
    test.start()
    bench.step(5000)
    assert (test.state, test.refusal) == ("idle", "link_down")
    bench.sim.send("link", port=0, up=True)
    test.start(9596, force=True)
    loop.step(20_000)
    bench.sim.send("reset", domain="mac_tx", on=True)
    loop.step(5_000)
    loop.until_idle(test)
    assert test.end == "mac"
    test.start(force=True)
    bench.step(5000)
    assert (test.state, test.refusal) == ("idle", "mac")
    bench.sim.send("reset", domain="mac_tx", on=False)
    loop.step(20_000)
    test.start(60, 10, force=True)
    loop.until_idle(test)
    assert test.end == "complete" and test.counts()["good"] == 10


def test_frames_of_another_label_pass(bench: Bench) -> None:
    test, loop = PortTest(bench.shell), Loop(bench, way={})
    test.start(100, 5, label=1, force=True)
    loop.until_idle(test)
    old = [bytes.fromhex(event["hex"]) for event in of_test(bench)]
    test.start(generate=False, label=2, force=True)
    loop.step(5000)
    for data in old:
        bench.shell.rx(BOB + data[6:])
    loop.step(20_000)
    test.off()
    loop.until_idle(test)
    assert test.counts() == {"foreign": 5} and test.end == "command"
    assert [bytes.fromhex(event["hex"]) for event in bench.seen.c2h] == [BOB + data[6:] for data in old]


def test_a_vf_reaches_no_test_of_a_port(bench: Bench) -> None:
    test, vf = PortTest(bench.shell, bus="pf"), 4
    at = bench.shell.regs.address("PORT_TEST", "MODE", 0)
    bench.shell.write(at, 7, function=vf)
    assert bench.shell.read(at, function=vf) == bench.shell.read(at & 0xFFF, function=vf)
    assert test.read("MODE") == 0
    bench.shell.write(bench.shell.regs.address("PORT_TEST", "COMMAND", 0), 1, function=vf)
    bench.step(1000)
    assert (test.state, test.refusal) == ("idle", "none")


def test_a_vf_reaches_no_transceiver(bench: Bench) -> None:
    """Neither loopback nor pattern nor registers behind DRP, by force or without. A PF reaches them at the same places, now
    that the PS has none of the ports."""
    shell, vf = bench.shell, 4
    forced = {"LOOPBACK": 0x108, "PRBS": 0x1_0505, "DRP_COMMAND": 0xABCD_8123, "EYE_SCAN": 1}

    def state(port: int) -> list[int]:
        names = ("LOOPBACK", "PRBS", "STATUS", "DRP_STATUS", "EYE_SCAN")
        return [shell.read(shell.regs.address("TRANSCEIVER", name, port)) for name in names]

    for port in range(2):
        bench.set_ps_filter(port, False, False, False, False)
        at_first = state(port)
        for name, value in [("LOOPBACK", 0x102), *forced.items()]:
            at = shell.regs.address("TRANSCEIVER", name, port)
            for word in (value, value & 0xFF):
                shell.write(at, word, function=vf)
                assert shell.read(at, function=vf) == shell.read(at & 0xFFF, function=vf)
        bench.step(1000)
        assert state(port) == at_first
        for name, value in forced.items():
            shell.write(shell.regs.address("TRANSCEIVER", name, port), value)
        bench.step(1000)
        loopback, prbs, _, drp, eye_scan = state(port)
        assert (loopback, prbs, eye_scan & 1) == (8, 0x505, 1) and drp != at_first[3]
