# SPDX-License-Identifier: Apache-2.0
"""Mistakes that somebody could make: each is planted into a copy of the build, and has to be found."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_top import lint
from test_vivado_build import GOLDEN
from vivado_stub import REFERENCE, build, copy_of_tree, plant

pytestmark = pytest.mark.vivado
#: What says that only the comparison with the reviewed log finds it.
LOG = "the log differs"
#: File under vivado/, what is there, what stands there instead, and what the build says.
MISTAKES = {
    "property name": ("tcl/qdma.tcl", "flr_enable true", "flr_enabled true", "no property CONFIG.flr_enabled"),
    "letter case": ("tcl/qdma.tcl", "MAILBOX_ENABLE true", "mailbox_enable true", "no property CONFIG.mailbox_enable"),
    "value that is none": ("tcl/qdma.tcl", "}]_bit", "}]bit", "axi_data_width is '', asked for '256bit'"),
    "size that is a word": ("tcl/qdma.tcl", "pf0_bar2_size_qdma 4", "pf0_bar2_size_qdma banana",
                            "pf0_bar2_size_qdma is '', asked for 'banana'"),
    "property without values in the facts": ("check/facts/properties/qdma.txt", "like mm|st|mm_st testname\n", "",
                                                    "the facts list no values for CONFIG.testname of qdma"),
    "value of another mode": ("tcl/qdma.tcl", "pf0_bar2_size_qdma 4", "pf0_bar2_size_qdma 1", LOG),
    "one VF too many": ("boards/t1-rfsoc/board.tcl", "{3 3 3 3}", "{4 3 3 3}", LOG),
    "reset by CORE": (
        "tcl/ethernet.tcl", "CORE {Ethernet MAC+PCS/PMA 64-bit}] [dict create", "CORE {Ethernet MAC+PCS/PMA 64-bit}",
        "BASE_R_KR is 'BASE-KR', asked for 'BASE-R'"),
    "no timestamps": ("tcl/ethernet.tcl", "ENABLE_TIME_STAMPING 1", "ENABLE_TIME_STAMPING 0", LOG),
    "block that does not reach the quad": ("boards/zcu106/board.tcl", "pcie_block X0Y0", "pcie_block X0Y1",
                                           "no PCIe block and quad 'X0Y1 GTH_Quad_224' in the facts"),
    "ball that the package does not have": ("boards/t1-rfsoc/pins.xdc", "PACKAGE_PIN A31", "PACKAGE_PIN ZZ99", "has no ball ZZ99"),
    "column that the package does not have": ("boards/t1-rfsoc/pins.xdc", "PACKAGE_PIN A31", "PACKAGE_PIN A35", "has no ball A35"),
    "row that the package does not have": ("boards/t1-rfsoc/pins.xdc", "PACKAGE_PIN A31", "PACKAGE_PIN AR1", "has no ball AR1"),
    "letter that no row has": ("boards/t1-rfsoc/pins.xdc", "PACKAGE_PIN A31", "PACKAGE_PIN I31", "has no ball I31"),
    "I/O standard that is none": ("boards/t1-rfsoc/pins.xdc", "IOSTANDARD LVCMOS18", "IOSTANDARD LVCMOS19",
                                  "no I/O standard LVCMOS19"),
    "expression of another kind": ("tcl/crossings.tcl", "REF_NAME =~ RAMB* || REF_NAME =~ URAM*",
                                   "REF_NAME =~ RAMB* && IS_PRIMITIVE", "is more than this stand-in knows"),
    "ball that the package does not have, in a dictionary": (
        "boards/t1-rfsoc/pins.xdc", "set_property PACKAGE_PIN A31", "set_property -dict {PACKAGE_PIN ZZ99}", "has no ball ZZ99"),
    "pin twice": ("boards/t1-rfsoc/pins.xdc", "PACKAGE_PIN A31", "PACKAGE_PIN A32", "pin A32 is given to"),
    "pin of another lane": ("boards/t1-rfsoc/pins.xdc", "PACKAGE_PIN K33", "PACKAGE_PIN L33", LOG),
    "port that is none": ("boards/t1-rfsoc/pins.xdc", "pcie_rxp[7]", "pcie_rxp[8]", "no port pcie_rxp[8]"),
    "port without a pin": ("boards/t1-rfsoc/pins.xdc", "set_property PACKAGE_PIN AE7 [get_ports pcie_perstn]", "",
                           "port pcie_perstn has no PACKAGE_PIN"),
    "missing clock": ("boards/t1-rfsoc/timing.xdc", "create_clock -period 6.206 -name eth_refclk [get_ports eth_refclk_p]",
                      "", "no create_clock on eth_refclk_p"),
    "wrong clock": ("boards/t1-rfsoc/timing.xdc", "6.206", "6.400", "create_clock on eth_refclk_p is 156.250 MHz"),
    "wrong clock of the shell": ("tcl/clocking.tcl", "CLKOUT1_REQUESTED_OUT_FREQ 250.000",
                                 "CLKOUT1_REQUESTED_OUT_FREQ 200.000", "shell/ps_clk runs at 200.000 MHz"),
    "program in constraints": ("boards/t1-rfsoc/timing.xdc", "set_false_path -from [get_ports pcie_perstn]",
                               "foreach port pcie_perstn {set_false_path -from [get_ports $port]}", "invalid command"),
    "release row": ("tcl/releases.tcl", "2024.2 {qdma 5.0", "2024.2 {qdma 5.1", "has qdma 5.0"),
    "no release row": ("tcl/releases.tcl", "    2024.2 {", "    2024.3 {", "Vivado 2024.2 is not known here"),
    "unconnected clock": ("tcl/ps.tcl", "PSU__USE__M_AXI_GP1 0", "PSU__USE__M_AXI_GP1 1", "maxihpm1_fpd_aclk is not"),
    "wrong port of the PS": ("tcl/ps.tcl", "PSU__USE__S_AXI_GP2 1", "PSU__USE__S_AXI_GP0 1", "no pin zynq/saxihp0_fpd_aclk"),
    "memory that is not there": ("tcl/ps.tcl", "-quiet zynq/SAXIGP2/HP0_DDR_HIGH]", "-quiet zynq/SAXIGP2/HP0_DDR_LOW]",
                                 "HP0_DDR_HIGH is there"),
    "segment without memory": ("tcl/ps.tcl", "foreach segment [segments $ps_preset]",
                               "foreach segment {zynq/SAXIGP2/HP0_DDR_LOW {}}", "assign_bd_address: no address segment"),
    "size of the memory": ("boards/t1-rfsoc/ps.tcl", "{8192 MBits}", "{16384 MBits}", LOG),
    "address of the registers": ("tcl/ps.tcl", "0xA0000000", "0xB0000000", LOG),
    "option that is none": ("tcl/outputs.tcl", "-include_bit", "-include_bits", "no option -include_bits"),
    "command that is none": ("tcl/implement.tcl", "    opt_design\n", "    optimise_design\n", "no command optimise_design"),
    "step out of order": ("tcl/implement.tcl", "    opt_design\n", "", "place_design after synth"),
    "missing crossing": ("../tests/vivado/data/Shell.crossings.tcl", "crossing held a/mode", "# crossing held a/mode",
                         "unsafe crossing: CDC-1 shell/a/mode_reg/C -> shell/a/mode_seen_reg/D"),
    "crossing that is gone": ("../tests/vivado/data/Shell.crossings.tcl", "bus a/gray", "bus a/grey", "no cell for source"),
    "crossing of a pin": ("../tests/vivado/data/Shell.crossings.tcl", "input mac_link_up_0", "input link_0", "nobody says"),
    "parameter that is none": ("rtl/meridian_top.sv", "BUILD_HASH", "COMMIT", "parameter COMMIT is not given"),
    "registers that become one": ("tcl/implement.tcl", " -keep_equivalent_registers", "", "no cell for source shell/a/copy"),
    "newer Tcl": ("tcl/board.tcl", "concat $pins $ps", "lmap x [concat $pins $ps] {set x}", "no command lmap"),
    "size of the device": ("boards/t1-rfsoc/board.tcl", "lut 425280", "lut 230400", "board.tcl says 230400"),
    "generation of PCIe": ("boards/t1-rfsoc/board.tcl", "board pcie_gen 3", "board pcie_gen 2", LOG),
    "generation that is none": ("boards/t1-rfsoc/board.tcl", "board pcie_gen 3", "board pcie_gen 8.0",
                                "pcie_gen is '8.0', one of 1 2 3 is known"),
    "key of a board": ("boards/t1-rfsoc/board.tcl", "board pcie_lanes 8", "board lanes 8", "unknown key lanes"),
}  # fmt: skip
#: The same, found by lint of the whole top.
MISFITS = {
    "width of a wire": ("rtl/qdma_wires.svh", "[10:0] m_axis_h2c_tuser_qid", "[9:0] m_axis_h2c_tuser_qid", "WIDTH"),
    "width of an IP's port": ("check/facts/ports.txt", "usr_irq_in_vec 11", "usr_irq_in_vec 12", "WIDTH"),
    "port that an IP has not": ("check/facts/ports.txt", "input  qsts_out_rdy 1\n", "", "PINNOTFOUND"),
    "port that is not connected": ("rtl/qdma_wrapper.sv", "      .qsts_out_rdy(1'b1),\n", "", "PINMISSING"),
    "direction": ("check/facts/ports.txt", "output axi_aresetn 1", "input  axi_aresetn 1", "UNDRIVEN"),
    "name of a shell's pin": ("rtl/ps_wires.svh", "wire [63:0] m_axi_ps_wdata;", "wire [63:0] m_axi_ps_data;", "m_axi_ps_wdata"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake: str, tmp_path: Path) -> None:
    name, old, new, says = MISTAKES[mistake]
    board = "zcu106" if "zcu106" in name else "t1-rfsoc"
    run = build(tmp_path / "out", board, root=plant(tmp_path, name, old, new))
    if says == LOG:
        assert run.status == 0, run.said
        assert run.log.splitlines() != (GOLDEN / "t1-rfsoc.log").read_text().splitlines()
    else:
        assert run.status == 1 and says in run.said, run.said


@pytest.mark.parametrize("misfit", MISFITS)
def test_a_misfit_is_found(misfit: str, tmp_path: Path) -> None:
    name, old, new, says = MISFITS[misfit]
    done = lint("t1-rfsoc", plant(tmp_path, name, old, new), tmp_path, whole=False)
    assert says in done.stderr, done.stderr


def test_without_a_mistake_the_same_copy_passes(tmp_path: Path) -> None:
    assert lint("t1-rfsoc", copy_of_tree(tmp_path / "lint"), tmp_path, whole=False).returncode == 0
    run = build(tmp_path / "out", release=REFERENCE, root=copy_of_tree(tmp_path / "tree"))
    assert run.status == 0, run.said
    assert run.log.splitlines() == (GOLDEN / "t1-rfsoc.log").read_text().splitlines()


def test_pins_may_be_given_as_public_constraints_give_them(tmp_path: Path) -> None:
    """Pin and I/O standard of a port in one dictionary."""
    root = plant(
        tmp_path,
        "boards/t1-rfsoc/pins.xdc",
        "set_property PACKAGE_PIN AE7 [get_ports pcie_perstn]\nset_property IOSTANDARD LVCMOS18 [get_ports pcie_perstn]\n",
        "set_property -dict {PACKAGE_PIN AE7 IOSTANDARD LVCMOS18} [get_ports pcie_perstn]\n",
    )
    run = build(tmp_path / "out", root=root)
    assert run.status == 0, run.said
    assert run.log.splitlines() == (GOLDEN / "t1-rfsoc.log").read_text().splitlines()
