# SPDX-License-Identifier: Apache-2.0
"""Measures frames, operations and time of DMA between the card's streams and a host, and compares published figures. Parts
are the shell's self-test block, the models of the QDMA IP and of the PCIe link, and a host with the drivers' rings.

Writes build/bench/dma.json, and dma.html with plots. The self-test block of the simulated shell makes C2H frames, checks
and counts H2C frames, and measures how long they take; "source" in each figure names who did. A register of BAR2 is
accessed in the same shell. What needs descriptors that the card makes itself, or memory-mapped queues, is a row that waits
(dma_waits.py). The DMA engine of our own is measured in a shell with it, beside the model of the IP (dma_own.py), and with
commands of the card's own logic (dma_commands.py).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dma_commands as commands
import dma_own as own
import dma_published as published
from dma_links import BOUNDS, LINKS, Link
from dma_page import write_page
from dma_runs import Run, measure_all
from dma_waits import waits
from meridian_twin import CardError, LinkError
from report import ROOT, Figure, write

KIND = (
    "cycle-accurate simulation of the shell with its self-test block, which is the source of the frames, behind models of "
    "the QDMA IP and of the PCIe link"
)
SHELL = ("--host-bytes", "64", "--self-test", "true")
BLOCK = ("--source", "block")
MODES = ("forward", "c2h", "h2c")
WIDE = LINKS["gen3x16"]
#: Of the host in figures of time; a poll that finds nothing is taken to cost as much.
POLL_NS = 50
ROUND_TRIP_SIZES = range(1, 2016, 19)
LOOPS = ("card_host_card", "host_card_host")
#: Requests in the PCIe block: what the model has, and as many as numbers of 6 bits tell apart.
PIPELINES = (BOUNDS["pcie-pipeline"].value, 63)


@dataclass(frozen=True)
class Plan:
    """What is measured: sizes of the table of forwarding, of other links, and of round trips; queues, functions."""

    sizes: tuple[int, ...]
    queues: tuple[int, ...]
    functions: tuple[str, ...]
    other_sizes: tuple[int, ...]
    round_trip_sizes: tuple[int, ...]
    random_queues: tuple[int, ...]


SIZES = tuple(range(64, 4097, 64))
FEW = (64, 256, 1024, 4096)
IN_TABLES = (1, 20, 58, 134, 248, 514, 1027)
PLANS = {
    "quick": Plan(FEW, (1, 8), ("pf",), (64, 1024), IN_TABLES, (1, 8)),
    "default": Plan(SIZES, (1, 2, 4, 8), ("pf", "vf"), (64, 128, 256, 512, 1024, 1536, 4096), tuple(ROUND_TRIP_SIZES), (1, 2, 4, 8, 16)),
    "full": Plan(SIZES, (1, 2, 4, 8), ("pf", "vf"), SIZES, tuple(ROUND_TRIP_SIZES), (1, 2, 4, 8, 16)),
}  # fmt: skip


def point(found: dict[str, Any], link: Link, size: int, **more: Any) -> dict[str, Any]:
    return {"engine": found["engine"], "source": found["source"], "link": link.name, "bytes": size} | more


def spread(times: dict[str, Any], factor: float = 1) -> dict[str, float]:
    """As a figure has it. The self-test's histogram tells between which bounds the median is."""
    found = {name: round(times[name] * factor, 3) for name in ("min", "max")}
    if "median_between" in times:
        low, high = times["median_between"]
        found |= {"median_from": round(low * factor, 3), "median_to": round(high * factor, 3)}
    return found


def rate(link: Link, mode: str, size: int, queues: int, function: str, looks: tuple[str, ...] = ()) -> Run:
    """Frames a second, as many as pass. looks: options of how the host looks at its queues."""

    def figures(found: dict[str, Any]) -> list[Figure]:
        value = round(found["mpps"], 2)
        theirs = published.forwarding().get((function, size, queues)) if (mode, link) == ("forward", WIDE) else None
        where = point(found, link, size, queues=queues, function=function)
        reference = published.reference(value, theirs, published.FORWARDING)
        return [Figure(f"{mode}_mpps", where, value, "Mpps", reference=reference)]

    options = (*BLOCK, "--mode", mode, "--bytes", str(size), "--queues", str(queues), "--function", function, *looks)
    return Run(
        f"{mode} {link.name}, {size} bytes, {queues} queues, {function}", mode, (*options, *link.options()), figures
    )


def rates(plan: Plan) -> Iterator[Run]:
    for function in plan.functions:
        for mode in MODES:
            for queues in plan.queues:
                yield from (rate(WIDE, mode, size, queues, function) for size in plan.sizes)
    for link in LINKS.values():
        if link != WIDE:
            for mode in MODES:
                for queues in (1, 8):
                    yield from (rate(link, mode, size, queues, "pf") for size in plan.other_sizes)


