# SPDX-License-Identifier: Apache-2.0
"""A build with the DMA engine of our own: the integrated block for PCIe in the place of the QDMA IP, and all else as before."""

from __future__ import annotations

import difflib
import re
import subprocess
from functools import cache
from pathlib import Path

import netlist_of
import pytest
from test_debug import TABLE
from test_script import run as script
from test_script import stand_in
from test_top import SIZES, WAIVED, crossings, facts, table, write_cells
from test_vivado_build import ACCEPT, GOLDEN
from vivado_stub import DATA, REFERENCE, RELEASES, ROOT, build, plant

pytestmark = pytest.mark.vivado
OWN = ("dma=meridian",)
BOARD = "t1-rfsoc"
#: Those whose host side the engine fits.
BOARDS = [BOARD, "fb4xxvg-z21d"]
REFUSED = "board zcu106: the DMA engine meridian takes 32 bytes at 250 MHz, and the PCIe block of this board gives 32 bytes at 125 MHz"
MACRO = "MERIDIAN_OWN_DMA"
#: The engine compares with both ends of a range, also where one cannot be passed, and has memories with names of instances.
IN_THE_ENGINE = ["-Wno-CMPCONST", "-Wno-VARHIDDEN"]


@cache
def folder() -> Path:
    """With the shell."""
    tell = ["tclsh", str(ROOT / "vivado/tcl/board.tcl"), BOARD, "", "meridian"]
    options = subprocess.run(tell, capture_output=True, text=True, timeout=10, check=True).stdout.split()
    assert options[-4:] == ["--dma", "meridian", "--vfs", "3,3,3,3"]
    command = [str(ROOT / "scripts/build-card"), "--verilog-only", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.splitlines()[-1]).parent


