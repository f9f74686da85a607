# SPDX-License-Identifier: Apache-2.0
"""Plays captures through the simulated card, and compares each frame and counter with the golden model."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from meridian_golden.shell import GoldenShell
from meridian_machine import Setting
from meridian_twin.link import LinkError
from meridian_twin.process import CardError, CardProcess
from meridian_twin.wire import WireError
from rich.console import Console

from . import capture, report
from .check import check
from .plan import choose
from .run import Machines, send, set_up

ROOT = Path(__file__).resolve().parents[3]


def _script(*command: str) -> str:
    done = subprocess.run([str(ROOT / "scripts" / command[0]), *command[1:]], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(f"demo: scripts/{command[0]} failed; what it printed above says why")
    return done.stdout.decode().strip().splitlines()[-1]


def _captures(console: Console) -> list[capture.Frame]:
    """What can be played of all captures of Debian's tcpdump source; that suite has broken ones on purpose."""
    folder = Path(_script("build/fetch-source", "tcpdump")) / "tests"
    frames: list[capture.Frame] = []
    used = left = padded = completed = partly = 0
    for file in sorted([*folder.glob("*.pcap"), *folder.glob("*.pcapng")]):
        try:
            found = capture.read(file)
        except capture.CaptureError:
            left += 1
            continue
        used, padded, partly = used + 1, padded + found.padded, partly + bool(found.left_out())
        completed += found.completed
        frames += found.frames
    console.print(f"{len(frames)} frames of {used} captures from tcpdump's test suite (PTP among them);")
    console.print(
        f"captures without an Ethernet frame that can be played: {left}; others with records that are left out: {partly};"
        f" {capture.counted(padded, 'frame', 'is')} padded to 60 bytes, as on a wire;"
        f" {capture.counted(completed, 'frame', 'was')} cut by the snap length: zeros stand for what is missing"
    )
    return frames


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/demo --quick", description=__doc__)
    parser.add_argument("--pcap", type=Path, help="replay this capture (pcap or pcapng, Ethernet)")
    parser.add_argument("--quick", action="store_true", help="run this demo instead of the whole one")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="send at most N frames")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build" / "demo", help="folder for the captures that are written"
    )
    parser.add_argument("--program", type=Path, help="use this meridian_card instead of building one")
    parser.add_argument("--seed", type=int, default=1, help="seed of the card's random decisions (1)")
    arguments = parser.parse_args()
    console = Console(width=150)
    try:
        if arguments.pcap:
            found = capture.read(arguments.pcap)
            frames_found = capture.counted(len(found.frames), "frame")
            console.print(f"{frames_found} of {arguments.pcap.name}, {found.padded} padded to 60 bytes")
            if found.completed:
                cut = capture.counted(found.completed, "frame", "was")
                console.print(f"{cut} cut by the snap length: zeros stand for what is missing")
            for reason in found.left_out():
                console.print(f"left out: {reason}")
            frames = found.frames
        else:
            frames = _captures(console)
    except capture.CaptureError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    frames = frames[: arguments.limit or None]
    program = arguments.program or Path(_script("build-card", *Setting().card_build())) / "meridian_card"
    plan = choose(frames)
    console.print(
        "The shell's Verilog is simulated with one port at 25 Gb/s and frames back to back; the MAC and "
        f"{'the QDMA IP' if Setting().dma == 'qdma' else 'PCIe'} are models"
    )
    try:
        with tempfile.TemporaryDirectory(prefix="meridian-demo-") as folder, console.status("") as status:
            wire = Path(folder) / "wire"
            with CardProcess(program, "--wire", f"0=socket:path={wire}", "--seed", str(arguments.seed)) as process:
                machines = Machines(process.socket, wire)
                geometry = machines.host.card.geometry
                golden = GoldenShell(geometry.ports, geometry.functions, geometry.queues)
                port = set_up(machines, golden, plan)
                progress = lambda n: status.update(f"{n} of {len(frames)} frames")
                result = send(machines, golden, plan, port, frames, progress)
                machines.close()
    except (CardError, LinkError, WireError) as error:
        print(f"demo: the simulation stopped: {error}", file=sys.stderr)
        return 1
    report.tables(console, result, plan)
    for file in report.pcaps(arguments.out, result, plan):
        console.print(f"written {file.relative_to(ROOT) if file.is_relative_to(ROOT) else file}")
    errors = check(result, plan)
    for error in errors[:20]:
        console.print(f"[red]WRONG[/red] {error}")
    frames_out = len(result.ps) + len(result.wire) + sum(map(len, result.queues.values()))
    counters = sum(map(len, result.counters.values()))
    if errors:
        console.print(f"{len(errors)} differences from the golden model")
        return 1
    console.print(f"{len(frames)} frames in, {frames_out} out, {counters} counters read: all as the golden model says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
