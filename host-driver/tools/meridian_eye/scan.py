# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""The statistical eye scan of an UltraScale+ receiver (UG578 and UG576, "RX Margin Analysis").

At each place of a grid the receiver counts words, and bits in which a second sampler differs from that of the data path.
Addresses and fields are those of vivado/check/facts/transceiver.txt. The bit error rate is
errors / (samples * 2^(1 + prescale) * bits of a word). A receiver with a decision feedback equaliser has two samplers, so
each place is measured with both signs of the unrolled threshold.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from meridian_selftest import system

from . import lane as lanes
from .lane import Lane, LaneError

RX_DATA_WIDTH, ES_CONTROL, ES_HORZ_OFFSET, RXOUT_DIV = 0x003, 0x03C, 0x04F, 0x063
RX_INT_DATAWIDTH, ES_VERTICAL = 0x066, 0x097
ES_PHASE, ES_PCS_CLOCK_PHASE = 0x094, 1 << 10
ES_QUAL_MASKS = (*range(0x044, 0x049), *range(0x0EC, 0x0F1))
ES_SDATA_MASKS = (*range(0x049, 0x04E), *range(0x0F1, 0x0F6))
ES_ERROR_COUNT, ES_SAMPLE_COUNT, ES_STATUS = 0x251, 0x252, 0x253
ENABLES, RUN = 3 << 8, 1 << 10
FULL = 65535
#: Steps of a unit interval at the full rate, from its middle to its edge; codes from the middle to the end.
HALF_INTERVAL, CODES = 32, 127
#: Above this rate the phase is chosen in another way (answer record 68785).
PHASE_GBPS = 10.4
TRIES = 10
POINT_SECONDS = 0.5


@dataclass(frozen=True)
class Point:
    errors: int
    bits: int

    @property
    def rate(self) -> float:
        return self.errors / self.bits


@dataclass
class Eye:
    """rates[row][column]: of the places up[row] and across[column]; up and across go through 0."""

    across: Sequence[int]
    up: Sequence[int]
    points: list[list[Point]]
    steps: int  # of a unit interval

    def least(self) -> float:
        """The largest rate at which a point without an error was measured: what the scan can tell; 0 without such a point."""
        return max((1 / point.bits for row in self.points for point in row if not point.errors), default=0.0)

    def _opening(self, line: Sequence[Point], middle: int, rate: float) -> tuple[int, int]:
        """The first and the last step around the middle within the rate."""
        if line[middle].rate > rate:
            return middle, middle
        first = last = middle
        while first and line[first - 1].rate <= rate:
            first -= 1
        while last + 1 < len(line) and line[last + 1].rate <= rate:
            last += 1
        return first, last

    def width(self, rate: float) -> float:
        """Of the opening at a bit error rate, in unit intervals."""
        row = self.points[list(self.up).index(0)]
        first, last = self._opening(row, list(self.across).index(0), rate)
        return (self.across[last] - self.across[first]) / self.steps

    def height(self, rate: float) -> int:
        """The same in codes of the vertical offset."""
        middle = list(self.across).index(0)
        column = [row[middle] for row in self.points]
        first, last = self._opening(column, list(self.up).index(0), rate)
        return self.up[first] - self.up[last]


def word_bits(lane: Lane) -> int:
    """Bits that the receiver has at a time, inside."""
    width = lane.drp_read(RX_DATA_WIDTH) >> 5 & 15
    return (20 if width % 2 else 16) << (lane.drp_read(RX_INT_DATAWIDTH) & 3)


