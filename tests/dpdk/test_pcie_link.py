# SPDX-License-Identifier: Apache-2.0
"""Half of the drivers' tests have a card with a slow PCIe link, the same ones in each run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from meridian_twin import CardProcess
from pcie_link import LINKS, TESTS, drawn, is_drivers_test

HERE = Path(__file__).resolve().parents[1]


def link_of(card: Any) -> str:
    """By the options of its program."""
    words = Path(f"/proc/{card.pid}/cmdline").read_text().split("\0")
    given = words[words.index("--pcie") + 1] if "--pcie" in words else ""
    return next(name for name, options in LINKS.items() if given == "".join(options[1:2]))


@pytest.mark.parametrize("number", range(4))
def test_a_card_has_the_link_that_the_tests_name_draws(
    run_card: Any, request: pytest.FixtureRequest, number: int
) -> None:
    config, name = request.config, request.node.nodeid
    link = config.getoption("--pcie-link") or drawn(name, config.getoption("--pcie-seed"))
    assert link_of(run_card()) == link


@pytest.mark.pcie_link("narrow")
def test_a_mark_wins_over_the_link_that_the_name_draws(run_card: Any) -> None:
    assert link_of(run_card()) == "narrow"


@pytest.fixture(scope="module", params=range(4))
def shared(request: pytest.FixtureRequest, built_card: Any) -> Iterator[tuple[CardProcess, str]]:
    """A card of several tests, and the name that draws its link."""
    with CardProcess(built_card(), "--time", "free", "--wire", "0=none") as card:
        yield card, f"dpdk/test_pcie_link.py::shared[{request.param}]"


def test_a_card_that_tests_share_draws_for_itself(
    shared: tuple[CardProcess, str], request: pytest.FixtureRequest
) -> None:
    config, (card, name) = request.config, shared
    link = config.getoption("--pcie-link") or drawn(name, config.getoption("--pcie-seed"))
    assert link_of(card) == link


def test_half_of_the_names_draw_a_slow_link() -> None:
    links = [drawn(f"dpdk/test_x.py::test[{number}]", seed) for number in range(200) for seed in (1, 2)]
    assert 160 < links.count("fast") < 240
    assert links.count("fast") + links.count("far") == len(links)
    assert drawn("qemu/test_dpdk_vf.py", 1) == "far"  # as ever


@pytest.mark.parametrize("pattern", TESTS)
def test_each_pattern_of_the_drivers_tests_matches_files(pattern: str) -> None:
    """A folder that moves would leave its tests without a slow link, and nothing else would fail."""
    assert list(HERE.glob(pattern)), f"pcie_link.py's {pattern} matches no file of tests/"


def test_each_file_of_a_drivers_test_on_machines_has_a_link() -> None:
    named = [path.relative_to(HERE).as_posix() for path in HERE.rglob("test_d*_*.py") if "qemu" in path.parts]
    missed = [name for name in named if re.search("test_(driver|dpdk)_", name) and not is_drivers_test(name)]
    assert len(named) > 30
    assert not missed
    assert not is_drivers_test("qemu/ptp/test_ptp_lock.py::test_locks")


def test_each_file_of_a_dpdk_test_on_the_card_process_has_a_link() -> None:
    """Also in the folders below: a pattern that finds the files of one folder says nothing of those of another."""
    files = [
        path for path in (HERE / "dpdk").rglob("test_*.py") if re.search(r"\b(run|built)_card\b", path.read_text())
    ]
    missed = [path.name for path in files if not is_drivers_test(path.relative_to(HERE).as_posix())]
    assert {path.parent.name for path in files} >= {"dpdk", "twin"}
    assert not missed