def lint(root: Path, work: Path, *more: str, whole: bool = False) -> subprocess.CompletedProcess[str]:
    """Of wrappers and top, with what is in the shell or with its pins only."""
    lanes, count, macros = SIZES[BOARD]
    stubs = work / "stubs.v"
    modules = facts.read(root / "vivado/check/facts/ports.txt", 256, lanes, count)
    stubs.write_text(facts.verilog([module for module in modules if module.name != "qdma_0"]))
    shell = folder() / "Shell.v"
    if not whole:
        border = re.search(r"^module Shell \(.*?^\);", shell.read_text(), re.MULTILINE | re.DOTALL)[0]
        waived = "\n".join(f"/* verilator lint_off {rule} */" for rule in ("UNUSED", "UNDRIVEN"))
        shell = work / "Shell.v"
        shell.write_text(f"{waived}\n{border.replace('output reg ', 'output wire ')}\nendmodule\n")
    wrappers = root / "vivado/rtl"
    command = [
        "verilator",
        "--lint-only",
        "-Wall",
        *WAIVED,
        *(IN_THE_ENGINE if whole else ()),
        "-sv",
        "--top-module",
        "meridian_top",
    ]
    command += [
        f"-I{wrappers}",
        f"-GPORTS={count}",
        f"-GLANES={lanes}",
        *(f"-D{macro}" for macro in (*macros, MACRO, *more)),
    ]
    sources = [path for path in sorted(wrappers.glob("*.sv")) if path.name != "qdma_wrapper.sv"]
    command += [str(ROOT / "spinal/lint.vlt"), str(stubs), *map(str, sources), str(shell)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize(
    ("whole", "macros"),
    [(True, ()), (False, ()), (False, ("MERIDIAN_DEBUG",)), (False, ("MERIDIAN_USER_BOX",))],
    ids=["whole", "pins", "analysers", "module"],
)
def test_the_top_passes_lint_with_each_option(whole: bool, macros: tuple[str, ...], tmp_path: Path) -> None:
    done = lint(ROOT, tmp_path, *macros, whole=whole)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_the_shell_has_the_pins_of_the_block() -> None:
    """And none of the QDMA IP's."""
    shell = netlist_of.ports((folder() / "Shell.v").read_text(), "Shell")
    block = table(BOARD)["pcie4_uscale_plus_0"].ports
    mine = {name: pin for name, pin in shell.items() if re.match(r"[ms]_axis_(cq|cc|rq|rc)_|cfg_|pcie_", name)}
    assert len(mine) == 42 and "m_axis_h2c_tvalid" not in shell and "m_axil_awvalid" not in shell
    for name, (direction, width) in mine.items():
        assert name in block, f"the PCIe block has no {name}"
        assert (block[name].width, block[name].direction != direction) == (width, True), name


def test_the_wrapper_reads_what_the_shell_needs_and_ties_the_rest() -> None:
    """Nothing that the shell drives is tied, and what it reads is driven by the block."""
    text = (ROOT / "vivado/rtl/pcie_wrapper.sv").read_text()
    ties = set(re.findall(r"^      \.(\w+)\(\d+'[bd]\d+\)", text, re.MULTILINE)) - {"CEB"}
    block = table(BOARD)["pcie4_uscale_plus_0"].ports
    shell = netlist_of.ports((folder() / "Shell.v").read_text(), "Shell")
    assert len(ties) > 25 and not ties & set(shell)
    assert {block[name].direction for name in ties} == {"input"}


def difference(log: str, board: str) -> str:
    """Of a log from that of the board with the QDMA IP."""
    whole = (GOLDEN / f"{board}.log").read_text().splitlines()
    lines = difflib.unified_diff(whole, log.splitlines(), n=0, lineterm="")
    return "\n".join(line for line in lines if line[:2] not in ("--", "++", "@@")) + "\n"


@pytest.mark.parametrize("board", BOARDS)
def test_vivado_is_told_of_the_engine_as_reviewed(board: str, tmp_path: Path) -> None:
    """Beside what it is told with the QDMA IP."""
    run = build(tmp_path, board, arguments=OWN)
    assert run.status == 0, run.said
    assert "dma meridian" in (run.output / f"meridian-{board}.txt").read_text()
    path, text = GOLDEN / f"{board}.meridian.diff", difference(run.log, board)
    if ACCEPT:
        path.write_text(text)
    assert text.splitlines() == path.read_text().splitlines(), f"{path.name} differs"
    assert "qdma" not in run.log


@pytest.mark.parametrize("release", sorted(set(RELEASES) - {REFERENCE}))
def test_other_releases_are_told_the_same(release: str, tmp_path: Path) -> None:
    """Of the PCIe block: what differs is the Ethernet IP's."""
    runs = [build(tmp_path / name, BOARD, name, arguments=OWN) for name in (REFERENCE, release)]
    assert [run.status for run in runs] == [0, 0], runs[1].said
    told = [[line for line in run.log.splitlines() if "pcie4" in line] for run in runs]
    assert told[0] == told[1] and len(told[0]) > 150


@pytest.mark.parametrize("others", [("debug=1",), ("selftest=1",), ("debug=1", "selftest=1")])
def test_the_engine_goes_with_other_options(others: tuple[str, ...], tmp_path: Path) -> None:
    cells = tmp_path / "cells"
    more = ["shell/ps/rxRestart_reg FDRE 4"]
    for port in range(4):
        more += [f"shell/ps/regs/transceivers_{port}/txReset_pin_reg FDRE 1"]
        more += [f"ethernet/tx_restart_sync_{port}/flops_reg FDRE 2"]
    cells.write_text((DATA / "cells.txt").read_text() + "\n".join(more) + "\n")
    run = build(tmp_path, arguments=(*OWN, *others), cells=cells)
    assert run.status == 0, run.said
    assert f"-verilog_define {MACRO}" in run.log
    assert ("connect_debug_port ila_host/probe0 net:m_axis_cq_tvalid" in run.log) == ("debug=1" in others)


def test_probes_are_at_pins_of_the_shell() -> None:
    """Each marked wire has one."""
    words = re.search(r"variable block \{(.*?)\n  \}", TABLE, re.DOTALL)[1].split()
    probes = dict(zip(words[::2], words[1::2], strict=True))
    pins = netlist_of.ports((folder() / "Shell.v").read_text(), "Shell")
    for name, bits in probes.items():
        wanted = 256 if bits == "W" else int(bits)
        assert wanted <= pins[name][1] and (wanted == 1) == (pins[name][1] == 1), name
    wires = (ROOT / "vivado/rtl/pcie_wires.svh").read_text()
    assert sorted(re.findall(r"`PROBED wire (?:\[.*?\] )?(\w+);", wires)) == sorted(probes)


def test_a_host_sees_the_functions_that_the_qdma_ip_gives_it(tmp_path: Path) -> None:
    """Identification, BARs, vectors and VFs, from the settings of both IPs."""
    told = {}
    for dma in ("qdma", "meridian"):
        log = build(tmp_path / dma, arguments=(f"dma={dma}",)).log
        found = re.findall(r"^  (?:qdma_0|pcie4_uscale_plus_0) (\w+) = (\S+)$", log, re.MULTILINE)
        told[dma] = {name.lower().replace("_qdma", ""): value for name, value in found}
    qdma, own = told["qdma"], told["meridian"]
    both = set(qdma) & set(own)
    assert {name: qdma[name] for name in both if not name.endswith("_type") and not name.startswith("copy_")} == {
        name: own[name] for name in both if not name.endswith("_type") and not name.startswith("copy_")
    }
    for pf in range(4):
        for name in ("device_id", "subsystem_id", "sriov_vf_device_id", "sriov_cap_initial_vf", "sriov_first_vf_offset", "msix_cap_table_size"):  # fmt: skip
            assert f"pf{pf}_{name}" in both
    for bar in ("bar0", "bar2", "sriov_bar0", "sriov_bar2"):
        for part in ("scale", "size"):
            values = {own[f"pf{pf}_{bar}_{part}"] for pf in range(4)}
            assert values == {qdma[f"pf0_{bar}_{part}"]}, (bar, part)
    assert own["pf0_class_code"] == qdma["pf0_class_code_base"] + qdma["pf0_class_code_sub"] + "00"


def test_the_window_for_pushed_frames_is_as_large_as_the_engine_has_it(tmp_path: Path) -> None:
    source = (ROOT / "spinal/src/main/scala/meridian/dma/descriptor/PushBundles.scala").read_text()
    bytes_of = {name: int(value, 16) for name, value in re.findall(r"val (pf|vf)Bytes = (0x\w+)", source)}
    log = build(tmp_path, arguments=OWN).log
    found = dict(re.findall(r"_0 (pf\d_(?:sriov_)?bar4_\w+) = (\S+)$", log, re.MULTILINE))
    for pf in range(4):
        for bar, size in ((f"pf{pf}_bar4", bytes_of["pf"]), (f"pf{pf}_sriov_bar4", bytes_of["vf"])):
            kind = [found[f"{bar}_{part}"] for part in ("scale", "prefetchable", "64bit")]
            assert kind == ["Kilobytes", "true", "true"] and int(found[f"{bar}_size"]) << 10 == size


def test_the_vector_tables_are_where_the_engine_has_them(tmp_path: Path) -> None:
    """The engine's places are in its source, in bytes; a table of N vectors is set as N - 1."""
    dma = ROOT / "spinal/src/main/scala/meridian/dma"
    table = (dma / "interrupt/MsixTable.scala").read_text()
    places = {name: int(at, 16) for name, at in re.findall(r"val (\w+(?:Table|Pending)) = (0x\w+)", table)}
    vectors = int(re.search(r"toldVectors: Int = (\d+)", (dma / "DmaParam.scala").read_text())[1])
    log = build(tmp_path, arguments=OWN).log
    found = re.findall(r"_0 (PF|VFG)\d_MSIX_CAP_(\w+_(?:OFFSET|SIZE)) = (\S+)$", log, re.MULTILINE)
    assert len(found) == 24
    for kind, name, value in found:
        function = "pf" if kind == "PF" else "vf"
        wanted = {
            "TABLE_SIZE": vectors - 1,
            "TABLE_OFFSET": places[f"{function}Table"],
            "PBA_OFFSET": places[f"{function}Pending"],
        }[name]
        assert int(value, 16) == wanted, (kind, name)


def test_the_streams_are_those_of_the_engine(tmp_path: Path) -> None:
    """Pcie4Pins says which."""
    pins = (ROOT / "spinal/src/main/scala/meridian/dma/pcie/Pcie4Pins.scala").read_text()
    assert re.search(r"256 bit, data\s+\*?\s*aligned to double words, no straddling", pins)
    log = build(tmp_path, arguments=OWN).log
    for setting in ("axisten_if_width = 256_bit", "axisten_freq = 250", "AXISTEN_IF_CQ_ALIGNMENT_MODE = DWORD_Aligned",
                    "AXISTEN_IF_RQ_ALIGNMENT_MODE = DWORD_Aligned", "AXISTEN_IF_RC_STRADDLE = false", "axisten_if_enable_client_tag = true"):  # fmt: skip
        assert f"  pcie4_uscale_plus_0 {setting}\n" in log


def test_the_real_crossings_pass_the_build(tmp_path: Path) -> None:
    cells = tmp_path / "cells"
    write_cells(folder(), cells)
    run = build(tmp_path / "whole", rtl=folder(), cells=cells, arguments=OWN)
    assert run.status == 0, run.said
    assert f"for {sum(kind == 'held' for kind, *_ in crossings(folder()))} held crossings" in run.said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"board": "zcu106", "arguments": OWN}, REFUSED),
        ({"arguments": ("dma=xdma",)}, "no DMA engine 'xdma': DMA is qdma or meridian"),
        ({"arguments": OWN, "refuse": "PF0_DEV_CAP_FUNCTION_LEVEL_RESET_CAPABLE"},
         "IP pcie4_uscale_plus does not take what it was given:\n  PF0_DEV_CAP_FUNCTION_LEVEL_RESET_CAPABLE is '', asked for 'true'"),
        ({"arguments": OWN, "refuse": "VFG2_MSIX_CAP_TABLE_OFFSET"}, "VFG2_MSIX_CAP_TABLE_OFFSET is '', asked for '00004000'"),
    ],
)  # fmt: skip
def test_errors_say_what_to_do(arguments: dict, sentence: str, tmp_path: Path) -> None:
    run = build(tmp_path, **arguments)
    assert run.status == 1 and sentence in run.said, run.said
    assert "synth_design" not in run.log


