# SPDX-License-Identifier: Apache-2.0
"""A machine in QEMU whose processor is the test: no instruction runs, the qtest socket does what one would do."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from meridian_twin import LinkError, Memory
from meridian_twin.doorbells import DOORBELL_REGISTERS
from meridian_twin.patience import stretched
from meridian_twin.protocol import Status
from meridian_twin.waiting import LinkTimeout, Waiting

MEGABYTE = 1 << 20
RAM = 512 * MEGABYTE
WIDTHS = {1: "b", 2: "w", 4: "l", 8: "q"}


class Qtest(Waiting):
    """Guest memory begins at address 0. It is a file that we map too, if `shared`.

    trace: what the card's devices tell of each access. interrupts that were intercepted are in `lines`.
    """

    def __init__(self, qemu: Path, options: Sequence[str], patience: float = 60, shared: bool = True) -> None:
        super().__init__(patience)
        self.lines: dict[int, int] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="meridian-")
        folder = Path(self._folder.name)
        self.trace = folder / "trace"
        self.memory = Memory(RAM, base=0)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(folder / "qtest"))
        listener.listen(1)
        command = [str(qemu), *options, "-accel", "qtest", "-qtest", f"unix:{folder / 'qtest'}"]
        command += ["-trace", "meridian_*", "-D", str(self.trace)]
        if shared:
            file = f"/proc/{os.getpid()}/fd/{self.memory.file}"
            command += ["-object", f"memory-backend-file,id=file,size={RAM},share=on,mem-path={file}"]
            command += ["-M", "memory-backend=file"]
        self._errors = (folder / "errors").open("w+b")
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._errors, stderr=self._errors)
        try:
            deadline = time.monotonic() + self.patience
            while True:
                listener.settimeout(0.5)
                try:
                    self._socket, _ = listener.accept()
                    break
                except TimeoutError:
                    if self._process.poll() is not None:
                        raise LinkError(f"QEMU ended: {self.errors()}") from None
                    if time.monotonic() > deadline:
                        raise LinkTimeout(f"QEMU does not come to the qtest socket in {self.patience:.0f} s") from None
            self._socket.settimeout(self.patience)
            self._answers = self._socket.makefile("rb")
            self._begin()
        except BaseException:
            self.close()
            raise
        finally:
            listener.close()

    def _begin(self) -> None:
        """What has to be done before the card can be used."""

    def errors(self) -> str:
        return Path(self._errors.name).read_text(errors="replace").strip()

    @property
    def pid(self) -> int:
        """Of QEMU."""
        return self._process.pid

    def ended(self, seconds: float) -> int:
        """QEMU's status, when it has ended by itself."""
        return self._process.wait(timeout=seconds)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=stretched(10))
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(timeout=stretched(10))
        if hasattr(self, "_socket"):
            self._socket.close()
        self._errors.close()
        self.memory.close()
        self._folder.cleanup()

    def _ask(self, command: str) -> list[bytes]:
        """The words of the answer; interrupts that come before it are taken."""
        try:
            return self._exchange(command)
        except OSError as error:
            raise LinkError(f"QEMU is gone ({error}): {self.errors()}") from None

    def _exchange(self, command: str) -> list[bytes]:
        self._socket.sendall(command.encode() + b"\n")
        while line := self._answers.readline().split():
            if line[0] == b"OK":
                return line[1:]
            if line[0] == b"FAIL":
                raise LinkError(f"qtest: {command}: {line}")
            if line[0] == b"IRQ":
                self.lines[int(line[2])] = int(line[1] == b"raise")
        raise LinkError(f"QEMU is gone: {self.errors()}")

    def _do(self, command: str) -> int:
        answer = self._ask(command)
        return int(answer[0], 16) if answer else 0

    def _address(self, function: int, bar: int, offset: int) -> int:
        """Where the machine's processor finds a register of the card."""
        raise NotImplementedError

    def bar_access(
        self, function: int, bar: int, offset: int, width: int = 4, value: int | None = None
    ) -> tuple[Status, int]:
        letter, address = WIDTHS[width], self._address(function, bar, offset)
        if value is not None:
            self._do(f"write{letter} {address:#x} {value:#x}")
            return Status.OK, value
        return Status.OK, self._do(f"read{letter} {address:#x}")

    def read(self, function: int, bar: int, offset: int, width: int = 4) -> int:
        return self.bar_access(function, bar, offset, width)[1]

    def write(self, function: int, bar: int, offset: int, value: int, width: int = 4) -> None:
        self.bar_access(function, bar, offset, width, value)

    def doorbell(self, function: int, first: int, queue: int, register: int, value: int) -> None:
        """As any write: a guest has no doorbells in shared memory."""
        self.write(function, 0, first + DOORBELL_REGISTERS * queue + register, value)

    def _pass(self, pause: float) -> None:
        """The card serves itself; it is only watched."""
        if self._process.poll() is not None:
            raise LinkError(f"QEMU ended: {self.errors()}")
        time.sleep(pause)
