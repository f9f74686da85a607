# SPDX-License-Identifier: Apache-2.0
"""Measures cycles and instructions a frame of the DPDK driver on its null card, and of other drivers in the same run."""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from report import Figure, write

ROOT = Path(__file__).resolve().parents[2]
BYTES = 60  # without FCS: the shortest frame
RUNS = 400
SECONDS = 120
EAL = ("--no-huge", "-m", "256", "--no-pci", "--no-telemetry", "--log-level=4")
#: Receive and transmit of a frame together, of the 3 GHz core that is to forward 37.2 million a second.
BUDGET = "<= 80.0"


@dataclass(frozen=True)
class Peer:
    """A driver with its devices; a pair of them sends from one to the other."""

    name: str
    devices: tuple[str, ...]
    directions: tuple[str, ...]


def peers(folder: Path) -> list[Peer]:
    both = f"id=0,socket={folder}/memif,socket-abstract=no"
    single = ("receive", "transmit", "forward")
    return [
        Peer("net_meridian_null", (f"net_meridian_null0,length={BYTES}",), single),
        Peer("net_null", (f"net_null0,size={BYTES},copy=0",), single),
        Peer("net_memif", (f"net_memif0,role=server,{both}", f"net_memif1,role=client,{both}"), ("pair",)),
    ]


def compile_load(folder: Path) -> Path:
    program = folder / "pmd_load"
    flags = [
        word
        for kind in ("--cflags", "--libs")
        for word in subprocess.run(
            ["pkg-config", kind, "libdpdk"], capture_output=True, text=True, check=True
        ).stdout.split()
    ]
    source = ROOT / "tests" / "bench" / "pmd_load.c"
    subprocess.run(
        ["gcc", "-O3", "-g", "-Wall", "-Wextra", "-Werror", str(source), "-o", str(program), *flags], check=True
    )
    return program


def run(program: Path, library: Path, peer: Peer, direction: str, burst: int, runs: int, *around: str) -> str:
    """What the program prints, and what goes around it."""
    command = [*around, str(program), *EAL, "-d", str(library), "-l", "1", "--file-prefix", program.parent.name]
    command += [*(f"--vdev={device}" for device in peer.devices), "--", direction, str(burst), str(runs), str(BYTES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    for left in program.parent.iterdir():
        if left.is_socket():
            left.unlink()
    return done.stdout + done.stderr


def cycles(output: str) -> list[float]:
    pairs = re.findall(r"^(\d+) (\d+)$", output, re.MULTILINE)
    return [int(cycles) / int(frames) for cycles, frames in pairs]


def measure(program: Path, library: Path, peer: Peer, direction: str, burst: int) -> Figure:
    """A run that was interrupted is far from the median, so neither that nor the least sees it."""
    each = cycles(run(program, library, peer, direction, burst, RUNS))
    if len(each) < RUNS / 2:
        raise SystemExit(f"{peer.name}, {direction}: frames in {len(each)} of {RUNS} runs only")
    goal = BUDGET if peer.name == "net_meridian_null" and direction == "forward" else None
    return Figure(
        "cycles_per_packet",
        {"peer": peer.name, "direction": direction, "burst": burst, "bytes": BYTES + 4},
        round(statistics.median(each), 1),
        "cycles",
        goal,
        runs=len(each),
        spread={"min": round(min(each), 1), "max": round(max(each), 1)},
    )


def count(program: Path, library: Path, peer: Peer, direction: str, burst: int) -> Figure:
    """Instructions of what is timed, by callgrind, which counts them all and is not disturbed."""
    around = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=measure")
    output = run(program, library, peer, direction, burst, 1, *around)
    frames = re.search(r"^\d+ (\d+)$", output, re.MULTILINE)
    instructions = re.search(r"Collected : (\d+)", output)
    if not frames or not instructions:
        raise SystemExit(f"callgrind has not counted: {output}")
    return Figure(
        "instructions_per_packet",
        {"peer": peer.name, "direction": direction, "burst": burst, "bytes": BYTES + 4},
        round(int(instructions[1]) / int(frames[1]), 1),
        "instructions",
    )


def ratios(figures: list[Figure]) -> list[Figure]:
    """What another driver takes for the same, of what ours takes. A pair's frames are made and given back, too."""
    ours = {
        (f.point["direction"], f.point["burst"]): f.value
        for f in figures
        if f.id == "cycles_per_packet" and f.point["peer"] == "net_meridian_null"
    }
    result = []
    for figure in figures:
        if figure.id != "cycles_per_packet" or figure.point["peer"] == "net_meridian_null":
            continue
        direction = figure.point["direction"]
        parts = ("receive", "transmit") if direction == "pair" else (direction,)
        mine = sum(ours[(part, figure.point["burst"])] for part in parts)
        result.append(Figure("cycles_ratio", figure.point, round(figure.value / mine, 2), "x", runs=figure.runs))
    return result


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench/bench-pmd", description=__doc__)
    parser.add_argument("library", type=Path, help="path of librte_net_meridian.so")
    arguments = parser.parse_args()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="meridian-pmd-") as name:
        program = compile_load(Path(name))
        for peer in peers(Path(name)):
            for direction in peer.directions:
                for burst in (32, 64):
                    figures.append(measure(program, arguments.library, peer, direction, burst))
                    if peer.name in ("net_meridian_null", "net_null"):
                        figures.append(count(program, arguments.library, peer, direction, burst))
    figures += ratios(figures)
    write("pmd", "native", figures)
    return 1 if any(figure.missed() for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
