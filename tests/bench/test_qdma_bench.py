# SPDX-License-Identifier: Apache-2.0
"""The bench of the QDMA model: it checks order and length of each frame itself, here it has to be plausible."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

SHORT = ("--warm-us", "10", "--for-us", "20")


@pytest.fixture
def bench(built_card: Any) -> Any:
    program = built_card().parent / "qdma_bench"

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *options], capture_output=True, text=True, timeout=60, check=False)

    return run


def measured(bench: Any, *options: str) -> Any:
    done = bench(*SHORT, *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_without_a_limit_it_is_the_pins(bench: Any) -> None:
    """512 bits at 250 MHz: a frame of 1024 bytes takes 64 ns."""
    result = measured(bench, "--bytes", "1024", "--queues", "4", "--poll-ns", "100")
    assert result["mpps"] == pytest.approx(1e3 / 64, rel=0.03)
    assert result["gbps"] == pytest.approx(result["mpps"] * 8 * 1.024)


def test_a_link_limits_and_delays(bench: Any) -> None:
    wide, narrow = (measured(bench, "--bytes", "1024", "--queues", "4", "--pcie", link) for link in ("3:16", "3:8"))
    assert 0.45 < narrow["mpps"] / wide["mpps"] < 0.55
    # 1024 bytes are 65 ns on 16 lanes, and half of the round trip of 800 ns.
    alone = measured(bench, "--bytes", "1024", "--pcie", "3:16", "--gap-ns", "2000")
    assert 465 < alone["latency_ns"]["min"] <= alone["latency_ns"]["median"] < 600
    assert alone["mpps"] == pytest.approx(0.5, rel=0.1)


def test_what_is_wrong_is_told(bench: Any) -> None:
    for options, message in (
        (("--bytes", "32"), "--bytes: choose 64 to 4096"),
        (("--pcie", "9:9"), "--pcie: choose a generation"),
        (("--nonsense",), "no option is named --nonsense"),
    ):
        done = bench(*options)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
