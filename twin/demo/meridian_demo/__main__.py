# SPDX-License-Identifier: Apache-2.0
"""Command line of the demo."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from meridian_card.shell import Shell
from meridian_card.simulator import Simulator, SimulatorError, options
from meridian_golden.shell import GoldenShell
from rich.console import Console

from . import capture, report
from .check import check
from .plan import choose
from .run import send, set_up

ROOT = Path(__file__).resolve().parents[3]


def _script(*command: str) -> str:
    done = subprocess.run([str(ROOT / "scripts" / command[0]), *command[1:]], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(f"demo: scripts/{command[0]} failed; what it printed above says why")
    return done.stdout.decode().strip().splitlines()[-1]


def _captures(console: Console) -> list[capture.Frame]:
    """All Ethernet captures of Debian's tcpdump source that are whole; that suite has broken ones on purpose."""
    folder = Path(_script("fetch-source", "tcpdump")) / "tests"
    frames: list[capture.Frame] = []
    used = left = padded = 0
    for file in sorted([*folder.glob("*.pcap"), *folder.glob("*.pcapng")]):
        try:
            found = capture.read(file)
        except capture.CaptureError:
            left += 1
            continue
        used, padded = used + 1, padded + found.padded
        frames += found.frames
    console.print(f"{len(frames)} frames of {used} captures from tcpdump's test suite (PTP among them);")
    console.print(
        f"{left} captures are not Ethernet or broken on purpose; {padded} frames padded to 60 bytes as on a wire"
    )
    return frames


def main() -> int:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--pcap", type=Path, help="a capture of your own (pcap or pcapng, Ethernet)")
    parser.add_argument("--quick", action="store_true", help="this demo alone, also when more is there")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="at most N frames")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "demo", help="folder for the pcaps")
    parser.add_argument("--simulator", type=Path, help="a shell_sim that is built already")
    arguments = parser.parse_args()
    console = Console(width=150)
    try:
        if arguments.pcap:
            found = capture.read(arguments.pcap)
            console.print(f"{len(found.frames)} frames of {arguments.pcap.name}, {found.padded} padded to 60 bytes")
            frames = found.frames
        else:
            frames = _captures(console)
    except capture.CaptureError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    frames = frames[: arguments.limit or None]
    program = arguments.simulator or Path(_script("build-card")) / "shell_sim"
    plan = choose(frames)
    console.print(
        "Verilated shell, one port at 25 Gb/s, frames back to back; MAC, QDMA streams and PS memory are models"
    )
    try:
        with Simulator(program, *options()) as simulator, console.status("") as status:
            shell = Shell(simulator)
            golden = GoldenShell(shell.geometry.ports, shell.geometry.functions, shell.geometry.queues)
            port = set_up(shell, golden, plan)
            result = send(shell, golden, plan, port, frames, lambda n: status.update(f"{n} of {len(frames)} frames"))
    except SimulatorError as error:
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
