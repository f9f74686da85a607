# SPDX-License-Identifier: Apache-2.0
"""Measures how well the card keeps PTP time: ptp4l on the card's PS, its driver and the shell's clock, in twin time.

Every clock of the card is 50 ppm off. Offset and path delay are what ptp4l says of each Sync (whole nanoseconds), after
it has settled. Once with an idle wire; once with trains of 64-byte frames to the host, back to back, around every Sync,
which the machine on the host side receives; whether a burst was around each is looked for in what passed on the wire.
What host and PS send at the same time is not part of it. Published figures beside it are of a real card.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
import tempfile
from bisect import bisect
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean

import dpkt
import matplotlib
from meridian_machine.guest import Guest
from ptp_run import SYNC_LOG, Grandmaster, Samples, ps_with, ptp4l
from report import ROOT, Figure, write

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PUBLISHED = ROOT / "docs" / "reference" / "silicom_ptp4l_under_load.csv"
CLOCKS = ("ps=50", "mac_rx_0=-50", "mac_tx_0=50", "host=-50")
HOST = "02:00:00:00:00:01"
GRANDMASTER = Grandmaster("grandmaster", 0, "transport=ethernet", "-2 -E")
FRAMES = 100  # of a train
WIRE_NS = 26.88  # of one of them, at 25 Gb/s
PERIOD_NS = int(10**9 * 2.0**SYNC_LOG)
SYNC_NS = 1000  # when in each period a Sync is sent
PTP = bytes.fromhex("88f7")


def bursts(captures: Sequence[Path]) -> str:
    """A train of frames before each Sync and one behind it: a Sync that is due in the first leaves between the two."""
    rate = FRAMES * 10**9 // PERIOD_NS
    first = PERIOD_NS + SYNC_NS - round(FRAMES / 2 * WIRE_NS)
    starts = (first, first + round(FRAMES * WIRE_NS) + 10)
    common = f"size=64,burst={FRAMES},rate={rate}pps,dmac={HOST}"
    return "+".join(
        f"traffic:{common},id={number},start={start}ns,capture={capture}"
        for number, (start, capture) in enumerate(zip(starts, captures, strict=True))
    )


def times(captures: Sequence[Path], wanted: Callable[[bytes], bool]) -> list[float]:
    found: list[float] = []
    for capture in captures:
        with capture.open("rb") as stream:
            found += [float(when) for when, frame in dpkt.pcapng.Reader(stream) if wanted(frame)]
    return sorted(found)


def uncovered(syncs: Path, load: Sequence[Path]) -> tuple[int, int]:
    """Sync messages on the wire but for the first, and those among them without a frame right before and right after."""
    sent = times([syncs], lambda frame: frame[12:14] == PTP and frame[14] & 15 == 0)[1:]
    frames = times(load, lambda frame: frame[:6].hex(":") == HOST)
    places = [bisect(frames, at) for at in sent]
    near = 4 * WIRE_NS * 1e-9
    covered = [
        0 < place < len(frames) and at - frames[place - 1] < near and frames[place] - at < near
        for at, place in zip(sent, places, strict=True)
    ]
    return len(sent), covered.count(False)


def lock_seconds(samples: Samples) -> float:
    """From ptp4l's start to the first of the offsets that stay within 2 ns."""
    began = float(re.search(r"ptp4l\[([\d.]+)\]", samples.text)[1])  # type: ignore[index]
    lines = re.findall(r"ptp4l\[([\d.]+)\]: master offset +(-?\d+) s(\d)", samples.text)
    last = max((n for n, (_, offset, state) in enumerate(lines) if abs(int(offset)) > 2 or state != "2"), default=-1)
    return float(lines[last + 1][0]) - began


def measure(load: str, seconds: int, folder: Path) -> Samples:
    syncs, frames = folder / "syncs.pcapng", [folder / "before.pcapng", folder / "behind.pcapng"]
    grandmaster = Grandmaster(GRANDMASTER.name, 0, f"{GRANDMASTER.spec},capture={syncs}", GRANDMASTER.options)
    card = [word for clock in CLOCKS for word in ("--ppm", clock)]
    more = bursts(frames) if load != "idle" else ""
    with ps_with([grandmaster], folder, card=card, more=more, host=bool(more)) as (twin, guest):
        if not more:
            return ptp4l(guest, grandmaster, seconds * 10**9 // PERIOD_NS)
        with twin.machine() as machine:
            host = Guest(machine)
            host.wait_link()
            host.run(f"ip link set eth0 down && ip link set eth0 address {HOST} && ip link set eth0 up")
            host.wait_link()
            samples = ptp4l(guest, grandmaster, seconds * 10**9 // PERIOD_NS)
            received = host.statistics()["card_rx_delivered"]
    count, bare = uncovered(syncs, frames)
    print(f"  {count} Sync messages on the wire, {bare} without a burst around; the host got {received} frames of it")
    if bare or received < FRAMES:
        raise SystemExit("the load was not there")
    return samples


def published() -> list[int]:
    with PUBLISHED.open() as stream:
        return [int(row["master_offset_ns"]) for row in csv.DictReader(stream)]


def figures(load: str, samples: Samples) -> list[Figure]:
    point = {"load": load, "ppm": 50}
    theirs = published()
    source = PUBLISHED.name
    rms = mean(offset**2 for offset in theirs) ** 0.5
    return [
        Figure(
            "offset_rms_ns",
            point,
            round(samples.rms(), 3),
            "ns",
            "< 1",
            {"value": round(rms, 3), "source": source},
            runs=len(samples.offsets),
        ),
        Figure(
            "offset_peak_ns",
            point,
            samples.peak(),
            "ns",
            "< 2.6",
            {"value": max(map(abs, theirs)), "source": source},
            runs=len(samples.offsets),
        ),
        Figure(
            "path_delay_ns",
            point,
            round(mean(samples.delays), 3),
            "ns",
            runs=len(samples.delays),
            spread={"min": min(samples.delays), "max": max(samples.delays)},
        ),
        Figure("lock_seconds", point, round(lock_seconds(samples), 2), "s"),
    ]


def plot(found: dict[str, Samples], file: Path) -> None:
    figure, axes = plt.subplots(figsize=(8, 3))
    for load, samples in found.items():
        axes.plot(
            [n * PERIOD_NS / 1e9 for n in range(len(samples.offsets))],
            samples.offsets,
            label=f"Meridian's twin, {load}",
        )
    axes.plot(range(len(published())), published(), label="Silicom FB4XXVG, under load (published)", alpha=0.6)
    axes.set(xlabel="seconds", ylabel="offset from the grandmaster, ns")
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(file)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/bench-ptp", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="measure each case for 20 s instead of 300 s")
    quick = parser.parse_args().quick
    found: dict[str, Samples] = {}
    for load in ("idle", "line_rate_bursts"):
        with tempfile.TemporaryDirectory(prefix="meridian-") as name:
            print(f"{load}: booting, then {20 if quick else 300} s of PTP", flush=True)
            found[load] = measure(load, 20 if quick else 300, Path(name))
    listed = [figure for load, samples in found.items() for figure in figures(load, samples)]
    file = write("ptp", "cycle-accurate simulation, emulated PS", listed)
    plot(found, file.with_suffix(".png"))
    print(f"{file.with_suffix('.png')}: the offsets")
    sys.exit(1 if any(figure.missed() for figure in listed) else 0)


if __name__ == "__main__":
    main()
