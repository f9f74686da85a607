# SPDX-License-Identifier: Apache-2.0
"""A user's module at the host may join its streams to loops, without a register: frames of the host come back, received ones
go out again, and no loop of signals or of receive buffers holds anything up."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from bench import Bench
from conftest import Start
from test_host_box import READY, counts, made, post, register, to_wire
from test_isolation import ALICE, BOB, PS, VF_ALICE, VF_BOB, WIRE, frame, got, let_ps_end, of_ps

pytestmark = pytest.mark.long  # the shell is built for it alone

BOX = Path(__file__).with_name("looping_host_box.sv")


@pytest.fixture
def bench(start: Start) -> Bench:
    return made(start, BOX)


def by(queue: int, to: bytes, source: bytes, size: int = 200) -> bytes:
    """A frame that the module sends back by that queue."""
    return to + source + queue.to_bytes(2, "little") * 2 + bytes(size - 16)


def test_frames_of_the_host_come_back_and_claim_their_buffers(bench: Bench) -> None:
    random, free, bob = Random(1), 100, bench.queue_home(VF_BOB)
    post(bench, bob, count=free)
    sent = [frame(WIRE, number, random.choice((60, 300, 1514)), source=BOB) for number in range(free + 20)]
    for data in sent:
        bench.h2c(bob, data)
    bench.drain()
    assert got(bench, bob) == sent[:free] and not to_wire(bench)
    assert counts(bench)["tx_passed"] == counts(bench)["rx_sent"] == len(sent)
    assert counts(bench)["rx_no_buffer"] == 20
    post(bench, bob, count=20)
    for data in sent[:20]:
        bench.h2c(bob, data)
    bench.drain()
    assert got(bench, bob)[free:] == sent[:20]
    assert bench.shell.read(register(bench, "STATUS")) == READY


def test_both_loops_at_once_cost_the_ps_nothing(bench: Bench) -> None:
    alice, bob, count = bench.queue_home(VF_ALICE), bench.queue_home(VF_BOB), 200
    post(bench, alice, alice + 1, bob)
    received = [by(alice, WIRE, ALICE, 60 + 7 * number) for number in range(count)]
    sent = [frame(WIRE, number, 60 + 5 * number, source=BOB) for number in range(count)]
    bench.set_default_function(0, VF_BOB)
    bench.step(1000)
    for number, (one, other) in enumerate(zip(received, sent, strict=True)):
        bench.rx(0, one)
        bench.rx(0, frame(PS, number))
        bench.h2c(bob, other)
        bench.step(500)
    bench.drain()
    assert to_wire(bench) == received and got(bench, bob) == sent
    assert of_ps(bench) == [frame(PS, number) for number in range(count)]
    assert bench.shell.read(register(bench, "STATUS")) == READY


def test_a_frame_between_functions_goes_round_until_the_module_is_reset(bench: Bench) -> None:
    """Nothing on the card counts its rounds. Others of the host, and the PS, have what the rounds leave."""
    alice, bob, count = bench.queue_home(VF_ALICE), bench.queue_home(VF_BOB), 60
    post(bench, alice, alice + 1, bob)
    bench.set_veb(0, True)
    bench.step(1000)
    bench.shell.rx(by(alice, BOB, ALICE))
    bench.step(20_000)
    rounds = counts(bench)["rx_passed"]
    bench.step(100_000)
    assert counts(bench)["rx_passed"] > rounds + 100
    sent = [frame(WIRE, number, source=BOB) for number in range(count)]
    for number, data in enumerate(sent):
        bench.rx(0, frame(PS, number))
        bench.shell.h2c(bob, data)
        bench.step(500)
    let_ps_end(bench)
    assert of_ps(bench) == [frame(PS, number) for number in range(count)]
    assert got(bench, bob) == sent
    assert bench.shell.read(register(bench, "STATUS")) == READY
    bench.shell.write(register(bench, "CONTROL"), 1)
    bench.shell.write(register(bench, "CONTROL"), 0)
    bench.step(20_000)
    rounds = counts(bench)["rx_passed"]
    bench.step(100_000)
    assert counts(bench)["rx_passed"] == rounds
    assert bench.shell.read(register(bench, "STATUS")) == READY
