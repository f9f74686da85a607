# SPDX-License-Identifier: Apache-2.0
"""MSI-X messages: where they are written, what they carry, and what masks do."""

from __future__ import annotations

from typing import Any

import cocotb
from bench import Bench
from cocotb.triggers import Timer
from cocotbext.pcie.core.caps import PciCapId
from driver import PFS, Driver
from host import Host
from link import drive
from meridian_twin.qdma import InterruptRing

VECTOR = 5
QUIET_NS = 5_000


class Messages:
    """Each vector of each function has an address and a value of its own, in the host's memory."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.base = host.memory.allocate(4096, 4096)

    def address(self, function: int, vector: int) -> int:
        return self.base + 4 * (16 * function + vector)

    @staticmethod
    def value(function: int, vector: int) -> int:
        return 0xC0DE0000 + 256 * function + vector

    def set(self, driver: Driver, function: int, vector: int, masked: bool = False) -> None:
        driver.set_vector(function, vector, self.address(function, vector), self.value(function, vector), masked)

    def sent(self) -> list[tuple[int, int]]:
        """Function and vector of each message, in order; a message has four bytes, and its vector's value."""
        found = []
        for write in self.host.writes:
            place = write.address - self.base
            if not 0 <= place < 4096:
                continue
            function, vector = divmod(place // 4, 16)
            assert write.data == self.value(function, vector).to_bytes(4, "little"), write
            assert write.function == function, write
            found.append((function, vector))
        return found


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def a_completion_gives_a_message_of_its_function_behind_the_status_entry(dut: Any) -> None:
    bench = Bench(dut, seed=2)
    await bench.start()
    bench.disturb(0.2)
    driver, messages = Driver(bench), Messages(bench.host)
    rings: list[Any] = []

    def begin() -> None:
        driver.set_up()
        for pf in range(PFS):
            for vector in range(16):
                messages.set(driver, pf, vector)
            rings.append(driver.receive(pf, 0, c2h_irq=True, vector=VECTOR + pf))

    await drive(begin)
    for device in bench.devices():
        await device.msix_set_enable(True)
    for pf in range(PFS):
        before = len(bench.host.writes)
        await bench.shell.send(driver.absolute(pf, 0), bench.random.randbytes(60))
        await bench.until(lambda pf=pf: len(messages.sent()) > pf, f"the message of PF {pf}")
        status = rings[pf].completion_base + 8 * (rings[pf].setting.completions - 1)
        places = [write.address for write in bench.host.writes[before:]]
        assert places.index(status) < places.index(messages.address(pf, VECTOR + pf))
        assert len(await drive(rings[pf].poll)) == 1
    await Timer(QUIET_NS, "ns")
    assert messages.sent() == [(pf, VECTOR + pf) for pf in range(PFS)]
    bench.check()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def masked_vectors_are_pending_until_they_are_not_masked(dut: Any) -> None:
    """By the vector's mask, by the function's, and by MSI-X Enable."""
    bench = Bench(dut, seed=3)
    await bench.start()
    driver, messages = Driver(bench), Messages(bench.host)
    rings: list[Any] = []
    function = 2
    device = bench.devices()[function]

    def begin() -> None:
        driver.set_up(function)
        messages.set(driver, function, VECTOR, masked=True)
        rings.append(driver.receive(function, 0, c2h_irq=True, vector=VECTOR))

    async def control(enable: bool, mask: bool) -> None:
        word = await device.capability_read_word(PciCapId.MSIX, 2)
        await device.capability_write_word(PciCapId.MSIX, 2, word & 0x3FFF | enable << 15 | mask << 14)

    async def asked_for() -> None:
        """A frame that asks for the vector, of which no message may come."""
        await bench.shell.send(driver.absolute(function, 0), bytes(60))
        before = messages.sent()
        await Timer(QUIET_NS, "ns")
        assert messages.sent() == before, "a masked vector is sent"
        assert await drive(driver.pending, function) == 1 << VECTOR
        assert len(await drive(rings[0].poll)) == 1

    async def is_sent(count: int) -> None:
        await bench.until(lambda: len(messages.sent()) == count, f"message {count}")
        assert await drive(driver.pending, function) == 0

    await drive(begin)
    await control(enable=True, mask=False)
    await asked_for()
    await drive(driver.mask_vector, function, VECTOR, False)
    await is_sent(1)
    await control(enable=True, mask=True)
    await asked_for()
    await control(enable=True, mask=False)
    await is_sent(2)
    await control(enable=False, mask=False)
    await asked_for()
    await control(enable=True, mask=False)
    await is_sent(3)
    assert messages.sent() == 3 * [(function, VECTOR)]
    bench.check()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def an_interrupt_ring_tells_which_queues_have_frames(dut: Any) -> None:
    bench = Bench(dut, seed=5)
    await bench.start()
    bench.disturb(0.2)
    driver, messages = Driver(bench), Messages(bench.host)
    function, number = 1, 6
    rings: dict[int, Any] = {}

    def begin() -> InterruptRing:
        driver.set_up(function)
        messages.set(driver, function, VECTOR)
        ring = InterruptRing(driver.contexts, number, function, VECTOR, driver.memory)
        for queue in range(3):
            rings[queue] = driver.receive(function, queue, c2h_irq=True, vector=number, aggregate=True)
        return ring

    ring = await drive(begin)
    await bench.devices()[function].msix_set_enable(True)
    for round_ in range(4):
        for queue in rings:
            await bench.shell.send(driver.absolute(function, queue), bench.random.randbytes(64))
        seen: set[int] = set()
        for _ in range(20):
            seen |= {entry.queue for entry in await drive(ring.poll) if entry.is_c2h}
            if len(seen) == len(rings):
                break
            await Timer(1, "us")
        assert seen == {driver.absolute(function, queue) for queue in rings}, f"round {round_}"
        for queue, each in rings.items():
            assert len(await drive(each.poll)) == 1, f"queue {queue}"
    first = [write.address for write in bench.host.writes].index(messages.address(function, VECTOR))
    assert any(ring.base <= write.address < ring.base + 8 for write in bench.host.writes[:first])
    assert messages.sent() and set(messages.sent()) == {(function, VECTOR)}
    bench.check()
