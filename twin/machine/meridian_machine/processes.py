# SPDX-License-Identifier: Apache-2.0
"""Processes that end with the one that started them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from meridian_twin.patience import stretched

END_SECONDS = 10
KILL_SECONDS = 60  # the kernel takes the memory of a killed machine back first


def guarded(command: Sequence[str]) -> list[str]:
    """The command, killed by the kernel should this process die without a chance to end it."""
    return ["setpriv", "--pdeathsig", "KILL", *command]


def stop(process: subprocess.Popen[bytes]) -> int:
    """Asks it to end, then makes it; its exit status."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=stretched(END_SECONDS))
        except subprocess.TimeoutExpired:
            process.kill()
    return process.wait(timeout=stretched(KILL_SECONDS))
