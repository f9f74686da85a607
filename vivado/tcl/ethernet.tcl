# SPDX-License-Identifier: Apache-2.0
# Settings of the 10G/25G Ethernet IP: one core a port in one quad, timestamps, control and status by wires.
namespace eval ethernet {
  proc steps {board} {
    dict with board {
      # CORE puts rate, BASE-KR and reference clock back to defaults, so it comes first.
      set steps [list [dict create CORE {Ethernet MAC+PCS/PMA 64-bit}] [dict create \
        LINE_RATE $line_rate \
        NUM_OF_CORES $ports \
        BASE_R_KR BASE-R \
        GT_TYPE $eth_gt \
        GT_GROUP_SELECT $eth_quad \
        GT_REF_CLK_FREQ $eth_refclk_mhz \
        GT_DRP_CLK 100.00 \
        GT_LOCATION 1 \
        INCLUDE_SHARED_LOGIC 1 \
        DATA_PATH_INTERFACE {AXI Stream} \
        INCLUDE_AXI4_INTERFACE 0 \
        INCLUDE_STATISTICS_COUNTERS 0 \
        INCLUDE_USER_FIFO 1 \
        ENABLE_TIME_STAMPING 1 \
        PTP_OPERATION_MODE 2 \
        ENABLE_TX_FLOW_CONTROL_LOGIC 0 \
        ENABLE_RX_FLOW_CONTROL_LOGIC 0 \
        INCLUDE_AUTO_NEG_LT_LOGIC None \
        INCLUDE_RSFEC_LOGIC 0 \
        INCLUDE_FEC_LOGIC 0 \
        RUNTIME_SWITCH 0 \
      ]]
      set lanes [dict create]
      set number 1
      foreach lane $eth_lanes {
        dict set lanes LANE${number}_GT_LOC $lane
        incr number
      }
      lappend steps $lanes
      if {[settings::get selftest]} {
        # Pins of the transceivers: loopback, test patterns, registers.
        lappend steps [dict create ADD_GT_CNTRL_STS_PORTS 1]
      }
    }
    return $steps
  }

  proc create {release board} {
    ip::create $release [dict get $board part] xxv_ethernet xxv_ethernet_0 [steps $board]
  }
}
