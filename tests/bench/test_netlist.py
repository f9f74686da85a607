# SPDX-License-Identifier: Apache-2.0
"""The walk over a netlist, on netlists of a few cells; and what the bench of resources counts, without Yosys."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import resources
from netlist import End, Netlist

GENERATOR = "spinal/src/main/scala/meridian/shell/GenerateSelfTest.scala"
OUTPUTS = {"O", "CO", "Q", "DPO", "P", "DOA", "DOUTADOUT", "DOUTBDOUT"}


def cell(kind: str, parameters: dict[str, str] | None = None, **connections: list[int | str]) -> dict:
    directions = {pin: "output" if pin in OUTPUTS else "input" for pin in connections}
    return {
        "type": kind, "parameters": parameters or {}, "port_directions": directions, "connections": connections,
    }  # fmt: skip


def flip_flop(d: int | str, q: int, clock: int = 1) -> dict:
    return cell("FDRE", C=[clock], CE=["1"], D=[d], R=["0"], Q=[q])


def luts(first: int, count: int) -> list[dict]:
    """A chain of LUTs from net `first` to net `first + count`."""
    return [cell("LUT1", A=[first + i], O=[first + i + 1]) for i in range(count)]


def ends(tmp_path: Path, cells: list[dict]) -> dict[str, dict[str, int]]:
    """Clock → register → LUTs before it. Nets 1 and 2 are the clocks, any other is named after its number."""
    bits = {b for c in cells for v in c["connections"].values() for b in v if isinstance(b, int)} | {1, 2}
    module = {
        "cells": {f"cell{i}": c for i, c in enumerate(cells)},
        "netnames": {f"net{b}": {"bits": [b]} for b in bits},
        "ports": {name: {"bits": [b]} for name, b in (("fast", 1), ("slow", 2))},
    }
    file = tmp_path / "netlist.json"
    file.write_text(json.dumps({"modules": {"Top": module}}))
    result = Netlist(file, "Top").resources()
    return {clock: {end.path[-1]: end.depth for end in found} for clock, found in result.ends.items()}


def test_a_path_has_the_depth_of_its_luts_between_two_registers(tmp_path: Path) -> None:
    cells = [flip_flop("0", 10), *luts(10, 3), flip_flop(13, 20), *luts(20, 1), flip_flop(21, 30, clock=2)]
    found = ends(tmp_path, cells)
    assert found["fast"]["net20.D"] == 3
    assert found["slow"] == {"net30.D": 1}


def test_the_deepest_path_of_a_word_comes_first(tmp_path: Path) -> None:
    cells = [flip_flop("0", 10), *luts(10, 4), flip_flop(12, 20), flip_flop(14, 21)]
    assert list(ends(tmp_path, cells)["fast"].values())[:2] == [4, 2]


@pytest.mark.parametrize(("late", "levels"), [(0, [3, 3, 3, 3]), (2, [0, 0, 3, 3]), (3, [0, 0, 0, 3])])
def test_a_carry_chain_is_free_and_sees_only_what_is_below(tmp_path: Path, late: int, levels: list[int]) -> None:
    select: list[int | str] = [50 + i for i in range(4)]
    select[late] = 13
    carry = cell("CARRY4", CI=["0"], CYINIT=["0"], DI=["0"] * 4, S=select, O=[60, 61, 62, 63], CO=[70, 71, 72, 73])
    cells = [flip_flop("0", 10), *luts(10, 3), carry, *(flip_flop(60 + i, 80 + i) for i in range(4))]
    found = ends(tmp_path, cells)["fast"]
    assert [found.get(f"net{80 + i}.D", 0) for i in range(4)] == levels


def test_the_ports_of_a_block_ram_have_clocks_of_their_own(tmp_path: Path) -> None:
    ram = cell(
        "RAMB18E2", {"WRITE_WIDTH_A": "0000"}, CLKARDCLK=[1], CLKBWRCLK=[2], ADDRARDADDR=[12], ADDRBWRADDR=[11],
        DINADIN=[13], DOUTADOUT=[40],
    )  # fmt: skip
    cells = [flip_flop("0", 10), *luts(10, 3), ram]
    found = ends(tmp_path, cells)
    assert found["fast"]["net40.ADDRARDADDR"] == 2
    assert found["slow"] == {"net40.DINADIN": 3}, "the port that writes nothing lends its data pins to the other"


def test_a_lut_ram_is_read_in_the_cycle_and_written_with_its_clock(tmp_path: Path) -> None:
    ram = cell("RAM32M", ADDRA=[12], ADDRD=[11], DIA=["0"], DOA=[40], WCLK=[2], WE=["1"])
    cells = [flip_flop("0", 10), *luts(10, 3), ram, flip_flop(40, 41)]
    found = ends(tmp_path, cells)
    assert found["fast"]["net41.D"] == 3, "two to the address and the memory itself"
    assert found["slow"] == {"net40.ADDRD": 1}


def test_a_lut_ram_of_one_port_may_be_written_with_what_it_has(tmp_path: Path) -> None:
    ram = cell("RAM128X1S", A=[12], D=[41], O=[40], WCLK=[2], WE=["1"])
    cells = [flip_flop("0", 10), *luts(10, 3), ram, cell("LUT1", A=[40], O=[41]), flip_flop(41, 42)]
    found = ends(tmp_path, cells)
    assert found["fast"]["net42.D"] == 4, "two to the address, the memory itself, and one behind it"
    assert found["slow"]["net40.D"] == 4


def test_a_loop_of_luts_is_an_error(tmp_path: Path) -> None:
    cells = [cell("LUT1", A=[10], O=[11]), cell("LUT1", A=[11], O=[10]), flip_flop(10, 12)]
    with pytest.raises(RuntimeError, match="loop"):
        ends(tmp_path, cells)


def test_a_lut_belongs_to_the_component_that_it_feeds(tmp_path: Path) -> None:
    cells = [flip_flop("0", 10), *luts(10, 3), flip_flop(13, 20), *luts(20, 2)]
    names = {10: "a.held", 11: "$1", 12: "$2", 13: "$3", 20: "b.c.held", 21: "$4", 22: "out"}
    module = {
        "cells": {f"cell{i}": c for i, c in enumerate(cells)},
        "netnames": {name: {"bits": [bit]} for bit, name in names.items()},
        "ports": {},
    }
    file = tmp_path / "netlist.json"
    file.write_text(json.dumps({"modules": {"Top": module}}))
    assert Netlist(file, "Top").parts() == {"b.c": 3, "top": 2}


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
