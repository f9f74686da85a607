# SPDX-License-Identifier: Apache-2.0
"""A program of DPDK that sleeps until a receive queue interrupts (sleeper.c)."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")
ROOT = SOURCE.parents[1]


def sleeper(folder: Path) -> Path:
    """Built in that folder for this system's DPDK."""
    subprocess.run([ROOT / "scripts" / "setup", "--dpdk"], stdout=subprocess.DEVNULL, check=True, timeout=600)
    flags = subprocess.run(
        ["pkg-config", "--cflags", "libdpdk"], capture_output=True, text=True, check=True, timeout=60
    )
    program = folder / SOURCE.stem
    libraries = [f"-lrte_{name}" for name in ("eal", "ethdev", "mbuf", "mempool")]
    command = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", *shlex.split(flags.stdout)]
    subprocess.run([*command, "-o", str(program), str(SOURCE), *libraries], check=True, timeout=300)
    return program
