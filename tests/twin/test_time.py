# SPDX-License-Identifier: Apache-2.0
"""Twin time: the same input gives the same run, skipped time is no other time, stamps are what the MAC is told."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from meridian_twin import Host, QueueSetting, Trigger
from meridian_twin.control import Control
from meridian_twin.driver import Ps
from meridian_twin.qdma import DEFAULT_TIMERS, Tables

MINE = bytes.fromhex("02aabbccdd01")
PEER = bytes.fromhex("021111111111")
CLOCKS = ("--ppm", "host=40", "--ppm", "mac_rx_0=-70", "--ppm", "mac_tx_0=90", "--ppm", "ps=-15")


def frame(number: int, to: bytes = MINE, of: bytes = PEER) -> bytes:
    return (to + of + b"\x88\xb5" + bytes([number])).ljust(60 + 7 * number, b"\x11")


def play(card: Any, seed: int, folder: Path) -> tuple[list[Any], bytes]:
    """Frames both ways in lockstep; what came and when, and the capture of it all."""
    random = Random(seed)
    told: list[Any] = []
    with Control(folder / "control") as control, Host.connect(card.socket, lockstep=True) as host:
        control.ask("capture", file=str(folder / "capture"))
        host.bring_up(2)
        host.add_mac(MINE)
        for number in range(20):
            card.wires[0].send(frame(number))
            host.send(frame(number, PEER, MINE), queue=random.randrange(2))
            told.append(host.link.advance(random.randrange(1, 5_000_000)))
            told += host.take()
            told += [(sent.time_ps, sent.data) for sent in card.wires[0].take()]
        control.ask("capture_end")
    return told, (folder / "capture").read_bytes()


def test_the_same_input_gives_the_same_run(run_card: Callable[..., Any], tmp_path: Path) -> None:
    runs = []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        card = run_card("--time", "lockstep", "--seed", "7", "--control", str(folder / "control"), *CLOCKS)
        runs.append(play(card, 3, folder))
    assert runs[0] == runs[1]
    assert sum(isinstance(entry, bytes) for entry in runs[0][0]) > 10


def test_skipped_time_is_the_same_time(run_card: Callable[..., Any]) -> None:
    """The PTP clock runs at its own frequency over seconds that nobody simulated."""
    card = run_card(*CLOCKS)
    with Host.connect(card.socket, lockstep=True) as host, Ps.connect(card.socket) as ps:
        before, began = ps.phc.time_ns(), host.link.advance(0)
        host.link.advance(7 * 10**12)
        after, ended = ps.phc.time_ns(), host.link.advance(0)
    expected = (ended - began) / 1000 * (1 - 15e-6)
    # An access takes some cycles, and the clocks are told in ps.
    assert after - before == pytest.approx(expected, abs=2000)


@dataclass(frozen=True)
class Latch:
    """What a port's clocks have counted when the PTP clock had a time."""

    phc_ns: int
    rx: int
    tx: int

    def ppm(self, since: Latch) -> tuple[float, float]:
        """How much faster the receive and the transmit clock were than 390.625 MHz by the PTP clock."""
        expected = (self.phc_ns - since.phc_ns) * 0.390625
        counted = ((cycles - expected) % 2**32 for cycles in (self.rx - since.rx, self.tx - since.tx))
        rx, tx = (1e6 * (more - 2**32 * (more > 2**31)) / expected for more in counted)
        return rx, tx


