# SPDX-License-Identifier: Apache-2.0
"""Measures the card process: simulation speed, idle time, doorbells, and the throughput of its QDMA model.

The card is the one that nearly all tests and all machines use: with the DMA engine of our own, compiled by a profile. A
frame on the wire that is neither fetched nor counted as lost ends the bench.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import dma_published
from meridian_twin import CardProcess, Host, QueueSetting
from meridian_twin.card import Card
from meridian_twin.patience import deadline_in
from report import Figure, write

ROOT = Path(__file__).resolve().parents[2]
HOST_PERIOD_PS = 4000
HOUR_NS = 3600 * 10**9
MINE = bytes.fromhex("02aabbccdd01")
RING = QueueSetting(ring=4097, completions=8193, buffer=2048)
POINT = {"ports": 1, "width": 256}
#: Options of scripts/build-card for the usual card, which alone is compiled by a profile, and for the QDMA IP's model.
USUAL_CARD, QDMA_IP = ("--dma", "meridian"), ()
#: Counters of received frames that are no reason for a loss.
FETCHED = ("rx_delivered", "rx_bytes", "rx_copies")
#: What a port drops in front of the functions.
PORT_LOSSES = ("rx_bad_fcs", "rx_runt", "rx_oversize", "rx_host_overflow", "rx_nowhere")


def control(path: Path, **request: Any) -> dict[str, Any]:
    """One question to the running card."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(path))
        connection.sendall(json.dumps(request).encode() + b"\n")
        answer = json.loads(connection.makefile().readline())
    if not answer["ok"]:
        raise SystemExit(f"the card refuses {request}: {answer['error']}")
    return answer


