# SPDX-License-Identifier: Apache-2.0
"""Which version ran, when, and on which machine."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from meridian_machine import Setting
from meridian_machine.tools import ROOT


@dataclass(frozen=True)
class About:
    """Words for people. date: in UTC. dma: as the generator's option --dma names the engine."""

    version: str
    date: str
    machine: str
    dma: str = "qdma"


def here() -> About:
    return About(_version(), datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), _machine(), Setting().dma)


def _version() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown, as git does not answer"
    return done.stdout.strip() or "unknown, as this is no git checkout"


def _machine() -> str:
    found = re.search(r"^model name\s*: (.+)$", _text("/proc/cpuinfo"), re.MULTILINE)
    system = re.search(r'^PRETTY_NAME="?([^"\n]+)', _text("/etc/os-release"), re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return ", ".join(
        [
            found[1] if found else platform.machine(),
            f"{os.cpu_count()} processors",
            f"{memory:.0f} GiB of memory",
            system[1] if system else platform.system(),
            f"Linux {platform.release()}",
        ]
    )


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
