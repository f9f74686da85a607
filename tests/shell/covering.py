# SPDX-License-Identifier: Apache-2.0
"""Points that meet each pair of values of two parameters: an orthogonal array of 16 points.

Its columns are the linear functions of two variables over the field of four elements: x, y, x + y, x + 2y and x + 3y.
In any two of them each pair of values is at exactly one point. A column of four values is three columns of two: either
bit, and their sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any

POINTS = 16
FOURS = 5


class SpaceError(ValueError):
    """Parameters for which the array has no columns."""


def _times(a: int, b: int) -> int:
    """In the field of four elements, whose elements are 0, 1, 2 and 3 = 2 + 1, with 2 * 2 = 3."""
    return [[0, 0, 0, 0], [0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2]][a][b]


def _columns() -> list[list[int]]:
    rows = list(product(range(4), repeat=2))
    return [[y for _, y in rows], *([x ^ _times(factor, y) for x, y in rows] for factor in range(4))]


def points(space: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """16 points, a value of each parameter in each. space: of each parameter its values, which are two or four.

    Raises SpaceError if a parameter has another number of values, or if there are too many parameters: five of four
    values, or three of two in the place of one of these.
    """
    if wrong := [name for name, values in space.items() if len(values) not in (2, 4)]:
        raise SpaceError(f"{wrong[0]} has {len(space[wrong[0]])} values, and needs two or four")
    fours = [name for name, values in space.items() if len(values) == 4]
    twos = [name for name, values in space.items() if len(values) == 2]
    columns = _columns()
    if len(fours) > FOURS or len(twos) > 3 * (FOURS - len(fours)):
        raise SpaceError(f"{len(fours)} parameters of four values and {len(twos)} of two are too many")
    level = dict(zip(fours, columns, strict=False))
    bits = [[bit(value) for value in column] for column in columns[len(fours) :] for bit in _BITS]
    level |= zip(twos, bits, strict=False)
    return [{name: space[name][level[name][row]] for name in space} for row in range(POINTS)]


_BITS = (lambda value: value & 1, lambda value: value >> 1, lambda value: value & 1 ^ value >> 1)


def missing(space: Mapping[str, Sequence[Any]], found: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """The pairs (name, value, other name, its value) that no point has."""
    return [
        (name, value, other, its)
        for name, other in combinations(space, 2)
        for value, its in product(space[name], space[other])
        if not any(point[name] == value and point[other] == its for point in found)
    ]
