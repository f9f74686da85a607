# SPDX-License-Identifier: Apache-2.0
"""Reads that fail, functions that may not access memory, and function level resets, beside queues that go on."""

from __future__ import annotations

from typing import Any

import cocotb
from bench import LONG, Bench
from cocotb.regression import TestFactory
from cocotb.triggers import Timer
from cocotbext.pcie.core.caps import PciCapId
from driver import DESCRIPTOR_ERRORS, PFS, Driver
from host import Answer
from link import drive
from meridian_twin.qdma import H2cQueue

BAD, GOOD = (0, 0), (3, 1)  # function and queue
UNSUCCESSFUL, OF_PAYLOAD, OF_DESCRIPTORS = 1 << 2, 1 << 20, 1 << 21
#: The engine gives a read up by itself after that many cycles at most, as scripts/lib/dma-rtl.sh has it.
GIVEN_UP_NS = 4 * 60_000
#: An answer is at the engine that long after the host has sent it.
LINK_NS = 1_000
#: What a read gets; "time-out" is the block's own.
ENDS = ["UNSUPPORTED", "ABORT", "POISONED", "CUT", "time-out"]


def lose(bench: Bench, ring: H2cQueue, on_descriptor: bool, end: str) -> None:
    """From now on the ring's reads end so: those of its descriptors, or those of payload of more than 1,000 bytes."""
    first, last = ring.base, ring.base + 16 * ring.setting.ring
    payload = [
        (int.from_bytes(word[8:], "little"), int.from_bytes(word[4:6], "little"))
        for word in (bench.host.memory.read(at, 16) for at in range(first, last, 16))
        if int.from_bytes(word[4:6], "little") > 1000
    ]
    lost = [(first, last - first)] if on_descriptor else payload

    def answer(tlp: Any) -> Answer:
        if not any(at < tlp.address + 4 * tlp.length and tlp.address < at + count for at, count in lost):
            return Answer.DATA
        if end == "time-out":
            cocotb.start_soon(time_out(bench, tlp.tag))
        return Answer[end] if end in Answer.__members__ else Answer.NOTHING

    bench.host.answer = answer


async def time_out(bench: Bench, tag: int) -> None:
    await Timer(5, "us")
    bench.block.time_out(tag)


async def a_read_that_fails_stops_its_queue_alone(dut: Any, end: str, on_descriptor: bool) -> None:
    bench = Bench(dut, seed=len(end))
    await bench.start(1, 2)
    bench.disturb(0.1)
    driver = Driver(bench)
    good = [bench.random.randbytes(bench.random.randint(60, 900)) for _ in range(12)]
    bad = [bench.random.randbytes(count) for count in (100, 3000, 200)]
    rings: dict[str, H2cQueue] = {}

    def work() -> None:
        driver.set_up()
        rings["good"], rings["bad"] = driver.transmit(*GOOD), driver.transmit(*BAD)
        for frame in good[:6]:
            rings["good"].post(frame)
        for frame in bad:
            rings["bad"].post(frame)
        lose(bench, rings["bad"], on_descriptor, end)
        rings["good"].ring()
        rings["bad"].ring()
        driver.link.wait(lambda: rings["bad"].status()["error"] != 0, "the queue's error", GIVEN_UP_NS / 1e9)
        for frame in good[6:]:
            rings["good"].post(frame)
        rings["good"].ring()
        rings["good"].drain()
        expected = UNSUCCESSFUL | (OF_DESCRIPTORS if on_descriptor else OF_PAYLOAD)
        assert driver.link.read(0, 0, DESCRIPTOR_ERRORS) == expected
        driver.clear_errors()
        assert driver.link.read(0, 0, DESCRIPTOR_ERRORS) == 0

    await drive(work)
    taken = bench.shell.frames
    assert [frame.data for frame in taken if frame.queue == driver.absolute(*GOOD)] == good
    whole = [frame.data for frame in taken if frame.queue == driver.absolute(*BAD) and not frame.error]
    assert whole == ([] if on_descriptor else bad[:1])

    def again() -> None:
        """The queue works with a new context."""
        bench.host.answer = lambda _: Answer.DATA
        ring = driver.transmit(*BAD)
        for frame in bad:
            ring.post(frame)
        ring.ring()
        ring.drain()

    await drive(again)
    whole = [frame.data for frame in taken if frame.queue == driver.absolute(*BAD) and not frame.error]
    assert whole[-len(bad) :] == bad
    bench.check(*COMPLAINTS.get(end, ()))


