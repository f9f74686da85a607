# SPDX-License-Identifier: Apache-2.0
"""Looks into a running card (its option --control): counters, captures, waveforms, faults."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from .closing import Closing
from .patience import stretched


class ControlError(Exception):
    """The card refuses an operation, in its own words, or does not answer."""


class Control(Closing):
    """One connection. `ask("help")` lists the operations.

    Raises ControlError if no card answers or it closes the connection, and with the card's words if it refuses.
    """

    def __init__(self, path: Path | str, patience: float = 30) -> None:
        self.events: list[dict[str, Any]] = []  # what came since `ask("follow")`
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(stretched(patience))
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise ControlError(f"no card answers at {path}: {error.strerror}") from None
        self._lines = self._socket.makefile()

    def close(self) -> None:
        self._lines.close()
        self._socket.close()

    def ask(self, operation: str, **fields: Any) -> dict[str, Any]:
        """The answer to one operation; t_ps in it is twin time."""
        self.send(json.dumps({"op": operation} | fields))
        while True:
            answer = self.line()
            if "ok" not in answer:
                self.events.append(answer)
            elif answer["ok"]:
                return answer
            else:
                raise ControlError(answer["error"])

    def send(self, line: str) -> None:
        try:
            self._socket.sendall(f"{line}\n".encode())
        except OSError as error:
            raise ControlError(f"the card takes no more: {error}") from None

    def line(self) -> dict[str, Any]:
        """The next line, answer or event."""
        try:
            text = self._lines.readline()
        except OSError as error:
            raise ControlError(f"the card does not answer: {error}") from None
        if not text:
            raise ControlError("the card has closed the connection")
        return json.loads(text)
