# SPDX-License-Identifier: Apache-2.0
"""The engine between cocotbext-pcie's root complex and a shell, as the cases use it."""

from __future__ import annotations

import itertools
import logging
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

from block import Block
from cocotb.triggers import FallingEdge, Timer
from cocotb.utils import get_sim_time
from cocotbext.pcie.core.pci import PciDevice
from host import Host
from link import HostLink
from shell import Registers, Shell

#: In these 2,500 cycles the engine clears its memories after a reset.
CLEARING_NS = 10_000
#: What make test leaves out is run, too.
LONG = os.environ.get("PCIE_LONG") == "1"
MODELS = logging.getLogger("cocotb.pcie")


class _Complaints(logging.Handler):
    """What the models say of packets that break a rule."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def pauses(seed: int, share: float) -> Iterator[bool]:
    """For a stream of the block: it stands still in so many of all cycles, now and then for some time."""
    rng = random.Random(seed)
    while True:
        yield from itertools.repeat(rng.random() < share, rng.choice((1, 1, 2, 7)))


class Bench:
    """max_payload, max_read: as in PCIe's Device Control register, 0 is 128 bytes."""

    def __init__(self, dut: Any, seed: int = 1) -> None:
        MODELS.setLevel(logging.ERROR)
        MODELS.propagate = False
        logging.getLogger(f"cocotb.{dut._name}").setLevel(logging.WARNING)
        self.complaints = _Complaints()
        MODELS.handlers = [self.complaints]
        self.dut = dut
        self.random = random.Random(seed)
        self.block = Block(dut)
        self.host = Host(seed)
        self.host.make_port().connect(self.block)
        self.shell = Shell(dut, seed)
        self.registers = Registers(dut, seed)
        self.link: HostLink

    async def start(self, max_payload: int = 0, max_read: int = 2, rcb_128: bool = False) -> None:
        """Reset, enumeration, and what firmware and a driver set before they use a card. The engine clears its memories
        meanwhile, as enumeration does not reach it.
        """
        await FallingEdge(self.dut.reset)
        self.shell.start()
        self.registers.start()
        cleared = get_sim_time("ns") + CLEARING_NS
        self.host.max_payload_size = max_payload
        self.host.max_read_request_size = max_read
        self.host.read_completion_boundary = rcb_128
        await self.host.enumerate()
        MODELS.setLevel(logging.WARNING)  # where nobody is, it complains of what is asked
        self.link = HostLink(self.host, self.devices())
        for device in self.link.functions:
            await device.enable_device()
            await device.set_master()
            await device.set_mps(max_payload)
            await device.set_readrq(max_read)
        await Timer(max(1, cleared - get_sim_time("ns")), "ns", round_mode="ceil")

    def devices(self) -> list[PciDevice]:
        """The functions that enumeration has found."""
        found = [self.host.find_device(function.pcie_id) for function in self.block.functions]
        return [device for device in found if device is not None]

    def disturb(self, share: float) -> None:
        """All streams stand still in so many cycles, and reads are answered in parts and in any order."""
        block = self.block
        for number, stream in enumerate((block.rq_sink, block.rc_source, block.cq_source, block.cc_sink)):
            stream.set_pause_generator(pauses(self.random.randrange(1 << 30) + number, share))
        self.shell.stall = self.registers.stall = share
        self.host.split = True
        self.host.delay_ns = 2_000

    async def until(self, done: Callable[[], bool], what: str, limit_ns: int = 100_000) -> None:
        for _ in range(limit_ns // 100):
            if done():
                return
            await Timer(100, "ns")
        raise AssertionError(f"{what} has not come in {limit_ns / 1000:.0f} us")

    def check(self, *expected: str) -> None:
        """Neither model complains of anything but this, and the block has lost nothing."""
        rest = [text for text in self.complaints.texts if not any(word in text for word in expected)]
        assert not rest, rest[:5]
        assert self.block.local_error.empty(), f"the block reports {self.block.local_error.get_nowait()!r}"
        for word in expected:
            assert any(word in text for text in self.complaints.texts), f"no model has said: {word}"