def round_trip(link: Link, size: int) -> Run:
    """From start to start of a frame that the host sends back, one frame at a time: the least of many. The block's window
    measures it; of frames too short for a time stamp, the beats at the pins and the block's known cycles do."""

    def figures(found: dict[str, Any]) -> list[Figure]:
        times = found["round_trip_ns"]
        reference = published.reference(
            times["min"], published.enyx(published.ROUND_TRIP).get((link.name, size)), published.ROUND_TRIP
        )
        where = point(found, link, size, queues=1, function="pf", poll_ns=POLL_NS, timed_by=found["timed_by"])
        return [Figure("round_trip_ns", where, times["min"], "ns", None, reference, times["frames"], spread(times))]

    options = (*BLOCK, "--mode", "round-trip", "--bytes", str(size), "--poll-ns", str(POLL_NS), "--for-us", "500")
    return Run(f"round trip {link.name}, {size} bytes", "round-trip", (*options, *link.options()), figures)


def pushed(link: Link, size: int) -> Run:
    """The round trip of a frame that the host writes into the card, on a card that has room for such frames."""

    def figures(found: dict[str, Any]) -> list[Figure]:
        times = found["round_trip_ns"]
        where = point(found, link, size, queues=1, function="pf", poll_ns=POLL_NS, timed_by=found["timed_by"])
        return [Figure("push_round_trip_ns", where, times["min"], "ns", None, None, times["frames"], spread(times))]

    run = round_trip(link, size)
    return replace(run, what=f"pushed, {run.what}", options=(*run.options, "--push", str(own.PUSH)), figures=figures)


def engine_share(link: Link, size: int) -> Run:
    """The round trip on the same lanes with a flight of no time: what engine, shell, host and the packets' own time on the
    lanes take."""

    def figures(found: dict[str, Any]) -> list[Figure]:
        times = found["round_trip_ns"]
        where = point(found, link, size, queues=1, function="pf", poll_ns=POLL_NS, timed_by=found["timed_by"])
        return [Figure("engine_share_ns", where, times["min"], "ns", None, None, times["frames"], spread(times))]

    options = (*BLOCK, "--mode", "round-trip", "--bytes", str(size), "--poll-ns", str(POLL_NS), "--for-us", "200")
    return Run(
        f"engine's share {link.name}, {size} bytes", "round-trip", (*options, *link.options(flight=False)), figures
    )


def loop(link: Link, size: int, direction: str) -> Run:
    """Frames that go there and back, as many as pass. card_host_card: the block sends them, the host sends them back, and
    the block checks them. host_card_host: the host sends them, and the pins of the streams send them back, as the block
    has no loop of its own."""
    mode, source = {"card_host_card": ("forward", BLOCK), "host_card_host": ("loopback", ("--source", "pins"))}[
        direction
    ]

    def figures(found: dict[str, Any]) -> list[Figure]:
        value = round(found["gbps"], 3)
        reference = published.reference(
            value, published.enyx(published.LOOPBACK).get((link.name, size)), published.LOOPBACK
        )
        where = point(found, link, size, queues=1, function="pf", direction=direction)
        return [Figure("loopback_gbps", where, value, "Gb/s", None, reference)]

    options = (*source, "--mode", mode, "--bytes", str(size))
    return Run(f"loopback {direction} {link.name}, {size} bytes", mode, (*options, *link.options()), figures)


def random_access(mode: str, size: int, queues: int) -> Run:
    """Frames to or from places at random in 1 GiB, with descriptors of the host's rings."""

    def figures(found: dict[str, Any]) -> list[Figure]:
        made = []
        for direction in ("h2c", "c2h"):
            if mode in (direction, "both"):
                value = round(found[direction]["mpps"], 2)
                name = f"both_{direction}" if mode == "both" else direction
                reference = published.reference(
                    value, published.random_access().get((name, size, queues)), published.RANDOM
                )
                where = point(found, WIDE, size, queues=queues, function="pf", direction=name)
                made.append(Figure("random_access_mops", where, value, "Mops", reference=reference))
        return made

    options = (*BLOCK, "--mode", mode, "--bytes", str(size), "--queues", str(queues), "--random")
    return Run(f"random access {mode}, {size} bytes, {queues} queues", mode, (*options, *WIDE.options()), figures)


def random_accesses(plan: Plan) -> Iterator[Run]:
    for mode in ("h2c", "c2h", "both"):
        for size in (64, 128, 256):
            yield from (random_access(mode, size, queues) for queues in plan.random_queues)
    yield from (random_access("both", size, 1) for size in (512, 1024, 2048, 4096))


