# SPDX-License-Identifier: Apache-2.0
"""Measures the shell at its pins by shell_bench: line rate, latency, priority of the PS, storm, clock. With a host's queues
in the twin, it also measures how ports affect each other.

Sizes are without FCS. Each configuration is built once (minutes) and kept in the cache. --quick takes one port of
256 bit, few sizes and no VFs; without it everything runs.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from report import Figure, write
from senders import OVERHEAD, Load, sending

ROOT = Path(__file__).resolve().parents[2]
FCS = 4
HOST_CYCLE_NS = 4.0
PPM = (-100, 0, 33, 100)
PEER = "silicom_testpmd_25g.csv"


#: What a measurement says, each once for each frame size that is asked for; of some it says them once for each value.
SAYS = {
    "rx": ("rx_line_rate", "rx_loss"),
    "tx": ("tx_line_rate",),
    "duplex": ("duplex_ceiling",),
    "latency": ("rx_latency_end", "tx_latency_end"),
    "priority": ("ps_tx_pins_wait_frames",),
    "psloss": ("ps_rx_lost",),
    "timer": ("phc_error_rms", "phc_error_peak"),
    "storm": ("storm_unicast_loss", "storm_broadcasts_to_host"),
}
OF_EACH = {"psloss": ("load", ("host_stalled", "no_buffers")), "timer": ("direction", ("rx", "tx"))}


def missing(measurement: str, sizes: list[int] | None, figures: Iterable[dict[str, Any]]) -> list[str]:
    """What a measurement should have said of these sizes (without FCS), and has not among these figures."""
    name, values = OF_EACH.get(measurement, ("", (None,)))
    said = {(one["id"], one["with"].get("bytes") if sizes else None, one["with"].get(name)) for one in figures}
    wanted = product(SAYS[measurement], sizes or [None], values)
    return [
        " ".join([what, *([f"{size} bytes"] if size else []), *([value] if value else [])])
        for what, size, value in wanted
        if (what, size + FCS if size else None, value) not in said
    ]


@dataclass(frozen=True)
class Shell:
    """A configuration of the shell, and shell_bench built for it."""

    ports: int
    width: int
    functions: int | None = None
    egress: bool = False
    program: Path | None = None

    def __str__(self) -> str:
        vfs = f", {self.functions} functions" if self.functions else ""
        return f"{self.ports} port(s), {self.width} bit{vfs}{', egress queues' if self.egress else ''}"

    def built(self) -> Shell:
        options = ["--ports", str(self.ports), "--host-bytes", str(self.width // 8)]
        if (self.ports, self.width) == (1, 256):
            options = []  # what the generator makes by itself, which the tests have in the cache already
        if self.functions:
            options += ["--functions", str(self.functions)]
        if self.egress:
            options += ["--egress", "true"]
        print(f"{self}: building, some minutes unless it is in the cache", flush=True)
        command = [ROOT / "scripts" / "build-card", *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"bench-shell: the shell of {self} does not build")
        return replace(self, program=Path(done.stdout.strip()) / "shell_bench")

    def run(self, measurement: str, sizes: list[int] | None = None, *options: str) -> Iterator[dict[str, Any]]:
        """The figures of one measurement, as they come. One that is missing in the end ends the bench."""
        told = []
        for figure in self.play(measurement, sizes, *options):
            told.append(figure)
            yield figure
        if absent := missing(measurement, sizes, told):
            raise SystemExit(f"bench-shell: {self}: {measurement} has not said: {', '.join(absent)}")

    def play(self, measurement: str, sizes: list[int] | None = None, *options: str) -> Iterator[dict[str, Any]]:
        """What the program says of one measurement."""
        command = [str(self.program), measurement, *options]
        if sizes:
            command += ["--sizes", ",".join(str(size + FCS) for size in sizes)]
        print(f"{self}: {measurement} {' '.join(options)}".rstrip(), flush=True)
        told = time.monotonic()
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
            try:
                for line in process.stdout:
                    figure = json.loads(line)
                    if time.monotonic() - told > 5:
                        told = time.monotonic()
                        print(f"  at {figure['with'].get('bytes', 0) - FCS} bytes", flush=True)
                    yield figure
            finally:
                status = process.poll()
                if status is None:
                    process.stdout.read()  # whoever asked has stopped asking; let it end
                status = process.wait()
            errors.seek(0)
            if status:
                raise SystemExit(f"bench-shell: {self}: {' '.join(command[1:])}: {errors.read().strip()}")

    def point(self, figure: dict[str, Any], **more: Any) -> dict[str, Any]:
        known = {"ports": self.ports, "width": self.width}
        if "bytes" in figure["with"]:
            known["bytes"] = figure["with"]["bytes"] - FCS
        return known | more


def line_rate(size: int) -> float:
    """Frames a second of a wire of 25 Gb/s: preamble 8, FCS 4 and gap 12 bytes come to each."""
    return 25e9 / 8 / (size + 24)


def peers() -> dict[tuple[str, int], dict[str, Any]]:
    """(direction, size) → percent of line rate of a card on sale."""
    found = {}
    for row in csv.DictReader((ROOT / "docs" / "reference" / PEER).open()):
        size = int(row["packet_bytes_without_fcs"])
        percent = min(100.0, 100 * float(row["pps"]) / line_rate(size))
        found[row["direction"], size] = {"value": round(percent, 2), "source": PEER}
    return found


def rates(shell: Shell, sizes: list[int]) -> Iterator[Figure]:
    """Rates are taken over 25 us or 60 frames, whichever is more, after the first quarter of it (64 frames at most).

    What a finite run cannot know of its ends is taken off its length: the host cycle and the MAC cycle of a received
    frame and three bytes of deficit idle count, 0.04 percent at most; of a transmitted frame the three bytes only.
    A lost or altered frame ends the bench.
    """
    reference = peers()
    for direction in ("rx", "tx"):
        for entry in shell.run(direction, sizes):
            point = shell.point(entry)
            if entry["id"] == "rx_loss" and entry["value"] != 0:
                raise SystemExit(f"bench-shell: {shell}: {entry['value']:g} percent of {point['bytes']} bytes lost")
            if entry["id"] == f"{direction}_line_rate":
                peer = reference.get((direction, point["bytes"]))
                yield Figure(
                    f"{direction}_rate_percent", point, entry["value"], "%", goal=">= 100.0", reference=peer,
                )  # fmt: skip


def duplex(shell: Shell, sizes: list[int]) -> Iterator[Figure]:
    """Both directions of all ports at once, against min(wires, 250 MHz over the beats of a frame)."""
    for entry in shell.run("duplex", sizes):
        if entry["id"] == "duplex_ceiling":
            ceiling = round(entry["with"]["ceiling_mpps"], 3)
            yield Figure(
                "duplex_ceiling_percent", shell.point(entry, ceiling_mpps=ceiling), entry["value"], "%", goal=">= 99.0"
            )


def latency(shell: Shell) -> Iterator[Figure]:
    """The worst of 100 frames at random phases, from the edge that takes the last beat to that which takes the first.

    Both ends are edges at which a beat is taken: a beat stands at the pins a cycle before it is, so this is the
    longer of the ways to count. The wire and the MAC have no part in it.
    """
    for entry in shell.run("latency", [64]):
        name = entry["id"].removesuffix("_end")
        if name != entry["id"]:
            spread = {key: round(entry[key], 3) for key in ("min", "max")}
            worst, point = spread["max"], shell.point(entry)
            yield Figure(f"{name}_ns", point, worst, "ns", goal="<= 100", runs=entry["runs"], spread=spread)
            cycles = round(worst / HOST_CYCLE_NS, 2)
            yield Figure(f"{name}_cycles", point, cycles, "cycles of 250 MHz", runs=entry["runs"])


def priority(shell: Shell) -> Iterator[Figure]:
    """A frame of the PS behind a host that sends all it can: how much longer than on an idle port it takes from PS
    memory (its last beat read) to the pins of the MAC, the worst of each. The store of the MAC model is behind those pins.
    """
    for entry in shell.run("priority", [64, 1518, 9600]):
        if entry["id"] == "ps_tx_pins_wait_frames":
            point = shell.point(entry, load="host_saturated")
            yield Figure(
                "ps_tx_wait_frames", point, round(entry["value"], 3), "host frames", goal="<= 1", runs=entry["runs"]
            )


def losses(shell: Shell) -> Iterator[Figure]:
    for entry in shell.run("psloss", [64, 1518]):
        point = shell.point(entry, load=entry["with"]["load"])
        yield Figure("ps_rx_lost_frames", point, entry["value"], "frames", goal="== 0", runs=entry["runs"])


def clocks(shell: Shell) -> Iterator[Figure]:
    """System timer pins after every edge of the MAC clocks, from lock on, at four phases of those clocks.

    The time it should be needs no fit: the PTP clock is 0 in reset and adds 4 ns a cycle of its clock, so its line
    through time is known from its first edge. All clocks of the MACs are off by ppm, the PTP clock is not.
    """
    goals = {"phc_error_rms": "<= 1", "phc_error_peak": "<= 2.6"}
    for ppm in PPM:
        names = [f"mac_{way}_{port}" for port in range(shell.ports) for way in ("rx", "tx")]
        for entry in shell.run("timer", None, *(word for name in names for word in ("--ppm", f"{name}={ppm}"))):
            if entry["id"] in goals:
                point = shell.point(entry, direction=entry["with"]["direction"], ppm=ppm)
                value = round(entry["value"], 3)
                yield Figure(f"{entry['id']}_ns", point, value, "ns", goal=goals[entry["id"]], runs=entry["runs"])


def storm(shell: Shell) -> Iterator[Figure]:
    """Broadcasts fill the wire but for a quarter of unicasts, one function after the other; percent delivered.

    functions counts those that take the broadcasts: PF 0 and the VFs.
    """
    vfs = (shell.functions or 4) - 4
    for entry in shell.run("storm", None, "--functions", str(vfs + 4)):
        if entry["id"] == "storm_broadcasts_to_host" and entry["value"] == 0:
            raise SystemExit(f"bench-shell: {shell}: no broadcast of the storm came to any function")
        if entry["id"] == "storm_unicast_loss":
            point = shell.point(entry, functions=entry["with"]["functions"], load="broadcast_line_rate")
            value = round(100 - entry["value"], 3)
            yield Figure("storm_unicast_percent", point, value, "%", goal=">= 100", runs=entry["runs"])


def other_ports(shell: Shell) -> Iterator[Figure]:
    """What the last port sends while a function with eight queues fills port 0, of what it sends when nobody else does.

    Host and card as in the twin, PCIe without limit. bytes: of the frames of the last port's one queue; load: of the
    others. Queues that are not paced, as those of public drivers, have no goal: the stream is one, and in order. With
    egress queues these are measured alone, and have a goal where their turns of the stream are enough for the line.
    """
    sizes = (60, 64, 1514, 9014)
    kinds = [(False, 8), (False, 1)] if shell.egress else [(True, 1), (False, 1)]
    for paced, queues in kinds:
        for size, load in ((size, load) for size in sizes for load in sizes):
            print(f"{shell}: a port with {size} bytes beside a full one with {load}, {paced=}", flush=True)
            full = Load(4, 0, 8, load, paced)
            other = Load(5, shell.ports - 1, queues, size, paced)
            beside, alone = side_by_side(shell, full, other)
            point = {"ports": shell.ports, "width": shell.width, "bytes": size, "paced": paced}
            point["load"] = f"port 0 full of {load} bytes"
            enough = paced
            if shell.egress:
                point |= {"egress": True, "queues": queues, "turns_gbps": round(turns(shell, full, other), 2)}
                enough = point["turns_gbps"] > 1.1 * alone
            percent = round(min(100.0, 100 * beside / alone), 2)
            yield Figure("other_port_percent", point, percent, "%", goal=">= 99.0" if enough else None)


def side_by_side(shell: Shell, full: Load, other: Load) -> tuple[float, float]:
    """Gb/s on the line of `other` beside the full port, and alone."""
    with tempfile.TemporaryDirectory(prefix="meridian-bench-") as folder:
        program = shell.program.parent / "meridian_card"
        with sending(program, Path(folder), full, other, ports=shell.ports) as world:
            _, beside, alone = world.beside(full, other)
    return beside, alone


def turns(shell: Shell, full: Load, other: Load) -> float:
    """Gb/s on the line of what the DMA engine fetches for `other` by turns, a frame each, while the stream is full."""
    beats = sum(load.queues * -(-load.size // (shell.width // 8)) for load in (full, other))
    return other.queues * (other.size + OVERHEAD) * 8 / (beats * HOST_CYCLE_NS)


def size_list(text: str) -> list[int]:
    """64,65,128 or 64-1518 or both."""
    sizes: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        sizes += range(int(first), int(last or first) + 1)
    if any(not 60 <= size <= 9600 for size in sizes):
        raise argparse.ArgumentTypeError("choose 60 to 9600 bytes, without FCS")
    return sizes


def measure(quick: bool, sizes: list[int]) -> Iterator[Figure]:
    mixed = [64, 65, 128, 129, 256, 512, 1024, 1518, 9600]
    small = Shell(1, 256).built()
    yield from rates(small, sizes)
    yield from latency(small)
    yield from priority(small)
    yield from losses(small)
    yield from clocks(small)
    yield from duplex(small, mixed)
    if quick:
        yield from storm(small)
        return
    wide = Shell(1, 512).built()
    yield from rates(wide, sizes)
    yield from latency(wide)
    yield from priority(wide)
    yield from duplex(wide, mixed)
    yield from storm(Shell(1, 256, 256).built())
    for ports, width in ((2, 256), (2, 512), (4, 512)):
        yield from duplex(Shell(ports, width).built(), mixed)
    yield from isolation()


def isolation() -> Iterator[Figure]:
    for ports, width in ((2, 256), (4, 512)):
        yield from other_ports(Shell(ports, width).built())
    yield from other_ports(Shell(2, 256, egress=True).built())


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/bench-shell", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="measure one configuration and few frame sizes")
    parser.add_argument("--sizes", type=size_list, metavar="A,B-C,...", help="frame sizes for the rates (64-1518,9600)")
    parser.add_argument("--isolation", action="store_true", help="only measure how ports affect each other")
    arguments = parser.parse_args()
    chosen = "64,65,96,97,128,129,256,512,1024,1518,9600" if arguments.quick else "64-1518,9600"
    sizes = arguments.sizes or size_list(chosen)
    figures = list(isolation() if arguments.isolation else measure(arguments.quick, sizes))
    write("isolation" if arguments.isolation else "shell", "cycle-accurate simulation", figures)
    missed = [figure for figure in figures if figure.missed()]
    for figure in missed:
        with_ = " ".join(f"{key}={value}" for key, value in figure.point.items())
        print(f"bench-shell: missed: {figure.id} {with_} is {figure.value:g}, goal {figure.goal}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
