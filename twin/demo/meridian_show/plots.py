# SPDX-License-Identifier: Apache-2.0
"""The report's pictures. Each has units, a legend above the axes where it hides nothing, and words instead of itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle

import matplotlib
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .latency import OfSize
from .page import INK, LINES, picture
from .record import IDLE, LOADED, Record, peak, rms
from .view import rate

matplotlib.use("Agg")
SIZE = 8, 3.4  # inches
MARKS = {"receives": "-", "sends": "--"}
LIKE_THE_PAGE = {
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
    "svg.fonttype": "none",
    "svg.hashsalt": "meridian",
    "axes.prop_cycle": cycler(color=LINES),
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "legend.frameon": False,
}


@contextmanager
def plot() -> Iterator[tuple[Figure, Axes]]:
    """With a legend above, of what is in it at the end."""
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    axes.grid(visible=True, color=INK, alpha=0.15)
    yield figure, axes
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper left", ncols=4, fontsize=9)


def shade(axes: Axes, record: Record) -> None:
    for name, colour in ((IDLE, LINES[2]), (LOADED, LINES[1])):
        if record.had(name):
            axes.axvspan(*record.span(name), color=colour, alpha=0.15, linewidth=0, label=name)


@matplotlib.rc_context(LIKE_THE_PAGE)
def clock(record: Record) -> str:
    begin = record.span(IDLE)[0] - 5 if record.had(IDLE) else 0.0
    shown = [it for it in record.offsets if it.at >= begin]
    limit = max(6, 1.2 * peak(shown))
    with plot() as (figure, axes):
        shade(axes, record)
        axes.plot([it.at for it in shown], [it.offset for it in shown], ".", markersize=4, label="one Sync message")
        axes.set(xlabel="time of the demo, s", ylabel="offset from the grandmaster, ns", ylim=(-limit, limit))
    words = [
        f"In the phase '{name}' {len(found)} points lie between {min(it.offset for it in found)} and"
        f" {max(it.offset for it in found)} ns, r.m.s. {rms(found):.2f} ns."
        for name in (IDLE, LOADED)
        if (found := record.offsets_in(name))
    ]
    return picture(
        figure,
        "clock",
        "The card's clock: what its ptp4l says of each Sync message.",
        " ".join(["Points of the offset in nanoseconds over the time of the demo in seconds.", *words]),
    )


@matplotlib.rc_context(LIKE_THE_PAGE)
def rates(record: Record) -> str:
    lines: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for index in range(1, len(record.counters)):
        for name, it in record.rates(index).items():
            for way, word in enumerate(MARKS):
                lines.setdefault((name, word), []).append((record.counters[index].at, it.bits[way] / 1e6))
    names = sorted({name for name, _ in lines})
    colours = dict(zip(names, cycle(LINES), strict=False))
    words = []
    with plot() as (figure, axes):
        shade(axes, record)
        for (name, word), points in sorted(lines.items()):
            most = max(value for _, value in points)
            if most:
                axes.plot(*zip(*points, strict=True), MARKS[word], color=colours[name], label=f"{name} {word}")
                words.append(f"{name} {word} at most {rate(1e6 * most)}b/s.")
        axes.set(xlabel="time of the demo, s", ylabel="Mb/s of twin time", ylim=(0, None))
    return picture(
        figure,
        "rates",
        "Traffic of each function in megabits per second of twin time, as the PF counts it, without FCS.",
        " ".join(["Lines of the rate over the time of the demo in seconds.", *words]),
    )


@matplotlib.rc_context(LIKE_THE_PAGE)
def latency(sizes: Sequence[OfSize]) -> str:
    timed = [it for it in sizes if it.nanoseconds]
    with plot() as (figure, axes):
        for it in timed:
            steps = range(1, len(it.nanoseconds) + 1)
            axes.step(it.nanoseconds, [100 * n / len(it.nanoseconds) for n in steps], label=f"{it.size - 4} B")
        axes.set(xlabel="from the wire to the DMA engine, ns", ylabel="frames that took no longer, %", ylim=(0, 103))
        axes.set(xscale="log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("{x:g}")
        axes.tick_params(axis="x", which="minor", labelsize=8)
    words = [f"{it.size - 4} bytes: median {it.quantile(0.5)} ns, 99 % within {it.quantile(0.99)} ns." for it in timed]
    return picture(
        figure,
        "latency",
        "How long frames of the trains take through the shell: from the end of the start-of-frame delimiter to the last "
        "beat of the DMA engine's stream, by the frame's size without FCS.",
        " ".join(["A line for each size of frame: the share of frames over the time in nanoseconds.", *words]),
    )
