# SPDX-License-Identifier: Apache-2.0
"""What the run's capture says of the trains: how fast they came, and how long a frame takes through the shell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from meridian_twin.pcapng import Passed

from .burst import number_of

LINE = 25e9
AROUND = 24  # bytes of the wire around a frame: preamble, FCS, gap


@dataclass(frozen=True)
class OfSize:
    """Frames of one size with FCS. nanoseconds: from the wire to the DMA engine's stream, sorted; line: share of the
    wire that they take while a train lasts, from 0 to 1.
    """

    size: int
    sent: int
    nanoseconds: list[int]
    line: float

    def quantile(self, share: float) -> int:
        return self.nanoseconds[min(int(share * len(self.nanoseconds)), len(self.nanoseconds) - 1)]


def of_sizes(packets: Iterable[Passed], train: int) -> list[OfSize]:
    """In the order of sizes. train: frames of one."""
    came: dict[int, tuple[int, int]] = {}  # when, size
    taken: dict[int, int] = {}
    for packet in packets:
        number = number_of(packet.data)
        if number is None or not packet.inbound:
            continue
        if packet.interface == "host":
            taken[number] = packet.time_ns
        elif packet.interface.startswith("wire"):
            came[number] = packet.time_ns, len(packet.data) + 4
    waits: dict[int, list[int]] = defaultdict(list)
    pace: dict[int, list[float]] = defaultdict(list)
    sent: dict[int, int] = defaultdict(int)
    for number, (when, size) in came.items():
        sent[size] += 1
        if number in taken:
            waits[size].append(taken[number] - when)
        before = came.get(number - 1)
        if number % train and before and when > before[0]:
            pace[size].append((before[1] + AROUND - 4) * 8 / (when - before[0]) * 1e9)
    return [
        OfSize(size, sent[size], sorted(waits[size]), sum(pace[size]) / len(pace[size]) / LINE if pace[size] else 0.0)
        for size in sorted(sent)
    ]
