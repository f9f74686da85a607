# SPDX-License-Identifier: Apache-2.0
"""Estimates resources and logic depth of the shell by Yosys; no vendor tool is run."""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from netlist import Netlist
from report import Figure, write
from synthesis import CLOCKS, synthesize

ROOT = Path(__file__).resolve().parents[2]
#: Paths a clock that --paths prints, each into another register.
PATHS = 20
#: LUTs of the smallest component that --parts prints.
PART = 100
#: Of the DMA engine: physical functions, and the cycles of its default.
PFS = 4
READ_TIME_OUT = 20_000_000


#: Blocks of the option selfTest that are synthesised alone, each with its clock: the one at the host streams, and three of
#: each port.
SELF_TEST = {"SelfTest": "axi_aclk", "PortTest": "ps_clk", "TestMerge": "mac_tx_clk", "FrameTaker": "mac_rx_clk"}


@cache
def of_shell(ports: int, width: int, functions: int, option: str = "") -> Netlist:
    """A shell, of which one option may be on."""
    name = f"p{ports}w{8 * width}f{functions}" + (f"-{option}" if option else "")
    out = ROOT / "build" / "rtl" / name
    print(f"generating {ports} port(s), {8 * width} bit, {functions} functions {option}".rstrip(), flush=True)
    options = f"--ports {ports} --host-bytes {width} --functions {functions}"
    if option:
        options += f" --{option} true"
    subprocess.run(
        [ROOT / "scripts" / "sbt", f"runMain meridian.shell.GenerateShell --output {out} {options}"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return shell_netlist(out / "Shell.v", name)


def shell_netlist(verilog: Path, name: str) -> Netlist:
    print("synthesising with yosys (some minutes)", flush=True)
    with tempfile.TemporaryDirectory() as work:
        log = ROOT / "build" / "bench" / f"yosys-{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        return Netlist(synthesize(verilog, "Shell", Path(work), log), "Shell")


def of_self_test(width: int, functions: int) -> list[Figure]:
    """What the option selfTest adds to the whole of a shell with one port, with the transceiver's registers, crossings and
    merges; and its larger blocks alone, with their depth.
    """
    before = of_shell(1, width, functions).resources()
    after = of_shell(1, width, functions, "self-test").resources()
    point = {"part": "selftest", "width": 8 * width, "functions": functions, "of": "a shell with one port"}
    figures = [
        Figure("lut", point, after.lut - before.lut, "LUT"),
        Figure("ff", point, after.ff - before.ff, "FF"),
        Figure("bram36", point, after.bram36 - before.bram36, "RAMB36"),
    ]
    out = ROOT / "build" / "rtl" / f"selftest-w{8 * width}f{functions}"
    print(f"generating the self-test, {8 * width} bit, {functions} functions", flush=True)
    subprocess.run(
        [ROOT / "scripts" / "sbt", f"runMain meridian.shell.GenerateSelfTest {out} {width} {functions}"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    for top, pin in SELF_TEST.items():
        with tempfile.TemporaryDirectory() as work:
            log = ROOT / "build" / "bench" / f"yosys-{out.name}-{top}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            netlist = Netlist(synthesize(out / f"{top}.v", top, Path(work), log), top)
        result = netlist.resources()
        point = {"part": "selftest", "block": top, "width": 8 * width, "functions": functions}
        clock = next(clock for clock in CLOCKS if clock.pin == pin)
        worst = max((ends[0] for ends in result.ends.values()), key=lambda end: end.depth)
        print(f"  {top}: deepest path {worst.depth} LUTs, " + " > ".join(worst.path))
        figures += [
            Figure("lut", point, result.lut, "LUT"),
            Figure("ff", point, result.ff, "FF"),
            Figure("bram36", point, result.bram36, "RAMB36"),
            Figure("depth_luts", point | {"clock_mhz": clock.mhz}, worst.depth, "LUT", goal=f"<= {clock.levels}"),
        ]
    return figures


def of_egress(width: int) -> list[Figure]:
    """What the option egress adds to a port: its transmit side with it, less the same without, and depth of the former."""
    results = {}
    for egress in (False, True):
        out = ROOT / "build" / "rtl" / f"porttx-w{8 * width}{'-egress' if egress else ''}"
        print(f"generating the transmit side of a port, {8 * width} bit, {egress=}", flush=True)
        subprocess.run(
            [ROOT / "scripts" / "sbt", f"runMain meridian.mac.GeneratePortTx {out} {width} {str(egress).lower()}"],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        with tempfile.TemporaryDirectory() as work:
            log = ROOT / "build" / "bench" / f"yosys-{out.name}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            netlist = Netlist(synthesize(out / "PortTx.v", "PortTx", Path(work), log), "PortTx")
        results[egress] = netlist.resources()
    point = {"part": "egress", "width": 8 * width, "of": "a port"}
    before, after = results[False], results[True]
    figures = [
        Figure("lut", point, after.lut - before.lut, "LUT"),
        Figure("ff", point, after.ff - before.ff, "FF"),
        Figure("bram36", point, after.bram36 - before.bram36, "RAMB36"),
    ]
    for clock in CLOCKS:
        ends = [ends[0] for pin, ends in after.ends.items() if pin.startswith(clock.pin)]
        if ends:
            worst = max(ends, key=lambda end: end.depth)
            print(f"  {clock.pin}: {worst.depth} LUTs, " + " > ".join(worst.path))
            where = point | {"clock_mhz": clock.mhz, "clock": clock.pin}
            figures.append(Figure("depth_luts", where, worst.depth, "LUT", goal=f"<= {clock.levels}"))
    return figures


def of_segments(width: int) -> list[Figure]:
    """What segmentation adds to the way from the host to the transmit filter, and the depth of that way with it."""
    results = {}
    for cuts in (False, True):
        out = ROOT / "build" / "rtl" / f"transmit-w{8 * width}{'-segments' if cuts else ''}"
        print(f"generating the way from the host to the transmit filter, {8 * width} bit, {cuts=}", flush=True)
        subprocess.run(
            [ROOT / "scripts" / "sbt", f"runMain meridian.shell.GenerateTransmit {out} {width} {str(cuts).lower()}"],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        with tempfile.TemporaryDirectory() as work:
            log = ROOT / "build" / "bench" / f"yosys-{out.name}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            netlist = Netlist(synthesize(out / "HostTransmit.v", "HostTransmit", Path(work), log), "HostTransmit")
        results[cuts] = netlist.resources()
    before, after = results[False], results[True]
    worst = max((ends[0] for ends in after.ends.values()), key=lambda end: end.depth)
    print(f"  deepest path {worst.depth} LUTs, " + " > ".join(worst.path))
    point = {"part": "segments", "width": 8 * width}
    clock = CLOCKS[0]
    return [
        Figure("lut", point, after.lut - before.lut, "LUT"),
        Figure("ff", point, after.ff - before.ff, "FF"),
        Figure("bram36", point, after.bram36 - before.bram36, "RAMB36"),
        Figure("depth_luts", point | {"clock_mhz": clock.mhz}, worst.depth, "LUT", goal=f"<= {clock.levels}"),
    ]


def of_pool(width: int, ports: int) -> list[Figure]:
    """A pool with its registers, for all ports, by --part pool only: its depth does not meet the goal yet.

    It stands in the place of the ports' transmit buffers, which are not deducted.
    """
    out = ROOT / "build" / "rtl" / f"pool-p{ports}w{8 * width}"
    print(f"generating a pool, {8 * width} bit, {ports} ports", flush=True)
    subprocess.run(
        [ROOT / "scripts" / "sbt", f"runMain meridian.egress.GeneratePool {out} {ports} {width}"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as work:
        log = ROOT / "build" / "bench" / f"yosys-{out.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        result = Netlist(synthesize(out / "HostPool.v", "HostPool", Path(work), log), "HostPool").resources()
    point = {"part": "pool", "width": 8 * width, "ports": ports}
    clock = CLOCKS[0]
    worst = max((ends[0] for ends in result.ends.values()), key=lambda end: end.depth)
    print(f"  deepest path {worst.depth} LUTs, " + " > ".join(worst.path))
    return [
        Figure("lut", point, result.lut, "LUT"),
        Figure("ff", point, result.ff, "FF"),
        Figure("bram36", point, result.bram36, "RAMB36"),
        Figure("uram", point, result.uram, "URAM288"),
        Figure("depth_luts", point | {"clock_mhz": clock.mhz}, worst.depth, "LUT", goal=f"<= {clock.levels}"),
    ]


def of_dma(functions: int, queues: int) -> list[Figure]:
    """The DMA engine of our own alone: all between the pins of the block for PCIe and those of the QDMA IP."""
    vfs, rest = divmod(functions - PFS, PFS)
    if rest or vfs < 0:
        raise SystemExit(
            f"bench-resources: {functions} functions: choose {PFS}, or {PFS} and as many VFs for each of them"
        )
    out = ROOT / "build" / "rtl" / f"dma-f{functions}q{queues}"
    print(f"generating the DMA engine, {functions} functions, {queues} queues", flush=True)
    subprocess.run(
        [ROOT / "scripts" / "sbt", f"runMain meridian.dma.engine.GenerateDma {out} {vfs} {queues} {READ_TIME_OUT} false false false"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    print("synthesising with yosys (some minutes)", flush=True)
    with tempfile.TemporaryDirectory() as work:
        log = ROOT / "build" / "bench" / f"yosys-{out.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        netlist = Netlist(synthesize(out / "DmaEngine.v", "DmaEngine", Path(work), log), "DmaEngine")
    for part, luts in netlist.parts().most_common():
        if luts >= PART:
            print(f"  {luts} LUT in {part}")
    result = netlist.resources()
    point = {"part": "dma", "engine": "meridian", "functions": functions, "queues": queues}
    clock = CLOCKS[0]
    ends = sorted((end for ends in result.ends.values() for end in ends), key=lambda end: -end.depth)
    for end in ends[:PATHS]:
        print(f"    {end.depth}: " + " > ".join(end.path))
    return [
        Figure("lut", point, result.lut, "LUT", goal="<= 25000"),
        Figure("ff", point, result.ff, "FF"),
        Figure("bram36", point, result.bram36, "RAMB36", goal="<= 40"),
        Figure("depth_luts", point | {"clock_mhz": clock.mhz}, ends[0].depth, "LUT", goal=f"<= {clock.levels}"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench/bench-resources", description=__doc__)
    parser.add_argument("--configuration", action="append", metavar="PORTS:BYTES:FUNCTIONS", default=[])
    parser.add_argument("--verilog", type=Path, help="measure this file instead of generating one (top module Shell)")
    parser.add_argument(
        "--part",
        choices=["selftest", "egress", "segments", "pool", "dma"],
        help="measure this option of the shell alone",
    )
    parser.add_argument("--paths", action="store_true", help=f"print up to {PATHS} paths over the limit for each clock")
    parser.add_argument("--parts", action="store_true", help="print the LUTs of each component with at least a hundred")
    arguments = parser.parse_args()
    configurations = arguments.configuration or ["1:32:8", "4:64:8"]
    figures: list[Figure] = []
    parts = (
        [arguments.part] if arguments.part else [] if arguments.verilog else ["selftest", "egress", "segments", "dma"]
    )
    sizes = sorted({tuple(int(x) for x in c.split(":")[1:]) for c in configurations})
    if "selftest" in parts:
        for width, functions in sizes:
            figures += of_self_test(width, functions)
    if "egress" in parts:
        for width in sorted({width for width, _ in sizes}):
            figures += of_egress(width)
    if "segments" in parts:
        for width in sorted({width for width, _ in sizes}):
            figures += of_segments(width)
    if "pool" in parts:
        # Two ports of 25 Gb/s are what 32 bytes can serve.
        for width in sorted({width for width, _ in sizes}):
            figures += of_pool(width, width // 16)
    if "dma" in parts:
        figures += of_dma(functions=8, queues=512)
    failed = any(figure.missed() for figure in figures)
    if arguments.part:
        configurations = []
    for configuration in configurations:
        ports, width, functions = (int(x) for x in configuration.split(":"))
        out = ROOT / "build" / "rtl" / f"p{ports}w{8 * width}f{functions}"
        verilog = arguments.verilog
        if verilog is None:
            print(f"generating {ports} port(s), {8 * width} bit, {functions} functions", flush=True)
            options = f"--ports {ports} --host-bytes {width} --functions {functions}"
            subprocess.run(
                [ROOT / "scripts" / "sbt", f"runMain meridian.shell.GenerateShell --output {out} {options}"],
                check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            verilog = out / "Shell.v"
        print("synthesising with yosys (some minutes)", flush=True)
        with tempfile.TemporaryDirectory() as work:
            log = ROOT / "build" / "bench" / f"yosys-{out.name}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            netlist = Netlist(synthesize(verilog, "Shell", Path(work), log), "Shell")
        result = netlist.resources()
        if arguments.parts:
            for part, luts in netlist.parts().most_common():
                if luts >= PART:
                    print(f"  {luts} LUT in {part}")
        point = {"ports": ports, "width": 8 * width, "functions": functions}
        small = (ports, width, functions) == (1, 32, 8)
        figures.append(Figure("lut", point, result.lut, "LUT", goal="< 40000" if small else None))
        figures += [
            Figure("ff", point, result.ff, "FF"),
            Figure("bram36", point, result.bram36, "RAMB36"),
            Figure("uram", point, result.uram, "URAM"),
        ]
        for clock, ends in sorted(result.ends.items()):
            known = next((known for known in CLOCKS if clock.startswith(known.pin)), None)
            if known is None:
                continue
            depth, limit = ends[0].depth, known.levels
            where = point | {"clock_mhz": known.mhz, "clock": clock}
            figures.append(Figure("depth_luts", where, depth, "LUT", goal=f"<= {limit}"))
            over = [end for end in ends if end.depth > limit]
            shown = (over[:PATHS] or ends[:1]) if arguments.paths else over[:1]
            print(f"  {clock}: {depth} LUTs, {len(over)} registers over the limit of {limit}")
            for end in shown:
                print(f"    {end.depth}: " + " > ".join(end.path))
        failed = failed or any(figure.missed() for figure in figures)
    for row in csv.DictReader((ROOT / "docs" / "reference" / "enyx_hfp_resources_vu9p.csv").open()):
        for name, column in (("lut", "lut"), ("ff", "registers"), ("bram36", "bram36")):
            value = float(row[column])
            point = {"peer": "Enyx HFP, VU9P, published", "queues": int(row["cpu_to_acc"])}
            print(f"  beside: {name} {value:g} of {point['peer']}, {point['queues']} channel(s)")
    write("resources", "synthesis estimate", figures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
