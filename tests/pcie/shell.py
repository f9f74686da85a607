# SPDX-License-Identifier: Apache-2.0
"""The shell's side of the engine: it takes frames of the host, sends some to it, answers resets, and has registers at BAR2."""

from __future__ import annotations

import random
from collections import Counter, deque
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.triggers import Event, RisingEdge

BEAT_BYTES = 32
HAS_PAYLOAD = 3
CREDIT_CYCLES = 40_000
ALL_ONES = 0xFFFFFFFF
OKAY, REFUSED = 0, 2


@dataclass(frozen=True)
class Frame:
    """A frame from the host. queue: absolute."""

    queue: int
    data: bytes
    metadata: int
    error: bool


class Shell:
    """stall: how often, of 1, a stream stands still in a cycle."""

    def __init__(self, dut: Any, seed: int = 1) -> None:
        self.dut = dut
        self.random = random.Random(seed)
        self.stall = 0.0
        self.frames: list[Frame] = []
        self.credits = Counter[int]()  # descriptors of C2H queues that the engine has told of and no frame has used
        self.dropped = 0  # frames of which the engine has said so
        self.taken = 0
        self.resets: list[int] = []
        self.answers_resets = True
        self._packet = 0
        self._entries: deque[int] = deque()
        self._queues: deque[int] = deque()
        self._more = Event()
        for pin in (
            *("m_axis_h2c_ready", "s_axis_c2h_valid", "s_axis_c2h_cmpt_valid", "dsc_crdt_in_valid"),
            *("usr_flr_done_vld", "usr_flr_done_fnc", "tm_dsc_sts_ready"),
        ):
            self._pin(pin).setimmediatevalue(0)

    def start(self) -> None:
        """Behind the engine's reset."""
        for each in (self._take_frames(), self._take_credits(), self._send_entries(), self._watch()):
            cocotb.start_soon(each)

    def _pin(self, name: str) -> Any:
        return getattr(self.dut, f"io_qdma_{name}")

    def _stands(self) -> bool:
        return self.random.random() < self.stall

    async def _take_frames(self) -> None:
        edge, pins = RisingEdge(self.dut.clk), "m_axis_h2c_payload_"
        valid, ready = self._pin("m_axis_h2c_valid"), self._pin("m_axis_h2c_ready")
        data, last, empty = (self._pin(pins + name) for name in ("tdata", "tlast", "tuser_mty"))
        queue, zero, error, metadata = (
            self._pin(pins + f"tuser_{name}") for name in ("qid", "zero_byte", "err", "mdata")
        )
        frame, taking = b"", False
        while True:
            await edge
            if taking and int(valid.value):
                count = BEAT_BYTES - int(empty.value)
                assert count == BEAT_BYTES or int(last.value), "m_axis_h2c: a beat before the last one is not full"
                broken = bool(int(error.value))
                if not int(zero.value) and not broken:
                    frame += int(data.value).to_bytes(BEAT_BYTES, "little")[:count]
                if int(last.value):
                    self.frames.append(Frame(int(queue.value), frame, int(metadata.value), broken))
                    frame = b""
            taking = not self._stands()
            ready.value = int(taking)

    async def _take_credits(self) -> None:
        edge = RisingEdge(self.dut.clk)
        valid, ready = self._pin("tm_dsc_sts_valid"), self._pin("tm_dsc_sts_ready")
        queue, count, is_c2h, gone = (self._pin(f"tm_dsc_sts_payload_{name}") for name in ("qid", "avl", "dir", "qinv"))
        ready.value = 1
        while True:
            await edge
            if not int(valid.value):
                await RisingEdge(valid)
                continue
            if not int(is_c2h.value):
                continue
            if int(gone.value):
                self.credits[int(queue.value)] = 0
            else:
                self.credits[int(queue.value)] += int(count.value)

    async def _watch(self) -> None:
        """What the engine tells in single cycles: ends of frames, and functions that are reset."""
        status, reset = self._pin("axis_c2h_status_valid"), self._pin("usr_flr_set")
        done, which = self._pin("usr_flr_done_vld"), self._pin("usr_flr_done_fnc")
        edge, waits = RisingEdge(self.dut.clk), deque[int]()
        while True:
            await edge
            if int(status.value):
                self.taken += 1
                self.dropped += int(self._pin("axis_c2h_status_payload_drop").value)
            if int(reset.value):
                self.resets.append(int(self._pin("usr_flr_fnc").value))
                waits.append(self.resets[-1])
            answers = self.answers_resets and bool(waits)
            done.value = int(answers)
            if answers:
                which.value = waits.popleft()

    async def send(self, queue: int, data: bytes, buffer: int = 4096, credit: bool = True) -> None:
        """A frame to the host, and its completion; the shell waits for the descriptors that it needs."""
        if credit:
            need = max(1, -(-len(data) // buffer))
            await self._wait_for_credit(queue, need)
            self.credits[queue] -= need
        self._packet = self._packet + 1 & 0xFFFF
        self._entries.append(1 << 3 | len(data) << 4 | 1 << 20 | len(data) << 32 | self._packet << 48)
        self._queues.append(queue)
        self._more.set()
        for name, value in {"len": len(data), "qid": queue, "has_cmpt": 1, "marker": 0, "port_id": 0, "ecc": 0}.items():
            self._pin(f"s_axis_c2h_payload_ctrl_{name}").value = value
        for at in range(0, max(len(data), 1), BEAT_BYTES):
            part = data[at : at + BEAT_BYTES]
            self._pin("s_axis_c2h_payload_tdata").value = int.from_bytes(part, "little")
            self._pin("s_axis_c2h_payload_tcrc").value = 0
            is_last = at + BEAT_BYTES >= len(data)
            self._pin("s_axis_c2h_payload_tlast").value = int(is_last)
            self._pin("s_axis_c2h_payload_mty").value = BEAT_BYTES - len(part)
            await self._offer("s_axis_c2h")

    async def _wait_for_credit(self, queue: int, need: int) -> None:
        for _ in range(CREDIT_CYCLES):
            if self.credits[queue] >= need:
                return
            await RisingEdge(self.dut.clk)
        raise AssertionError(f"queue {queue} has {self.credits[queue]} descriptors, a frame needs {need}")

    async def _offer(self, stream: str) -> None:
        """Until the beat at the stream's pins is taken."""
        edge = RisingEdge(self.dut.clk)
        while self._stands():
            await edge
        self._pin(stream + "_valid").value = 1
        while True:
            await edge
            if int(self._pin(stream + "_ready").value):
                break
        self._pin(stream + "_valid").value = 0

    async def _send_entries(self) -> None:
        pins = "s_axis_c2h_cmpt_payload_"
        for name in ("port_id", "marker", "user_trig", "col_idx", "err_idx", "no_wrb_marker"):
            self._pin(f"{pins}ctrl_{name}").value = 0
        self._pin(pins + "size").value = 0
        self._pin(pins + "ctrl_cmpt_type").value = HAS_PAYLOAD
        while True:
            while not self._entries:
                self._more.clear()
                await self._more.wait()
            entry = self._entries.popleft()
            words = [entry >> 32 * i & ALL_ONES for i in range(16)]
            self._pin(pins + "tdata").value = entry
            self._pin(pins + "dpar").value = sum((word.bit_count() + 1) % 2 << i for i, word in enumerate(words))
            self._pin(pins + "ctrl_qid").value = self._queues.popleft()
            self._pin(pins + "ctrl_wait_pld_pkt_id").value = entry >> 48
            await self._offer("s_axis_c2h_cmpt")


class Registers:
    """An AXI4-Lite slave at the engine's BAR2. refuses: addresses that it answers with SLVERR; answers: or not at all."""

    def __init__(self, dut: Any, seed: int = 1) -> None:
        self.dut = dut
        self.random = random.Random(seed)
        self.words: dict[int, int] = {}
        self.accesses: list[tuple[int, int, int | None]] = []  # function, address, what is written
        self.refuses: set[int] = set()
        self.answers = True
        self.stall = 0.0
        for pin in ("aw_ready", "w_ready", "b_valid", "ar_ready", "r_valid"):
            self._pin(pin).setimmediatevalue(0)

    def start(self) -> None:
        """Behind the engine's reset."""
        cocotb.start_soon(self._serve_writes())
        cocotb.start_soon(self._serve_reads())

    def _pin(self, name: str) -> Any:
        return getattr(self.dut, f"io_axil_{name}")

    async def _take(self, channel: str, *pins: Any) -> list[int]:
        """The values at the pins when a channel's beat is taken."""
        edge, valid, ready = RisingEdge(self.dut.clk), self._pin(channel + "_valid"), self._pin(channel + "_ready")
        if not int(valid.value):
            await RisingEdge(valid)
        while not self.answers or self.random.random() < self.stall:
            await edge
        ready.value = 1
        while True:
            await edge
            if int(valid.value):
                break
        ready.value = 0
        return [int(pin.value) for pin in pins]

    async def _give(self, channel: str) -> None:
        edge, valid, ready = RisingEdge(self.dut.clk), self._pin(channel + "_valid"), self._pin(channel + "_ready")
        while self.random.random() < self.stall:
            await edge
        valid.value = 1
        while True:
            await edge
            if int(ready.value):
                break
        valid.value = 0
        await edge

    async def _serve_writes(self) -> None:
        while True:
            address, user = await self._take("aw", self._pin("aw_payload_addr"), self.dut.io_awuser)
            data, strobe = await self._take("w", self._pin("w_payload_data"), self._pin("w_payload_strb"))
            assert strobe == 0xF, f"BAR2: strobes {strobe:#x}"
            self.accesses.append((user & 0xFF, address, data))
            refused = address in self.refuses
            if not refused:
                self.words[address] = data
            self._pin("b_payload_resp").value = REFUSED if refused else OKAY
            await self._give("b")

    async def _serve_reads(self) -> None:
        while True:
            address, user = await self._take("ar", self._pin("ar_payload_addr"), self.dut.io_aruser)
            self.accesses.append((user & 0xFF, address, None))
            self._pin("r_payload_resp").value = REFUSED if address in self.refuses else OKAY
            self._pin("r_payload_data").value = self.words.get(address, 0)
            await self._give("r")
