# SPDX-License-Identifier: Apache-2.0
"""What the bench of resources counts, without Yosys."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import resources
from netlist import End

GENERATOR = "spinal/src/main/scala/meridian/selftest/GenerateSelfTest.scala"


def test_the_blocks_of_the_self_test_are_those_that_are_generated() -> None:
    text = (resources.ROOT / GENERATOR).read_text()
    made = text[text.index("config.generateVerilog") :]
    assert re.findall(r"new (\w+)\(", made) == list(resources.SELF_TEST)


def test_the_self_test_is_what_a_shell_with_it_has_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Crossings and merges are in no block alone."""
    asked: list[str] = []
    ends = {f"{clock.pin}_0": [End(clock.levels, ["a", "b"])] for clock in resources.CLOCKS}

    def netlist(name: str, _: str) -> Any:
        size = {"Shell": 40_000, "Shell with it": 46_000}.get(name, 500)
        found = SimpleNamespace(lut=size, ff=2 * size, bram36=size / 1000, ends=ends)
        return SimpleNamespace(resources=lambda: found)

    def run(command: list[Any], **_: Any) -> None:
        asked.append(command[1])

    def synthesize(verilog: Path, top: str, *_: Any) -> str:
        return "Shell with it" if verilog.parent.name.endswith("self-test") else top

    monkeypatch.setattr(resources.subprocess, "run", run)
    monkeypatch.setattr(resources, "synthesize", synthesize)
    monkeypatch.setattr(resources, "Netlist", netlist)
    resources.of_shell.cache_clear()
    figures = resources.of_self_test(32, 8)
    assert [words.partition(" --ports ")[2] for words in asked[:2]] == [
        "1 --host-bytes 32 --functions 8",
        "1 --host-bytes 32 --functions 8 --self-test true",
    ]
    whole = [figure for figure in figures if figure.point.get("of") == "a shell with one port"]
    assert [(figure.id, figure.value) for figure in whole] == [("lut", 6000), ("ff", 12_000), ("bram36", 6)]
    # The shells of the bench itself are not made once more.
    resources.of_shell(1, 32, 8)
    assert len(asked) == 3
    resources.of_shell.cache_clear()
    assert {figure.point["block"] for figure in figures if "block" in figure.point} == set(resources.SELF_TEST)
