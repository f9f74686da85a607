# SPDX-License-Identifier: Apache-2.0
"""Processes that end with the one that started them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

PATIENCE = 10


def guarded(command: Sequence[str]) -> list[str]:
    """The command, killed by the kernel should this process die without a chance to end it."""
    return ["setpriv", "--pdeathsig", "KILL", *command]


def stop(process: subprocess.Popen[bytes]) -> int:
    """Asks it to end, then makes it; its exit status."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
    return process.wait(timeout=PATIENCE)
