# SPDX-License-Identifier: Apache-2.0
"""The page of the bench of DMA: what dma.json says, with plots and tables beside the published figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import dma_own as own
import dma_published as published
import matplotlib
from dma_waits import table_rows
from meridian_show.page import LINES, Number, page, picture, table, text
from meridian_show.plots import LIKE_THE_PAGE, plot

Entry = dict[str, Any]
Curve = tuple[str, Sequence[tuple[float, float]], Sequence[tuple[float, float]]]  # label, ours, published

STYLES = ("-", "--", "-.", ":")


def chosen(figures: Iterable[Entry], name: str, **where: Any) -> list[Entry]:
    return [
        it for it in figures if it["id"] == name and all(it["with"].get(key) == value for key, value in where.items())
    ]


def curve(label: str, entries: Iterable[Entry]) -> Curve:
    """Over bytes."""
    ordered = sorted(entries, key=lambda it: it["with"]["bytes"])
    ours = [(it["with"]["bytes"], it["value"]) for it in ordered]
    theirs = [(it["with"]["bytes"], it["reference"]["value"]) for it in ordered if "reference" in it]
    return label, ours, theirs


def compared(entries: Iterable[Entry]) -> str:
    """A sentence on ratios."""
    ratios = [it["reference"]["ratio"] for it in entries if "reference" in it]
    if not ratios:
        return ""
    return (
        f"Measured to published: {min(ratios):.2f} to {max(ratios):.2f}, median {median(ratios):.2f}, "
        f"of {len(ratios)} points."
    )


def words(curves: Iterable[Curve], unit: str) -> list[str]:
    return [
        f"{label}: {ours[0][1]:g} {unit} at {ours[0][0]} bytes, {ours[-1][1]:g} {unit} at {ours[-1][0]} bytes."
        for label, ours, _ in curves
        if ours
    ]


@matplotlib.rc_context(LIKE_THE_PAGE)
def lines(name: str, caption: str, curves: Sequence[Curve], axis: tuple[str, str], entries: Sequence[Entry]) -> str:
    """axis: what is up, and its unit. Published points are crosses in the colour of their line."""
    what, unit = axis
    with plot() as (figure, axes):
        for colour, style, (label, ours, theirs) in zip(LINES, STYLES, curves, strict=False):
            if ours:
                axes.plot(*zip(*ours, strict=True), style if len(ours) > 1 else "o", color=colour, label=label)
            if theirs:
                axes.plot(*zip(*theirs, strict=True), "x", markersize=4, color=colour, label=f"{label}, published")
        axes.set(xlabel="bytes of a frame", ylabel=f"{what}, {unit}", ylim=(0, None))
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
    alternative = " ".join([f"Lines of {what} over the bytes of a frame.", *words(curves, unit), compared(entries)])
    return picture(figure, name, f"{caption} {compared(entries)}".strip(), alternative.strip())


def forward(figures: Sequence[Entry]) -> list[str]:
    parts = []
    for function, who in (("pf", "a PF"), ("vf", "a VF")):
        entries = chosen(figures, "forward_mpps", link="gen3x16", function=function)
        curves = [
            curve(f"{n} queue{'s' * (n > 1)}", [it for it in entries if it["with"]["queues"] == n])
            for n in (1, 2, 4, 8)
        ]
        if entries:
            caption = (
                f"The host sends back each frame, queues of {who}, gen3x16. Published: testpmd on an IP in hardware, "
                "at each point on the faster of two machines."
            )
            parts.append(lines(f"forward-{function}", caption, curves, ("frames a second", "Mpps"), entries))
    return parts


def one_way(figures: Sequence[Entry]) -> list[str]:
    parts = []
    for name, caption in (("c2h", "Frames to the host only"), ("h2c", "Frames from the host only")):
        for function, who in (("pf", "a PF"), ("vf", "a VF")):
            entries = chosen(figures, f"{name}_mpps", link="gen3x16", function=function)
            curves = [
                curve(f"{n} queue{'s' * (n > 1)}", [it for it in entries if it["with"]["queues"] == n])
                for n in (1, 2, 4, 8)
            ]
            if entries:
                parts.append(
                    lines(
                        f"{name}-{function}",
                        f"{caption}, queues of {who}, gen3x16. No numbers are published for it.",
                        curves,
                        ("frames a second", "Mpps"),
                        entries,
                    )
                )
    return parts


def other_links(figures: Sequence[Entry], links: Iterable[str]) -> list[str]:
    parts = []
    for name in ("forward", "c2h", "h2c"):
        entries = chosen(figures, f"{name}_mpps", function="pf", queues=8)
        curves = [curve(link, [it for it in entries if it["with"]["link"] == link]) for link in links]
        if entries:
            bits = [(label, [(size, mpps * size * 8 / 1000) for size, mpps in ours], []) for label, ours, _ in curves]
            parts.append(
                lines(f"links-{name}", f"{name} by link, 8 queues of a PF.", bits, ("bits of frames", "Gb/s"), [])
            )
    return parts


def enyx(figures: Sequence[Entry], name: str, axis: tuple[str, str], caption: str, **where: Any) -> str:
    entries = chosen(figures, name, **where)
    curves = [curve(link, [it for it in entries if it["with"]["link"] == link]) for link in published.ENYX]
    return lines("-".join((name.replace("_", "-"), *where.values())), caption, curves, axis, entries)


def rows_of(
    figures: Sequence[Entry], name: str, cells: Callable[[dict[str, Any]], Sequence[object]]
) -> list[Sequence[object]]:
    return [
        (
            *cells(it["with"]),
            f"{it['value']:g}",
            *(f"{it['reference'][key]:g}" if "reference" in it else "" for key in ("value", "ratio")),
        )
        for it in chosen(figures, name)
    ]


def tables(figures: Sequence[Entry]) -> list[str]:
    def beside(name: str, at: dict[str, Any]) -> float:
        """Another figure of the same point."""
        return next(it["value"] for it in chosen(figures, name) if it["with"] == at)

    compared_columns = (Number("measured"), Number("published"), Number("ratio"))
    random = table(
        "Operations at random places of 1 GiB, in millions a second, gen3x16. Published: descriptors made by the card, "
        "where the host's rings give them here.",
        ("direction", Number("bytes"), Number("queues"), *compared_columns),
        rows_of(figures, "random_access_mops", lambda at: (at["direction"], at["bytes"], at["queues"])),
    )
    latency = table(
        "Mean latency in us by what is offered, one queue, gen3x16. H2C: from the doorbell to the frame's start at the "
        "self-test's checker; C2H: from its time stamp to the completion in host memory. Published: from a command of the "
        "card to the host's answer, which it gives by a register write in C2H, too. Where more is offered than passes, the wait in the ring is part of it.",
        ("direction", Number("bytes"), Number("offered, Mops"), Number("passed, Mops"), *compared_columns),
        rows_of(
            figures,
            "latency_us",
            lambda at: (
                at["direction"],
                at["bytes"],
                at.get("offered_mops", "as many as pass"),
                beside("latency_mops", at),
            ),
        ),
    )
    registers = [
        table(
            f"A {way} of a register in BAR2, median in us, gen3x16; the load is frames of 4096 bytes in 8 queues. An answer "
            "cannot pass the requests that the PCIe block has taken.",
            ("load", Number("requests"), Number("C2H, Gb/s"), Number("H2C, Gb/s"), *compared_columns),
            rows_of(
                figures,
                f"bar2_{way}_us",
                lambda at: (
                    at["load"],
                    at["pipeline"],
                    beside("bar2_load_c2h_gbps", at),
                    beside("bar2_load_h2c_gbps", at),
                ),
            ),
        )
        for way in ("read", "write")
    ]
    return [random, latency, *registers]


def own_table(figures: Sequence[Entry]) -> str:
    def of(at: dict[str, Any]) -> str:
        return ", ".join(f"{name} {at[name]}" for name in ("mode", "bytes", "queues", "load") if name in at)

    return table(
        "Simulated Verilog behind a model of the integrated block for PCIe, whose streams have 256 bit, on the same link.",
        ("figure", "of", "link", Number("measured"), "unit", "goal", Number("model of the QDMA IP"), Number("ratio")),
        [
            (
                it["id"], of(it["with"]), it["with"]["link"], f"{it['value']:g}", it["unit"], it.get("goal", ""),
                *(f"{it['reference'][key]:g}" if "reference" in it else "" for key in ("value", "ratio")),
            )
            for it in figures
        ],
    )  # fmt: skip


def commands_table(figures: Sequence[Entry]) -> str:
    def of(at: dict[str, Any]) -> str:
        gap = f", one in {at['gap_ns']} ns" if "gap_ns" in at else ""
        return f"{at['direction']}, {at['bytes']} bytes, {at['queues']} queues{gap}"

    return table(
        "Reads (h2c) and writes (c2h) of host memory by a module of the card, at random addresses. The published rows are of "
        "a link and streams twice as wide; command_beat_ratio compares operations for each 32 bytes that a stream can carry.",
        ("figure", "of", "link", Number("measured"), "unit", "goal", Number("published"), Number("ratio")),
        [
            (
                it["id"], of(it["with"]), it["with"]["link"], f"{it['value']:g}", it["unit"], it.get("goal", ""),
                *(f"{it['reference'][key]:g}" if "reference" in it else "" for key in ("value", "ratio")),
            )
            for it in figures
        ],
    )  # fmt: skip


def tunings_table(figures: Sequence[Entry]) -> str:
    """Of both engines, each row a setting."""
    rows: dict[tuple[Any, ...], dict[str, float]] = {}
    for it in chosen(figures, "tuning_mpps"):
        at = it["with"]
        key = (at["setting"], at[at["setting"]], at["mode"], at["bytes"], at["queues"], at["link"])
        rows.setdefault(key, {})[at["engine"]] = it["value"]
    return table(
        "Frames in millions a second by what a host can set, as docs/tuning.md has them.",
        ("setting", Number("value"), "mode", Number("bytes"), Number("queues"), "link", Number("model of the QDMA IP"), Number("our engine")),
        [
            (*key, *(f"{found[engine]:g}" if engine in found else "" for engine in (own.MODEL, own.OWN)))
            for key, found in rows.items()
        ],
    )  # fmt: skip


def links_table(links: dict[str, dict[str, Any]]) -> str:
    return table(
        "The links.",
        ("link", Number("payload, bytes"), Number("read request, bytes"), "from", Number("round trip, ns"), "from"),
        [
            (name, it["payload_bytes"], it["read_request_bytes"], it["packets_from"], it["round_trip_ns"], it["round_trip_from"])
            for name, it in links.items()
        ],
    )  # fmt: skip


def bounds_table(bounds: dict[str, dict[str, Any]]) -> str:
    return table(
        "Bounds of the models.",
        ("of", Number("at most"), "from"),
        [(it["what"], it["value"], it["from"]) for it in bounds.values()],
    )


def body_of(document: dict[str, Any]) -> str:
    figures = [it for it in document["figures"] if it["with"]["engine"] != own.OWN]
    of_own = [it for it in document["figures"] if it["with"]["engine"] == own.OWN and it["id"] != "tuning_mpps"]
    about = (
        f"{document['kind']}. Commit {document['git']}, {document['when']}. Nothing was run on hardware; published "
        "figures are of hardware."
    )
    parts = [
        "<h1>DMA</h1>",
        f'<p class="note">{text(about)}</p>',
        links_table(document["links"]),
        bounds_table(document["bounds"]),
        "<h2>Forwarding</h2>",
        *forward(figures),
        "<h2>One direction alone</h2>",
        *one_way(figures),
        "<h2>By link</h2>",
        *other_links(figures, document["links"]),
        "<h2>Round trip and loopback</h2>",
        enyx(figures, "round_trip_ns", ("round trip", "ns"), "From start to start of a frame that the host sends back, one at a time: the least of many. Published: Enyx HFP."),
        enyx(figures, "engine_share_ns", ("share", "ns"), "The same with a flight of no time: engine, shell, host, and the packets' own time on the lanes."),
        enyx(figures, "loopback_gbps", ("bits of frames", "Gb/s"), "Frames of the self-test that the host sends back. Published: Enyx HFP, from a host through the card back to it.", direction="card_host_card"),
        enyx(figures, "loopback_gbps", ("bits of frames", "Gb/s"), "Frames that the host sends, and that the pins of the streams send back, without a shell. Published: Enyx HFP.", direction="host_card_host"),
        "<h2>Random access, latency, registers</h2>",
        *tables(figures),
        "<h2>Settings of a host</h2>",
        tunings_table(document["figures"]),
        "<h2>The DMA engine of our own</h2>",
        own_table([it for it in of_own if not it["id"].startswith("command_")]),
        commands_table([it for it in of_own if it["id"].startswith("command_")]),
        "<h2>What is not measured</h2>",
        table("Rows without a figure of ours.", ("row", "source", "state"), table_rows(document["waits"])),
    ]  # fmt: skip
    return "\n".join(parts)


def write_page(file: Path) -> Path:
    """dma.html beside dma.json."""
    target = file.with_suffix(".html")
    target.write_text(page("Meridian: DMA", body_of(json.loads(file.read_text()))))
    return target
