# SPDX-License-Identifier: Apache-2.0
# AMD's ZCU106 evaluation kit. Pins and presets are those of public designs and of AMD's public board files.
board part xczu7ev-ffvc1156-2-e
board totals {lut 230400 ff 460800 bram36 312 uram 96}
board ports 2
board line_rate 10
# Gen3 x4 with 256 bits runs at 125 MHz.
board host_bytes 32
board host_mhz 125
board vfs {3 3 3 3}

board pcie_gen 3
board pcie_lanes 4
# Unverified: which of the device's two blocks reaches quad 224 (check/facts/pcie_sites.txt).
board pcie_block X0Y0
board pcie_quad GTH_Quad_224

board eth_gt GTH
board eth_quad Quad_X0Y2
board eth_lanes {X0Y10 X0Y11}
# The second Si570 (U56, USER_MGT_SI570) as it is after power-up, and as the layer's device tree sets it.
board eth_refclk_mhz 156.25

board pl_clock_mhz 125.000
board pins {pins.xdc timing.xdc}
board ps ps.tcl
board flash qspi-x8-dual_parallel
board defines {PTP_PINS SFP_TX_ENABLE}
