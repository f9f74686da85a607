# SPDX-License-Identifier: Apache-2.0
"""Accesses of BAR0 and BAR2 of any size, at any byte, while all streams stand still now and then."""

from __future__ import annotations

from typing import Any

import cocotb
from bench import LONG, Bench
from cocotb.triggers import Timer
from cocotbext.pcie.core.tlp import CplStatus, Tlp, TlpType
from driver import ALL_ONES, PFS, REQUEST_ERRORS

RING_SIZES, TIMERS, BUFFER_SIZES = 0x204, 0xA00, 0xAB0
PARTLY_WRITTEN, UNANSWERED = 1 << 0, 1 << 7
HANG_NS = 40_000


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def reads_of_any_size_have_the_bytes_of_the_words(dut: Any) -> None:
    """The root complex checks byte count, lower address, tag and length of each completion, and that they end in order."""
    bench = Bench(dut)
    await bench.start(rcb_128=True)
    bench.disturb(0.3)
    base = bench.devices()[1].bar_addr[0]
    table = bytes(bench.random.randrange(256) for _ in range(0x1C00))
    # Registers that keep what is written to them; the host's writes have at most 128 bytes each.
    for at in (RING_SIZES, TIMERS, BUFFER_SIZES):
        words = b"".join(bytes((*table[at + 4 * i : at + 4 * i + 2], 0, 0)) for i in range(16))
        await bench.host.mem_write(base + at, words)
        for _ in range(60 if LONG else 12):
            start = bench.random.randrange(64)
            count = bench.random.randint(1, 64 - start)
            data = await bench.host.mem_read(base + at + start, count, 60_000, "ns")
            assert data == words[start : start + count], f"{count} bytes from {at + start:#x} on"
    # More than one completion: each ends at 128 bytes.
    whole = await bench.host.mem_read(base + 0x180, 0x200, 60_000, "ns")
    for start, count in ((0, 1), (3, 130), (0x7F, 3), (0x7D, 0x103), (1, 0x1FE)):
        data = await bench.host.mem_read(base + 0x180 + start, count, 60_000, "ns")
        assert data == whole[start : start + count], f"{count} bytes from {start:#x} on"
    assert await bench.host.mem_read(base, 0, 60_000, "ns") == b""
    bench.check()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def words_that_are_written_in_part_keep_their_values_and_are_reported(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    bench.disturb(0.2)
    base = bench.devices()[0].bar_addr[0]
    words = [bench.random.randrange(1, 1 << 16) for _ in range(16)]

    async def errors() -> int:
        return int.from_bytes(await bench.host.mem_read(base + REQUEST_ERRORS, 4, 60_000, "ns"), "little")

    await bench.host.mem_write(base + RING_SIZES, b"".join(word.to_bytes(4, "little") for word in words))
    for _ in range(40 if LONG else 10):
        start = bench.random.randrange(60)
        count = bench.random.randint(1, 64 - start)
        data = bytearray(bench.random.randrange(256) for _ in range(count))
        for at in range(count):
            data[at] &= 0xFF if (start + at) % 4 < 2 else 0
        await bench.host.mem_write(base + RING_SIZES + start, bytes(data))
        first, last = -(-start // 4), (start + count) // 4
        for word in range(first, last):
            words[word] = int.from_bytes(data[4 * word - start : 4 * word - start + 4], "little")
        read = await bench.host.mem_read(base + RING_SIZES, 64, 60_000, "ns")
        assert [int.from_bytes(read[4 * i : 4 * i + 4], "little") for i in range(16)] == words, (start, count)
        partly = start % 4 != 0 or (start + count) % 4 != 0
        assert await errors() == (PARTLY_WRITTEN if partly else 0), (start, count)
        await bench.host.mem_write(base + REQUEST_ERRORS, ALL_ONES.to_bytes(4, "little"))
    # Without any byte nothing happens.
    await bench.host.mem_write(base + RING_SIZES, b"")
    assert await errors() == 0
    bench.check()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def registers_of_the_shell_are_reached_by_each_function(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    bench.disturb(0.3)
    registers, expected = bench.registers, dict[int, int]()
    registers.refuses = {0x3FFFFC}
    for _ in range(100 if LONG else 25):
        function, address = bench.random.randrange(PFS), 4 * bench.random.randrange(1 << 20)
        if expected and bench.random.random() < 0.6:
            address = bench.random.choice(list(expected))
        at = bench.devices()[function].bar_addr[2] + address
        if bench.random.random() < 0.5:
            value = bench.random.randrange(1 << 32)
            await bench.host.mem_write(at, value.to_bytes(4, "little"))
            if address not in registers.refuses:
                expected[address] = value
            want: tuple[int, int, int | None] = (function, address, value)
            await bench.host.mem_read(bench.devices()[0].bar_addr[0], 4, 60_000, "ns")
        else:
            data = await bench.host.mem_read(at, 4, 60_000, "ns")
            assert int.from_bytes(data, "little") == expected.get(address, 0)
            want = (function, address, None)
        assert registers.accesses[-1] == want
    refused = await bench.host.mem_read(bench.devices()[0].bar_addr[2] + 0x3FFFFC, 4, 60_000, "ns")
    assert refused == b"\xff" * 4
    assert registers.words == expected
    bench.check()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def a_shell_that_does_not_answer_holds_bar0_up_once(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    device = bench.devices()[2]
    await bench.host.mem_write(device.bar_addr[2] + 0x100, bytes(4))
    assert await bench.host.mem_read(device.bar_addr[2] + 0x100, 4, 60_000, "ns") == bytes(4)
    bench.registers.answers = False
    assert await bench.host.mem_read(device.bar_addr[2] + 0x100, 4, 2 * HANG_NS, "ns") == b"\xff" * 4
    for bar, want in ((2, b"\xff" * 4), (0, (0x1FD30000).to_bytes(4, "little"))):
        assert await bench.host.mem_read(device.bar_addr[bar], 4, 2_000, "ns") == want
    error = await bench.host.mem_read(device.bar_addr[0] + REQUEST_ERRORS, 4, 2_000, "ns")
    assert int.from_bytes(error, "little") == UNANSWERED
    bench.check()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def traffic_class_and_attributes_of_a_read_come_back(dut: Any) -> None:
    """And so do the identities of who asks and who answers."""
    bench = Bench(dut)
    await bench.start()
    for function, (tc, attr) in enumerate(((0, 0), (3, 2), (7, 5), (5, 7))):
        request = Tlp()
        request.fmt_type = TlpType.MEM_READ_64
        request.tc, request.attr = tc, attr
        request.set_addr_be(bench.devices()[function].bar_addr[0] + 0x12C, 4)
        (completion,) = await bench.host.perform_nonposted_operation(request, 20_000, "ns")
        assert completion.status == CplStatus.SC
        assert (completion.tc, completion.attr) == (tc, attr)
        assert completion.requester_id == request.requester_id
        assert completion.completer_id == bench.devices()[function].pcie_id
        assert bytes(completion.get_data()) == function.to_bytes(4, "little")
    await Timer(100, "ns")
    bench.check()
