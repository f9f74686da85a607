# SPDX-License-Identifier: Apache-2.0
"""The points at which the shell is tested meet each pair of values."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from covering import POINTS, SpaceError, missing, points
from test_points import SPACE, options

SPACES: dict[str, dict[str, tuple[Any, ...]]] = {
    "the shell's": SPACE,
    "five of four values": {name: (1, 2, 3, 4) for name in "abcde"},
    "fifteen of two": {name: (False, True) for name in "abcdefghijklmno"},
    "one of four and twelve of two": {"a": (1, 2, 3, 4)} | {name: (0, 1) for name in "bcdefghijklm"},
}


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_each_pair_of_values_is_at_a_point(space: dict[str, tuple[Any, ...]]) -> None:
    found = points(space)
    assert len(found) == POINTS and all(list(point) == list(space) for point in found)
    assert missing(space, found) == []
    for name, values in space.items():
        assert set(Counter(point[name] for point in found).values()) == {POINTS // len(values)}, name


def test_a_pair_that_is_at_no_point_is_named() -> None:
    space = {"a": (1, 2), "b": (3, 4)}
    assert missing(space, [{"a": 1, "b": 3}, {"a": 1, "b": 4}, {"a": 2, "b": 4}]) == [("a", 2, "b", 3)]


@pytest.mark.parametrize(
    "space",
    [{"a": (1, 2, 3)}, {name: (1, 2, 3, 4) for name in "abcdef"}, {name: (0, 1) for name in "abcdefghijklmnop"}],
    ids=["three values", "six of four values", "sixteen of two"],
)
def test_parameters_for_which_there_are_no_columns_are_refused(space: dict[str, tuple[int, ...]]) -> None:
    with pytest.raises(SpaceError):
        points(space)


def test_the_shells_parameters_are_those_that_matter_together() -> None:
    assert set(SPACE) == {
        *("ports", "functions", "host-bytes", "line-rate", "max-frame"),
        *("veb", "pacing", "credit", "latency"),
    }
    assert max(SPACE["ports"]) == 4 and max(SPACE["functions"]) == 33 and max(SPACE["max-frame"]) == 9600


def test_each_point_is_another_shell_with_the_same_options_each_time() -> None:
    found = [options(point, number) for number, point in enumerate(points(SPACE))]
    assert len(set(found)) == POINTS
    assert found == [options(point, number) for number, point in enumerate(points(SPACE))]
    for words, point in zip(found, points(SPACE), strict=True):
        of = dict(zip(words[::2], words[1::2], strict=True))
        assert {of[f"--{name}"] for name in ("ports", "functions")} == {str(point["ports"]), str(point["functions"])}
        assert not {"--veb", "--pacing", "--credit", "--latency"} & set(of), "they are set while the shell runs"
