# SPDX-License-Identifier: Apache-2.0
"""The host: cocotbext-pcie's root complex with memory of meridian_twin behind it, which checks each request of a card."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

import cocotb
from cocotb.triggers import Timer
from cocotbext.axi import Region
from cocotbext.pcie.core import RootComplex
from cocotbext.pcie.core.tlp import Tlp
from cocotbext.pcie.core.utils import PcieId
from meridian_twin.memory import Memory

MEMORY_BASE = 0x1_0000_0000
MEMORY_SIZE = 32 << 20
PAGE = 4096
WHOLE = 0xF
#: Byte enables without a gap, of a request's first and last double word.
FIRST = {0xF, 0xE, 0xC, 0x8}
LAST = {0xF, 0x7, 0x3, 0x1}
#: In a request of one double word, PCIe allows any; the engine has no reason for a gap.
SINGLE = {((1 << count) - 1) << low for low in range(4) for count in range(1, 5 - low)}


class Answer(Enum):
    """What a read gets."""

    DATA = auto()
    UNSUPPORTED = auto()
    ABORT = auto()
    POISONED = auto()
    NOTHING = auto()
    #: Data of its first completion, then an abort. What one completion would answer wholly is aborted without data.
    CUT = auto()


@dataclass(frozen=True)
class Write:
    """A write of the card. address and data: of the bytes that are enabled."""

    function: int
    address: int
    data: bytes


class ScatteredMemory(Memory):
    """What a driver does not align is at any address: at each byte of a double word, and across borders of 4 KiB."""

    def __init__(self, size: int, base: int, rng: random.Random) -> None:
        super().__init__(size, base)
        self._random = rng
        self._blocks: dict[int, int] = {}

    def allocate(self, count: int, align: int = 64) -> int:
        if align > 64:
            return super().allocate(count, align)
        block = super().allocate(count + 2 * PAGE, PAGE)
        before = self._random.randrange(1, 1 + min(count, 200))
        address = block + self._random.choice((self._random.randrange(PAGE), PAGE - before))
        self._blocks[address] = block
        return address

    def free(self, address: int) -> None:
        super().free(self._blocks.pop(address, address))


class _Bytes(Region):
    """The memory as the root complex sees it."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory.size)
        self.memory = memory

    async def read(self, address: int, length: int, **_: object) -> bytes:
        return self.memory.read(self.memory.base + address, length)

    async def write(self, address: int, data: bytes, **_: object) -> None:
        self.memory.write(self.memory.base + address, bytes(data))


class Host(RootComplex):
    """split: completions end at a random read completion boundary. delay_ns: a read is answered after up to so long, so
    that reads are answered in any order. answer: chooses what a read gets.
    """

    def __init__(self, seed: int = 1) -> None:
        super().__init__()
        self.random = random.Random(seed)
        self.memory = ScatteredMemory(MEMORY_SIZE, MEMORY_BASE, self.random)
        self.mem_address_space.register_region(_Bytes(self.memory), MEMORY_BASE, MEMORY_SIZE)
        self.split = False
        self.delay_ns = 0
        self.answer: Callable[[Tlp], Answer] = lambda _: Answer.DATA
        self.reads: list[Tlp] = []
        self.writes: list[Write] = []
        self.open_reads = 0
        self.most_open = 0
        self.overtaken = 0  # reads that were answered before an older one
        self._order: list[Tlp] = []

    @property
    def payload_bytes(self) -> int:
        return 128 << self.max_payload_size

    @property
    def read_bytes(self) -> int:
        return 128 << self.max_read_request_size

    def reads_of(self, function: int) -> list[Tlp]:
        """Those that are not answered yet."""
        return [tlp for tlp in self._order if tlp.requester_id.function == function]

    def _check(self, tlp: Tlp, limit: int) -> None:
        """PCIe Base Specification, "Rules for Memory Requests": sizes, borders and byte enables."""
        assert 1 <= tlp.length * 4 <= limit, f"a request of {tlp.length} double words, {limit} bytes are allowed"
        assert tlp.address % PAGE + 4 * tlp.length <= PAGE, f"a request crosses 4 KiB: {tlp!r}"
        if tlp.length == 1:
            assert tlp.last_be == 0 and tlp.first_be in SINGLE, f"byte enables of one double word: {tlp!r}"
        else:
            assert tlp.first_be in FIRST and tlp.last_be in LAST, f"byte enables: {tlp!r}"
        assert tlp.requester_id.device == 0, f"the requester is another device: {tlp!r}"

    async def handle_mem_write_tlp(self, tlp: Tlp) -> None:
        self._check(tlp, self.payload_bytes)
        start = tlp.get_first_be_offset()
        data = bytes(tlp.get_data())[start : start + tlp.get_be_byte_count()]
        self.writes.append(Write(tlp.requester_id.function, tlp.address + start, data))
        await super().handle_mem_write_tlp(tlp)

    async def handle_mem_read_tlp(self, tlp: Tlp) -> None:
        self._check(tlp, self.read_bytes)
        self.reads.append(tlp)
        self._order.append(tlp)
        self.open_reads += 1
        self.most_open = max(self.most_open, self.open_reads)
        cocotb.start_soon(self._serve(tlp))

    async def _serve(self, tlp: Tlp) -> None:
        if self.delay_ns:
            await Timer(self.random.randint(1, self.delay_ns), "ns")
        answer = self.answer(tlp)
        self.overtaken += self._order[0] is not tlp
        self._order.remove(tlp)
        if answer is Answer.NOTHING:
            return
        here = PcieId(0, 0, 0)
        if answer is Answer.UNSUPPORTED or not self.memory.holds(tlp.address, 4 * tlp.length):
            await self.send(Tlp.create_ur_completion_for_tlp(tlp, here))
        elif answer is Answer.ABORT:
            await self.send(Tlp.create_ca_completion_for_tlp(tlp, here))
        else:
            await self._send_data(tlp, here, answer)
        self.open_reads -= 1

    async def _send_data(self, tlp: Tlp, here: PcieId, answer: Answer) -> None:
        data = self.memory.read(tlp.address, 4 * tlp.length)
        address, left = tlp.address + tlp.get_first_be_offset(), tlp.get_be_byte_count()
        boundary = 128 if self.read_completion_boundary else 64
        done = 0  # double words
        while done < tlp.length:
            end = self._end(tlp.address + 4 * done, tlp.address + 4 * tlp.length, boundary, answer)
            if answer is Answer.CUT and (done > 0 or end == tlp.address + 4 * tlp.length):
                await self.send(Tlp.create_ca_completion_for_tlp(tlp, here))
                return
            completion = Tlp.create_completion_data_for_tlp(tlp, here)
            completion.byte_count = left
            completion.lower_address = address & 0x7F
            completion.ep = answer is Answer.POISONED
            words = (end - tlp.address) // 4 - done
            completion.set_data(data[4 * done : 4 * (done + words)])
            await self.send(completion)
            done += words
            left -= end - address
            address = end

    def _end(self, start: int, end: int, boundary: int, answer: Answer) -> int:
        """Where a completion ends that starts there: at the request's end, or at a boundary."""
        first = (start // boundary + 1) * boundary
        furthest = (start + self.payload_bytes) // boundary * boundary
        if answer is Answer.CUT:
            return min(first, end)
        if self.split:
            return min(end, self.random.randrange(first, furthest + 1, boundary))
        return end if end - start <= self.payload_bytes else furthest
