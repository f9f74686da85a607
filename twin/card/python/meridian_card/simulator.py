# SPDX-License-Identifier: Apache-2.0
"""The process shell_sim with its pipes: operations in, events out."""

from __future__ import annotations

import json
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from meridian_twin.closing import Closing
from meridian_twin.patience import stretched

Event = dict[str, Any]


class SimulatorError(Exception):
    """shell_sim ended with an error (status: 1 a rule is broken, 2 wrong input, 3 a hang), or says nothing any more."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Simulator(Closing):
    """One run of shell_sim. Its time stands still between operations.

    Use it as a context manager; `finish` ends the run and gives its statistics. Events that answer no operation (frames
    delivered, frames on the wire, interrupts) are kept until `take`. patience: seconds to wait for any one answer.
    """

    def __init__(self, program: Path, *options: str, patience: float = 180) -> None:
        self.patience = stretched(patience)
        self.now_ps = 0
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        self._process = subprocess.Popen(
            [str(program), *options, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
        )
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._next_id = 1
        self._events: list[Event] = []

    def close(self) -> None:
        """Ends the process, whatever it does."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(timeout=self.patience)
        self._reader.join(timeout=self.patience)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                try:
                    pipe.close()
                except OSError:  # what was not sent yet, to a process that is gone
                    pass
        self._errors.close()

    def send(self, op: str, **arguments: Any) -> None:
        """An operation without an answer; an error in it shows with a later operation that has one."""
        self._write({"op": op} | arguments)

    def ask(self, op: str, **arguments: Any) -> Event:
        """An operation whose answer is waited for."""
        number = self._next_id
        self._next_id += 1
        self._write({"op": op, "id": number} | arguments)
        self._flush()
        deadline = time.monotonic() + self.patience
        while True:
            event = self._next(deadline)
            if event.get("id") == number:
                return event
            self._events.append(event)

    def now_ns(self) -> int:
        """Time of the card, once everything asked for until now is done."""
        return self.ask("psmem_read", addr=0, len=1)["t_ps"] // 1000

    def take(self) -> list[Event]:
        """The events kept since the last call, without waiting."""
        events, self._events = self._events, []
        return events

    def finish(self) -> Event:
        """Ends the run; the statistics event. All other events are there to be taken."""
        assert self._process.stdin
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        deadline = time.monotonic() + self.patience
        while (event := self._next(deadline))["ev"] != "stats":
            self._events.append(event)
        status = self._process.wait(timeout=self.patience)
        if status != 0:
            raise SimulatorError(self._message(), status)
        return event

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _write(self, operation: Event) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(operation).encode() + b"\n")
        except (BrokenPipeError, ValueError):
            self._ended()

    def _flush(self) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            self._ended()

    def _next(self, deadline: float) -> Event:
        try:
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise SimulatorError(f"shell_sim has not answered for {self.patience:.0f} s") from None
        if line is None:
            self._ended()
        assert line is not None
        event: Event = json.loads(line)
        self.now_ps = max(self.now_ps, event.get("t_ps", 0))
        return event

    def _ended(self) -> None:
        status = self._process.wait(timeout=self.patience)
        raise SimulatorError(self._message(), status)

    def _message(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace").strip() or "shell_sim ended"


def options(seed: int = 1, rate: int = 25, ppm: dict[str, float] | None = None) -> Sequence[str]:
    """Command line of shell_sim: seed of its back-pressure, Gb/s of the ports, clocks that are off."""
    line = ["--seed", str(seed), "--rate", str(rate)]
    for clock, off in (ppm or {}).items():
        line += ["--ppm", f"{clock}={off}"]
    return line
