# SPDX-License-Identifier: Apache-2.0
"""Twin time: the same input gives the same run, skipped time is no other time, stamps are what the MAC is told."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from meridian_twin import Host
from meridian_twin.control import Control
from meridian_twin.driver import Ps

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


def test_same_input_same_run(run_card: Callable[..., Any], tmp_path: Path) -> None:
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


def test_stamps_carry_the_macs_latency(run_card: Callable[..., Any]) -> None:
    """The PS's receive stamp is the end of the delimiter on the PTP clock, plus the latency that was set."""
    stamps = {}
    for latency in (0, 250):
        card = run_card("--rx-latency", str(latency))
        with Host.connect(card.socket, lockstep=True) as host, Ps.connect(card.socket) as ps:
            ps.start(0, PEER)
            host.link.advance(20_000_000)
            at = host.link.advance(0) + 3_000_000
            card.wires[0].send(frame(1, PEER), at_ps=at)
            host.link.advance(10_000_000)
            (got,) = ps.ports[0].poll()
            stamps[latency] = got.time_ns - at // 1000
    assert stamps[250] - stamps[0] == pytest.approx(250, abs=1)


@pytest.mark.long
def test_waveforms_on_request(programs: Callable[..., Path], tmp_path: Path) -> None:
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

        def apart_ns() -> int:
            return ps.phc.time_ns() - time.monotonic_ns()

        apart = apart_ns()
        before = control.ask("stats")
        time.sleep(2)
        after = control.ask("stats")
        # An edge of a clock is a step, and there are 1.3 billion a second; each of the wakes takes some hundred.
        assert after["simulation"]["steps"] - before["simulation"]["steps"] < 40_000
        assert after["t_ps"] - before["t_ps"] == pytest.approx(2e12, abs=0.5e12)
        assert apart_ns() == pytest.approx(apart, abs=30_000_000)
