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


NEAR_NS = 2000  # between a Sync and its neighbours of a train: a frame of the largest size, and some


def is_sync(data: bytes) -> bool:
    """Of PTP over UDP and IPv4."""
    return data[12:14] == b"\x08\x00" and data[36:38] == b"\x01\x3f" and data[42:43] and data[42] & 15 == 0


def covered(packets: Iterable[Passed]) -> tuple[int, int]:
    """Of the Sync messages from the first train to the last: how many, and how many in the middle of a train."""
    came = sorted((it.time_ns, it.data) for it in packets if it.inbound and it.interface.startswith("wire"))
    ours = [n for n, (_, data) in enumerate(came) if number_of(data) is not None]
    if not ours:
        return 0, 0
    syncs = [n for n in range(ours[0], ours[-1]) if is_sync(came[n][1])]
    among = [
        n
        for n in syncs
        if all(number_of(came[k][1]) is not None and abs(came[k][0] - came[n][0]) < NEAR_NS for k in (n - 1, n + 1))
    ]
    return len(syncs), len(among)


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
