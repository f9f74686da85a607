# SPDX-License-Identifier: Apache-2.0
"""Xilinx's DPDK driver on a PF: pure polling, 512 descriptors, buffers of 2048 bytes."""

from __future__ import annotations

from meridian_twin.contexts import Operation, Select

from .device import Device, RxRing, TxRing, xilinx_length
from .xilinx import C2H, H2C, enable_errors, identify, scrub, set_defaults

DESCRIPTORS = 512
BUFFER = 2048
THRESHOLD = 64  # completions
TIMER = 50


class DpdkPf:
    def __init__(self, device: Device, version: str) -> None:
        self.device = device
        self.version = version

    def probe(self) -> None:
        queues = identify(self.device, self.version)
        set_defaults(self.device, self.version)
        scrub(self.device, queues)
        enable_errors(self.device, vector=None)

    def configure(self, queues: int = 1) -> None:
        self.device.context(Select.FMAP, self.device.function, base=0, count=queues)

    def set_up_queue(self, queue: int = 0) -> None:
        """Looks the sizes up in the tables, and fails where they are not."""
        device = self.device
        tables = {base: [device.read(base + 4 * i) for i in range(16)] for base in (0x204, 0xAB0, 0xA00, 0xA40)}
        self.ring_index = tables[0x204].index(DESCRIPTORS + 1)
        self.completion_index = tables[0x204].index(2 * DESCRIPTORS + 1)
        self.buffer_index = tables[0xAB0].index(BUFFER)
        self.timer_index = tables[0xA00].index(TIMER)
        self.counter_index = tables[0xA40].index(THRESHOLD)
        self.tx = TxRing(device, queue, DESCRIPTORS + 1, lambda length: length << 16)
        self.rx = RxRing(device, queue, DESCRIPTORS + 1, 2 * DESCRIPTORS + 1, BUFFER)

    def start(self) -> None:
        device, queue = self.device, self.tx.queue
        device.clear(queue, *H2C)
        device.context(
            Select.SW_H2C,
            queue,
            function=device.function,
            enable=1,
            write_back_pending=1,
            write_back_interval=1,
            ring_size_index=self.ring_index,
            descriptor_size=1,
            write_back=1,
            base=self.tx.base,
        )
        device.doorbell(queue, 4, 0)
        device.clear(queue, *C2H)
        device.context(
            Select.SW_C2H,
            queue,
            function=device.function,
            enable=1,
            fetch_credit=1,
            ring_size_index=self.ring_index,
            write_back=1,
            base=self.rx.base,
        )
        device.context(Select.PREFETCH, queue, buffer_size_index=self.buffer_index, valid=1)
        device.context(
            Select.COMPLETION,
            queue,
            status_enable=1,
            trigger=4,
            function=device.function,
            counter_index=self.counter_index,
            timer_index=self.timer_index,
            color=1,
            ring_size_index=self.completion_index,
            base_high=self.rx.completion_base >> 6,
            valid=1,
            is_c2h=1,
        )
        self.tell()
        device.doorbell(queue, 8, DESCRIPTORS - 1)

    def tell(self) -> None:
        word = self.counter_index << 16 | self.timer_index << 20 | 4 << 24 | 1 << 27
        self.device.doorbell(self.rx.queue, 12, self.rx.cidx | word)

    def tx_burst(self, frames: list[bytes]) -> None:
        for frame in frames:
            self.tx.send(frame, flags=3)
        self.tx.ring()

    def rx_burst(self) -> list[bytes]:
        frames = self.rx.take_by_status(xilinx_length)
        if frames:
            self.device.doorbell(self.rx.queue, 8, (self.rx.next + DESCRIPTORS - 1) % DESCRIPTORS)
            self.tell()
        return frames

    def stop(self) -> None:
        self.tx.drain()
        self.device.invalidate(self.tx.queue, *H2C)
        self.device.invalidate(self.rx.queue, *C2H)

    def close(self) -> None:
        self.device.command(Operation.CLEAR, Select.FMAP, self.device.function)