class Scanner:
    def __init__(self, lane: Lane, prescale: int) -> None:
        self.lane, self.prescale = lane, prescale
        self._control = ENABLES | prescale
        self.bits = word_bits(lane)
        self.divider = lane.drp_read(RXOUT_DIV) & 7
        self._horizontal_flag = 0x800 if lane.line_rate > PHASE_GBPS else 0

    def prepare(self) -> None:
        """Enables the scan, which takes a reset of the receiver, and finds out whether the sampler is aligned."""
        lane = self.lane
        lane.begin_scan()
        before = lane.drp_read(ES_CONTROL)
        self._control = before & 0x00E0 | ENABLES | self.prescale
        lane.drp_write(ES_CONTROL, self._control)
        if before & ENABLES != ENABLES:
            try:
                lane.reset_receiver()
            except BaseException:
                lane.drp_write(ES_CONTROL, before)  # else the next scan would take it for enabled
                raise
        for address in ES_QUAL_MASKS:
            lane.drp_write(address, 0xFFFF)
        # Of 160 bits those from 79 down are the word that is measured now; a mask of 1 leaves a bit out.
        mask = ((1 << 160) - 1) & ~(((1 << self.bits) - 1) << (80 - self.bits))
        for number, address in enumerate(ES_SDATA_MASKS):
            lane.drp_write(address, mask >> 16 * number & 0xFFFF)
        lane.drp_change(ES_PHASE, ES_PCS_CLOCK_PHASE, 0 if self._horizontal_flag else ES_PCS_CLOCK_PHASE)

    def align(self) -> None:
        """A sampler that is a bit off finds errors everywhere: it is aligned anew (answer record 68785)."""
        tries, end = 0, time.monotonic() + lanes.LOCK_SECONDS
        while tries < TRIES or time.monotonic() < end:  # behind a reset the receiver has to lock first
            tries += 1
            if self.point(0, 0, 0).rate < 0.1:
                return
            self.lane.drp_change(ES_HORZ_OFFSET, 0xFFF0, 0x880 << 4)
            self.lane.begin_scan(reset=True)
            self.lane.drp_change(ES_HORZ_OFFSET, 0xFFF0, 0x800 << 4)
            self.lane.begin_scan()
        raise LaneError(
            f"port {self.lane.port}: there is no eye: nothing comes in, or the eye is closed. Look at cable and partner, "
            "or try --loopback near-pma"
        )

    def point(self, across: int, up: int, sign: int) -> Point:
        """across: steps from the middle; up: codes from the middle; sign: of the unrolled threshold."""
        lane = self.lane
        below = 1 << 10 if up < 0 else 0
        lane.drp_change(ES_VERTICAL, 0x07FC, below | sign << 9 | min(abs(up), CODES) << 2)
        lane.drp_change(ES_HORZ_OFFSET, 0xFFF0, (across & 0x7FF | self._horizontal_flag) << 4)
        lane.drp_write(ES_CONTROL, self._control)
        lane.drp_write(ES_CONTROL, self._control | RUN)
        counts = FULL * self.bits * 2 ** (1 + self.prescale) / (lane.line_rate * 1e9)
        bound = POINT_SECONDS + (POINT_SECONDS + counts) * lane.slow
        done = system.until(lambda: bool(lane.drp_read(ES_STATUS) & 1), bound, pause=0)
        errors, samples = lane.drp_read(ES_ERROR_COUNT), lane.drp_read(ES_SAMPLE_COUNT)
        lane.drp_write(ES_CONTROL, self._control)
        if not done:
            raise LaneError(f"port {lane.port}: the eye scan of the receiver does not end; reset the receiver")
        return Point(errors, max(samples, 1) * self.bits << (1 + self.prescale))

    def scan(self, columns: int, rows: int, told: Callable[[int, int], None] = lambda done, of: None) -> Eye:
        """columns and rows: steps from the middle to the ends of the grid."""
        edge = HALF_INTERVAL << self.divider
        across = [edge * step // columns for step in range(-columns, columns + 1)]
        up = [(CODES - CODES % rows) * step // rows for step in range(rows, -rows - 1, -1)]
        points = []
        for number, code in enumerate(up):
            row = []
            for step in across:
                both = [self.point(step, code, sign) for sign in (0, 1)]
                row.append(Point(sum(one.errors for one in both), sum(one.bits for one in both)))
            points.append(row)
            told(number + 1, len(up))
        return Eye(across, up, points, 2 * edge)
