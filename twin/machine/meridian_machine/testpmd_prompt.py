# SPDX-License-Identifier: Apache-2.0
"""testpmd's prompt, wherever it runs, and what tests ask for at it."""

from __future__ import annotations

import abc
import re
import time
from collections.abc import Callable

from meridian_twin.patience import deadline_in, stretched

PROMPT = "testpmd> "
START_SECONDS = 120
COMMAND_SECONDS = 60


class TestpmdError(Exception):
    """It ended, did not answer in time, or said that a command failed; the text is what it wrote."""

    __test__ = False  # no test of pytest's


class Prompt(abc.ABC):
    """A running testpmd.

    Raises TestpmdError if testpmd refuses to start its ports, or if what is waited for does not come.
    """

    __test__ = False

    @abc.abstractmethod
    def command(self, text: str, seconds: float = COMMAND_SECONDS) -> str:
        """What it answers."""

    def start(self, mode: str = "io") -> None:
        """Starts the ports, and forwarding in that mode."""
        answer = self.command("port start all", 2 * COMMAND_SECONDS)
        if "fail" in answer.lower() or "error" in answer.lower():
            raise TestpmdError(answer)
        self.command(f"set fwd {mode}")
        self.command("start")

    def statistics(self, port: int = 0) -> dict[str, int]:
        """As `show port stats` has them: "RX-packets" and so on."""
        answer = self.command(f"show port stats {port}")
        return {name: int(value) for name, value in re.findall(r"([RT]X-[a-z]+): +(\d+)", answer)}

    def wait(self, what: str, until: Callable[[], bool], seconds: float = COMMAND_SECONDS) -> None:
        deadline = deadline_in(seconds)
        while not until():
            if time.monotonic() > deadline:
                raise TestpmdError(f"{what}: not after {stretched(seconds):.0f} s; {self.statistics()}")
            time.sleep(0.02)