def test_the_clocks_of_the_macs_are_counted_against_the_ptp_clock(run_card: Callable[..., Any], tmp_path: Path) -> None:
    """To some cycles, from both sides, over seconds that nobody simulated. A step of the PTP clock is in its time, and in no
    count."""
    card = run_card("--control", str(tmp_path / "control"), *CLOCKS)
    with (
        Control(tmp_path / "control") as control,
        Host.connect(card.socket, lockstep=True) as host,
        Ps.connect(card.socket) as ps,
    ):
        regs = host.card.regs
        # A period is of whole femtoseconds.
        phc, rx, tx = (
            1e6 * (of / round(of / (1 + 1e-6 * ppm)) - 1) for of, ppm in ((4e6, -15), (2.56e6, -70), (2.56e6, 90))
        )
        rx, tx = (1e6 * ((1 + 1e-6 * mac) / (1 + 1e-6 * phc) - 1) for mac in (rx, tx))

        def latch(side: str, rest_ps: int = 0) -> Latch:
            def at(name: str) -> int:
                return regs.ps_address("PORT", name) if side == "ps" else regs.address("PORT", name)

            def read(name: str) -> int:
                return ps.card.read(at(name), "ps") if side == "ps" else host.card.read(at(name))

            number = read("CLOCK_LATCH") >> 16
            (ps.card.access(at("CLOCK_LATCH"), 1, "ps") if side == "ps" else host.card.access(at("CLOCK_LATCH"), 1))
            host.link.advance(rest_ps)
            assert read("CLOCK_LATCH") == number + 1 << 16, "neither busy nor still"
            time_ns = read("CLOCK_SECONDS") * 10**9 + read("CLOCK_NANOSECONDS")
            return Latch(time_ns, read("RX_CLOCK"), read("TX_CLOCK"))

        host.link.advance(10**9)
        first = latch("pf")
        for seconds, side in ((1, "ps"), (12, "pf"), (3, "ps")):  # a counter wraps within 11 s
            before = control.ask("stats")["simulation"]["skipped_ps"]
            host.link.advance(seconds * 10**12)
            assert control.ask("stats")["simulation"]["skipped_ps"] - before > (seconds - 0.01) * 10**12
            # Behind it nothing happens for a second.
            last = latch(side, 10**12)
            assert last.phc_ns - first.phc_ns == pytest.approx(seconds * 10**9 * (1 - 15e-6), abs=100_000)
            assert last.ppm(first) == pytest.approx((rx, tx), abs=0.01)
            host.link.advance(10**9)
            first = latch("ps")
        ps.phc.set_ns(ps.phc.time_ns() + 5 * 10**9)
        last = latch("ps")
        assert 0 <= last.phc_ns - first.phc_ns - 5 * 10**9 < 1_000_000
        assert 0 < (last.rx - first.rx) % 2**32 < 400_000 and 0 < (last.tx - first.tx) % 2**32 < 400_000


@pytest.mark.parametrize("direction", ["rx", "tx"])
def test_a_clock_of_a_mac_that_stands_still_is_told(
    run_card: Callable[..., Any], tmp_path: Path, direction: str
) -> None:
    """Its count is an old one, the other clock's goes on, and so does the time that nobody simulates."""
    card = run_card("--control", str(tmp_path / "control"))
    with Control(tmp_path / "control") as control, Host.connect(card.socket, lockstep=True) as host:
        regs, other = host.card.regs, {"rx": "tx", "tx": "rx"}[direction]

        def latch() -> tuple[set[str], dict[str, int]]:
            """Which clocks stand still, and what each has counted."""
            host.card.access(regs.address("PORT", "CLOCK_LATCH"), 1)
            host.link.advance(10**9)
            state = host.card.read(regs.address("PORT", "CLOCK_LATCH"))
            assert not state >> 8 & 1, "the latch does not end"
            still = {name for bit, name in ((9, "rx"), (10, "tx")) if state >> bit & 1}
            return still, {name: host.card.read(regs.address("PORT", f"{name}_CLOCK")) for name in ("RX", "TX")}

        host.link.advance(10**9)
        _, before = latch()
        control.ask("clock", direction=direction, on=False)
        host.link.advance(10**12)
        still, counted = latch()
        assert still == {direction}
        assert counted[direction.upper()] == before[direction.upper()]
        assert counted[other.upper()] != before[other.upper()]
        control.ask("clock", direction=direction, on=True)
        host.link.advance(10**9)
        still, after = latch()
        assert still == set()
        # It goes on where it stood: 3 ms and what the accesses take.
        assert 0 < (after[direction.upper()] - before[direction.upper()]) % 2**32 < 3_000_000


