# SPDX-License-Identifier: Apache-2.0
"""Xilinx's kernel driver qdma-pf, one stream queue, mode auto: polled transmit, receive by an aggregation ring."""

from __future__ import annotations

from meridian_twin.contexts import Operation, Select
from meridian_twin.mailbox import Mailbox

from .device import Device, RxRing, TxRing, xilinx_length
from .xilinx import C2H, H2C, enable_errors, identify, scrub, set_defaults

RING_INDEX = 6  # 513
COMPLETION_INDEX = 7  # 769, the next larger
DATA_VECTOR = 3  # after mailbox, user and error
INTERRUPT_RING = 0


class QdmaPf:
    def __init__(self, device: Device, version: str) -> None:
        self.device = device
        self.version = version

    def probe(self) -> None:
        device = self.device
        queues = identify(device, self.version)
        self.events = device.memory.allocate(4096, 4096)
        scrub(device, queues)
        set_defaults(device, self.version)
        device.clear(INTERRUPT_RING, Select.INTERRUPT_RING)
        device.context(
            Select.INTERRUPT_RING, INTERRUPT_RING, valid=1, vector=DATA_VECTOR, color=1, base_4k=self.events >> 12
        )
        self.event_cidx, self.event_color = 0, 1
        enable_errors(device, vector=2)
        mailbox = Mailbox(device.link, device.function)
        mailbox.clear()
        mailbox.enable_interrupt(0)

    def start_queue(self, queue: int = 0) -> None:
        device = self.device
        device.context(Select.FMAP, device.function, base=0, count=8)
        self.tx = TxRing(device, queue, 513, lambda length: 13 | length << 16)
        self.rx = RxRing(device, queue, 513, 769, 4096)
        interrupt = {"vector": INTERRUPT_RING, "aggregate": 1}
        device.clear(queue, *H2C)
        device.context(
            Select.SW_H2C,
            queue,
            enable=1,
            write_back_pending=1,
            write_back_interval=1,
            ring_size_index=RING_INDEX,
            descriptor_size=1,
            write_back=1,
            irq_enable=1,
            irq_arm=1,
            marker_disable=1,
            base=self.tx.base,
            **interrupt,
        )
        device.clear(queue, *C2H)
        device.context(
            Select.SW_C2H, queue, enable=1, fetch_credit=1, ring_size_index=RING_INDEX, base=self.rx.base, **interrupt
        )
        device.context(Select.PREFETCH, queue, buffer_size_index=0, enable=1, valid=1)
        device.context(
            Select.COMPLETION,
            queue,
            status_enable=1,
            irq_enable=1,
            trigger=1,
            color=1,
            ring_size_index=COMPLETION_INDEX,
            base_high=self.rx.completion_base >> 6,
            valid=1,
            is_c2h=1,
            **interrupt,
        )
        self.arm()
        device.doorbell(queue, 8, 513 - 2)

    def arm(self) -> None:
        self.device.doorbell(self.rx.queue, 12, self.rx.cidx | 1 << 24 | 1 << 27 | 1 << 28)

    def transmit(self, frame: bytes) -> None:
        self.tx.send(frame, flags=3)
        self.tx.ring(arm=True)
        self.tx.drain()

    def handle_interrupt(self) -> list[bytes]:
        """Entries until the colour differs; receive queues are worked on, transmit is polled anyway."""
        device, frames = self.device, []
        while (entry := device.memory.word(self.events + 8 * self.event_cidx, 8)) >> 63 == self.event_color:
            assert entry >> 39 & 0xFFFFFF == self.tx.queue, "desc not found"
            self.event_cidx = (self.event_cidx + 1) % 512
            self.event_color ^= int(self.event_cidx == 0)
            if entry >> 38 & 1:
                frames += self.rx.take_by_color(xilinx_length)
                device.doorbell(self.rx.queue, 8, (self.rx.next + 511) % 512)
                self.arm()
        device.doorbell(self.rx.queue, 0, self.event_cidx | INTERRUPT_RING << 16)
        return frames

    def stop_queue(self) -> None:
        self.device.invalidate(self.tx.queue, *H2C)
        self.device.invalidate(self.rx.queue, *C2H)

    def remove(self) -> None:
        Mailbox(self.device.link, self.device.function).enable_interrupt(0, on=False)
        self.device.invalidate(INTERRUPT_RING, Select.INTERRUPT_RING)
        self.device.command(Operation.CLEAR, Select.FMAP, self.device.function)
