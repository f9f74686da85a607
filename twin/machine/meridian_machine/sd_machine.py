# SPDX-License-Identifier: Apache-2.0
"""A card's PS that starts from its SD card, as a user has it: a console to look at, and ssh by key."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from meridian_twin.patience import deadline_in, stretched

from . import sd_card, tools
from .machine import TAIL_LINES, Done, MachineError, MachineTimeout
from .processes import guarded, stop
from .ps_hardware import PsHardware
from .sd_card import SdCard

UP = re.compile("meridian login:")
TICK = 0.1
PORT_SECONDS = 60
LISTENS, HERE = "0A", "0100007F"  # a socket's state and 127.0.0.1, as /proc/net/tcp has them
POWER_OFF_SECONDS = 60
LOGIN_SECONDS = 300
LOGIN_PAUSE = 1
SSH_FAILED = 255  # the status of ssh for an error of its own; a command may end with it, too


def default_image() -> Path:
    """Debian in the layer's layout, built. Raises BuildError."""
    return tools.built("build/build-sd", minutes=40) / "card.wic"


def default_firmware() -> Path:
    """TF-A and U-Boot, built. Raises BuildError."""
    return tools.built("build/build-boot", minutes=30)


def listening_port(pid: int) -> int | None:
    """The TCP port of 127.0.0.1 that this process listens at, once it does."""
    held = set[str]()
    try:
        for file in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):  # it may have closed the file meanwhile
                held.add(os.readlink(file))
        rows = Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]
    except OSError:  # it has ended
        return None
    for _, local, _, state, *_, inode in (row.split()[:10] for row in rows):
        address, _, port = local.partition(":")
        if (address, state) == (HERE, LISTENS) and f"socket:[{inode}]" in held:
            return int(port, 16)
    return None