def test_time_is_skipped_up_to_a_timer_and_no_further(run_card: Callable[..., Any], tmp_path: Path) -> None:
    """Of a completion ring, 200 us. 5 us before its end the card runs edge by edge again."""
    vector, timer_us = 5, 200
    card = run_card("--time", "lockstep", "--control", str(tmp_path / "control"))
    with Control(tmp_path / "control") as control, Host.connect(card.socket, lockstep=True) as host:
        host.tables = Tables(timers=(10 * timer_us, *DEFAULT_TIMERS[1:]))
        irq = QueueSetting(c2h_irq=True, vector=vector, trigger=Trigger.USER_TIMER, timer=10 * timer_us)
        host.bring_up(setting=irq)
        host.add_mac(MINE)
        link, queue = host.link, host.pairs[0].c2h
        link.step_ps = 100_000
        card.wires[0].send(frame(1))
        link.wait(lambda: queue.memory.word(queue.completion_base, 8) != 0, "the completion, and the timer's start")

        def pass_us(us: float) -> float:
            """What was skipped of them."""
            before = control.ask("stats")["simulation"]["skipped_ps"]
            link.advance(int(us * 1_000_000))
            return (control.ask("stats")["simulation"]["skipped_ps"] - before) / 1_000_000

        assert timer_us - 10 < pass_us(timer_us - 1.5) < timer_us - 4.5
        assert link.interrupts[0, vector] == 0
        link.advance(3_500_000)
        assert link.take_interrupts(0, vector) == 1
        assert queue.poll(update=False) == [frame(1)]
        # Nor is the next one's end passed when there is more time than to it.
        queue.update()
        card.wires[0].send(frame(2))
        link.wait(lambda: queue.memory.word(queue.completion_base + 8, 8) != 0, "the next completion")
        assert timer_us - 10 < pass_us(timer_us + 2) < timer_us - 2
        assert link.take_interrupts(0, vector) == 1


@dataclass(frozen=True)
class Apart:
    """How far stamps of a port are from the wire's own times, in ns."""

    rx: float
    tx: float


def stamped(host: Host, ps: Ps, card: Any, port: int) -> Apart:
    """By a frame each way; a stamp is told to a nanosecond, and a frame starts at a multiple of four bytes."""
    at = host.link.advance(0) + 3_000_000
    card.wires[port].send(frame(1, PEER), at_ps=at)
    ps.send(frame(2, MINE, PEER), port, tag=7, timestamp=True)
    host.link.advance(10_000_000)
    (got,), (sent,) = ps.ports[port].poll(), card.wires[port].take()
    (stamp,) = ps.ports[port].timestamps()
    assert stamp.tag == 7
    return Apart(got.time_ns - at / 1000, stamp.time_ns - sent.time_ps / 1000)


def measured(
    run_card: Callable[..., Any],
    of_macs: tuple[int, int],
    told: dict[int, tuple[float, float]],
    configuration: tuple[str, ...] = (),
    *more: str,
) -> list[Apart]:
    """Of each port. of_macs: latencies of all MACs, receive and transmit; told: to the card, of some ports."""
    options = ["--rx-latency", str(of_macs[0]), "--tx-latency", str(of_macs[1]), *more]
    card = run_card(*options, configuration=configuration)
    ports = range(2 if "--ports" in configuration else 1)
    with Host.connect(card.socket, lockstep=True) as host, Ps.connect(card.socket) as ps:
        for port in ports:
            ps.start(port, PEER)
        host.link.advance(20_000_000)
        for port, latencies in told.items():
            ps.card.set_stamp_latency(port, *latencies)
        host.link.advance(20_000_000)
        return [stamped(host, ps, card, port) for port in ports]


def test_stamps_refer_to_the_connector(run_card: Callable[..., Any]) -> None:
    """The MACs' latencies show in them until the card is told; what it is told counts to a fraction."""
    (plain,) = measured(run_card, (0, 0), {})
    (moved,) = measured(run_card, (250, 130), {})
    assert moved.rx - plain.rx == pytest.approx(250, abs=1)
    assert moved.tx - plain.tx == pytest.approx(-130, abs=1)
    for of_macs, told in (((250, 130), (250, 130)), ((7, 901), (6.75, 901.25)), ((0, 0), (-0.25, 0))):
        (found,) = measured(run_card, of_macs, {0: told})
        assert (found.rx, found.tx) == pytest.approx((plain.rx, plain.tx), abs=1.5), (of_macs, told)
    (found,) = measured(run_card, (0, 0), {0: (-32_000, 32_000)})  # beyond what a frame takes
    assert (found.rx - plain.rx, found.tx - plain.tx) == pytest.approx((32_000, 32_000), abs=1.5)


@pytest.mark.long
@pytest.mark.parametrize("rate", ["10", "25"])
def test_latencies_are_of_a_port(run_card: Callable[..., Any], rate: str) -> None:
    configuration = ("--ports", "2", "--line-rate", rate)
    plain = measured(run_card, (300, 200), {}, configuration, "--rate", rate)
    found = measured(run_card, (300, 200), {1: (300, 200)}, configuration, "--rate", rate)
    assert (found[0].rx, found[0].tx) == pytest.approx((plain[0].rx, plain[0].tx), abs=4)
    assert found[1].rx - plain[1].rx == pytest.approx(-300, abs=4)
    assert found[1].tx - plain[1].tx == pytest.approx(200, abs=4)


