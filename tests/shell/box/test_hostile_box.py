# SPDX-License-Identifier: Apache-2.0
"""A user's module that hangs, floods or does not answer harms its own frames only: the PS misses nothing, and the host is
told and can bring the module back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bench import Bench
from conftest import Start
from meridian_card.shell import OKAY, SLVERR
from test_box import made, register, to_host, to_wire, window
from test_isolation import BOB, PS, WIRE, frame, let_ps_end

BOX = Path(__file__).with_name("hostile_box.sv")
PASSES, HANGS, FLOODS, SILENT = range(4)
READY, RX_HUNG, TX_HUNG, REGISTERS_HUNG = 1, 2, 4, 8
HANG_CYCLES = 2000
PS_FRAMES = 60


@pytest.fixture
def bench(start: Start) -> Iterator[Bench]:
    bench = made(start, BOX)
    bench.shell.write(register(bench, "HANG_CYCLES"), HANG_CYCLES)
    yield bench


def load(bench: Bench, number: int = 0) -> None:
    """Frames for the host, of the host, and both ways of the PS."""
    for turn in range(number, number + PS_FRAMES):
        bench.shell.rx(frame(BOB, turn))
        bench.rx(0, frame(PS, turn))
        bench.ps_send(0, frame(WIRE, turn, source=PS))
        bench.shell.h2c(0, frame(WIRE, turn, source=BOB), metadata=0)
        bench.step(500)


def of_ps_is_whole(bench: Bench, number: int = 0) -> bool:
    turns = range(number, number + PS_FRAMES)
    received = [got.data for got in bench.seen.ps[0]][-PS_FRAMES:]
    sent = [data for data in to_wire(bench) if data[6:12] == PS][-PS_FRAMES:]
    return received == [frame(PS, turn) for turn in turns] and sent == [frame(WIRE, n, source=PS) for n in turns]


def reset(bench: Bench) -> None:
    bench.shell.write(register(bench, "CONTROL"), 1)
    bench.shell.write(register(bench, "CONTROL"), 0)
    bench.step(200_000)  # what it has left in its buffers goes on
    assert bench.shell.read(register(bench, "STATUS")) == READY


def passes(bench: Bench) -> None:
    bench.seen.c2h.clear()
    bench.seen.wire[0].clear()
    bench.shell.rx(frame(BOB, 4711))
    bench.shell.h2c(0, frame(WIRE, 4711, source=BOB), metadata=0)
    bench.step(20_000)
    assert to_host(bench) == [frame(BOB, 4711)] and to_wire(bench) == [frame(WIRE, 4711, source=BOB)]


@pytest.mark.long
@pytest.mark.parametrize("mood", [HANGS, FLOODS])
def test_the_ps_misses_no_frame_and_a_reset_by_the_host_brings_the_module_back(bench: Bench, mood: int) -> None:
    bench.shell.write(window(bench, 0), mood)
    load(bench)
    let_ps_end(bench)
    assert of_ps_is_whole(bench)
    status = bench.shell.read(register(bench, "STATUS"))
    events = bench.shell.events("BOX")
    if mood == HANGS:
        assert status & (RX_HUNG | TX_HUNG) == RX_HUNG | TX_HUNG
        assert events["rx_dropped"] == events["tx_dropped"] == PS_FRAMES
        assert not to_host(bench)
    else:
        assert events["rx_refused"] > 100 and events["tx_refused"] > 100
    raised = bench.shell.read(register(bench, "EVENTS"))
    assert raised == ({HANGS: 3, FLOODS: 8}[mood])
    bench.shell.write(register(bench, "EVENTS"), raised)
    reset(bench)
    # One that babbles has raised irq again before the reset.
    assert bench.shell.read(register(bench, "EVENTS")) == ({HANGS: 0, FLOODS: 8}[mood])
    bench.shell.write(register(bench, "EVENTS"), 8)
    bench.step(20_000)
    assert bench.shell.read(register(bench, "EVENTS")) == 0
    passes(bench)


@pytest.mark.long
def test_registers_that_do_not_answer_are_refused(bench: Bench) -> None:
    at = window(bench, 0)
    assert bench.shell.access(at, SILENT)[1] == OKAY
    for _ in range(3):
        assert bench.shell.access(at) == (0xDEADBEEF, SLVERR)
        assert bench.shell.access(at, 0)[1] == SLVERR
        assert bench.shell.access(at - 0x100000, bus="ps") == (0xDEADBEEF, SLVERR)
    assert bench.shell.read(register(bench, "STATUS")) == READY | REGISTERS_HUNG
    passes(bench)
    reset(bench)
    assert bench.shell.access(at) == (PASSES, OKAY)


@pytest.mark.long
def test_ps_reaches_no_box_while_the_host_is_in_reset(bench: Bench) -> None:
    bench.sim.send("reset", domain="host", on=True)
    assert bench.shell.access(window(bench, 0) - 0x100000, bus="ps") == (0xDEADBEEF, SLVERR)
    bench.sim.send("reset", domain="host", on=False)
    bench.step(30_000)
    assert bench.shell.access(window(bench, 0) - 0x100000, bus="ps") == (PASSES, OKAY)
