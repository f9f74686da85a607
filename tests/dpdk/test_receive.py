# SPDX-License-Identifier: Apache-2.0
"""Receive functions by themselves, those of arm64 emulated: every kind of completion, every mbuf looked at."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import ROOT, built, fetched, output, sanitized

ROUNDS = 100_000
SEED = 20261122


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    return [sanitized(tmp_path_factory.mktemp("native"), "receive_test") / "receive_test"]


@pytest.fixture(scope="module")
def arm64(tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    """With the whole driver's objects, which have to compile."""
    output(ROOT / "scripts" / "setup", "--dpdk")
    output(ROOT / "scripts" / "setup", "--arm64")
    headers = f"DPDK_ROOT={fetched('--binary', '--arch', 'arm64', 'libdpdk-dev')}"
    options = ["CC=aarch64-linux-gnu-gcc", headers, "EXTRA_LDFLAGS=-static"]
    program = built(tmp_path_factory.mktemp("arm64"), "objects", "receive_test", *options) / "receive_test"
    return [Path(fetched("--binary", "qemu-user-static")) / "usr/bin/qemu-aarch64-static", program]


@pytest.mark.parametrize(
    ("machine", "way"),
    [
        *(("native", lock + way) for lock in ("", "locked-") for way in ("simple", "scattered", "sse", "avx2")),
        *(("arm64", way) for way in ("simple", "neon", "locked-neon")),
    ],
)
def test_every_mbuf_is_as_its_completion_says(machine: str, way: str, request: pytest.FixtureRequest) -> None:
    if way.endswith("avx2") and "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX2")
    frames, word = output(*request.getfixturevalue(machine), way, str(ROUNDS), str(SEED)).split()
    assert word == "frames"
    assert int(frames) > 10 * ROUNDS
