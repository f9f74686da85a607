# SPDX-License-Identifier: Apache-2.0
"""A program with a prompt, in a bash of this machine in place of one of the twin."""

from __future__ import annotations

import os
import subprocess

from meridian_machine.guest import Guest
from meridian_machine.machine import Done
from meridian_machine.program import Program

# Each answer holds a byte that is no UTF-8.
TALKER = (
    r'printf "ready \377\n> "; while read -r line; do [ "$line" != quit ] || exit 3; printf "$line \376\377\n> "; done'
)


class Here:
    """Takes scripts as a Machine does."""

    def run(self, script: str, seconds: float) -> Done:
        done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=seconds, check=False)
        return Done(done.returncode, done.stdout, done.stderr)


def test_answers_of_a_program_are_whole_behind_bytes_that_are_no_utf_8() -> None:
    program = Program(Guest(Here()), f"talker-{os.getpid()}", ["bash", "-c", TALKER], "\n> ", 20)  # type: ignore[arg-type]
    assert program.start_text == "ready \ufffd"
    for word in ("first", "second", "third"):
        assert program.command(word, 20) == f"{word} \ufffd\ufffd"
    program.say("quit")
    assert program.wait_end(20) == 3
