# SPDX-License-Identifier: Apache-2.0
"""The pool of cells of a shell with `--egress pool`: which frame goes next, and which finds room.

docs/architecture.md, "The pool", says the same in words. Frames come whole, and all that wait are known: what the card
decides about frames that are still under way is not modelled. Its own test works cases by hand; it was not compared with
the RTL yet.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

CLASSES = GROUPS = 8
CELL = 256  # bytes
UNIT = 256  # bytes of a class in a round, for each unit of its weight
QUANTUM = 2048  # bytes of a group in a round of its class


def cells_of(length: int) -> int:
    return -(-length // CELL)


class PortOrder:
    """The order in which frames leave a port: strict classes first, others by deficit round robin, and so the groups."""

    def __init__(self) -> None:
        self._lists: dict[tuple[int, int], deque[bytes]] = {}
        self._credit = [0] * CLASSES
        self._group_credit: Counter[tuple[int, int]] = Counter()

    def add(self, number: int, group: int, frame: bytes) -> None:
        self._lists.setdefault((number, group), deque()).append(frame)

    def next(self, strict: int, weights: Sequence[int], blocked: int = 0) -> bytes | None:
        """strict and blocked: a bit a class. None: no class that is not blocked has a frame."""
        waiting = sorted({number for number, _ in self._lists if not blocked >> number & 1})
        if not waiting:
            return None
        firm = [number for number in waiting if strict >> number & 1]
        number = firm[-1] if firm else self._served(waiting, weights)
        group = self._group(number)
        queue = self._lists[number, group]
        frame = queue.popleft()
        if not queue:
            del self._lists[number, group]
        if not firm:
            self._credit[number] -= len(frame)
        self._group_credit[number, group] -= len(frame)
        return frame

    def _served(self, waiting: list[int], weights: Sequence[int]) -> int:
        """Classes of weight 0 are served if no other waits, as if all had weight 1."""
        sharing = [number for number in waiting if weights[number]] or waiting
        while not any(self._credit[number] > 0 for number in sharing):
            for number in sharing:
                self._credit[number] += UNIT * (weights[number] or 1)
        return max(number for number in sharing if self._credit[number] > 0)

    def _group(self, number: int) -> int:
        waiting = [(number, group) for group in range(GROUPS) if (number, group) in self._lists]
        while not any(self._group_credit[one] > 0 for one in waiting):
            for one in waiting:
                self._group_credit[one] += QUANTUM
        return min(group for _, group in waiting if self._group_credit[number, group] > 0)


@dataclass
class PoolRoom:
    """Cells of frames that are not paced, by port, class and group, if none leaves.

    shared: cells beyond all reserves and minima; minimum: of each class of a port; alpha: 2^(alpha - 3) times what is
    free of the shared cells may be a class's beyond its minimum.
    """

    shared: int
    minimum: int
    alpha: int = 3
    used: Counter[tuple[int, int, int]] = field(default_factory=Counter)

    def of_class(self, port: int, number: int) -> int:
        return sum(cells for (p, c, _), cells in self.used.items() if (p, c) == (port, number))

    def put(self, port: int, number: int, group: int, length: int) -> bool:
        """Whether a frame finds room: each of its cells is asked for, and without one of them the frame has none."""
        others = Counter[tuple[int, int]]()
        for (p, c, _), cells in self.used.items():
            others[p, c] += cells
        mine = others.pop((port, number), 0)
        beyond = sum(max(0, cells - self.minimum) for cells in others.values())
        for taken in range(mine, mine + cells_of(length)):
            free = max(0, self.shared - beyond - max(0, taken - self.minimum))
            threshold = (free << self.alpha) >> 3
            if taken >= self.minimum and taken - self.minimum >= threshold:
                return False
            if self.used[port, number, group] > max(0, threshold + self.minimum - taken):
                return False
        self.used[port, number, group] += cells_of(length)
        return True
