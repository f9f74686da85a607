# SPDX-License-Identifier: Apache-2.0
"""A running machine that is told what to do: scripts in, output and exit status out, every wait bounded."""

from __future__ import annotations

import base64
import io
import re
import secrets
import selectors
import subprocess
import tarfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from meridian_twin.closing import Closing
from meridian_twin.patience import stretched

from .hardware import Hardware
from .initrd import Content, initrd
from .processes import guarded, stop
from .ps_hardware import PsHardware
from .streams import Marked, Port, Sink
from .tools import Image

TAIL_LINES = 15
SETTLE_SECONDS = 10
#: What ends or stops a machine by no fault of what runs in it: processors of an unpatched QEMU 10.0 race each other.
RACE = "iotlb_to_section: Assertion `section_index < d->map.sections_nb' failed"
STALL = re.compile(r"rcu: .*(?:stall|starved|timer wakeup).*")
TICK = 0.2


class MachineError(Exception):
    """The machine died, hangs or does not come up: a sentence, then the console's last lines."""

    @property
    def sentence(self) -> str:
        return str(self).partition("; the console's last lines")[0]


class MachineTimeout(MachineError):
    """It did not get done in time."""


class EmulatorFault(MachineError):
    """QEMU has failed an assertion, or an emulated processor has lost its timer: another start is worth it."""


@dataclass(frozen=True)
class Done:
    """How a script went. status as the shell has it: 128 and more for a signal."""

    status: int
    stdout: bytes = b""
    stderr: bytes = b""

    @property
    def text(self) -> str:
        return self.stdout.decode(errors="replace")


