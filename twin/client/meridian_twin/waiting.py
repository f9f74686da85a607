# SPDX-License-Identifier: Apache-2.0
"""Waiting on a link with a bound, while others who share it go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from .patience import deadline_in, stretched

T = TypeVar("T")


class LinkError(Exception):
    """The card refused something, in its own words, or is gone."""


class LinkTimeout(LinkError):
    """Something that must come within a bound did not."""


class Waiting:
    """A link, as far as it waits. patience: seconds, unless a caller has its own; a slow machine stretches both.

    Raises LinkTimeout if what is waited for does not come.
    """

    def __init__(self, patience: float) -> None:
        self.patience = stretched(patience)
        self.services: list[Callable[[], None]] = []  # called while `wait` waits: others who share this link
        self._in_service = False

    def _pass(self, pause: float) -> None:
        """Does what the card asks for, and lets that many seconds pass at most."""
        raise NotImplementedError

    def wait(self, condition: Callable[[], bool], what: str, seconds: float | None = None) -> None:
        """Until condition holds; raises LinkTimeout that says what was waited for. Time goes on meanwhile."""
        deadline = time.monotonic() + self.patience if seconds is None else deadline_in(seconds)
        pause = 0.0
        while not condition():
            if time.monotonic() > deadline:
                raise LinkTimeout(f"waited in vain for {what}")
            self._pass(pause)
            pause = min(0.002, pause + 0.0002)
            if not self._in_service:
                self._in_service = True
                try:
                    for service in self.services:
                        service()
                finally:
                    self._in_service = False

    def collect(self, take: Callable[[], Iterable[T]], count: int, what: str, seconds: float | None = None) -> list[T]:
        """What take gives, again and again, until there are count of it; there may be more."""
        taken: list[T] = []

        def enough() -> bool:
            taken.extend(take())
            return len(taken) >= count

        self.wait(enough, f"{count} {what}", seconds)
        return taken
