# SPDX-License-Identifier: Apache-2.0
"""Sums of counters that are read one after the other: frames that pass meanwhile are no fault, and a lost frame is one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from meridian_selftest import counters
from meridian_selftest.counters import Reading, Sum
from meridian_selftest.registers import Registers

ONE = Sum("frames", ("in",), ("out", "dropped"), more=("copies",))


def still(came: int, out: int, dropped: int = 0, copies: int = 0) -> Reading:
    """Nothing passes."""
    counts = {"in": came, "out": out, "dropped": dropped, "copies": copies}
    return Reading(counts, counts)


def test_a_sum_of_counters_that_is_right_has_no_difference() -> None:
    assert counters.difference(ONE, still(10, 8, 1), still(110, 100, 9)) == 0


def test_what_was_not_counted_before_does_not_matter() -> None:
    assert counters.difference(ONE, still(1000, 0), still(1001, 1)) == 0


def test_a_frame_that_nobody_counts_is_a_difference() -> None:
    assert counters.difference(ONE, still(0, 0), still(100, 98, 1)) == 1


def test_a_frame_that_is_counted_twice_is_a_difference() -> None:
    assert counters.difference(ONE, still(0, 0), still(100, 98, 4)) == -2


def test_a_side_may_be_larger_by_its_copies_only() -> None:
    assert counters.difference(ONE, still(0, 0), still(100, 97, copies=3)) == 0
    assert counters.difference(ONE, still(0, 0), still(100, 96, copies=3)) == 1


def test_frames_that_pass_while_counters_are_read_are_no_difference() -> None:
    first = {"in": 100, "out": 105, "dropped": 0, "copies": 0}  # out was read later
    second = {"in": 110, "out": 115, "dropped": 0, "copies": 0}
    assert counters.difference(ONE, still(0, 0), Reading(first, second)) == 0
    lost = {"in": 200, "out": 115, "dropped": 0, "copies": 0}
    assert counters.difference(ONE, still(0, 0), Reading(lost, lost)) == 85


def test_a_copy_that_the_card_has_no_room_for_is_no_difference() -> None:
    """It is nobody's, and the port counts it."""
    (one,) = (one for one in counters.of_port(["e"]) if "verdicts" in one.what)
    start = dict.fromkeys(one.names(), 0)
    end = start | {"e:port_rx_to_host": 1, "e:port_rx_copy_cut": 1}
    assert counters.difference(one, Reading(start, start), Reading(end, end)) == 0


def test_every_counter_of_a_sum_is_one_that_the_driver_has() -> None:
    sums = [*counters.of_interface("e"), *counters.of_wire("e"), *counters.of_port(["e"])]
    names = {name.partition(":")[2] for one in sums for name in one.names()} - set(counters.OF_LINUX)
    driver = (Path(counters.__file__).parents[2] / "linux/netdev/meridian_stats.c").read_text()
    missing = [name for name in names if f'"{name.partition("_")[2]}"' not in driver]
    assert names and not missing


@pytest.mark.parametrize(
    ("which", "interface", "port"), [("", True, True), ("HOST", False, False), ("USER", True, False)]
)
def test_what_passes_a_users_module_is_not_added_up(
    monkeypatch: pytest.MonkeyPatch, which: str, interface: bool, port: bool
) -> None:
    numbers: Any = Registers()
    capabilities = numbers[f"IDENT_CAPABILITIES_{which}_BOX_MASK"] if which else 0
    dump = SimpleNamespace(word=lambda name: capabilities, ring=lambda *_: 0)
    host = SimpleNamespace(pfs=[SimpleNamespace(address="0", interface="e", number=lambda name: 0)])
    context: Any = SimpleNamespace(dump=lambda interface: dump, map=numbers, host=host)
    monkeypatch.setattr(counters, "port_of", lambda interface: 0)
    sums, left_out = counters._sums(context, ["e"])
    names = {one.what for one in sums}
    assert ({one.what for one in counters.of_interface("e")} <= names) == interface
    assert ({one.what for one in counters.of_port(["e"])} <= names) == port
    assert {one.what for one in counters.of_wire("e")} <= names
    assert bool(left_out) == bool(which)
