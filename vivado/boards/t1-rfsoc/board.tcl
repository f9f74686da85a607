# SPDX-License-Identifier: Apache-2.0
# RFSoC half of AMD's T1 telco card. Pins and presets are those of AMD's public board files.
board part xczu21dr-ffvd1156-2L-e
board totals {lut 425280 ff 850560 bram36 1080 uram 80}
board ports 4
board line_rate 25
board host_bytes 32
board host_mhz 250
board vfs {3 3 3 3}

board pcie_gen 3
board pcie_lanes 8
board pcie_block X0Y1
board pcie_quad GTY_Quad_131

# Unverified: the pins are public, the coordinates of their quad (129) are inferred. The build compares them.
board eth_gt GTY
board eth_quad Quad_X0Y1
board eth_lanes {X0Y4 X0Y5 X0Y6 X0Y7}
board eth_refclk_mhz 161.1328125

board pl_clock_mhz 300.000
board pins {pins.xdc timing.xdc}
board ps ps.tcl
board flash qspi-x8-dual_parallel
board defines {}
