# SPDX-License-Identifier: Apache-2.0
"""Yosys maps a small module as it maps the shell."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from netlist import FLIP_FLOPS, Netlist
from synthesis import synthesize

VERILOG = """
module BufferCC (input clk, input d, output reg q);
  reg first;
  always @(posedge clk) {q, first} <= {first, d};
endmodule
module Shell (
  input wire        axi_aclk,
  input wire        mac_rx_clk_0,
  input wire [31:0] sim_skip_ps,
  input wire [34:0] data,
  output wire       result
);
  wire synchronised;
  (* keep_hierarchy = "TRUE" *) BufferCC buffer (.clk(mac_rx_clk_0), .d(slow), .q(synchronised));
  reg [34:0] held, heldFast;
  reg slow, fast;
  reg [7:0] count;
  always @(posedge axi_aclk) begin
    held <= data;
    slow <= &held & !count[7];
    count <= (count + 8'd128) * (sim_skip_ps - 32'd1);
  end
  always @(posedge mac_rx_clk_0) begin
    heldFast <= data;
    fast <= &heldFast & synchronised;
  end
  assign result = fast;
endmodule
"""


def test_pins_clocks_and_synchronisers_are_as_in_hardware(tmp_path: Path) -> None:
    verilog, work = tmp_path / "small.v", tmp_path / "work"
    verilog.write_text(VERILOG)
    work.mkdir()
    netlist = Netlist(synthesize(verilog, "Shell", work, tmp_path / "log"), "Shell")
    kinds = {cell["type"] for cell in netlist.cells.values()}
    assert not any("BufferCC" in kind for kind in kinds)
    assert {kind for kind in kinds if kind.startswith("FD")} <= FLIP_FLOPS, "the flip-flops of fast clocks are back"
    result = netlist.resources()
    depth = {clock: ends[0].depth for clock, ends in result.ends.items()}
    assert depth["mac_rx_clk_0"] == 3, "36 bits as a balanced tree: behind a fast clock nothing is saved on the way"
    assert depth["axi_aclk"] >= 3
    assert result.dsp == 0, "what is there to skip cycles only is gone"
    assert result.ff == 2 * 36 + 2