#: File under vivado/, what is there, what stands there instead, and what the build says; `lint`: what lint says.
MISTAKES = {
    "property name": ("tcl/pcie.tcl", "axisten_if_enable_client_tag true", "AXISTEN_IF_ENABLE_CLIENT_TAG true",
                      "pcie4_uscale_plus has no property CONFIG.AXISTEN_IF_ENABLE_CLIENT_TAG"),
    "property of the QDMA IP": ("tcl/pcie.tcl", "vendor_id 10EE", "flr_enable true", "no property CONFIG.flr_enable"),
    "value that is none": ("tcl/pcie.tcl", "DWORD_Aligned\n      AXISTEN_IF_RQ", "Dword\n      AXISTEN_IF_RQ",
                           "AXISTEN_IF_CQ_ALIGNMENT_MODE is '', asked for 'Dword'"),
    "block that does not reach the quad": ("boards/t1-rfsoc/board.tcl", "pcie_block X0Y1", "pcie_block X0Y0",
                                           "no PCIe block and quad 'X0Y0 GTY_Quad_131' in the facts"),
    "PF without VFs": ("boards/t1-rfsoc/board.tcl", "{3 3 3 3}", "{6 0 3 3}", "wants at least one VF of each PF"),
    "clock": ("boards/t1-rfsoc/board.tcl", "host_mhz 250", "host_mhz 125", "takes 32 bytes at 250 MHz"),
    "the other IP": ("build.tcl", "    pcie::create $release $board", "    qdma::create $release $board",
                     "synth_design: pcie4_uscale_plus_0 has no checkpoint"),
    "release row": ("tcl/releases.tcl", "pcie4_uscale_plus 1.3", "pcie4_uscale_plus 1.4", "has pcie4_uscale_plus 1.3"),
}  # fmt: skip
MISFITS = {
    "width of a wire": ("rtl/pcie_wires.svh", "[61:0] s_axis_rq_tuser", "[59:0] s_axis_rq_tuser", "WIDTH"),
    "width of the block's port": ("check/facts/ports.txt", "output m_axis_rc_tuser 75", "output m_axis_rc_tuser 76", "WIDTH"),
    "port that the block has not": ("check/facts/ports.txt", "input  cfg_fc_sel 3\n", "", "PINNOTFOUND"),
    "port that is not connected": ("rtl/pcie_wrapper.sv", "      .cfg_config_space_enable(1'b1),\n", "", "PINMISSING"),
    "name of a shell's pin": ("rtl/pcie_wires.svh", "wire [3:0] cfg_interrupt_msix_mask;", "wire [3:0] msix_mask;", "cfg_interrupt_msix_mask"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake: str, tmp_path: Path) -> None:
    name, old, new, says = MISTAKES[mistake]
    run = build(tmp_path / "out", root=plant(tmp_path, name, old, new), arguments=OWN)
    assert run.status == 1 and says in run.said, run.said


@pytest.mark.parametrize("misfit", MISFITS)
def test_a_misfit_is_found(misfit: str, tmp_path: Path) -> None:
    name, old, new, says = MISFITS[misfit]
    done = lint(plant(tmp_path, name, old, new), tmp_path)
    assert done.returncode != 0 and says in done.stderr, done.stderr


def test_make_and_the_script_have_the_option(tmp_path: Path) -> None:
    command = ["make", "--no-print-directory", "-n", "bitstream", f"BOARD={BOARD}", "DMA=meridian", "DEBUG=1"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=True).stdout
    assert said == f'scripts/bitstream build --debug --dma "meridian" "{BOARD}" \n'
    options = ["EXTENDED_TAGS=1", "MEMORY=1"]
    said = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, timeout=20, check=True).stdout
    assert said == f'scripts/bitstream build --debug --dma "meridian" --extended-tags --memory "{BOARD}" \n'
    for words, sentence in (
        (("--dma", "meridian", "zcu106"), REFUSED),
        (("--dma", "xdma", BOARD), "no DMA engine 'xdma': DMA is qdma or meridian"),
        (("--dma", "meridian", BOARD), "no vivado on PATH"),
        (("--dma", "meridian", "--extended-tags", "--memory", BOARD), "no vivado on PATH"),
        (("--memory", BOARD), "--memory is for the DMA engine of our own: give --dma meridian, too"),
        (("--extended-tags", "--dma", "qdma", BOARD), "--extended-tags is for the DMA engine of our own"),
    ):
        status, told = script("build", *words)
        assert status == 1 and sentence in told, told
    # Vivado and the generator are told.
    path = stand_in(tmp_path / "bin", "vivado", f'echo "$@" >{tmp_path}/words; exit 1\n')
    status, told = script("build", "--dma", "meridian", BOARD, **path)
    assert status == 1 and "generator failed" not in told
    words = (tmp_path / "words").read_text()
    assert " dma=meridian" in words and f"rtl={folder()}" in words
