# SPDX-License-Identifier: Apache-2.0
"""How much longer everything that waits has patience: a loaded or slow machine needs more time for the same work."""

from __future__ import annotations

import functools
import math
import os
import threading
import time

VARIABLE = "MERIDIAN_PATIENCE"
MOST = 1000


class PatienceError(ValueError):
    """The variable has a value that is no factor."""


@functools.lru_cache
def _factor_of(text: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = math.nan
    if not 1 <= factor <= MOST:
        raise PatienceError(f"{VARIABLE} is {text!r}, which is not a number from 1 to {MOST}")
    return factor


def stretched(seconds: float) -> float:
    """A bound of so many seconds, on this machine."""
    return seconds * _factor_of(os.environ.get(VARIABLE) or "1")


def deadline_in(seconds: float) -> float:
    """When a wait of so many seconds ends on this machine, by time.monotonic()."""
    return time.monotonic() + stretched(seconds)


def end_of(thread: threading.Thread, seconds: float = 30) -> None:
    """Waits for a thread that was told to end. Raises TimeoutError if it still runs after so many seconds."""
    thread.join(stretched(seconds))
    if thread.is_alive():
        raise TimeoutError(f"{thread.name} was told to end and still runs after {stretched(seconds):g} s")
