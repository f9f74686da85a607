# SPDX-License-Identifier: Apache-2.0
"""The run as one page of HTML: what was promised and whether it held, pictures, tables."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from meridian_demo.reasons import REASONS
from meridian_machine.tools import ROOT

from . import plots
from .burst import SOURCE
from .captured import Captured
from .page import Number, page, table, text
from .promises import Promise, promises, verdict
from .record import IDLE, LOADED, Offset, Record, peak, rms
from .view import rate

NAME = "report.html"
CAPTURE = "card.pcapng"
REFERENCE = ROOT / "docs" / "reference"
#: Of Wireshark: what comes from the wire in and around the trains. The field of PTP has this name since 1.0.
FILTER = f'frame.interface_name == "wire0" && (eth.src == {SOURCE.hex(":")} || ptp.v2.messagetype == 0)'


def published(name: str) -> list[dict[str, str]]:
    with (REFERENCE / name).open() as stream:
        return list(csv.DictReader(stream))


def promised(found: Sequence[Promise]) -> str:
    def marked(tag: str, kept: bool, classes: str = "") -> str:
        words = " ".join([*classes.split(), *([] if kept else ["broken"])])
        return f'<{tag} class="{words}">' if words else f"<{tag}>"

    items = "".join(
        f"{marked('li', it.kept)}<strong>{'held' if it.kept else 'broken'}</strong>{text(it.text)}"
        f' <span class="found">{text(it.found)}</span></li>'
        for it in found
    )
    first = verdict(found)[0]
    return (
        f"{marked('p', all(it.kept for it in found), 'verdict')}{text(first[0].upper() + first[1:])}.</p>"
        f'<h2>What was promised, and whether it held</h2><ul class="promises">{items}</ul>'
    )


def about(record: Record) -> str:
    facts = {
        "version (git)": record.about.version,
        "date": record.about.date,
        "machine": record.about.machine,
        "DMA engine": "of the QDMA IP, as a model" if record.about.dma == "qdma" else "Meridian's own, in the shell",
        "duration": f"{record.now():.0f} s",
    }
    items = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in facts.items())
    return f"""<h2>What ran, where and when</h2><dl>{items}</dl>
<p>The shell's Verilog runs in cycle-accurate simulation, with real drivers, kernels and programs in emulated machines
around it. The MAC{", the QDMA IP" if record.about.dma == "qdma" else ""} and PCIe are models. Twin time is the time of the simulation. Nothing of this ran on
hardware.</p>"""


def clock_row(name: str, found: Sequence[Offset]) -> list[object]:
    delays = [it.delay for it in found]
    away = sum(it.state != "s2" for it in found)
    return [name, len(found), f"{rms(list(found)):.2f}", peak(list(found)), f"{min(delays)} to {max(delays)}", away]


def clock_table(record: Record) -> str:
    theirs = [int(row["master_offset_ns"]) for row in published("silicom_ptp4l_under_load.csv")]
    delays = [int(row["path_delay_ns"]) for row in published("silicom_ptp4l_under_load.csv")]
    rows = [clock_row(f"here, {name}", found) for name in (IDLE, LOADED) if (found := record.offsets_in(name))]
    own = (sum(offset**2 for offset in theirs) / len(theirs)) ** 0.5
    rows.append(
        ["Silicom FB4XXVG, under load (published)", len(theirs), f"{own:.2f}", max(map(abs, theirs)),
         f"{min(delays)} to {max(delays)}", 0]
    )  # fmt: skip
    head = ("where", *map(Number, ("Sync messages", "r.m.s., ns", "peak, ns", "path delay, ns", "not locked (s2)")))
    return table("Offset of the card's clock from the grandmaster", head, rows)


def traffic_tables(record: Record) -> str:
    if not record.counters:
        return "<p>The host's counters were not read.</p>"
    last = record.counters[-1]
    rows = [
        [name, *(f"{last.frames[name][way]:,}" for way in (0, 1)), *(f"{last.bytes[name][way]:,}" for way in (0, 1))]
        for name in sorted(last.frames)
    ]
    head = ("function", *map(Number, ("frames received", "frames sent", "bytes received", "bytes sent")))
    got = table("Who got what, of all traffic since the host's driver was loaded", head, rows)
    lost = [[REASONS[name].words, f"{count:,}", REASONS[name].why] for name, count in last.drops.items()]
    if not lost:
        return f"{got}<p>The card dropped no frame.</p>"
    head = ("reason", Number("frames"), "why that is right")
    return got + table("Frames that the card dropped in the same time", head, lost)


def trains_table(captured: Captured) -> str:
    theirs = {
        int(row["packet_bytes_without_fcs"]): row
        for row in published("silicom_testpmd_25g.csv")
        if row["direction"] == "rx"
    }
    rows = []
    for it in captured.sizes:
        if not it.nanoseconds:
            continue
        full = 25e9 / ((it.size + 20) * 8)
        other = theirs.get(it.size - 4)
        rows.append(
            [it.size - 4, f"{it.sent:,}", f"{100 * it.line:.1f}", f"{rate(full * it.line)}f/s",
             f"{rate(float(other['pps']))}f/s" if other else "", it.quantile(0.5), it.quantile(0.99)]
        )  # fmt: skip
    if not rows:
        return "<p>The capture has no train.</p>"
    head = map(
        Number,
        (
            "bytes without FCS",
            "frames",
            "% of the line in a train",
            "which is",
            "Silicom's testpmd receives (published)",
            "median latency, ns",
            "99 % within, ns",
        ),
    )
    return f"""{table("Trains of frames at line rate around the Sync messages", tuple(head), rows)}
<p class="note">Trains come at line rate. The published rates are of a host on hardware that kept up, which an emulated
machine cannot. How fast the shell itself is says <code>make bench-shell</code>.</p>"""


def captures(folder: Path, captured: Captured) -> str:
    others = [path.name for path in sorted(folder.glob("*.pcap*")) if path.name != CAPTURE]
    items = "".join(f'<li><a href="{text(name)}">{text(name)}</a></li>' for name in others)
    links = f"<ul>{items}</ul>" if items else ""
    if not (folder / CAPTURE).exists():
        return f"<h2>Captures</h2><p>The card's capture is not there.</p>{links}"
    cut = "" if captured.complete else " Its end is missing, as the card did not end as it should."
    return f"""<h2>Captures</h2><p><a href="{CAPTURE}">{CAPTURE}</a> has every frame at the wire, at the host and at the PS,
with nanoseconds of twin time.{cut} In Wireshark this display filter shows the trains with the Sync messages among them:</p>
<p><code>{text(FILTER)}</code></p>{links}"""


def write(folder: Path, record: Record, captured: Captured) -> Path:
    notes = [[f"{at:.0f}", words] for at, words in record.notes]
    body = f"""<main><h1>Meridian: the demo</h1>
{promised(promises(record, captured))}
{about(record)}
<h2>Pictures</h2>{plots.clock(record)}{plots.rates(record)}{plots.latency(captured.sizes)}
<h2>Tables</h2>{clock_table(record)}{traffic_tables(record)}{trains_table(captured)}
{captures(folder, captured)}
<h2>Course of the run</h2>{table("What happened when", (Number("second"), "event"), notes)}</main>"""
    file = folder / NAME
    file.write_text(page("Meridian: the demo", body))
    return file