def test_a_link_that_comes_up_has_latencies_of_its_own(run_card: Callable[..., Any], tmp_path: Path) -> None:
    """Within the spread, and the same until it goes down."""
    card = run_card("--rx-latency", "100", "--latency-spread", "60", "--control", str(tmp_path / "control"))
    with (
        Control(tmp_path / "control") as control,
        Host.connect(card.socket, lockstep=True) as host,
        Ps.connect(card.socket) as ps,
    ):
        ps.start(0, PEER)
        host.link.advance(20_000_000)
        found = []
        for _ in range(8):
            found.append(stamped(host, ps, card, 0))
            again = stamped(host, ps, card, 0)
            assert (again.rx, again.tx) == pytest.approx((found[-1].rx, found[-1].tx), abs=2)
            for up in (False, True):
                control.ask("link", port=0, up=up)
                host.link.advance(1_000_000)
    rx, tx = sorted(apart.rx for apart in found), sorted(-apart.tx for apart in found)
    assert 10 < rx[-1] - rx[0] <= 62, rx
    assert 10 < tx[-1] - tx[0] <= 62, tx


def test_the_host_reads_latencies_and_cannot_write_them(run_card: Callable[..., Any]) -> None:
    card = run_card()
    with Host.connect(card.socket, lockstep=True) as host, Ps.connect(card.socket) as ps:
        ps.card.set_stamp_latency(0, 1.5, -0.25)
        host.link.advance(1_000_000)
        for name, word in (("RX_LATENCY", 0x1_8000), ("TX_LATENCY", 0xFFFF_C000)):
            at = host.card.regs.address("PORT", name, 0)
            assert host.card.read(at) == word
            host.card.access(at, 5)
            assert host.card.read(at) == word
        refused = host.card.regs.address("IDENT", "HOST_REFUSED")
        assert host.card.read(refused) == 2


@pytest.mark.long
def test_waveforms_are_written_on_request(programs: Callable[..., Path], tmp_path: Path) -> None:
    program = programs("--trace") / "meridian_card"
    from meridian_twin import CardProcess

    with (
        CardProcess(program, "--time", "free", "--control", str(tmp_path / "control")) as card,
        Control(tmp_path / "control") as control,
        Host.connect(card.socket, lockstep=True) as host,
    ):
        control.ask("trace", file=str(tmp_path / "window.fst"), for_ns=2000)
        host.link.advance(5_000_000)
    data = (tmp_path / "window.fst").read_bytes()
    assert data[0] == 0 and len(data) > 10_000  # the block with which an FST file begins


def test_an_hour_at_rest_is_soon_over(built_card: Callable[..., Path], tmp_path: Path) -> None:
    command = [str(built_card()), "--socket", str(tmp_path / "card"), "--time", "free", "--for", str(3600 * 10**9)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert '"skipped_ps":35' in done.stdout


def test_an_idle_card_sleeps_and_is_in_time_when_asked(run_card: Callable[..., Any], tmp_path: Path) -> None:
    card = run_card("--time", "wall", "--control", str(tmp_path / "control"))
    with Control(tmp_path / "control") as control, Ps.connect(card.socket) as ps:

        def look(after_s: float) -> int:
            """How far the card's time is from the computer's."""
            time.sleep(after_s)
            return ps.phc.time_ns() - time.monotonic_ns()

        def apart_ns() -> int:
            """The card is never ahead, but is behind by what a busy computer takes for its answers."""
            return max(look(0.01) for _ in range(20))

        apart = apart_ns()
        began = time.monotonic()
        before, first = control.ask("stats"), time.monotonic()
        time.sleep(2)  # a busy computer sleeps for longer, and answers later
        last, after = time.monotonic(), control.ask("stats")
        end = time.monotonic()
        # An edge of a clock is a step, and there are 1.3 billion a second; each of the wakes takes some hundred.
        assert after["simulation"]["steps"] - before["simulation"]["steps"] < 20_000 * (end - began)
        assert last - first - 0.5 < (after["t_ps"] - before["t_ps"]) * 1e-12 < end - began + 0.5
        assert look(after_s=2) == pytest.approx(apart, abs=1_000_000_000), "it has not caught up"
        assert apart_ns() == pytest.approx(apart, abs=30_000_000)
