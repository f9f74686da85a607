# SPDX-License-Identifier: Apache-2.0
"""What is known of a running demo. One thread writes each list, the view and the report read."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from statistics import mean

#: Phases that are compared.
IDLE, LOADED = "idle: the clock alone", "loaded: everything at once"


@dataclass(frozen=True)
class Offset:
    """What ptp4l says of one Sync. at: seconds since the demo began; ns but for the frequency, which is in ppb."""

    at: float
    offset: int
    state: str
    frequency: int
    delay: int


@dataclass(frozen=True)
class Counters:
    """At one moment. at: as above; twin: seconds of twin time; frames, bytes: (received, sent) of a function's name."""

    at: float
    twin: float
    frames: dict[str, tuple[int, int]]
    bytes: dict[str, tuple[int, int]]
    drops: dict[str, int]


@dataclass(frozen=True)
class Rate:
    """Of a function between two looks: per second of twin time."""

    frames: tuple[float, float]
    bits: tuple[float, float]


@dataclass(frozen=True)
class Phase:
    name: str
    began: float


@dataclass
class Record:
    """All of it."""

    start: float = field(default_factory=time.monotonic)
    phases: list[Phase] = field(default_factory=list)
    offsets: list[Offset] = field(default_factory=list)
    counters: list[Counters] = field(default_factory=list)
    pings: list[tuple[float, str, float]] = field(default_factory=list)  # at, of whom, ms
    notes: list[tuple[float, str]] = field(default_factory=list)
    bursts: list[tuple[float, int]] = field(default_factory=list)  # at, frames

    def now(self) -> float:
        return time.monotonic() - self.start

    def begin(self, name: str) -> None:
        self.phases.append(Phase(name, self.now()))
        self.note(name)

    def note(self, text: str) -> None:
        self.notes.append((self.now(), text))

    def span(self, name: str) -> tuple[float, float]:
        """When a phase began and ended."""
        index = next(n for n, phase in enumerate(self.phases) if phase.name == name)
        later = self.phases[index + 1 :]
        return self.phases[index].began, later[0].began if later else self.now()

    def offsets_in(self, name: str) -> list[Offset]:
        begin, end = self.span(name)
        return [offset for offset in self.offsets if begin <= offset.at < end]

    def rates(self, index: int = -1) -> dict[str, Rate]:
        """Of each function before the look of that index; nothing if there is none before it."""
        if len(self.counters) < 2:
            return {}
        now, before = self.counters[index], self.counters[index - 1]
        seconds = max(now.twin - before.twin, 1e-9)
        result: dict[str, Rate] = {}
        for name in now.frames.keys() & before.frames.keys():
            frames, bits = (
                tuple(scale * max(new - old, 0) / seconds for new, old in zip(mine[name], theirs[name], strict=True))
                for mine, theirs, scale in ((now.frames, before.frames, 1), (now.bytes, before.bytes, 8))
            )
            result[name] = Rate(frames, bits)  # type: ignore[arg-type]
        return result


def rms(offsets: list[Offset]) -> float:
    return mean(it.offset**2 for it in offsets) ** 0.5 if offsets else float("nan")


def peak(offsets: list[Offset]) -> int:
    return max((abs(it.offset) for it in offsets), default=0)


def verdict(record: Record, syncs: tuple[int, int]) -> list[str]:
    """What the demo promises and did not keep. syncs: under load, and those of them in the middle of a train."""
    loaded = record.offsets_in(LOADED)
    wrong = [f"ptp4l left s2 under load at {it.at:.0f} s" for it in loaded if it.state != "s2"]
    if not loaded:
        wrong.append("ptp4l said nothing under load")
    elif rms(loaded) > rms(record.offsets_in(IDLE)) + 0.5:
        wrong.append("the clock is worse under load")
    if 2 * syncs[1] <= syncs[0]:
        wrong.append(f"the load was not there: {syncs[1]} of {syncs[0]} Sync came in the middle of a train")
    if not record.pings:
        wrong.append("no ping of the PF was answered")
    return wrong
