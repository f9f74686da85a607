# SPDX-License-Identifier: Apache-2.0
"""Runs of qdma_bench: several at a time, with their progress in one line, and a check that each did what it was asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report import Figure

#: The directions in which frames pass the pins, by mode or load.
MOVES = {
    "idle": set(),
    "c2h": {"c2h"},
    "h2c": {"h2c"},
    "both": {"c2h", "h2c"},
    "forward": {"c2h", "h2c"},
    "loopback": {"c2h", "h2c"},
    "round-trip": {"c2h", "h2c"},
}
LIMIT_S = 300


class CannotMeasure(Exception):
    """A run that gives no figure; the text says which and why."""


@dataclass(frozen=True)
class Run:
    """One call of qdma_bench. figures: makes them of what it says."""

    what: str
    mode: str
    options: tuple[str, ...]
    figures: Callable[[dict[str, Any]], list[Figure]]

    def command(self, program: Path) -> list[str]:
        return [str(program), *self.options]

    def measure(self, program: Path) -> list[Figure]:
        try:
            done = subprocess.run(self.command(program), capture_output=True, text=True, timeout=LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            raise CannotMeasure(f"{self.what}: no end within {LIMIT_S} s") from None
        if done.returncode:
            raise CannotMeasure(f"{self.what}: {done.stderr.strip()}")
        try:
            found = json.loads(done.stdout)
            check_directions(self.what, self.mode, found.get("load", found))
            return self.figures(found)
        except json.JSONDecodeError:
            raise CannotMeasure(f"{self.what}: its answer is no JSON: {done.stdout[:80]!r}") from None
        except KeyError as name:
            raise CannotMeasure(f"{self.what}: its answer has no {name}") from None


def check_directions(what: str, mode: str, moved: dict[str, Any]) -> None:
    """Whether frames passed the pins in the directions of the mode, and in no other."""
    for direction in ("c2h", "h2c"):
        count = moved[direction]["bytes_at_pins"]
        if direction in MOVES[mode] and count == 0:
            raise CannotMeasure(f"{what}: mode {mode} moved nothing by {direction.upper()}")
        if direction not in MOVES[mode] and count != 0:
            raise CannotMeasure(f"{what}: mode {mode} moved {count} bytes by {direction.upper()}, where none belong")


class Progress:
    """One line: overwritten on a terminal, and written once in 30 s where there is none."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self.began = self.told = time.monotonic()
        self.terminal = sys.stdout.isatty()

    def step(self, what: str) -> None:
        self.done += 1
        now = time.monotonic()
        if not self.terminal and now - self.told < 30 and self.done != self.total:
            return
        self.told = now
        line = f"{self.done} of {self.total} runs, {now - self.began:.0f} s: {what}"
        print(f"\r{line:<100.100}" if self.terminal else line, end="" if self.terminal else "\n", flush=True)

    def end(self) -> None:
        if self.terminal:
            print()


def measure_all(program: Path, runs: Sequence[Run]) -> tuple[list[Figure], list[str]]:
    """The figures in the order of the runs, and why the others are missing."""
    found: dict[int, list[Figure]] = {}
    missing: list[str] = []
    progress = Progress(len(runs))
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        waiting = {pool.submit(run.measure, program): index for index, run in enumerate(runs)}
        for future in as_completed(waiting):
            index = waiting[future]
            try:
                found[index] = future.result()
            except CannotMeasure as reason:
                missing.append(str(reason))
            progress.step(runs[index].what)
    progress.end()
    return [figure for index in sorted(found) for figure in found[index]], missing
