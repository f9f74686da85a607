# SPDX-License-Identifier: Apache-2.0
"""What the run's capture says: of the trains, of the Sync messages among them, and of every frame of PTP."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from meridian_twin.pcapng import Passed, PcapngError, packets

from .burst import number_of
from .latency import OfSize, covered, of_sizes

SHORTEST = 60  # of a frame on the wire, without FCS


@dataclass(frozen=True)
class Captured:
    """syncs: under load, and those of them in the middle of a train. to_ps, from_ps: messages of PTP under load, and
    those of them that came through the card. trains: by receiver's address, frames on the wire and those of them at the
    host. complete: the capture has its end.
    """

    sizes: Sequence[OfSize] = ()
    syncs: tuple[int, int] = (0, 0)
    to_ps: tuple[int, int] = (0, 0)
    from_ps: tuple[int, int] = (0, 0)
    trains: dict[str, tuple[int, int]] = field(default_factory=dict)
    complete: bool = True


def is_ptp(data: bytes) -> bool:
    """Over UDP and IPv4: event or general message."""
    return data[12:14] == b"\x08\x00" and data[23:24] == b"\x11" and data[36:38] in (b"\x01\x3f", b"\x01\x40")


def read(file: Path, train: int) -> Captured:
    """train: frames of one. Of a capture without its end, as of a run that broke off, what is there."""
    passed: list[Passed] = []
    complete = True
    try:
        for packet in packets(file):
            passed.append(packet)  # noqa: PERF402 - what came before an error is kept
    except (PcapngError, OSError):
        complete = False
    return of(passed, train, complete)


def of(passed: Sequence[Passed], train: int, complete: bool = True) -> Captured:
    wire = [it for it in passed if it.interface.startswith("wire")]
    ps = [it for it in passed if it.interface.startswith("ps")]
    ours = [it.time_ns for it in wire if it.inbound and number_of(it.data) is not None]
    load = (min(ours), max(ours)) if ours else (0, -1)
    return Captured(
        of_sizes(passed, train),
        covered(passed),
        _through(wire, ps, load, inbound=True),
        _through(ps, wire, load, inbound=False),
        _trains(passed),
        complete,
    )


def _through(
    before: Iterable[Passed], behind: Iterable[Passed], load: tuple[int, int], inbound: bool
) -> tuple[int, int]:
    """Messages of PTP that entered the card under load, and those of them that left it at the other side."""
    entered = Counter(
        it.data.ljust(SHORTEST, b"\0")
        for it in before
        if it.inbound == inbound and load[0] <= it.time_ns <= load[1] and is_ptp(it.data)
    )
    left = Counter(it.data.ljust(SHORTEST, b"\0") for it in behind if it.inbound == inbound and is_ptp(it.data))
    return entered.total(), (entered & left).total()


def _trains(passed: Iterable[Passed]) -> dict[str, tuple[int, int]]:
    came: dict[str, set[int]] = defaultdict(set)
    at_host: set[int] = set()
    for it in passed:
        number = number_of(it.data) if it.inbound else None
        if number is None:
            continue
        if it.interface == "host":
            at_host.add(number)
        elif it.interface.startswith("wire"):
            came[it.data[:6].hex(":")].add(number)
    return {address: (len(numbers), len(numbers & at_host)) for address, numbers in came.items()}