class SdMachine:
    """One start of it, from power-on to power-off or reset. Use it as a context manager.

    card: is written to; folder: keeps console and keys; socket: of a running meridian_card, without one the PL is empty;
    line: more of the kernel's command line; watch: called while it is waited for; drive: the card's file as
    QEMU's -drive has it, if not as it is; firmware: a folder with the boot loaders that start it (default_firmware),
    without it QEMU starts the kernel, as the boot loaders would.

    Raises MachineError if it ends early, if a script fails or if nobody can log in; MachineTimeout is one.
    """

    def __init__(
        self,
        card: SdCard,
        folder: Path,
        socket: Path | None = None,
        hardware: PsHardware | None = None,
        line: str = "",
        watch: Callable[[], object] = lambda: None,
        on_terminal: bool = False,
        drive: str = "",
        firmware: Path | None = None,
    ) -> None:
        hardware = hardware or PsHardware()
        self.card, self.folder, self._watch = card, folder, watch
        self.console, self._errors = folder / "console.log", folder / "qemu.log"
        self._port: int | None = None
        self._lets_in = False
        self._key = folder / "key"
        if not self._key.exists():
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "twin", "-f", str(self._key)]
            sd_card.done(*command)
            card.add_key(self._key.with_name("key.pub"))
        self.console.unlink(missing_ok=True)
        drive = drive or f"file={card.path},format=raw"
        if firmware:
            if line or hardware.kernel:
                raise MachineError(
                    "with firmware the kernel's command line is the boot script's, nothing is added to it"
                )
            options = hardware.by_firmware(firmware, folder / "u-boot.dtb", drive, socket)
        else:
            options = hardware.from_sd(card.start(folder), drive, socket, line)
        command = [str(tools.qemu_ps()), *options]
        # QEMU takes a free port: one that was found free here might be somebody else's by then.
        command += ["-nic", "user,restrict=on,hostfwd=tcp:127.0.0.1:0-:22"]
        if on_terminal:
            command += ["-chardev", f"stdio,id=console,mux=on,signal=off,logfile={self.console}"]
            command += ["-serial", "chardev:console", "-mon", "chardev=console"]
            self._process = subprocess.Popen(guarded(command))
            return
        command += ["-chardev", f"file,id=console,path={self.console}", "-serial", "chardev:console"]
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                guarded(command), stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, start_new_session=True
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Of QEMU."""
        return self._process.pid

    @property
    def port(self) -> int:
        """QEMU's choice of 127.0.0.1, which leads to the machine's ssh. Raises MachineError."""
        deadline = deadline_in(PORT_SECONDS)
        while self._port is None:
            ended, self._port = self.ended, listening_port(self.pid)
            if self._port is not None:
                break
            if ended:
                raise self._told(MachineError, f"the machine ended with status {self._process.returncode}")
            if time.monotonic() > deadline:
                raise self._told(MachineTimeout, f"QEMU has no port for ssh after {stretched(PORT_SECONDS):.0f} s")
            time.sleep(TICK)
        return self._port

    def close(self) -> None:
        stop(self._process)

    def cut(self) -> None:
        """The power goes."""
        self._process.kill()
        self._process.wait()

    def errors(self) -> str:
        """What QEMU has said."""
        return self._errors.read_text(errors="replace")

    def text(self) -> str:
        """Of the console so far."""
        return self.console.read_text(errors="replace").replace("\r", "") if self.console.exists() else ""

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def wait_up(self, seconds: float = 600) -> float:
        """Until somebody may log in; the seconds that took. Raises MachineError."""
        return self.wait_for(UP, seconds)

    def wait_for(self, pattern: re.Pattern[str], seconds: float = 600) -> float:
        """Until the console has shown it; the seconds that took. Raises MachineError."""
        started, seconds = time.monotonic(), stretched(seconds)
        while not pattern.search(self.text()):
            self._watch()
            if self.ended and not pattern.search(self.text()):
                raise self._told(MachineError, f"the machine ended with status {self._process.returncode}")
            if time.monotonic() - started > seconds:
                raise self._told(MachineTimeout, f"waited {seconds:.0f} s for {pattern.pattern!r} on the console")
            time.sleep(TICK)
        return time.monotonic() - started

    def wait(self) -> int:
        """QEMU's status when it has ended, whenever that is."""
        return self._process.wait()

    def wait_end(self, seconds: float = POWER_OFF_SECONDS) -> None:
        """Until it is off, or was reset, which ends it, too. Raises MachineError."""
        seconds = stretched(seconds)
        try:
            status = self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise self._told(MachineTimeout, f"the machine still runs after {seconds:.0f} s") from None
        if status != 0:
            raise self._told(MachineError, f"QEMU ended with status {status}: {self._errors.read_text()}")

    def ssh(self) -> list[str]:
        """The command that logs in as root."""
        options = ["BatchMode=yes", "StrictHostKeyChecking=accept-new", f"UserKnownHostsFile={self.folder}/known_hosts"]
        options += ["ConnectTimeout=120", "LogLevel=ERROR", "ServerAliveInterval=10"]
        words = [word for option in options for word in ("-o", option)]
        return ["ssh", "-F", "none", "-i", str(self._key), "-p", str(self.port), *words, "root@127.0.0.1"]

    def run(self, script: str, seconds: float = 120, check: bool = False) -> Done:
        """Runs a script once for its shell, by ssh, as root. Raises MachineError if nobody can log in.

        A machine that has just come up may take a moment before it lets somebody log in.
        """
        self._log_in()
        done = self._try_run(script, seconds)
        if check and done.status != 0:
            said = (done.stderr or done.stdout).decode(errors="replace").strip()
            raise self._told(MachineError, f"{script!r} ended with status {done.status}: {said}")
        return done

    def _log_in(self) -> None:
        """Waits until ssh lets somebody log in. Only this is tried again, as a script may have done half its work."""
        deadline = deadline_in(LOGIN_SECONDS)
        while not self._lets_in:
            self._watch()
            if self.ended:
                raise self._told(MachineError, f"the machine ended with status {self._process.returncode}")
            done = self._try_run("true", LOGIN_SECONDS)
            if done.status == SSH_FAILED and time.monotonic() > deadline:
                said = done.stderr.decode(errors="replace").strip()
                bound = stretched(LOGIN_SECONDS)
                raise self._told(MachineError, f"ssh does not log in within {bound:g} s: {said}")
            self._lets_in = done.status != SSH_FAILED
            time.sleep(0 if self._lets_in else LOGIN_PAUSE)

    def _try_run(self, script: str, seconds: float) -> Done:
        command, seconds = [*self.ssh(), script], stretched(seconds)
        try:
            ended = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            raise self._told(MachineTimeout, f"{script!r} is not done after {seconds:.0f} s") from None
        return Done(ended.returncode, ended.stdout, ended.stderr)

    def power_off(self, seconds: float = POWER_OFF_SECONDS) -> None:
        """Ends it in order; one that has ended so by itself is off, too. Raises MachineError."""
        if not self.ended:
            self._ask_to_end()
        self.wait_end(seconds)

    def _ask_to_end(self) -> None:
        script = "systemctl --no-block poweroff"
        try:
            done = self.run(script)
        except MachineError:
            if self.ended:  # while it was asked; wait_end sees how
                return
            raise
        # The network may go before ssh has the status; a machine that was not told is noticed, as it does not end.
        if done.status not in (0, SSH_FAILED):
            said = (done.stderr or done.stdout).decode(errors="replace").strip()
            raise self._told(MachineError, f"{script!r} ended with status {done.status}: {said}")

    def _told(self, kind: type[MachineError], sentence: str) -> MachineError:
        lines = [line.rstrip() for line in self.text().splitlines() if line.strip()][-TAIL_LINES:]
        tail = "\n".join(f"  | {line}" for line in lines)
        return kind(f"{sentence}; the console's last lines ({self.console}):\n{tail or '  | (nothing)'}")
