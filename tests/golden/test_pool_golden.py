# SPDX-License-Identifier: Apache-2.0
"""The golden model of the pool against hand-worked cases."""

from __future__ import annotations

from meridian_golden.pool import CLASSES, PoolRoom, PortOrder

EVEN = [1] * CLASSES


def order(frames: list[tuple[int, int, int]], strict: int, weights: list[int], blocked: int = 0) -> list[int]:
    """Numbers of (class, group, length) in the order in which they leave."""
    model = PortOrder()
    for number, (of_class, group, length) in enumerate(frames):
        model.add(of_class, group, bytes([number]) * length)
    left = []
    while frame := model.next(strict, weights, blocked):
        left.append(frame[0])
    return left


def test_the_highest_strict_class_goes_first_and_all_others_behind() -> None:
    assert order([(7, 0, 100), (1, 0, 100), (2, 0, 100), (1, 0, 100)], 0b110, EVEN) == [2, 1, 3, 0]


def test_a_class_that_is_blocked_stays() -> None:
    assert order([(3, 0, 100), (2, 0, 100)], 0xFF, EVEN, blocked=1 << 3) == [1]


def test_classes_share_by_weight_and_owe_what_they_went_over() -> None:
    # Each round gives class 5 512 bytes and class 4 256. A frame of 300 costs class 4 its credit of the next round, too.
    frames = [(5, 0, 256)] * 6 + [(4, 0, 300)] * 3
    assert order(frames, 0, [0, 0, 0, 0, 1, 2, 0, 0]) == [0, 1, 6, 2, 3, 7, 4, 5, 8]


def test_a_class_of_weight_0_gets_what_the_others_leave() -> None:
    assert order([(6, 0, 100), (1, 0, 5000), (6, 0, 100)], 0, [0, 1] + [0] * 6) == [1, 0, 2]


def test_groups_of_a_class_share_evenly() -> None:
    frames = [(0, 1, 1024)] * 4 + [(0, 6, 2048)] * 2
    assert order(frames, 0xFF, EVEN) == [0, 1, 4, 2, 3, 5]


def test_a_class_takes_as_much_as_it_leaves_free() -> None:
    room = PoolRoom(shared=100, minimum=8)
    # With n cells in the class, 108 - n of the shared are free: it may have 116 - n, so 116 - 2n are left to the group.
    assert sum(room.put(0, 2, 1, 100) for _ in range(200)) == 39
    assert room.put(0, 2, 3, 100) and not room.put(0, 2, 1, 100)


def test_a_class_has_its_minimum_when_nothing_is_shared_and_one_group_does_not_get_all_of_it() -> None:
    room = PoolRoom(shared=0, minimum=4)
    assert [room.put(0, 1, 0, 256) for _ in range(4)] == [True, True, True, False]
    assert room.put(0, 1, 1, 256) and not room.put(0, 1, 2, 256)
    assert room.put(1, 1, 0, 256) and room.put(0, 2, 0, 1024) and not room.put(0, 3, 0, 1025)
