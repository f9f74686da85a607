# SPDX-License-Identifier: Apache-2.0
"""A user's module at the host that hangs, floods or babbles harms the host's traffic only: the PS misses nothing, no buffer
is written that nobody gave, and the host can bring the module back."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench import Bench
from conftest import Start
from meridian_card.shell import OKAY, SLVERR
from test_host_box import READY, counts, made, post, register, to_wire, window
from test_isolation import ALICE, BOB, PS, VF_ALICE, VF_BOB, WIRE, frame, got, let_ps_end, of_ps

pytestmark = pytest.mark.long  # the shell is built for it alone

HERE = Path(__file__).parent
PASSES, HANGS, FLOODS, SILENT = range(4)
RX_HUNG, TX_HUNG, REGISTERS_HUNG = 2, 4, 8
HANG_CYCLES = 2000
PS_FRAMES = 60
BUFFERS = 20


@pytest.fixture
def bench(start: Start) -> Bench:
    bench = made(start, HERE / "hostile_host_box.sv", HERE / "hostile_box.sv")
    bench.shell.write(register(bench, "HANG_CYCLES"), HANG_CYCLES)
    post(bench, bench.queue_home(VF_ALICE), bench.queue_home(VF_ALICE) + 1, bench.queue_home(VF_BOB), count=BUFFERS)
    return bench


def load(bench: Bench) -> None:
    """Frames for the host, of the host, and both ways of the PS."""
    for turn in range(PS_FRAMES):
        bench.rx(0, frame(BOB, turn))
        bench.rx(0, frame(PS, turn))
        bench.ps_send(0, frame(WIRE, turn, source=PS))
        bench.h2c(bench.queue_home(VF_BOB), frame(WIRE, turn, source=BOB))
        bench.step(500)


def reset(bench: Bench) -> None:
    bench.shell.write(register(bench, "CONTROL"), 1)
    bench.shell.write(register(bench, "CONTROL"), 0)
    bench.step(200_000)  # what it has left in the buffers goes on
    assert bench.shell.read(register(bench, "STATUS")) == READY


def passes(bench: Bench) -> None:
    bob = bench.queue_home(VF_BOB)
    bench.shell.post(bob, BUFFERS, 2048)
    bench.step(1000)
    had, sent = len(got(bench, bob)), len(to_wire(bench))
    bench.rx(0, frame(BOB, 4711))
    bench.h2c(bob, frame(WIRE, 4711, source=BOB))
    bench.step(20_000)
    assert got(bench, bob)[had:] == [frame(BOB, 4711)] and to_wire(bench)[sent:] == [frame(WIRE, 4711, source=BOB)]


@pytest.mark.parametrize("mood", [HANGS, FLOODS])
def test_the_ps_misses_no_frame_and_a_reset_by_the_host_brings_the_module_back(bench: Bench, mood: int) -> None:
    bench.shell.write(window(bench, 0), mood)
    load(bench)
    let_ps_end(bench)
    assert of_ps(bench) == [frame(PS, turn) for turn in range(PS_FRAMES)]
    of_wire = [data for data in to_wire(bench) if data[6:12] == PS]
    assert of_wire == [frame(WIRE, turn, source=PS) for turn in range(PS_FRAMES)]
    status, told = bench.shell.read(register(bench, "STATUS")), counts(bench)
    if mood == HANGS:
        assert status & (RX_HUNG | TX_HUNG) == RX_HUNG | TX_HUNG
        assert told["rx_dropped"] == told["tx_dropped"] == PS_FRAMES
        assert not bench.seen.c2h
    else:
        assert told["rx_refused"] > 100 and told["tx_refused"] > 100 and told["rx_denied"] > 100
        alice, bob = bench.queue_home(VF_ALICE), bench.queue_home(VF_BOB)
        for queue in (alice, alice + 1, bob):
            assert sum(-(-len(data) // 2048) for data in got(bench, queue)) <= BUFFERS
        assert {event["queue"] for event in bench.seen.c2h} <= {alice, alice + 1, bob}
        # What it makes has no function's address, so none of it gets past the check of the source.
        assert len(to_wire(bench)) == PS_FRAMES
    reset(bench)
    passes(bench)


@pytest.mark.parametrize("mood", [HANGS, FLOODS])
def test_a_reset_of_a_function_ends_though_the_module_hangs_or_floods(bench: Bench, mood: int) -> None:
    bench.shell.write(window(bench, 0), mood)
    load(bench)
    bench.function_reset(VF_ALICE)
    bench.step(1000)
    before = len(got(bench, bench.queue_home(VF_ALICE)))
    bench.rx(0, frame(ALICE, 1))
    bench.step(100_000)
    assert len(got(bench, bench.queue_home(VF_ALICE))) == before
    assert bench.shell.events()["reset_timeout"] == 0


def test_registers_that_do_not_answer_are_refused(bench: Bench) -> None:
    at = window(bench, 0)
    assert bench.shell.access(at, SILENT)[1] == OKAY
    for _ in range(2):
        assert bench.shell.access(at) == (0xDEADBEEF, SLVERR)
        assert bench.shell.access(at - 0x100000, bus="ps") == (0xDEADBEEF, SLVERR)
    assert bench.shell.read(register(bench, "STATUS")) == READY | REGISTERS_HUNG
    passes(bench)
    reset(bench)
    assert bench.shell.access(at) == (PASSES, OKAY)
