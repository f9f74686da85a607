# SPDX-License-Identifier: Apache-2.0
"""A person at the twin: the machine's console, and a shell at the far end of the wire."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from pathlib import Path

from .computer import Computer
from .peer import Peer, PeerError
from .processes import guarded, stop
from .twin import RUNS, Twin


@contextlib.contextmanager
def terminal_kept() -> Iterator[None]:
    """The terminal is afterwards as it was, however QEMU ends."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def attach(twin: Twin, computer: Computer) -> int:
    """Boots this machine of the twin with its console on this terminal, until it is off."""
    ramdisk = twin.folder / "initrd"
    size = os.get_terminal_size() if sys.stdin.isatty() else os.terminal_size((80, 24))
    line = f"quiet TERM={os.environ.get('TERM', 'linux')} COLUMNS={size.columns} LINES={size.lines}"
    command = computer.on_console(ramdisk, twin.card.socket, line)
    command += ["-chardev", f"stdio,id=console,mux=on,signal=off,logfile={twin.folder / 'console.log'}"]
    command += ["-serial", "chardev:console", "-mon", "chardev=console"]
    print(
        "twin: poweroff or Ctrl-A X ends the machine; 'scripts/twin peer CMD' is at the other end of the wire",
        file=sys.stderr,
    )
    with terminal_kept():
        process = subprocess.Popen(guarded(command))
        try:
            return process.wait()
        finally:
            stop(process)
            ramdisk.unlink()


def enter_peer(command: Sequence[str], run: Path | None) -> int:
    """Runs a command in the network namespace of a running twin, the youngest if none is named. Raises PeerError."""
    runs = RUNS.glob("run-*") if run is None else [run]
    for file in sorted((folder / "card.pid" for folder in runs), reverse=True):
        pid = running(file)
        if pid:
            words = command or (os.environ.get("SHELL", "/bin/sh"),)
            return subprocess.run([*Peer(pid).enter, *words], check=False).returncode
    raise PeerError("no twin is running")


def running(file: Path) -> int | None:
    """The card's process, if it is still that."""
    try:
        pid = int(file.read_text())
        name = Path(f"/proc/{pid}/comm").read_text()
    except (OSError, ValueError):
        return None
    return pid if name.startswith("meridian_card") else None