def processor_seconds(process: CardProcess) -> float:
    """What the program has used so far, all threads."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def losses(card: Card) -> dict[str, int]:
    """Of all frames of port 0 that came to no function: how many by each reason."""
    found = {name: card.counters("PORT_COUNTERS")[name] for name in PORT_LOSSES}
    functions = [card.counters("FUNCTION", function) for function in range(card.geometry.functions)]
    for verdicts in [*functions, card.counters("HOST_PORT_COUNTERS")]:
        for name, count in verdicts.items():
            if name.startswith("rx_") and name not in FETCHED:
                found[name] = found.get(name, 0) + count
    return {name: count for name, count in found.items() if count}


def account(frames: int, fetched: int, lost: dict[str, int]) -> None:
    """Ends the bench unless each frame of the wire was fetched or has a reason for its loss, and some were fetched."""
    if fetched == 0 or fetched + sum(lost.values()) != frames:
        reasons = ", ".join(f"{count} {name}" for name, count in lost.items()) or "none lost"
        raise SystemExit(f"bench-card: of {frames} frames on the wire {fetched} were fetched, {reasons}")


def busy(program: Path, size: int, seconds: float) -> tuple[float, float]:
    """(kHz, frames per second) of one port filled by the wire, every frame through the shell into host memory.

    By seconds of processor time, which is what the wall clock would show if the machine had nothing else to do.
    """
    with tempfile.TemporaryDirectory(prefix="meridian-bench-") as folder:
        path = Path(folder) / "control"
        source = f"0=traffic:size={size},rate=100%,flows=16,dmac={MINE.hex(':')}"
        with CardProcess(program, "--time", "free", "--control", str(path), "--wire", source) as process:
            host = Host.connect(process.socket)
            host.bring_up(4, setting=RING)
            host.add_mac(MINE)
            early = len(host.take())
            received = 0
            before, began = control(path, op="stats"), time.monotonic()
            used = -processor_seconds(process)
            while time.monotonic() - began < seconds:
                received += len(host.take())
            after, took = control(path, op="stats"), time.monotonic() - began
            used += processor_seconds(process)
            lost = end(host, path, early + received)
            host.close()
    cycles = (after["t_ps"] - before["t_ps"]) / HOST_PERIOD_PS
    khz = cycles / used / 1000
    frames = after["ports"][0]["rx"]["frames"] - before["ports"][0]["rx"]["frames"]
    print(
        f"  {size} B: {khz:.0f} kHz ({cycles / took / 1000:.0f} by the wall clock), {frames} frames on the wire, {received} fetched, {lost} found no buffer in all"
    )
    return khz, frames / used


def end(host: Host, path: Path, fetched: int) -> int:
    """Ends the traffic and accounts for all of it. fetched: so far. Returns how many frames found no buffer."""
    control(path, op="link", port=0, up=False)
    frames = control(path, op="stats")["ports"][0]["rx"]["frames"]
    deadline = deadline_in(30)
    while True:
        fetched += len(host.take())
        lost = losses(host.card)
        if fetched + sum(lost.values()) >= frames or time.monotonic() > deadline:
            break
    account(frames, fetched, lost)
    return lost.get("rx_queue_full", 0)


def spread(values: list[float]) -> dict[str, float]:
    return {} if len(values) == 1 else {"min": round(min(values), 1), "max": round(max(values), 1)}


def speed(program: Path, other: Path | None, size: int, seconds: float, pairs: int) -> list[Figure]:
    """Medians of the busy card; with another program also of that one, which takes turns with it, and their ratio."""
    point = POINT | {"bytes": size}
    runs, others = [], []
    for _ in range(pairs):
        if other is not None:
            others.append(busy(other, size, seconds)[0])
        runs.append(busy(program, size, seconds))
    khz, frames = ([run[i] for run in runs] for i in (0, 1))
    median = statistics.median(khz)
    figures = [
        Figure("host_clock_khz", point, round(median, 1), "kHz", goal=">= 300", runs=pairs, spread=spread(khz)),
        Figure("frames_per_second", point, round(statistics.median(frames)), "frames/s", runs=pairs, spread=spread(frames)),
    ]  # fmt: skip
    if other is None:
        return figures
    before = statistics.median(others)
    figures[0].reference = {"value": round(before, 1), "source": f"{other}, in turns"}
    return [*figures, Figure("host_clock_ratio", point, round(median / before, 3), "times", runs=pairs)]


def idle(program: Path) -> Figure:
    """An hour in which nothing happens, from start to end of the program."""
    with tempfile.TemporaryDirectory(prefix="meridian-bench-") as folder:
        command = [str(program), "--socket", f"{folder}/card", "--time", "free", "--for", str(HOUR_NS)]
        began = time.monotonic()
        subprocess.run(command, check=True, timeout=120, stdout=subprocess.DEVNULL)
        took = time.monotonic() - began
    return Figure("idle_hour_seconds", POINT, round(took, 3), "s", goal="< 1")


def doorbell(program: Path, count: int) -> Figure:
    """Wall time from a transmit doorbell to the status entry in host memory that says the frame is taken."""
    times = []
    with CardProcess(program) as process, Host.connect(process.socket) as host:
        host.bring_up(1)
        ring = host.pairs[0].h2c
        for _ in range(count):
            began = time.perf_counter()
            ring.send(MINE + MINE + bytes(48))
            while ring.in_flight:
                if time.perf_counter() - began > 10:
                    raise SystemExit("a frame was not taken for 10 s")
            times.append(1e6 * (time.perf_counter() - began))
    spread = {"min": round(min(times), 1), "max": round(max(times), 1)}
    return Figure(
        "doorbell_to_completion_us", POINT | {"bytes": 60}, round(statistics.median(times), 1), "us",
        runs=count, spread=spread,
    )  # fmt: skip


def forwarded(program: Path, size: int, queues: int, *options: str) -> dict[str, Any]:
    command = [str(program), "--bytes", str(size), "--queues", str(queues), "--pcie", "3:16", *options]
    done = subprocess.run(command, check=True, timeout=120, capture_output=True, text=True)
    return json.loads(done.stdout)


def forward(program: Path) -> list[Figure]:
    """The QDMA model alone, a host that forwards and never falls behind: what its rings and its PCIe link let through,
    and how long a frame takes into host memory, one by one and under that load."""
    throughput, latency = [], []
    for size in (64, 128, 256, 512, 1024, 2048):
        for queues in (1, 2, 4, 8):
            loads = {"full": forwarded(program, size, queues)}
            if queues in (1, 8):
                loads["idle"] = forwarded(program, size, queues, "--gap-ns", "3000")
            point = {"width": 512, "bytes": size, "queues": queues}
            other = dma_published.forwarding().get(("pf", size, queues))
            throughput.append(
                Figure(
                    "dma_forward_mpps", point, round(loads["full"]["mpps"], 2), "Mpps",
                    reference=None if other is None else {"value": other, "source": dma_published.FORWARDING},
                )
            )  # fmt: skip
            for load, figures in loads.items():
                spread = {name: figures["latency_ns"][name] for name in ("min", "max")}
                latency.append(
                    Figure("dma_latency_ns", point | {"load": load}, figures["latency_ns"]["median"], "ns",
                           runs=figures["frames"], spread=spread)
                )  # fmt: skip
    return throughput + latency


def built(options: tuple[str, ...]) -> Path:
    """The folder with the programs of a card with these options."""
    done = subprocess.run([ROOT / "scripts" / "build-card", *options], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit("bench-card: the card does not build; scripts/build-card says why")
    return Path(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench/bench-card", description=__doc__)
    parser.add_argument(
        "--programs", type=Path, help="use meridian_card and qdma_bench of this folder instead of building them"
    )
    parser.add_argument("--seconds", type=float, default=5, help="length of each busy run (5)")
    parser.add_argument(
        "--against", type=Path, metavar="FOLDER", help="take turns with the meridian_card of this folder"
    )
    parser.add_argument("--pairs", type=int, help="busy runs of each size (1; with --against 5)")
    arguments = parser.parse_args()
    folder = arguments.programs or built(USUAL_CARD)
    models = arguments.programs or built(QDMA_IP)
    other = arguments.against / "meridian_card" if arguments.against else None
    pairs = arguments.pairs or (5 if other else 1)
    figures = [idle(folder / "meridian_card"), doorbell(folder / "meridian_card", 200)]
    for size in (64, 1518):
        figures += speed(folder / "meridian_card", other, size, arguments.seconds, pairs)
    figures += forward(models / "qdma_bench")
    write("card", "cycle-accurate simulation; dma_* of the QDMA IP's model alone", figures)
    return 1 if any(figure.missed() for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
