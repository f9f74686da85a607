# SPDX-License-Identifier: Apache-2.0
"""OpenNIC's kernel driver on PF 0."""

from __future__ import annotations

from meridian_twin.contexts import Operation, Select

from .device import Device, RxRing, TxRing, opennic_length

RINGS = (4096, 64, 128, 192, 256, 384, 512, 768, 1024, 1536, 3072, 4096, 6144, 8192, 12288, 16384)
TIMERS = (10, 2, 4, 5, 8, 10, 15, 20, 25, 30, 50, 75, 100, 125, 150, 200)
COUNTERS = (64, 2, 4, 8, 16, 24, 32, 48, 80, 96, 112, 128, 144, 160, 176, 192)
BUFFERS = (4096, 256, 512, 1024, 2048, 3968, *[4096] * 7, 8192, 9018, 16384)
LEAVES = {0x258: 0x01F9037E, 0x268: 0xB3, 0xAF4: 0x3F6DF, 0xAFC: 0x1FDF1B, 0xE04: 0x3F}
CMACS = ((0x8000, 0x10), (0xC000, 0x100))
MOST_POLLS = 1000  # the driver itself polls for ever


class Onic:
    def __init__(self, device: Device, queues: int) -> None:
        self.device = device
        self.queues = queues
        self.tx: list[TxRing] = []
        self.rx: list[RxRing] = []

    def probe(self) -> None:
        device = self.device
        device.command(Operation.CLEAR, Select.FMAP, 0)
        device.context_by_word(Select.FMAP, 0, base=0, count=self.queues)
        device.write(0x1000, self.queues, bar=2)
        for entry in range(128):
            device.write(0x1400 + 4 * entry, entry % self.queues, bar=2)
        device.table(0x204, RINGS)
        device.table(0xA00, TIMERS)
        device.table(0xA40, COUNTERS)
        device.table(0xAB0, BUFFERS)
        device.write(0x250, 6 << 3)
        depth = device.read(0xBE0)
        assert depth & 0xFF == 0x40
        device.write(0xB08, depth // 2 << 16 | depth // 2)
        device.write(0xB0C, 25)
        assert device.read(0xBE4) & 0xFF == 0x20
        device.write(0xB50, device.read(0xBE4) << 26 | 25 << 14 | 5 << 2)
        device.write(0xE24, 1 << 18 | 0x4000)
        self.enable_macs()
        device.write(0xB04, 9 << 12)
        for mask, value in LEAVES.items():
            device.write(mask, value)
            device.write(0x24C, device.read(0x24C) | 0x1FFFF)
        device.write(0xB04, 9 << 12 | 1 << 24)
        assert device.read(0x248) == 0

    def enable_macs(self) -> int:
        found = 0
        for base, reset in CMACS:
            if self.device.read(base + 0x24, bar=2) != 0x301:
                break
            found += 1
            self.device.write(0xC, reset, bar=2)
            assert any(self.device.read(0x10, bar=2) & reset for _ in range(MOST_POLLS)), "the driver hangs here"
            self.device.write(base + 0x14, 1, bar=2)
            self.device.write(base + 0x0C, 0x10, bar=2)
            self.device.write(base + 0x0C, 1, bar=2)
            for register in (0x84, 0x88, *range(0x30, 0x5C, 4)):
                self.device.write(base + register, 0, bar=2)
        assert found >= 1
        self.device.read(0x8204, bar=2)
        assert self.device.read(0x8204, bar=2) == 3, "no link"
        return found

    def open(self) -> None:
        device = self.device
        for queue in range(self.queues):
            tx = TxRing(device, queue, RINGS[0], lambda length: length)
            device.clear(queue, Select.SW_H2C)
            device.context_by_word(
                Select.SW_H2C,
                queue,
                enable=1,
                write_back_pending=1,
                write_back_interval=1,
                descriptor_size=1,
                write_back=1,
                base=tx.base,
            )
            device.clear(queue, Select.HW_H2C, Select.CREDIT_H2C)
            self.tx.append(tx)
        for queue in range(self.queues):
            rx = RxRing(device, queue, RINGS[8], RINGS[8], 4096)
            device.clear(queue, Select.SW_C2H)
            device.context_by_word(
                Select.SW_C2H, queue, enable=1, fetch_credit=1, ring_size_index=8, write_back=1, base=rx.base
            )
            device.clear(queue, Select.HW_C2H, Select.CREDIT_C2H, Select.PREFETCH)
            device.context_by_word(Select.PREFETCH, queue, buffer_size_index=8, enable=1, valid=1)
            device.clear(queue, Select.COMPLETION)
            device.context_by_word(
                Select.COMPLETION,
                queue,
                status_enable=1,
                irq_enable=1,
                trigger=5,
                color=1,
                ring_size_index=8,
                base_high=rx.completion_base >> 6,
                valid=1,
                vector=queue,
            )
            device.doorbell(queue, 8, 256)
            self.posted = 256
            self.rx.append(rx)
            self.arm(queue)

    def arm(self, queue: int) -> None:
        self.device.doorbell(queue, 12, self.rx[queue].cidx | 5 << 24 | 1 << 27 | 1 << 28)

    def transmit(self, queue: int, frame: bytes) -> None:
        self.tx[queue].send(frame.ljust(60, b"\0"))
        self.tx[queue].ring()

    def napi(self, queue: int, budget: int = 64) -> list[bytes]:
        """Reads the status once; all done within the budget arms the interrupt again."""
        rx = self.rx[queue]
        pidx, frames = rx.status_pidx(), []
        while rx.cidx != pidx and len(frames) < budget:
            frames.append(rx.take(opennic_length))
        rx.device.doorbell(queue, 8, (rx.next + 256) % (rx.entries - 1))
        if len(frames) < budget:
            self.arm(queue)
        return frames

    def stop(self) -> None:
        for queue in range(self.queues):
            self.device.invalidate(queue, Select.SW_H2C, Select.HW_H2C, Select.CREDIT_H2C)
            self.device.invalidate(
                queue, Select.SW_C2H, Select.HW_C2H, Select.CREDIT_C2H, Select.PREFETCH, Select.COMPLETION
            )
        self.tx.clear()
        self.rx.clear()

    def remove(self) -> None:
        self.device.write(0x1000, 0, bar=2)
        self.device.command(Operation.CLEAR, Select.FMAP, 0)
