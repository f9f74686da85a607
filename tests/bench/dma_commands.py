# SPDX-License-Identifier: Apache-2.0
"""Reads and writes of host memory by the card's own logic (examples/boxes/host_memory.sv) in a shell with the DMA engine of
our own, at random addresses, behind the model of the link. The module counts cycles and operations by itself.

The published rows are of a link and streams twice as wide. What can be compared is how many operations there are for each
32 bytes that a stream can carry: the least goal is 1.25 times theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dma_published as published
from dma_links import LINKS, Link
from meridian_twin import CardProcess, Host
from meridian_twin.contexts import Select
from report import ROOT, Figure

EXAMPLE = ROOT / "examples" / "boxes" / "host_memory.sv"
SHELL = ("--dma", "meridian", "--extended-tags", "true", "--host-box", str(EXAMPLE))
LINK = LINKS["gen3x8"]
SIZES, QUEUES = (64, 128, 256, 512, 1024, 4096), (1, 8)
GAPS = (50, 25, 12, 6)  # cycles from a command to the next, as the published rows have them
OPERATIONS = 10_000
REGION = 16 << 20  # bytes
FIRST_QUEUE = 32
CYCLE_NS = 4
BEAT, THEIR_BEAT = 32, 64  # bytes
LEAST = 1.25
#: Registers of the module.
CONTROL, QUEUE, BYTES, COUNT, BASE, MASK, GAP, CYCLES = 0, 4, 8, 12, 16, 24, 28, 36
READS, WRITES, AT_RANDOM, RUNNING = 1, 2, 4, 1 << 31
OF = {"h2c": 0x40, "c2h": 0x60}


class Module:
    """host_memory.sv at a card, with queues for its commands."""

    def __init__(self, host: Host) -> None:
        self.link = host.link
        self.window = host.card.regs.base("BOX_WINDOW") + (4 << 16)
        self.region = host.memory.allocate(REGION, 4096)
        for queue in range(FIRST_QUEUE, FIRST_QUEUE + max(QUEUES)):
            for select in (Select.SW_H2C, Select.SW_C2H):
                host.contexts.write(select, queue, function=0, enable=1, bypass=1)

    def read(self, offset: int) -> int:
        return self.link.read(0, 2, self.window + offset)

    def run(self, directions: tuple[str, ...], size: int, queues: int = 1, gap: int = 0) -> dict[str, dict[str, float]]:
        """By direction: operations a second in millions, and the mean, least and most time of one in us."""
        count = min(OPERATIONS, 64 * OPERATIONS // size)
        words = {QUEUE: FIRST_QUEUE | (queues - 1) << 16, BYTES: size, COUNT: count, BASE: self.region & 0xFFFFFFFF}
        words |= {BASE + 4: self.region >> 32, MASK: REGION // 2 - 1, GAP: gap}
        for offset, value in words.items():
            self.link.write(0, 2, self.window + offset, value)
        what = ("h2c" in directions) * READS | ("c2h" in directions) * WRITES
        self.link.write(0, 2, self.window + CONTROL, what | AT_RANDOM)
        self.link.wait(lambda: not self.read(CONTROL) & RUNNING, f"{count} commands of {size} bytes", 300)
        cycles, found = self.read(CYCLES), {}
        for direction in directions:
            done, failed, least, most, low, high = (self.read(OF[direction] + 4 * i) for i in range(6))
            if (done, failed) != (count, 0):
                raise RuntimeError(f"of {count} commands {done} have ended, {failed} of them with an error")
            times = {"least": least, "most": most, "mean": (low | high << 32) / count}
            found[direction] = {name: cycles * CYCLE_NS / 1000 for name, cycles in times.items()}
            found[direction]["mops"] = 1000 * count / (cycles * CYCLE_NS)
        return found


def _point(size: int, queues: int, direction: str, **more: Any) -> dict[str, Any]:
    of = {"engine": "meridian", "source": "module", "link": LINK.name, "bytes": size, "queues": queues}
    return of | {"direction": direction} | more


def _rates(module: Module) -> Iterator[Figure]:
    for size in SIZES:
        for queues in QUEUES:
            for directions in (("h2c",), ("c2h",), ("h2c", "c2h")):
                for direction, found in module.run(directions, size, queues).items():
                    name = f"both_{direction}" if len(directions) == 2 else direction
                    value, theirs = found["mops"], published.random_access().get((name, size, queues))
                    at = _point(size, queues, name)
                    reference = published.reference(value, theirs, published.RANDOM)
                    yield Figure("command_mops", at, round(value, 2), "Mops", reference=reference, runs=OPERATIONS)
                    if theirs is not None:
                        ratio = (value / BEAT) / (theirs / THEIR_BEAT)
                        goal = f">= {LEAST}" if size == THEIR_BEAT else None
                        yield Figure("command_beat_ratio", at, round(ratio, 2), "", goal)


def _latencies(module: Module) -> Iterator[Figure]:
    """From a command to its end: of a read, the last byte at the module; of a write, when the PCIe block has all of it."""
    theirs = {(row.direction, row.bytes, row.gap_ns): row for row in published.latencies()}
    for gap in GAPS:
        for direction in OF:
            found = module.run((direction,), 64, gap=gap)[direction]
            row = theirs.get((direction, 64, gap * CYCLE_NS)) if direction == "h2c" else None
            reference = published.reference(found["mean"], row.command_us if row else None, published.LATENCY)
            at = _point(64, 1, direction, gap_ns=gap * CYCLE_NS)
            spread = {"min": round(found["least"], 3), "max": round(found["most"], 3)}
            yield Figure("command_us", at, round(found["mean"], 3), "us", None, reference, OPERATIONS, spread)


def options(link: Link) -> list[str]:
    return [*link.options(), "--pcie-extended-tags"]


def measure(folder: Path) -> list[Figure]:
    """With the card's program in this folder, a minute or two."""
    print(
        f"commands of the card's own logic: {len(SIZES) * len(QUEUES) * 3 + 2 * len(GAPS)} runs, some minutes",
        flush=True,
    )
    with CardProcess(folder / "meridian_card", *options(LINK)) as card:
        host = Host.connect(card.socket)
        try:
            host.bring_up(queues=1)
            module = Module(host)
            return [*_rates(module), *_latencies(module)]
        finally:
            host.close()