def latency(row: published.Offered) -> Run:
    """Mean. H2C: from the doorbell, whose cycle the host writes into the frame, to its start at the block's checker; C2H:
    from the block's time stamp to the completion in host memory. Of one queue."""

    def figures(found: dict[str, Any]) -> list[Figure]:
        times = found["h2c_latency_ns" if row.direction == "h2c" else "latency_ns"]
        value = round(times["mean"] / 1000, 3)
        offered = {"offered_mops": round(1000 / row.gap_ns, 2)} if row.gap_ns else {"load": "full"}
        where = point(found, WIDE, row.bytes, queues=1, function="pf", direction=row.direction, poll_ns=POLL_NS)
        where |= offered
        reference = published.reference(value, row.command_us, published.LATENCY)
        return [
            Figure("latency_us", where, value, "us", None, reference, times["frames"], spread(times, 0.001)),
            Figure("latency_mops", where, round(found[row.direction]["mpps"], 2), "Mops"),
        ]

    options = (*BLOCK, "--mode", row.direction, "--bytes", str(row.bytes), "--gap-ns", str(row.gap_ns))
    return Run(
        f"latency {row.direction}, {row.bytes} bytes each {row.gap_ns} ns",
        row.direction,
        (*options, "--poll-ns", str(POLL_NS), *WIDE.options()),
        figures,
    )


def register(load: str, pipeline: int, link: Link = WIDE) -> Run:
    """Accesses to a register of BAR2, one at a time, beside frames of 4096 bytes in eight queues. pipeline: requests that
    the PCIe block has taken, and that an answer waits for. Nobody is told when the engine of our own has written."""

    def figures(found: dict[str, Any]) -> list[Figure]:
        made = []
        ways = [way for way in ("read", "write") if f"{way}_us" in found]
        if not ways:
            raise KeyError("read_us")
        for way in ways:
            times = found[f"{way}_us"]
            value = round(times["median"], 3)
            theirs = published.registers()[load] if (way, link) == ("read", WIDE) else None
            where = {"engine": found["engine"], "source": found["source"], "link": link.name, "load": load}
            where |= {"pipeline": pipeline}
            reference = published.reference(value, theirs, published.REGISTERS)
            made.append(
                Figure(f"bar2_{way}_us", where, value, "us", None, reference, found["count"], spread(times))
            )  # fmt: skip
        for direction in ("c2h", "h2c"):
            made.append(
                Figure(f"bar2_load_{direction}_gbps", where, round(found["load"][direction]["gbps"], 1), "Gb/s")
            )
        return made

    options = ("--registers", load, "--bytes", "4096", "--queues", "8")
    return Run(f"BAR2, load {load}, {pipeline} requests", load, (*options, *link.options(pipeline=pipeline)), figures)


def all_runs(plan: Plan) -> list[Run]:
    return [
        *(register(load, PIPELINES[0]) for load in ("idle", "h2c", "c2h", "both")),
        *(register(load, more) for load in ("c2h", "both") for more in PIPELINES[1:]),
        *(latency(row) for row in published.latencies()),
        *random_accesses(plan),
        *(round_trip(LINKS[link], size) for link in published.ENYX for size in plan.round_trip_sizes),
        *(engine_share(LINKS[link], size) for link in published.ENYX for size in plan.round_trip_sizes),
        *(
            loop(LINKS[link], size, direction)
            for direction in LOOPS
            for link in published.ENYX
            for size in plan.round_trip_sizes
        ),
        *rates(plan),
    ]


def tuned(setting: str, mode: str, size: int, queues: int, link: Link = own.LINK, poll_ns: int = 4000) -> Run:
    """Frames a second with one setting of a host; setting: its name, which the point of the figure has with its value."""
    value = {"queues": queues, "payload": link.payload, "request": link.request, "poll_ns": poll_ns}[setting]
    run = rate(link, mode, size, queues, "pf", ("--poll-ns", str(poll_ns), "--burst", "512"))

    def figures(found: dict[str, Any]) -> list[Figure]:
        where = point(found, link, size, queues=queues, function="pf", mode=mode, setting=setting) | {setting: value}
        return [Figure("tuning_mpps", where, round(found["mpps"], 2), "Mpps")]

    return replace(run, what=f"{setting} {value}: {run.what}", figures=figures)


