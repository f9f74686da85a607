# SPDX-License-Identifier: Apache-2.0
"""Runs the program meridian_card beside a test or a script."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from .closing import Closing
from .patience import stretched


class CardError(Exception):
    """The program ended, in its own words, or does not come up. status: its exit status, none if it still ran."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class CardProcess(Closing):
    """One run of meridian_card with a socket of its own in a temporary folder. Use it as a context manager.

    `through` are words before the program's name, of commands that go on as it (as `unshare --net`). Raises CardError
    when the program does not listen within `patience` seconds.
    """

    def __init__(self, program: Path | str, *options: str, patience: float = 30, through: Sequence[str] = ()) -> None:
        self.patience = stretched(patience)
        self._folder = tempfile.TemporaryDirectory(prefix="meridian-")
        self.socket = Path(self._folder.name) / "card"
        self._output = (Path(self._folder.name) / "output").open("w+b")
        command = [*through, str(program), "--socket", str(self.socket), *options]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self._output, stderr=subprocess.STDOUT, process_group=0
        )
        deadline = time.monotonic() + self.patience
        while not self.output().startswith("ready"):
            status = self._process.poll()
            late = time.monotonic() > deadline
            if status is not None or late:
                text = self.output()
                self.close()
                raise CardError(text or f"{program}: not ready after {self.patience:.0f} s", status)
            time.sleep(0.01)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        text, failed = self.output(), self._process.poll() not in (None, 0)
        self.close()
        if failed and (error is None or type(error).__name__.startswith("Link")):
            raise CardError(text or "the program ended", self._process.returncode) from error

    @property
    def pid(self) -> int:
        return self._process.pid

    def output(self) -> str:
        """What the program has written until now. Its first line is "ready" once it listens."""
        return Path(self._output.name).read_text(errors="replace").strip()

    def check(self) -> None:
        """Raises CardError if the program has ended."""
        status = self._process.poll()
        if status is not None:
            raise CardError(self.output() or "the program ended", status)

    def stop(self) -> int:
        """Asks the program to end, then makes it; its exit status."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=self.patience)
            except subprocess.TimeoutExpired:
                self._process.kill()
        return self._process.wait(timeout=self.patience)

    def close(self) -> None:
        if self._process.poll() is None:
            self.stop()
        self._output.close()
        self._folder.cleanup()