#: What the model of the block says of the completions that it passes on.
COMPLAINTS = {
    "UNSUPPORTED": ("Bad status",),
    "ABORT": ("Bad status",),
    "CUT": ("Bad status",),
    "POISONED": ("Poisoned",),
}

factory = TestFactory(a_read_that_fails_stops_its_queue_alone)
factory.add_option("end", [*ENDS, "NOTHING"] if LONG else ["UNSUPPORTED", "CUT", "time-out"])
factory.add_option("on_descriptor", [False, True] if LONG else [False])
factory.generate_tests()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def a_function_whose_bus_master_is_off_asks_for_nothing(dut: Any) -> None:
    """Of a write that it sends then, the model of the block would say that it drops it."""
    bench = Bench(dut, seed=9)
    await bench.start()
    driver = Driver(bench)
    function = 1
    device = bench.devices()[function]
    frames = [bench.random.randbytes(200) for _ in range(4)]

    def begin() -> H2cQueue:
        driver.set_up()
        ring = driver.transmit(function)
        for frame in frames:
            ring.post(frame)
        return ring

    ring = await drive(begin)
    await device.clear_master()
    await drive(ring.ring)
    await Timer(20, "us")
    assert not [tlp for tlp in bench.host.reads if tlp.requester_id.function == function]
    assert bench.block.ended == 0
    assert bench.shell.frames == []
    await device.set_master()

    def again() -> None:
        driver.clear_errors()
        ring = driver.transmit(function)
        for frame in frames:
            ring.post(frame)
        ring.ring()
        ring.drain()

    await drive(again)
    assert [frame.data for frame in bench.shell.frames] == frames
    bench.check()


async def a_function_level_reset_takes_the_queues_of_its_function_alone(dut: Any, at_once: bool) -> None:
    """Linux takes a function's bus master, and waits for its reads, before it resets it. at_once: the host does not, and
    answers come for reads that the block has ended; others begin when these have come.
    """
    bench = Bench(dut, seed=6)
    await bench.start()
    bench.disturb(0.1)
    driver = Driver(bench)
    function, other = 1, 2
    frames = [bench.random.randbytes(bench.random.randint(300, 1500)) for _ in range(40)]
    rings: dict[int, H2cQueue] = {}

    def begin() -> None:
        driver.set_up()
        for pf in (function, other):
            rings[pf] = driver.transmit(pf)
            for frame in frames:
                rings[pf].post(frame)
        for pf in (function,) if at_once else (function, other):
            rings[pf].ring()

    await drive(begin)
    await bench.until(lambda: len(bench.shell.frames) >= 4, "frames")
    device = bench.devices()[function]
    if not at_once:
        await device.clear_master()
        await bench.until(lambda: not bench.host.reads_of(function), "the answer to each read")
        await Timer(LINK_NS, "ns")
    ended = len(bench.host.reads_of(function))
    assert (ended > 0) == at_once
    control = await device.capability_read_word(PciCapId.EXP, 8)
    await device.capability_write_word(PciCapId.EXP, 8, control | 1 << 15)
    await bench.until(lambda: bench.block.in_process == 1 << function, "the reset's begin", 20_000)
    await bench.until(lambda: bench.block.in_process == 0, "the reset's end", 200_000)
    reads = len([tlp for tlp in bench.host.reads if tlp.requester_id.function == function])
    assert function in bench.shell.resets and not set(range(PFS)) - {function} & set(bench.shell.resets)
    if at_once:
        await bench.until(lambda: not bench.host.reads_of(function), "the answer to each read")
        await Timer(LINK_NS, "ns")
        await drive(rings[other].ring)
    await drive(rings[other].drain)
    taken = [frame.data for frame in bench.shell.frames if frame.queue == driver.absolute(other, 0)]
    assert taken == frames
    await device.set_master()

    def old_doorbell() -> None:
        """It is nobody's, as the function has no queues any more."""
        rings[function].ring()
        driver.link.read(function, 0, 0)

    await drive(old_doorbell)
    await Timer(5, "us")
    assert len([tlp for tlp in bench.host.reads if tlp.requester_id.function == function]) == reads
    before = len(bench.shell.frames)

    def again() -> None:
        driver.set_up(function)
        ring = driver.transmit(function)
        for frame in frames[:5]:
            ring.post(frame)
        ring.ring()
        ring.drain()

    await drive(again)
    assert [frame.data for frame in bench.shell.frames[before:]] == frames[:5]
    bench.check(*(["Invalid tag"] if at_once else []))


resets = TestFactory(a_function_level_reset_takes_the_queues_of_its_function_alone)
resets.add_option("at_once", [False, True])
resets.generate_tests()