class Machine(Closing):
    """A Debian machine in QEMU, with the card that listens at `socket`. Use it as a context manager.

    `folder` keeps its console and QEMU's own words. `files` are there under /run/twin. `watch` is called while it is
    waited for; what it raises ends the wait. `patience` is what the image's kernel and a slow
    computer make all waits longer by.

    Raises MachineError if a script fails or the machine dies; MachineTimeout and EmulatorFault are such.
    """

    def __init__(
        self,
        qemu: Path,
        image: Image,
        folder: Path,
        socket: Path | None = None,
        hardware: Hardware | PsHardware | None = None,
        files: Mapping[str, Content] | None = None,
        watch: Callable[[], object] = lambda: None,
    ) -> None:
        self.console = folder / "console.log"
        self._errors = folder / "qemu.log"
        self._watch = watch
        self._lines = b""
        self._over = False
        self.patience = image.patience
        self._ports = {name: Port(f"twin.{name}") for name in ("control", "stdout", "stderr")}
        self._ramdisk = folder / "initrd"
        self._ramdisk.write_bytes(initrd(image, files or {}))
        hardware = hardware or Hardware()
        options = hardware.options(image, self._ramdisk, socket, "quiet TWIN=commands")
        options += ["-chardev", f"file,id=console,path={self.console}", "-serial", "chardev:console"]
        options += ["-device", hardware.serial]
        for port in self._ports.values():
            options += port.options()
        self._selector = selectors.DefaultSelector()
        for port in self._ports.values():
            self._selector.register(port.ours, selectors.EVENT_READ, port)
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                guarded([str(qemu), *options]),
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                pass_fds=[port.theirs.fileno() for port in self._ports.values()],
                start_new_session=True,
            )
        for port in self._ports.values():
            port.theirs.close()

    @property
    def pid(self) -> int:
        """Of QEMU."""
        return self._process.pid

    def wait_ready(self, seconds: float = 300) -> str:
        """Until it takes scripts; the release of its kernel. Raises MachineError."""
        return self._answer("ready", "to come up", seconds, {}, self._look_for_stall)

    def keep_logs(self, name: str) -> None:
        """Renames the logs of a closed machine, as the next one in its folder would write over them."""
        for log in (self.console, self._errors):
            if log.exists():
                log.rename(log.with_stem(f"{log.stem}-{name}"))

    def run(
        self,
        script: str,
        seconds: float = 120,
        stdout: Sink | None = None,
        stderr: Sink | None = None,
        check: bool = False,
    ) -> Done:
        """Runs a script for bash as root. Output goes to the sinks as it comes, without them into the result.

        With check, a status that is not 0 raises MachineError with what the script said. After a MachineTimeout the
        machine takes no more scripts.
        """
        marker = b"\x01" + secrets.token_hex(8).encode()
        kept = {"stdout": bytearray(), "stderr": bytearray()}
        streams = {
            "stdout": Marked(marker, stdout or kept["stdout"].extend),
            "stderr": Marked(marker, stderr or kept["stderr"].extend),
        }
        text = base64.b64encode(script.encode())
        try:
            self._send(b"run %s %s\n" % (marker, text), seconds)
            status = int(self._answer("status", "to be done with the script", seconds, streams))
        finally:
            for stream in streams.values():
                stream.flush()
        done = Done(status, bytes(kept["stdout"]), bytes(kept["stderr"]))
        if check and status != 0:
            said = (done.stderr or done.stdout).decode(errors="replace").strip()
            raise MachineError(f"the script ended with status {status}: {said}")
        return done

    def fetch(self, source: str, target: Path, seconds: float = 120) -> None:
        """Copies a file or folder of the machine into the folder `target`."""
        name = Path(source)
        done = self.run(f"tar -C '{name.parent}' -cf - '{name.name}'", seconds, check=True)
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tar:
            tar.extractall(target, filter="data")

    def power_off(self, seconds: float = 30) -> None:
        """Ends it in order; one that has ended so by itself is off, too. Raises MachineError.

        An emulator's fault is of no account here, as all work is done.
        """
        seconds *= self.patience
        try:
            self._tell(b"end\n", seconds)
        except OSError:
            pass  # nobody is there to be told; how it ended is seen below
        try:
            status = self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise self._told(MachineTimeout, f"the machine is not off {seconds:.0f} s after it was told") from None
        fault = self._fault(status)
        if fault and not isinstance(fault, EmulatorFault):
            raise fault

    def close(self) -> None:
        try:
            stop(self._process)
        finally:
            self._ramdisk.unlink(missing_ok=True)
            self._selector.close()
            for port in self._ports.values():
                port.close()

    # The far side

    def _send(self, data: bytes, seconds: float) -> None:
        try:
            self._tell(data, seconds * self.patience)
        except OSError:
            raise self._death() from None

    def _tell(self, data: bytes, seconds: float) -> None:
        """Raises OSError if QEMU has closed the port."""
        port = self._ports["control"].ours
        port.settimeout(seconds)
        try:
            port.sendall(data)
        except TimeoutError:
            raise self._told(MachineTimeout, "the machine takes no commands") from None
        finally:
            port.setblocking(False)

    def _answer(
        self,
        verb: str,
        what: str,
        seconds: float,
        streams: Mapping[str, Marked],
        look: Callable[[], object] = lambda: None,
    ) -> str:
        """The word after `verb` on the control port, once the streams are complete. look: called until it is there."""
        seconds *= self.patience
        deadline = time.monotonic() + seconds
        answer: str | None = None
        while answer is None or not all(stream.complete for stream in streams.values()):
            self._watch()
            for key, _ in self._selector.select(TICK):
                self._take(key.data, streams)
            if answer is None:
                answer = self._line(verb)
                look()
            elif time.monotonic() > deadline + stretched(SETTLE_SECONDS):
                raise self._told(MachineTimeout, "the machine's output does not end")
            if answer is None and self._over:
                raise self._death()
            if answer is None and time.monotonic() > deadline:
                raise self._told(MachineTimeout, f"waited {seconds:.0f} s for the machine {what}")
        return answer

    def _take(self, port: Port, streams: Mapping[str, Marked]) -> None:
        data = port.take()
        if data is None:
            self._selector.unregister(port.ours)
            self._over = self._over or port.name == "twin.control"
            return
        name = port.name.removeprefix("twin.")
        if name == "control":
            self._lines += data
        elif name in streams:
            streams[name].feed(data)

    def _line(self, verb: str) -> str | None:
        line, newline, rest = self._lines.partition(b"\n")
        if not newline:
            return None
        self._lines = rest
        found = re.fullmatch(rf"{verb} (\S+)", line.decode(errors="replace"))
        if not found:
            raise self._told(MachineError, f"the machine says {line!r} where {verb} was due")
        return found[1]

    def _death(self) -> MachineError:
        try:
            status = self._process.wait(timeout=stretched(SETTLE_SECONDS))
        except subprocess.TimeoutExpired:
            return self._told(MachineError, "the machine has closed its ports")
        return self._fault(status) or self._told(MachineError, "the machine ended before its work was done")

    def _fault(self, status: int) -> MachineError | None:
        """Why it has not ended in order, from QEMU's status; None if it has."""
        errors = self._errors.read_text(errors="replace").strip()
        if status != 0:
            kind = EmulatorFault if RACE in errors else MachineError
            return self._told(kind, f"QEMU ended with status {status}: {errors or 'without a word'}")
        text = self.console.read_text(errors="replace") if self.console.exists() else ""
        panic = re.search(r"Kernel panic - not syncing: (.*)", text)
        if panic:
            return self._told(MachineError, f"the machine's kernel panicked ({panic[1].strip()})")
        return None

    def _look_for_stall(self) -> None:
        text = self.console.read_text(errors="replace") if self.console.exists() else ""
        if found := STALL.search(text):
            raise self._told(EmulatorFault, f"the machine's kernel says {found[0].strip()!r} before it is up")

    def _told(self, kind: type[MachineError], sentence: str) -> MachineError:
        text = self.console.read_text(errors="replace") if self.console.exists() else ""
        lines = [line.rstrip() for line in text.splitlines() if line.strip()][-TAIL_LINES:]
        tail = "\n".join(f"  | {line}" for line in lines)
        return kind(f"{sentence}; the console's last lines ({self.console}):\n{tail or '  | (nothing)'}")
