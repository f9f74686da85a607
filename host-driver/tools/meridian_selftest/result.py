# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""What a check says: one line."""

from __future__ import annotations

from dataclasses import dataclass

PASS, FAIL, SKIP = "PASS", "FAIL", "SKIP"


class Fail(Exception):
    """A sentence that says what is wrong, and one that says what to do."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}. {remedy}")


class Skip(Exception):
    """A sentence that says why the check was not done, with what to do."""


@dataclass(frozen=True)
class Line:
    """One line of the report.

    name: of the check, with the port behind a dot if there is a line for each port. is_detached: skipped, because an
    interface is detached.
    """

    name: str
    result: str
    text: str
    is_detached: bool = False