def tunings() -> list[Run]:
    """The rows of docs/tuning.md: what a host can set, each alone. The times between looks stand for moderation: a host that
    looks less often finds more frames at once. The length of its rings is that of the bench."""
    queues, payloads, requests = (1, 2, 4, 8), (128, 256, 512), (128, 256, 512, 1024, 2048)
    return [
        *(tuned("queues", "c2h", 64, count) for count in queues),
        *(tuned("payload", "c2h", 1518, 8, replace(own.LINK, payload=size)) for size in payloads),
        *(tuned("request", "h2c", 4096, 8, replace(own.LINK, request=size)) for size in requests),
        *(tuned("poll_ns", "c2h", 64, 1, poll_ns=time) for time in (1000, 2000, 4000, 8000, 16000)),
    ]


def own_runs() -> list[Run]:
    """What the engine of our own is measured by, and the model of the IP beside it. One size of its round trip has a time
    stamp, which the engine's needs."""
    return [
        *(
            rate(own.LINK, mode, size, queues, "pf", own.LOOKS)
            for mode in MODES
            for size in own.SIZES
            for queues in own.QUEUES
        ),
        *(kind(own.LINK, size) for kind in (round_trip, engine_share) for size in own.SIZES),
        round_trip(own.NEAR, own.SIZES[0]),
        *(register(load, PIPELINES[0], own.LINK) for load in ("idle", "c2h")),
    ]


def built(folder: Path | None, shell: tuple[str, ...] = SHELL, name: str = "qdma_bench") -> Path:
    if folder is None:
        print(
            f"building the card's programs with {' '.join(shell)}, some minutes unless they are in the cache",
            flush=True,
        )
        done = subprocess.run([ROOT / "scripts" / "build-card", *shell], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit("bench-dma: the card does not build; scripts/build-card says why")
        folder = Path(done.stdout.splitlines()[-1])
    program = folder / name
    if not program.exists():
        raise SystemExit(f"bench-dma: {folder} has no {name}; name a folder that scripts/build-card printed")
    return program


def shown(figure: Figure) -> bool:
    """In the terminal's table, which has room for some: what can be compared, of few sizes."""
    if figure.point["engine"] == own.OWN or figure.id == "tuning_mpps":
        return True
    return figure.reference is not None and figure.point.get("bytes", 64) in (*FEW, *IN_TABLES)


def measure_engines(program: Path, own_program: Path, model_too: bool) -> tuple[list[Figure], list[str]]:
    """The engine of our own beside the model of the IP, and why figures are missing. model_too: with the model's own."""
    model, missing_model = measure_all(program, own_runs())
    found, missing = measure_all(own_program, own_runs() + [pushed(link, own.SIZES[0]) for link in own.PUSH_LINKS])
    figures = (model if model_too else []) + own.beside(model, found)
    return figures, missing_model + [f"{own.OWN}: {reason}" for reason in missing]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/bench-dma", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few sizes and queues, the PF only; some minutes")
    parser.add_argument("--full", action="store_true", help="all sizes on all links, not only on gen3x16")
    parser.add_argument("--own", action="store_true", help="only the DMA engine of our own, and the model beside it")
    parser.add_argument("--tuning", action="store_true", help="only the rows of docs/tuning.md; some minutes")
    parser.add_argument("--programs", type=Path, help="use qdma_bench of this folder instead of building it")
    parser.add_argument("--own-programs", type=Path, help="likewise, of a shell with the DMA engine of our own")
    parser.add_argument("--command-programs", type=Path, help="use meridian_card of this folder for commands")
    arguments = parser.parse_args()
    if arguments.quick + arguments.full + arguments.own + arguments.tuning > 1:
        parser.error("--quick, --full, --own and --tuning exclude each other; choose one")
    runs = all_runs(PLANS["quick" if arguments.quick else "full" if arguments.full else "default"])
    program, own_program = built(arguments.programs), built(arguments.own_programs, own.SHELL)
    figures, missing = [], []
    if not arguments.own:
        for engine, name in ((program, ""), (own_program, f"{own.OWN}: ")):
            found, why = measure_all(engine, tunings())
            figures += found
            missing += [name + reason for reason in why]
    if not arguments.tuning:
        found, why = ([], []) if arguments.own else measure_all(program, runs)
        figures, missing = figures + found, missing + why
        found, why = measure_engines(program, own_program, arguments.own)
        figures, missing = figures + found, missing + why
        try:
            figures += commands.measure(built(arguments.command_programs, commands.SHELL, "meridian_card").parent)
        except (CardError, LinkError, RuntimeError) as reason:
            missing.append(f"commands of the card's own logic: {reason}")
    links = {link.name: link.as_json() for link in (*LINKS.values(), own.NEAR)}
    bounds = {name: bound.as_json() for name, bound in BOUNDS.items()}
    file = write("dma", KIND, figures, {"links": links, "bounds": bounds, "waits": waits()}, shown)
    print(f"{write_page(file)}: plots beside the published figures")
    for reason in missing:
        print(f"bench-dma: not measured: {reason}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
