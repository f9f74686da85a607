# SPDX-License-Identifier: Apache-2.0
"""A program with a prompt that goes on in a machine of the twin from script to script."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence

from meridian_twin.patience import deadline_in, stretched

from .guest import Guest

QUIT_SECONDS = 60


class ProgramError(AssertionError):
    """It ended or does not answer in time; the text is what it wrote last."""


class Program:
    """From its start to its first prompt. `name` is of no other one in the machine.

    Raises ProgramError if no prompt comes, or if it does not end.
    """

    def __init__(self, guest: Guest, name: str, command: Sequence[str], prompt: str, seconds: float) -> None:
        self.guest, self.prompt = guest, prompt
        self._base = base = f"/tmp/{name}"
        self._seen = 0
        # Whoever holds the pipe open keeps the program from reading its end.
        guest.run(
            f"rm -f {base}.*; mkfifo {base}.in\n"
            f"{{ setsid bash -c 'echo $$ >{base}.pid; exec \"$@\"' - {shlex.join(command)} <{base}.in >{base}.out 2>&1\n"
            f"   echo $? >{base}.status; }} >/dev/null 2>&1 &\n"
            f"setsid sleep infinity >{base}.in 2>/dev/null & echo $! >{base}.holder"
        )
        try:
            self.start_text = self.answer(seconds)
        except ProgramError:
            self.kill()
            raise

    def say(self, line: str) -> None:
        """To its input; to one that has ended nothing is said."""
        self.guest.run(f"[ -e {self._base}.status ] || echo {shlex.quote(line)} >{self._base}.in")

    def answer(self, seconds: float) -> str:
        """What it says until the next prompt."""
        within = stretched(seconds)
        # An emulated processor has better to do than to look again and again.
        script = (
            f"for ((turn = 0, end = SECONDS + {within:.0f}; SECONDS <= end; turn++)); do\n"
            f"  tail -c +{self._seen + 1} {self._base}.out >{self._base}.new\n"
            f"  if grep -q {shlex.quote(self.prompt)} {self._base}.new || [ -e {self._base}.status ]; then break; fi\n"
            "  if ((turn < 20)); then sleep 0.1; else sleep 1; fi\n"
            f"done; cat {self._base}.new"
        )
        said = self.guest.run_for_bytes(script, 3 * seconds + 30)
        # Bytes are counted, as the program may write what is no UTF-8.
        answer, prompt, _ = said.partition(self.prompt.encode())
        if not prompt:
            text = said.decode(errors="replace")
            raise ProgramError(f"no prompt after {within:.0f} s, or it has ended: {text}")
        self._seen += len(answer + prompt)
        return answer.decode(errors="replace")

    def command(self, line: str, seconds: float) -> str:
        self.say(line)
        return self.answer(seconds)

    def is_running(self) -> bool:
        return self.guest.try_run(f"[ -e {self._base}.status ]")[0] != 0

    def wait_end(self, seconds: float = QUIT_SECONDS) -> int:
        """Its exit status, as the shell has it."""
        deadline = deadline_in(seconds)
        while self.is_running():
            if time.monotonic() > deadline:
                text = self.rest()
                self.kill()
                raise ProgramError(f"it does not end within {stretched(seconds):.0f} s: {text}")
            time.sleep(0.2)
        return int(self.guest.run(f"kill $(cat {self._base}.holder) 2>/dev/null; cat {self._base}.status"))

    def kill(self) -> None:
        """At once; returns when it is gone."""
        self.guest.run(f"[ -e {self._base}.status ] || kill -KILL $(cat {self._base}.pid)")
        self.guest.until(f"cat {self._base}.status", r"\d")
        self.wait_end()

    def rest(self) -> str:
        """What it has said since its last prompt."""
        return self.guest.run(f"tail -c +{self._seen + 1} {self._base}.out")

    def output(self) -> str:
        """All that it has said."""
        return self.guest.run(f"cat {self._base}.out")
