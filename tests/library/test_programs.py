# SPDX-License-Identifier: Apache-2.0
"""The library's three programs on a simulated card, and what they say of wrong options."""

from __future__ import annotations

from typing import Any

import pytest
from library_fixtures import EXAMPLE, Program, built, program

pytestmark = pytest.mark.seconds(10)
__all__ = ["built", "program"]  # fixtures

PROGRAMS = ("throughput", "latency", "random_access")


@pytest.mark.parametrize("name", PROGRAMS)
def test_options_are_told_and_checked(program: Program, name: str) -> None:
    told = program(name, "--help").stdout
    assert f"/{name} --card NAME" in told and "Measures how" in told
    for words, said in (
        ((), "usage:"),
        (("--card", "0000:01:00.0", "more"), "usage:"),
        (("--card", "0000:01:00.0", "--by", "hand"), "--by hand: choose module or memory"),
        (("--card", "0000:01:00.0", "--count", "0"), "--count 0: choose 1 to 1000000"),
        (("--card", "0000:01:00.0", "--count", "7x"), "--count 7x: choose 1 to 1000000"),
    ):
        done = program(name, *words, status=2)
        assert said in done.stderr and not done.stdout
    assert "there is no such function" in program(name, "--card", "0000:ff:1f.7", status=1).stderr


def test_programs_measure_by_the_module(program: Program, run_card: Any, own_dma: bool) -> None:
    if not own_dma:
        pytest.skip("the module needs the DMA engine of our own")
    card = run_card(configuration=("--host-box", str(EXAMPLE)))
    for name in PROGRAMS:
        done = program(name, "--card", f"twin:{card.socket}", "--count", "20")
        lines = done.stdout.splitlines()
        assert len(lines) == {"throughput": 7, "latency": 29, "random_access": 29}[name], done.stdout
    assert (
        "no memory-mapped queues"
        in program("latency", "--card", f"twin:{card.socket}", "--by", "memory", status=1).stderr
    )


def test_programs_measure_by_the_memory(program: Program, run_card: Any, own_dma: bool) -> None:
    if not own_dma:
        pytest.skip("memory-mapped queues need the DMA engine of our own")
    card = run_card(configuration=("--memory", "true"))
    for name in PROGRAMS:
        done = program(name, "--card", f"twin:{card.socket}", "--by", "memory", "--count", "3")
        lines = done.stdout.splitlines()
        assert len(lines) == {"throughput": 7, "latency": 5, "random_access": 15}[name], done.stdout
    assert "has no module" in program("latency", "--card", f"twin:{card.socket}", status=1).stderr
