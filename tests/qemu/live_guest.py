# SPDX-License-Identifier: Apache-2.0
"""A running Linux guest with the card and its driver, told what to do line by line."""

from __future__ import annotations

import re
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from guest import Guest, machine

BOOT_SECONDS = 120
_TROUBLE = re.compile(r"WARNING:|BUG:|Oops|Call Trace|general protection|scheduling while atomic|DMAR|lockup|hung task")


class GuestError(AssertionError):
    """A command failed, or the guest does not answer."""


class LiveGuest:
    """QEMU with the card at `card`. Use it as a context manager; the guest ends with it."""

    def __init__(self, qemu: Path, guest: Guest, card: Path, *options: str, cpus: int = 2) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="meridian-")
        folder = Path(self._folder.name)
        self._console = (folder / "console").open("w+b")
        append = "console=ttyS0 quiet panic=-1 pci=realloc"
        command = [
            str(qemu),
            *machine(card, *options),
            *("-accel", "tcg,thread=multi", "-cpu", "max", "-smp", str(cpus)),
            *("-serial", "stdio", "-serial", f"unix:{folder}/line,server=on,wait=off"),
            *("-kernel", str(guest.kernel), "-initrd", str(guest.initrd), "-append", append),
        ]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self._console, stderr=subprocess.STDOUT
        )
        self._line = socket.socket(socket.AF_UNIX)
        self._rest = b""
        try:
            self._connect(folder / "line")
            self._answer(BOOT_SECONDS)
        except BaseException:
            self.close()
            raise

    def _connect(self, path: Path) -> None:
        deadline = time.monotonic() + 10
        while True:
            try:
                return self._line.connect(str(path))
            except OSError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise GuestError(f"QEMU does not start: {self.console()}") from None
                time.sleep(0.02)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._line.close()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(timeout=10)
        self._console.close()
        self._folder.cleanup()

    def console(self) -> str:
        """What the kernel has printed on its console."""
        return Path(self._console.name).read_text(errors="replace")

    def _answer(self, seconds: float) -> tuple[str, str]:
        """(output, status) of the command under way."""
        deadline = time.monotonic() + seconds
        while True:
            found = re.search(rb"(?:\A|\n)END (\S+)\r?\n", self._rest)
            if found:
                text, self._rest = self._rest[: found.start()], self._rest[found.end() :]
                return text.decode(errors="replace").replace("\r", ""), found[1].decode()
            left = deadline - time.monotonic()
            if left <= 0:
                raise GuestError(f"no answer in {seconds} s: {self._rest.decode()!r}; console: {self.console()}")
            self._line.settimeout(left)
            try:
                data = self._line.recv(65536)
            except TimeoutError:
                continue
            if not data:
                raise GuestError(f"the guest is gone: {self.console()}")
            self._rest += data

    def try_run(self, command: str, seconds: float = 30) -> tuple[int, str]:
        """(exit status, output) of a line of shell."""
        assert "\n" not in command, "one line a command"
        self._line.sendall(command.encode() + b"\n")
        text, status = self._answer(seconds)
        return int(status), text

    def run(self, command: str, seconds: float = 30) -> str:
        """Output of a line of shell that must succeed."""
        status, text = self.try_run(command, seconds)
        if status:
            raise GuestError(f"{command}: status {status}: {text}\n{self.log()[-3000:]}")
        return text

    def until(self, command: str, wanted: str, seconds: float = 20) -> str:
        """Runs a line again and again until its output matches; the output."""
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
