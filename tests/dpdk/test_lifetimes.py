# SPDX-License-Identifier: Apache-2.0
"""What an application may do with a port, in orders that seeds draw, under sanitizers (test/lifetime_test.c)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from programs import ROOT, sanitized

# DPDK's own libraries leave memory behind; what the driver leaves, the program counts itself.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
SEED = 20261125


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    twin = " ".join(str(source) for source in sorted((ROOT / "twin" / "dpdk").glob("*.c")))
    return sanitized(tmp_path_factory.mktemp("lifetimes"), "lifetime_test", f"PLUGINS={twin}") / "lifetime_test"


def walk(program: Path, steps: int, seed: int, *device: str, minutes: int = 5) -> None:
    command = [str(program), str(steps), str(seed), *device]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60 * minutes, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, f"{command}: {done.stdout[-1000:]}{done.stderr[-5000:]}"
    assert "all came back" in done.stdout


@pytest.mark.parametrize(
    ("steps", "seed"), [(500, SEED), (500, SEED + 1), pytest.param(10_000, SEED + 2, marks=pytest.mark.long)]
)
def test_the_null_card_survives_a_random_walk(program: Path, steps: int, seed: int) -> None:
    """With link events, fatal errors and silence."""
    walk(program, steps, seed, minutes=15)


def test_the_card_process_survives_a_random_walk(program: Path, run_card: Any) -> None:
    walk(program, 200, SEED, "net_meridian_twin0", f"socket={run_card().socket},push=200", minutes=10)
