# SPDX-License-Identifier: Apache-2.0
"""Xilinx's VF drivers: the kernel's qdma-vf (receive by an aggregation ring) and DPDK's (pure polling)."""

from __future__ import annotations

from meridian_twin import QueueSetting, Trigger
from meridian_twin.mailbox import Mailbox, Message, Op, QueueRequest, QueueType, place

from .device import Device, RxRing, TxRing, xilinx_length

DATA_VECTOR = 2  # after mailbox and user


class QdmaVf:
    """aggregated: the kernel's; else DPDK's."""

    def __init__(self, device: Device, aggregated: bool) -> None:
        self.device = device
        self.aggregated = aggregated
        self.number = 0

    def ask(self, op: Op, *fields: tuple[int, str, int]) -> Message:
        return self.mailbox.ask(Message(op, 0, self.number, 0, place(*fields)))

    def probe(self) -> None:
        assert self.device.read(0x1014) >> 16 != 0x1FD3, "taken for an old device"
        assert self.device.read(0x5014) >> 16 == 0x1FD3
        self.mailbox = Mailbox(self.device.link, self.device.function)
        self.mailbox.clear()
        self.mailbox.enable_interrupt(0)
        hello = self.ask(Op.HELLO)
        self.number = hello.destination
        assert self.number == self.device.function
        assert hello.field(20, "B") >> 1 & 1, "no streams"
        assert self.device.read(0x5018) & 0x3F == 1 << 2

    def configure(self) -> None:
        granted = self.ask(Op.QUEUE_REQUEST, (8, "i", -1), (12, "I", 1))
        self.base, count = granted.field(8, "i"), granted.field(12, "I")
        assert count == 1
        self.ask(Op.FMAP, (8, "i", self.base), (12, "I", count))
        tables = self.ask(Op.CSR)
        assert 513 in [tables.field(6 + 2 * i, "H") for i in range(16)]
        assert 2048 in [tables.field(38 + 2 * i, "H") for i in range(16)]

    def start(self) -> None:
        device = self.device
        for kind in (QueueType.H2C, QueueType.C2H):
            self.ask(Op.QUEUE_ADD, (6, "H", self.base), (8, "I", kind))
        self.tx = TxRing(device, 0, 513, lambda length: length << 16)
        self.rx = RxRing(device, 0, 513, 1025, 2048)
        if self.aggregated:
            self.events = device.memory.allocate(4096, 4096)
            self.ask(
                Op.RING_WRITE,
                (8, "B", 1),
                (12, "I", self.number),
                (16, "Q", self.events),
                (24, "H", DATA_VECTOR),
                (28, "B", 1),
                (30, "B", 1),
                (42, "H", self.number),
            )
        self.setting = QueueSetting(
            ring=513,
            completions=1025,
            buffer=2048,
            trigger=Trigger.EVERY if self.aggregated else Trigger.USER_TIMER,
            c2h_irq=self.aggregated,
            aggregate=self.aggregated,
            vector=self.number if self.aggregated else 0,
            prefetch=self.aggregated,
        )
        for is_c2h, base, completions in (
            (False, self.tx.base, 0),
            (True, self.rx.base, self.rx.completion_base),
        ):
            self.ask(Op.CONTEXT_CLEAR, (6, "H", self.base), (8, "B", 1 | is_c2h << 1))
            request = QueueRequest(self.base, is_c2h, self.number, base, completions, self.setting)
            self.mailbox.ask(Message(Op.CONTEXT_WRITE, 0, self.number, 0, request.pack()))
        self.tell()
        device.doorbell(0, 8, 511)

    def tell(self) -> None:
        word = self.setting.trigger << 24 | 1 << 27 | self.aggregated << 28
        self.device.doorbell(0, 12, self.rx.cidx | 7 << 16 | 3 << 20 | word)

    def transmit(self, frame: bytes) -> None:
        self.tx.send(frame, flags=3)
        self.tx.ring()
        self.tx.drain()

    def receive(self) -> list[bytes]:
        device = self.device
        if self.aggregated:
            entry = device.memory.word(self.events, 8)
            assert entry >> 63 == 1
            assert entry >> 39 & 0xFFFFFF == self.base, "desc not found"
            device.doorbell(0, 0, 1 | self.number << 16)
            frames = self.rx.take_by_color(xilinx_length)
        else:
            frames = self.rx.take_by_status(xilinx_length)
        if frames:
            device.doorbell(0, 8, (self.rx.next + 511) % 512)
            self.tell()
        return frames

    def close(self) -> None:
        for is_c2h in (False, True):
            self.ask(Op.CONTEXT_INVALIDATE, (6, "H", self.base), (8, "B", 1 | is_c2h << 1))
        for kind in (QueueType.H2C, QueueType.C2H):
            self.ask(Op.QUEUE_DELETE, (6, "H", self.base), (8, "I", kind))
        counts = self.ask(Op.ACTIVE_COUNT)
        assert [counts.field(at, "I") for at in (8, 12)] == [0, 0]
        self.mailbox.send(Message(Op.VF_BYE, 0, self.number, 0))
