# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""What the program changes on the machine, and how it is put back: after an error, Ctrl-C or a signal, too."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType

from . import ethtool
from .result import Fail

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ended(BaseException):
    """By Ctrl-C or a signal."""


def _ended(number: int, _: FrameType | None) -> None:
    raise Ended(signal.Signals(number).name)


def watch_signals() -> None:
    """From now on a signal raises Ended, but a hang-up that nohup has had ignored."""
    for number in SIGNALS:
        # A shell has its background jobs ignore Ctrl-C; who sends that signal to one wants it to end.
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _ended)


@contextmanager
def undisturbed() -> Iterator[None]:
    """What is put back is put back whole: a further Ctrl-C does not end it."""
    handlers = [(number, signal.signal(number, signal.SIG_IGN)) for number in SIGNALS]
    try:
        yield
    finally:
        for number, handler in handlers:
            signal.signal(number, handler)


def _nothing() -> None:
    pass


def _not_put_back(back: Callable[[], object], what: str) -> str:
    """Why it could not be put back, "" if it was."""
    with undisturbed():
        try:
            back()
        except OSError as error:
            return f"{what} is not put back: {error}"
    return ""


@contextmanager
def changed(change: Callable[[], object], back: Callable[[], object], what: str) -> Iterator[None]:
    """Changes something for as long as the context lasts. what: it is, for the sentence if it cannot be put back.

    It fails if it cannot be put back, and says so on standard error if something else has failed before.
    """
    try:
        try:
            change()
        except OSError:
            back = _nothing  # what the kernel has refused is as it was, or as somebody else has made it
            raise
        yield
    except BaseException:
        if reason := _not_put_back(back, what):
            print(f"meridian-selftest: {reason}", file=sys.stderr)
        raise
    if reason := _not_put_back(back, what):
        raise Fail(reason, "Put it back by hand; 'dmesg' may say why")


def written(path: Path, value: str) -> AbstractContextManager[None]:
    """A file of sysfs has another value for as long as the context lasts."""
    before = path.read_text().strip()
    return changed(lambda: path.write_text(value), lambda: path.write_text(before), str(path))


def interface_up(interface: str) -> AbstractContextManager[None]:
    """An interface that is down is up for as long as the context lasts."""
    if ethtool.is_up(interface):
        return changed(lambda: None, lambda: None, interface)
    return changed(
        lambda: ethtool.set_up(interface, True), lambda: ethtool.set_up(interface, False), f"{interface}, which is up,"
    )
