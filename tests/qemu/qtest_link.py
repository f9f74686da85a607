# SPDX-License-Identifier: Apache-2.0
"""The card on QEMU's PCIe bus as a link: drivers of meridian_twin run on it, through QEMU's own device.

QEMU runs no processor here; its qtest socket does what one would: configuration space, BARs. Guest memory is a file
that we map too. A vector of the MSI-X table writes into that memory, so an interrupt can be seen.
"""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from meridian_machine.hardware import with_card
from meridian_twin import LinkError, LinkTimeout, Memory, Role
from meridian_twin.protocol import Status

MEGABYTE = 1 << 20
RAM = 512 * MEGABYTE
ROOT_PORT, CARD = 1 << 11, 1 << 16  # bus 0 slot 1; bus 1 slot 0
BAR0, BAR2 = 0xE040_0000, 0xE000_0000
WINDOW = 0xE000_0000, 0xE1FF_FFFF
MSIX_TABLE = 0x30000
CONFIG_ADDRESS, CONFIG_DATA = 0xCF8, 0xCFC
MEMORY_AND_MASTER, MEMORY_ONLY = 6, 2


class QtestLink:
    """PF 0 of the card in a QEMU of its own, enumerated. Offers what `meridian_twin.Host` asks of a link."""

    role = Role.PCIE
    lockstep = False

    def __init__(self, qemu: Path, card: Path, patience: float = 60) -> None:
        self.patience = patience
        self.interrupts: Counter[tuple[int, int]] = Counter()
        self._folder = tempfile.TemporaryDirectory(prefix="meridian-")
        folder = Path(self._folder.name)
        self.trace = folder / "trace"
        self.memory = Memory(RAM, base=0)
        self.memory.allocate(MEGABYTE)  # holes and firmware of a PC
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(folder / "qtest"))
        listener.listen(1)
        listener.settimeout(patience)
        backend = f"memory-backend-file,id=ram,size={RAM},share=on,mem-path=/proc/{os.getpid()}/fd/{self.memory.file}"
        options = [
            "-accel",
            "qtest",
            "-qtest",
            f"unix:{folder / 'qtest'}",
            "-object",
            backend,
            "-M",
            "memory-backend=ram",
        ]
        command = [str(qemu), *with_card(card), *options, "-trace", "meridian_*", "-D", str(self.trace)]
        self._errors = (folder / "errors").open("w+b")
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._errors, stderr=self._errors)
        try:
            while True:
                listener.settimeout(0.5)
                try:
                    self._socket, _ = listener.accept()
                    break
                except TimeoutError:
                    if self._process.poll() is not None:
                        raise LinkError(f"QEMU ended: {self.errors()}") from None
            self._socket.settimeout(patience)
            self._lines = self._socket.makefile("rb")
            self._enumerate()
        except BaseException:
            self.close()
            raise
        finally:
            listener.close()

    def errors(self) -> str:
        return Path(self._errors.name).read_text(errors="replace").strip()

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(timeout=10)
        if hasattr(self, "_socket"):
            self._socket.close()
        self._errors.close()
        self.memory.close()
        self._folder.cleanup()

    # What a processor does

    def _do(self, command: str) -> int:
        self._socket.sendall(command.encode() + b"\n")
        while line := self._lines.readline().split():
            if line[0] == b"OK":
                return int(line[1], 16) if len(line) > 1 else 0
            if line[0] == b"FAIL":
                raise LinkError(f"qtest: {command}: {line}")
        raise LinkError(f"QEMU is gone: {self.errors()}")

    def config_read(self, device: int, register: int) -> int:
        self._do(f"outl {CONFIG_ADDRESS:#x} {1 << 31 | device | register & 0xFC:#x}")
        return self._do(f"inl {CONFIG_DATA:#x}")

    def config_write(self, device: int, register: int, value: int) -> None:
        self._do(f"outl {CONFIG_ADDRESS:#x} {1 << 31 | device | register & 0xFC:#x}")
        self._do(f"outl {CONFIG_DATA:#x} {value:#x}")

    def _enumerate(self) -> None:
        self.config_write(ROOT_PORT, 0x18, 0x010100)  # secondary and subordinate bus
        self.config_write(ROOT_PORT, 0x20, WINDOW[0] >> 16 | WINDOW[1] & 0xFFF00000)
        self.config_write(ROOT_PORT, 0x04, MEMORY_AND_MASTER)
        identity = self.config_read(CARD, 0)
        if identity & 0xFFFF != 0x10EE:
            raise LinkError(f"there is no card on the bus, but {identity:#010x}")
        for register, value in ((0x10, BAR0), (0x14, 0), (0x18, BAR2), (0x1C, 0)):
            self.config_write(CARD, register, value)
        self.config_write(CARD, 0x04, MEMORY_ONLY)

    def reset_function(self, function: int) -> None:
        """Function level reset, and the BARs are where they were."""
        control = self.config_read(CARD, 0x78)
        self.config_write(CARD, 0x78, control | 1 << 15)
        self._enumerate()

    # What a driver asks of a link

    def _address(self, bar: int, offset: int) -> int:
        return {0: BAR0, 2: BAR2}[bar] + offset

    def bar_access(
        self, function: int, bar: int, offset: int, width: int = 4, value: int | None = None
    ) -> tuple[Status, int]:
        letter, address = {1: "b", 2: "w", 4: "l", 8: "q"}[width], self._address(bar, offset)
        if value is not None:
            self._do(f"write{letter} {address:#x} {value:#x}")
            return Status.OK, value
        return Status.OK, self._do(f"read{letter} {address:#x}")

    def read(self, function: int, bar: int, offset: int, width: int = 4) -> int:
        return self.bar_access(function, bar, offset, width)[1]

    def write(self, function: int, bar: int, offset: int, value: int, width: int = 4) -> None:
        self.bar_access(function, bar, offset, width, value)

    def enable(self, function: int, enabled: bool = True, parent: int | None = None) -> None:
        self.config_write(CARD, 0x04, MEMORY_AND_MASTER if enabled else MEMORY_ONLY)

    def enable_interrupts(self, vectors: int) -> None:
        """Every vector writes into a word of memory; MSI-X is on."""
        self._words = [self.memory.allocate(64) for _ in range(vectors)]
        for vector, word in enumerate(self._words):
            for register, value in enumerate((word, 0, 1, 0)):
                self.write(0, 0, MSIX_TABLE + 16 * vector + 4 * register, value)
        self.config_write(CARD, 0x60, 1 << 31)

    def take_interrupt(self, vector: int) -> bool:
        """Whether one came since the last call."""
        came = self.memory.word(self._words[vector]) != 0
        self.memory.set_word(self._words[vector], 0)
        return came

    def wait(self, condition: Callable[[], bool], what: str, seconds: float | None = None) -> None:
        deadline = time.monotonic() + (self.patience if seconds is None else seconds)
        while not condition():
            if self._process.poll() is not None:
                raise LinkError(f"QEMU ended: {self.errors()}")
            if time.monotonic() > deadline:
                raise LinkTimeout(f"waited in vain for {what}")
            time.sleep(0.001)
