# SPDX-License-Identifier: Apache-2.0
"""What is known of a running demo. One thread writes each list, the view and the report read."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from statistics import mean

from .about import About, here

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
    """At one moment. at: as above; twin: seconds of twin time; frames, bytes: (received, sent) of a function's name; full:
    frames of each function that found no free buffer; drops: all frames that the card dropped, by the name of REASONS.
    """

    at: float
    twin: float
    frames: dict[str, tuple[int, int]]
    bytes: dict[str, tuple[int, int]]
    drops: dict[str, int]
    full: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Rate:
    """Of a function between two looks: per second of twin time."""

    frames: tuple[float, float]
    bits: tuple[float, float]


@dataclass(frozen=True)
class Phase:
    name: str
    began: float


@dataclass(frozen=True)
class Programs:
    """What those behind VFs say at the end: frames that testpmd received and sent, pings of the virtual machine that
    were answered.
    """

    received: int
    sent: int
    answered: int


@dataclass
class Record:
    """All of it. train: frames of one; receivers: MAC address of each function that trains are for, by its name; ended:
    seconds since the demo began, none while it runs.
    """

    about: About = field(default_factory=here)
    start: float = field(default_factory=time.monotonic)
    ended: float | None = None
    train: int = 100
    receivers: dict[str, str] = field(default_factory=dict)
    programs: Programs | None = None
    phases: list[Phase] = field(default_factory=list)
    offsets: list[Offset] = field(default_factory=list)
    counters: list[Counters] = field(default_factory=list)
    pings: list[tuple[float, str, float]] = field(default_factory=list)  # at, of whom, ms
    notes: list[tuple[float, str]] = field(default_factory=list)
    bursts: list[tuple[float, int]] = field(default_factory=list)  # at, frames

    def now(self) -> float:
        return time.monotonic() - self.start if self.ended is None else self.ended

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

    def had(self, name: str) -> bool:
        return any(phase.name == name for phase in self.phases)

    def offsets_in(self, name: str) -> list[Offset]:
        """Nothing of a phase that the demo did not come to."""
        if not self.had(name):
            return []
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
