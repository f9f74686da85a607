# SPDX-License-Identifier: Apache-2.0
"""Frames from host memory to the shell, byte by byte, for each limit that a host may set."""

from __future__ import annotations

from typing import Any

import cocotb
from bench import LONG, Bench
from cocotb.regression import TestFactory
from driver import PFS, Driver
from link import drive

LENGTHS = (1, 3, 4, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129, 511, 513, 1500, 4095, 4097, 9000)
#: Maximum payload size and maximum read request size of PCIe's Device Control register, and whether the read completion
#: boundary is 128 bytes.
LIMITS = [(0, 0, False), (1, 2, False), (2, 5, True)]
ALL_LIMITS = [(payload, read, rcb) for payload in range(3) for read in range(6) for rcb in (False, True)]


async def frames_of_any_length_at_any_address_arrive(dut: Any, limits: tuple[int, int, bool]) -> None:
    payload, read, rcb = limits
    bench = Bench(dut, seed=100 * payload + 10 * read + rcb)
    await bench.start(payload, read, rcb)
    bench.disturb(0.2)
    driver = Driver(bench)
    frames = [bench.random.randbytes(length) for length in LENGTHS * (3 if LONG else 1)]
    bench.random.shuffle(frames)

    def work() -> None:
        driver.set_up(0)
        ring = driver.transmit(0)
        for number, frame in enumerate(frames):
            ring.post(frame, metadata=number)
            if bench.random.random() < 0.4:
                ring.ring()
        ring.ring()
        ring.drain()
        assert ring.status() == {"error": 0, "cidx": ring.pidx, "pidx": ring.pidx}

    await drive(work)
    heads = [(frame.queue, frame.metadata, frame.error) for frame in bench.shell.frames]
    assert heads == [(driver.absolute(0, 0), number, False) for number in range(len(frames))], heads
    for taken, frame in zip(bench.shell.frames, frames, strict=True):
        assert taken.data == frame, f"a frame of {len(frame)} bytes"
    assert max(4 * tlp.length for tlp in bench.host.reads) == min(bench.host.read_bytes, 512)
    assert bench.host.overtaken > 0
    bench.check()


factory = TestFactory(frames_of_any_length_at_any_address_arrive)
factory.add_option("limits", ALL_LIMITS if LONG else LIMITS)
factory.generate_tests()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def queues_of_all_functions_pass_their_frames_in_order(dut: Any) -> None:
    """A ring goes over its end, and status entries come to each."""
    bench = Bench(dut, seed=7)
    await bench.start(1, 2)
    bench.disturb(0.1)
    driver = Driver(bench)
    sent: dict[int, list[bytes]] = {}

    def work() -> None:
        driver.set_up()
        rings = {(pf, queue): driver.transmit(pf, queue) for pf in range(PFS) for queue in range(2 if LONG else 1)}
        for _ in range(10 if LONG else 3):
            for (pf, queue), ring in rings.items():
                for _ in range(bench.random.randint(1, 30)):
                    frame = bench.random.randbytes(bench.random.randint(60, 300))
                    sent.setdefault(driver.absolute(pf, queue), []).append(frame)
                    ring.post(frame)
                ring.ring()
            for ring in rings.values():
                ring.drain()

    await drive(work)
    for number, frames in sent.items():
        assert [frame.data for frame in bench.shell.frames if frame.queue == number] == frames, f"queue {number}"
    assert len(bench.shell.frames) == sum(map(len, sent.values()))
    assert {tlp.requester_id.function for tlp in bench.host.reads} == set(range(PFS))
    bench.check()
