# SPDX-License-Identifier: Apache-2.0
# ps_clk (250 MHz) and the free running clock of the transceivers (100 MHz) from the board's oscillator.
namespace eval clocking {
  proc steps {board} {
    return [list [dict create \
      PRIM_SOURCE Differential_clock_capable_pin \
      PRIM_IN_FREQ [dict get $board pl_clock_mhz] \
      CLKOUT1_REQUESTED_OUT_FREQ 250.000 \
      CLKOUT2_USED true \
      CLKOUT2_REQUESTED_OUT_FREQ 100.000 \
      USE_LOCKED true \
      USE_RESET false \
    ]]
  }

  proc create {release board} {
    ip::create $release [dict get $board part] clk_wiz clk_wiz_0 [steps $board]
  }
}
