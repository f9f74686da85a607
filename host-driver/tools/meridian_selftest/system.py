# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Files of the kernel: sysfs and proc."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

#: In tests, a folder that stands for /.
ROOT = Path(os.environ.get("MERIDIAN_FAKE_ROOT", "/"))
PCI = ROOT / "sys/bus/pci/devices"
NET = ROOT / "sys/class/net"
PROC = ROOT / "proc"
KMSG = ROOT / "dev/kmsg"
#: Records of the kernel's log are no longer.
RECORD_BYTES = 8192


def read(path: Path, otherwise: str = "") -> str:
    """A small file's text without the end of its line; `otherwise` if it is not there or has nothing to say."""
    try:
        return path.read_text().strip()
    except OSError:
        return otherwise


def number(path: Path, otherwise: int = 0) -> int:
    """A file that has one number, in any base that the kernel writes."""
    text = read(path)
    try:
        return int(text, 0)
    except ValueError:
        return otherwise


def target(path: Path) -> str:
    """The last part of what a link points to, "" if there is no such link."""
    return os.path.basename(os.readlink(path)) if path.is_symlink() else ""


def names(folder: Path) -> list[str]:
    """What is in a folder, sorted; nothing if it is not there."""
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


@contextmanager
def kernel_log() -> Iterator[Callable[[], str]]:
    """What the kernel says from now on, read without a wait: a line for each record; nothing where nobody may read it."""
    try:
        log = os.open(KMSG, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        yield lambda: ""
        return
    try:
        os.lseek(log, 0, os.SEEK_END)
        yield lambda: "".join(_records(log))
    finally:
        os.close(log)


def _records(log: int) -> Iterator[str]:
    """A record has numbers, a semicolon and the text; its further lines name the device."""
    while True:
        try:
            record = os.read(log, RECORD_BYTES)
        except BrokenPipeError:  # some were overwritten before they were read
            continue
        except BlockingIOError:
            return
        if not record:
            return
        yield record.decode(errors="replace").partition(";")[2].partition("\n")[0] + "\n"


def until(holds: Callable[[], bool], seconds: float, pause: float = 0.01) -> bool:
    """Whether it holds in the end. The wait is bounded."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True
