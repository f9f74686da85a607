# SPDX-License-Identifier: Apache-2.0
"""A running machine as tests of the driver use it: a line of shell in, its output back, the kernel's log watched."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from meridian_machine import Hardware, Image, Machine
from meridian_machine.initrd import Content

_TROUBLE = re.compile(r"WARNING:|BUG:|Oops|Call Trace|general protection|scheduling while atomic|DMAR|lockup|hung task")
# Tests read the output of these as busybox writes it.
_BUSYBOX = "hexdump nc ping"


class GuestError(AssertionError):
    """A command failed, or the kernel complains."""


@dataclass(frozen=True)
class Guest:
    """What it boots, and files that it finds in its root."""

    image: Image
    files: Mapping[str, Content]


class LiveGuest:
    """A machine with the card at `card`. Use it as a context manager; the machine ends with it."""

    def __init__(self, qemu: Path, guest: Guest, card: Path, *options: str, cpus: int = 2) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="meridian-")
        hardware = Hardware(memory=512, cpus=cpus, extra=options)
        self._machine = Machine(qemu, guest.image, Path(self._folder.name), card, hardware, guest.files)
        try:
            self._machine.wait_ready()
            for name in guest.files:
                self.run(f"ln -s /run/twin/{name} /{name}")
            self.run(f"for name in {_BUSYBOX}; do ln -s /bin/busybox /usr/local/bin/$name; done")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._machine.close()
        self._folder.cleanup()

    def console(self) -> str:
        """What the kernel has printed on its console."""
        return self._machine.console.read_text(errors="replace")

    def try_run(self, command: str, seconds: float = 30) -> tuple[int, str]:
        """(exit status, output) of a script. Raises MachineError."""
        done = self._machine.run(f"exec 2>&1\n{command}", seconds)
        return done.status, done.text

    def run(self, command: str, seconds: float = 30) -> str:
        """Output of a script that must succeed."""
        status, text = self.try_run(command, seconds)
        if status:
            raise GuestError(f"{command}: status {status}: {text}\n{self.log()[-3000:]}")
        return text

    def until(self, command: str, wanted: str, seconds: float = 20) -> str:
        """Runs a script again and again until its output matches; the output."""
        deadline = time.monotonic() + seconds
        while True:
            _, text = self.try_run(command, seconds)
            if re.search(wanted, text):
                return text
            if time.monotonic() > deadline:
                raise GuestError(f"{command} does not give {wanted!r} but {text!r}\n{self.log()[-3000:]}")
            time.sleep(0.1)

    def log(self) -> str:
        """The kernel's log."""
        return self.try_run("dmesg")[1]

    def check(self) -> None:
        """Raises unless the kernel's log is free of warnings and worse."""
        log = self.log()
        if _TROUBLE.search(log):
            raise GuestError(f"the kernel complains: {log}")
