# SPDX-License-Identifier: Apache-2.0
"""Frames from the shell to host memory: buffers, completion entries with their colour, status entries, and their order."""

from __future__ import annotations

from typing import Any

import cocotb
from bench import LONG, Bench
from cocotb.regression import TestFactory
from driver import PFS, Driver, ShiftedC2hQueue
from link import drive

LENGTHS = (60, 1, 4, 31, 32, 33, 64, 127, 129, 255, 256, 257, 511, 513, 1024, 1500, 4097)
BUFFER = 512
#: Maximum payload size of PCIe's Device Control register, and the byte at which buffers begin.
PLACES = [(0, 1), (1, 0), (2, 13)]
ALL_PLACES = [(payload, shift) for payload in range(3) for shift in (0, 1, 2, 3, 4, 13, 31, 62)]


def check_order(bench: Bench, ring: ShiftedC2hQueue) -> None:
    """No entry is written ahead of its frame's last byte, and no status entry tells of an entry that has not come."""
    entries = range(ring.completion_base, ring.completion_base + 8 * (ring.setting.completions - 1))
    arrived, told, bytes_due = 0, 0, 0
    for write in bench.host.writes:
        if ring._buffers <= write.address < ring._buffers + ring.setting.ring * ring._size:
            bytes_due += len(write.data)
        elif write.address in entries:
            arrived += 1
            bytes_due -= int.from_bytes(write.data, "little") >> 32 & 0xFFFF
            assert bytes_due >= 0, f"completion {arrived} is ahead of its payload"
        elif write.address == entries.stop:
            told = int.from_bytes(write.data[:2], "little")
            assert told == arrived % (ring.setting.completions - 1), f"{told} are told of, {arrived} have come"
    assert arrived > 0 and bytes_due == 0


async def frames_of_any_length_arrive_in_buffers_at_any_address(dut: Any, place: tuple[int, int]) -> None:
    payload, shift = place
    bench = Bench(dut, seed=10 * payload + shift)
    await bench.start(payload, 2)
    bench.disturb(0.2)
    driver = Driver(bench)
    frames = [bench.random.randbytes(length) for length in LENGTHS * 2]
    bench.random.shuffle(frames)
    function = 1
    rings: list[ShiftedC2hQueue] = []
    received: list[bytes] = []

    def begin() -> None:
        driver.set_up(function)
        rings.append(driver.receive(function, 3, shift=shift, buffer=BUFFER))

    def arrived() -> bool:
        """An entry may be there before the status entry tells of it, so time has to pass where there is none."""
        polled = rings[0].poll()
        received.extend(polled)
        return bool(polled)

    def collect() -> None:
        while len(received) < len(frames):
            driver.link.wait(arrived, f"a frame behind {len(received)} of {len(frames)}")

    await drive(begin)
    number = driver.absolute(function, 3)

    async def send() -> None:
        for frame in frames:
            await bench.shell.send(number, frame, BUFFER)

    sender = cocotb.start_soon(send())
    await drive(collect)
    await sender
    assert received == frames
    assert bench.shell.dropped == 0
    check_order(bench, rings[0])
    assert {write.function for write in bench.host.writes} == {function}
    bench.check()


factory = TestFactory(frames_of_any_length_arrive_in_buffers_at_any_address)
factory.add_option("place", ALL_PLACES if LONG else PLACES)
factory.generate_tests()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def colours_turn_at_the_end_of_a_completion_ring(dut: Any) -> None:
    """In both directions at once, and for all functions; the completion ring goes over its end more than once."""
    bench = Bench(dut, seed=4)
    await bench.start(1, 2)
    bench.disturb(0.1)
    driver = Driver(bench)
    count = 300 if LONG else 150
    rings: dict[int, ShiftedC2hQueue] = {}
    received: dict[int, list[bytes]] = {pf: [] for pf in range(PFS)}
    frames = {pf: [bench.random.randbytes(bench.random.randint(60, 200)) for _ in range(count)] for pf in (0, 3)}

    def begin() -> None:
        driver.set_up()
        for pf in frames:
            rings[pf] = driver.receive(pf, 1)

    def collect() -> None:
        transmit = {pf: driver.transmit(pf, 2) for pf in frames}
        while any(len(received[pf]) < count for pf in frames):
            for pf, ring in rings.items():
                for frame in ring.poll():
                    received[pf].append(frame)
                    driver.link.wait(lambda pf=pf: transmit[pf].room() > 0, "room to transmit")
                    transmit[pf].post(frame)
                transmit[pf].ring()
            driver.link.read(0, 0, 0)
        for ring in transmit.values():
            ring.drain()

    await drive(begin)

    async def send() -> None:
        for index in range(count):
            for pf, of_pf in frames.items():
                await bench.shell.send(driver.absolute(pf, 1), of_pf[index])

    sender = cocotb.start_soon(send())
    await drive(collect)
    await sender
    for pf, of_pf in frames.items():
        assert received[pf] == of_pf, f"PF {pf}"
        taken = [frame.data for frame in bench.shell.frames if frame.queue == driver.absolute(pf, 2)]
        assert taken == of_pf, f"PF {pf}, back to the shell"
    bench.check()
