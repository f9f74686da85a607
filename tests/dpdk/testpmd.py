# SPDX-License-Identifier: Apache-2.0
"""dpdk-testpmd of the system's package with our driver and the twin's plug-in, driven by its prompt."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from meridian_machine.testpmd_prompt import COMMAND_SECONDS, PROMPT, START_SECONDS, Prompt, TestpmdError
from meridian_twin.patience import deadline_in, stretched
from plugin import plugin, twin_of

__all__ = ["Testpmd", "TestpmdError"]


class Testpmd(Prompt):
    """One process. vdev: driver and its arguments; options: of testpmd itself, behind EAL's; card: of its ports."""

    def __init__(
        self,
        library: Path,
        vdevs: Sequence[str],
        *options: str,
        eal: Sequence[str] = (),
        memory: int = 192,
        card: Any = None,
    ):
        # Its prompt is not buffered, so what it prints must not be, either.
        before, driver = plugin(library, twin_of(library))
        command = [
            *before,
            "stdbuf",
            "-o0",
            "dpdk-testpmd",
            "--no-huge",
            "-m",
            str(memory),
            "--no-shconf",
            "--no-pci",
            "--no-telemetry",
        ]
        command += ["-l", "0-1", *driver, f"--file-prefix=meridian-{os.getpid()}", *eal]
        command += [word for vdev in vdevs for word in ("--vdev", vdev)]
        command += ["--", "-i", "--total-num-mbufs=20000", "--disable-device-start", *options]
        self._card = card
        self._text = ""
        self.said = ""  # all of it up to the last prompt
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, process_group=0
        )
        try:
            self.start_text = self._until_prompt(START_SECONDS)
        except TestpmdError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self, mode: str = "io") -> None:
        """Starts the ports, and forwarding in that mode; the card has descriptors of receive buffers then."""
        super().start(mode)
        if self._card and mode != "txonly":
            self._card.rest()

    @property
    def pid(self) -> int:
        return self._process.pid

    def command(self, text: str, seconds: float = COMMAND_SECONDS) -> str:
        """What it answers."""
        assert self._process.stdin
        try:
            self._process.stdin.write(text.encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise TestpmdError(self._text or "testpmd has ended") from None
        return self._until_prompt(seconds)

    def quit(self) -> str:
        """Ends it in order; raises TestpmdError unless it says that it has."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(b"stop\nquit\n")
        self._process.stdin.close()
        try:
            status = self._process.wait(timeout=stretched(COMMAND_SECONDS))
        except subprocess.TimeoutExpired:
            self.close()
            raise TestpmdError("testpmd does not end") from None
        text = self._text + self._process.stdout.read().decode(errors="replace")
        if status != 0:
            raise TestpmdError(f"testpmd ended with {status}: {text}")
        return text

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(timeout=stretched(COMMAND_SECONDS))

    def close(self) -> None:
        if self._process.poll() is None:
            self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe and not pipe.closed:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass

    def _until_prompt(self, seconds: float) -> str:
        assert self._process.stdout
        deadline = deadline_in(seconds)
        descriptor = self._process.stdout.fileno()
        while PROMPT not in self._text:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise TestpmdError(f"no prompt after {stretched(seconds):.0f} s: {self._text}")
            data = os.read(descriptor, 65536)
            if not data:
                raise TestpmdError(f"testpmd ended with {self._process.wait(stretched(COMMAND_SECONDS))}: {self._text}")
            self._text += data.decode(errors="replace")
        answer, _, self._text = self._text.partition(PROMPT)
        self.said += answer
        return answer
