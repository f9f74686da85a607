# SPDX-License-Identifier: Apache-2.0
"""Programs of host-driver/dpdk/test, made for one run of the tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SANITIZED = "-fsanitize=address,undefined -fno-sanitize-recover=all"


def output(*command: str | Path, minutes: int = 10) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60 * minutes, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout[-1000:]}{done.stderr[-3000:]}"
    return done.stdout.strip()


def fetched(*words: str) -> str:
    return output(ROOT / "scripts" / "build" / "fetch-source", *words)


def built(folder: Path, *options: str) -> Path:
    """The folder with what the Makefile has made: targets and variables."""
    source = f"DPDK_SOURCE={fetched('dpdk')}"
    driver = ROOT / "host-driver" / "dpdk"
    output("make", "-s", "-C", driver, "-j", str(os.cpu_count()), *options, source, f"OUTPUT={folder}")
    return folder


def sanitized(folder: Path, *targets: str) -> Path:
    """The same, of this machine, under sanitizers. MERIDIAN_GCOV names a folder where lines are counted instead."""
    output(ROOT / "scripts" / "setup", "--dpdk")
    counted = os.environ.get("MERIDIAN_GCOV")
    if counted:
        folder = Path(counted) / folder.name
        folder.mkdir(parents=True)
    extra = "--coverage -fprofile-abs-path" if counted else SANITIZED
    flags = ["CFLAGS=-O1 -g", f"EXTRA_CFLAGS={extra}", f"EXTRA_LDFLAGS={extra}"]
    return built(folder, *targets, *flags)
