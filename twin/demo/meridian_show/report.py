# SPDX-License-Identifier: Apache-2.0
"""The run as one page of HTML with its plots in it."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from meridian_machine.tools import ROOT

from .latency import OfSize
from .record import IDLE, LOADED, Offset, Record, peak, rms
from .view import rate

matplotlib.use("Agg")
REFERENCE = ROOT / "docs" / "reference"
STYLE = """
body { font: 15px/1.45 sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 } td, th { padding: .25em .8em; border-bottom: 1px solid #ccc; text-align: right }
td:first-child, th:first-child, .words td { text-align: left } figure { margin: 1.5em 0 } figcaption { color: #555 }
svg { max-width: 100%; height: auto } .note { color: #555 }
"""


def published(name: str) -> list[dict[str, str]]:
    with (REFERENCE / name).open() as stream:
        return list(csv.DictReader(stream))


def svg(figure: Figure, caption: str) -> str:
    text = io.StringIO()
    figure.tight_layout()
    figure.savefig(text, format="svg", metadata={"Date": None})
    picture = text.getvalue()
    return f"<figure>{picture[picture.index('<svg') :]}<figcaption>{html.escape(caption)}</figcaption></figure>"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    def line(cells: Sequence[object], kind: str) -> str:
        return "<tr>" + "".join(f"<{kind}>{html.escape(str(cell))}</{kind}>" for cell in cells) + "</tr>"

    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


def shaded(axes: Axes, record: Record) -> None:
    for name, colour in ((IDLE, "tab:green"), (LOADED, "tab:orange")):
        begin, end = record.span(name)
        axes.axvspan(begin, end, color=colour, alpha=0.12, label=name)


def clock_plot(record: Record) -> str:
    figure = Figure(figsize=(9, 3))
    axes = figure.subplots()
    begin = record.span(IDLE)[0] - 5
    shown = [it for it in record.offsets if it.at >= begin]
    axes.plot([it.at for it in shown], [it.offset for it in shown], ".", markersize=3)
    axes.set(xlabel="seconds of the demo", ylabel="offset, ns", ylim=(-6, 6))
    shaded(axes, record)
    axes.legend(fontsize=7, loc="upper left")
    return svg(figure, "What ptp4l on the card says of each Sync.")


def rates_plot(record: Record) -> str:
    figure = Figure(figsize=(9, 3))
    axes = figure.subplots()
    lines: dict[str, list[tuple[float, float]]] = {}
    for index in range(1, len(record.counters)):
        for name, it in record.rates(index).items():
            for way, word in enumerate(("receives", "sends")):
                lines.setdefault(f"{name} {word}", []).append((record.counters[index].at, it.bits[way] / 1e6))
    for name, points in sorted(lines.items()):
        if any(value for _, value in points):
            axes.plot(*zip(*points, strict=True), label=name)
    axes.set(xlabel="seconds of the demo", ylabel="Mb/s of twin time")
    shaded(axes, record)
    axes.legend(fontsize=7, loc="upper left")
    return svg(figure, "Traffic of each function, as the PF counts it, without FCS.")


def latency_plot(sizes: Sequence[OfSize]) -> str:
    figure = Figure(figsize=(9, 3))
    axes = figure.subplots()
    for it in sizes:
        if it.nanoseconds:
            steps = range(1, len(it.nanoseconds) + 1)
            axes.step(it.nanoseconds, [100 * n / len(it.nanoseconds) for n in steps], label=f"{it.size - 4} B")
    axes.set(xlabel="ns from the wire to the DMA engine", ylabel="% of frames", xscale="log")
    axes.legend(fontsize=7)
    return svg(
        figure, "Frames of the trains: from the end of the start-of-frame delimiter to the last beat of the stream."
    )


def clock_row(name: str, found: Sequence[Offset]) -> list[object]:
    delays = [it.delay for it in found]
    away = sum(it.state != "s2" for it in found)
    return [name, len(found), f"{rms(list(found)):.2f}", peak(list(found)), f"{min(delays)} to {max(delays)}", away]


def clock_section(record: Record) -> str:
    theirs = [int(row["master_offset_ns"]) for row in published("silicom_ptp4l_under_load.csv")]
    delays = [int(row["path_delay_ns"]) for row in published("silicom_ptp4l_under_load.csv")]
    rows = [clock_row(f"here, {name}", found) for name in (IDLE, LOADED) if (found := record.offsets_in(name))]
    own = (sum(offset**2 for offset in theirs) / len(theirs)) ** 0.5
    rows.append(
        ["Silicom FB4XXVG, under load (published)", len(theirs), f"{own:.2f}", max(map(abs, theirs)),
         f"{min(delays)} to {max(delays)}", 0]
    )  # fmt: skip
    head = ("", "samples", "r.m.s., ns", "peak, ns", "path delay, ns", "not in s2")
    return f"<h2>The card's clock</h2>{table(head, rows)}{clock_plot(record)}"


def traffic_section(record: Record) -> str:
    last = record.counters[-1]
    rows = [
        [name, *(f"{last.frames[name][way]:,}" for way in (0, 1)), *(f"{last.bytes[name][way]:,}" for way in (0, 1))]
        for name in sorted(last.frames)
    ]
    text = table(("function", "frames received", "sent", "bytes received", "sent"), rows)
    lost = [[reason, f"{count:,}"] for reason, count in last.drops.items()]
    dropped = table(("dropped at the card", "frames"), lost) if lost else "<p>The card dropped no frame.</p>"
    return f"<h2>Who got what</h2>{text}{dropped}{rates_plot(record)}"


def trains_section(sizes: Sequence[OfSize], syncs: tuple[int, int]) -> str:
    theirs = {
        int(row["packet_bytes_without_fcs"]): row
        for row in published("silicom_testpmd_25g.csv")
        if row["direction"] == "rx"
    }
    rows = []
    for it in sizes:
        full = 25e9 / ((it.size + 20) * 8)
        if not it.nanoseconds:
            continue
        other = theirs.get(it.size - 4)
        rows.append(
            [f"{it.size - 4} B", f"{it.sent:,}", f"{100 * it.line:.1f} %", f"{rate(full * it.line)}f/s",
             f"{rate(float(other['pps']))}f/s" if other else "", it.quantile(0.5), it.quantile(0.99)]
        )  # fmt: skip
    head = (
        "without FCS",
        "frames",
        "of the line in a train",
        "which is",
        "Silicom's testpmd, receiving (published)",
        "median ns",
        "99 %",
    )
    note = (
        "<p class='note'>Trains come at line rate; the published rates are of a host that kept up on hardware, which an "
        "emulated machine cannot be: how fast the shell itself is says <code>make bench-shell</code>.</p>"
    )
    around = f"<p>Of {syncs[0]} Sync messages under load, {syncs[1]} came in the middle of a train.</p>"
    return f"<h2>Trains at line rate</h2>{around}{table(head, rows)}{note}{latency_plot(sizes)}"


def write(folder: Path, record: Record, sizes: Sequence[OfSize], syncs: tuple[int, int]) -> Path:
    notes = table(("second", "what happened"), [[f"{at:.0f}", text] for at, text in record.notes])
    captures = "".join(f"<li><code>{html.escape(path.name)}</code></li>" for path in sorted(folder.glob("*.pcap*")))
    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Meridian: the demo</title><style>{STYLE}</style></head><body>
<h1>Meridian: the demo</h1>
<p>The shell's Verilog in cycle-accurate simulation, with real drivers, kernels and programs in emulated machines around
it. MAC, QDMA IP and PCIe are models. Twin time is the simulation's; nothing of this ran on hardware.</p>
{clock_section(record)}{traffic_section(record)}{trains_section(sizes, syncs)}
<h2>The run</h2><div class="words">{notes}</div><ul>{captures}</ul>
</body></html>
"""
    file = folder / "report.html"
    file.write_text(page)
    return file
