# SPDX-License-Identifier: Apache-2.0
"""The demo as it runs, in a terminal."""

from __future__ import annotations

from meridian_demo.reasons import REASONS
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from .record import Offset, Record, peak, rms

BLOCKS = "▁▂▃▄▅▆▇█"
WIDTH = 72
LAST_NOTES = 6


def rate(value: float) -> str:
    """With a prefix, three digits."""
    for prefix in ("", "k", "M", "G"):
        if value < 999.5:
            return f"{value:.3g} {prefix}"
        value /= 1000
    return f"{value:.3g} T"


def sparks(offsets: list[Offset]) -> str:
    """How far off the clock was, the newest at the right; full height is 4 ns."""
    last = offsets[-WIDTH:]
    return "".join(BLOCKS[min(abs(it.offset) * 2, len(BLOCKS) - 1)] for it in last)


class View:
    """Rendered anew by rich whenever it is shown."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def __rich__(self) -> RenderableType:
        return Group(self._phases(), self._clock(), self._rates(), self._notes())

    def _phases(self) -> RenderableType:
        now = self.record.phases[-1].name if self.record.phases else "starting"
        line = Text(f"Meridian's twin, {self.record.now():4.0f} s: ")
        return line.append(now, style="bold")

    def _clock(self) -> RenderableType:
        offsets = list(self.record.offsets)
        if not offsets:
            return Panel("no word of ptp4l yet", title="The card's clock")
        last = offsets[-1]
        words = (
            f"{last.offset:+d} ns from the grandmaster ({last.state}), path delay {last.delay} ns; of the last "
            f"{min(WIDTH, len(offsets))} Sync: {rms(offsets[-WIDTH:]):.2f} ns r.m.s., peak {peak(offsets[-WIDTH:])} ns"
        )
        return Panel(
            Group(Text(words), Text(sparks(offsets), style="green")), title="The card's clock, kept by its own ptp4l"
        )

    def _rates(self) -> RenderableType:
        table = Table(title="Functions of the host, per second of twin time", title_justify="left")
        for column in ("function", "receives", "", "sends", ""):
            table.add_column(column, justify="left" if column == "function" else "right")
        for name, it in sorted(self.record.rates().items()):
            row = [
                f"{rate(it.frames[way])}f/s" if unit == "f" else f"{rate(it.bits[way])}b/s"
                for way in (0, 1)
                for unit in "fb"
            ]
            table.add_row(name, *row)
        counters = self.record.counters
        dropped = counters[-1].drops if counters else {}
        lost = Table(title="Dropped, by reason", title_justify="left")
        lost.add_column("reason")
        lost.add_column("frames", justify="right")
        for reason, count in dropped.items():
            lost.add_row(REASONS[reason].words, str(count))
        side = Table.grid(padding=(0, 4))
        side.add_row(table, lost if dropped else Text("nothing dropped"))
        return side

    def _notes(self) -> RenderableType:
        lines = [f"{at:4.0f} s  {text}" for at, text in list(self.record.notes)[-LAST_NOTES:]]
        return Panel("\n".join(lines), title="What happens")
