# SPDX-License-Identifier: Apache-2.0
"""What the shell's RTL checks itself ends the card process, which says where."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLANTED = """
  reg [7:0] planted_count = 0;
  always @(posedge ps_clk) begin
    planted_count <= planted_count + 1;
    if(&planted_count) begin
      $display("FAILURE planted");
      $finish;
    end
  end
endmodule
"""


def built(*options: str) -> Path:
    command = [str(ROOT / "scripts" / "build-card"), *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=1200, check=True)
    return Path(done.stdout.splitlines()[-1])


@pytest.mark.long
def test_a_check_that_fails_in_the_rtl_ends_the_card(tmp_path: Path) -> None:
    """The shell is built once more, with a check in it that fails in its 256th cycle."""
    verilog = built("--verilog-only").read_text()
    begin = verilog.index("\nmodule Shell (")
    end = verilog.index("\nendmodule\n", begin)
    planted = tmp_path / "Shell.v"
    planted.write_text(verilog[:end] + PLANTED + verilog[end + len("\nendmodule\n") :])
    card = built("--verilog", str(planted)) / "meridian_card"
    command = [str(card), "--socket", str(tmp_path / "card"), "--time", "free", "--for", "100000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "FAILURE planted" in done.stdout
    assert "check failed: a check in the shell's RTL failed at " in done.stderr
