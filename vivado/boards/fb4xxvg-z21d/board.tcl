# SPDX-License-Identifier: Apache-2.0
# Silicom FB4XXVG@Z21D, the reference card. Nothing of its board is public: what is not here comes from the board
# package that Silicom gives its customers, through the settings below.
board part [setting PART "device with package and speed grade, as xczu21dr-ffvd1156-2-e"]
board totals {lut 425280 ff 850560 bram36 1080 uram 80}
board ports 4
board line_rate 25
board host_bytes 32
board host_mhz 250
board vfs {3 3 3 3}

# The device has 16 transceivers: 8 lanes of PCIe beside four SFP28, whatever the connector is.
board pcie_gen 3
board pcie_lanes 8
board pcie_block [setting PCIE_BLOCK "site of the PCIe block, as X0Y1"]
board pcie_quad [setting PCIE_QUAD "transceiver quad of lane 0, as GTY_Quad_131"]

board eth_gt GTY
board eth_quad [setting ETH_QUAD "transceiver quad of the SFP28 cages, as Quad_X0Y1"]
board eth_lanes [setting ETH_LANES "its channels, cage 0 first, as X0Y4 X0Y5 X0Y6 X0Y7"]
board eth_refclk_mhz [setting ETH_REFCLK_MHZ "reference clock of that quad, as 161.1328125 or 156.25"]

board pl_clock_mhz [setting PL_CLOCK_MHZ "free running differential clock of the logic, as 300.000"]
board pins [list \
  [setting PINS_FILE "XDC with the pins: the ports are those of boards/t1-rfsoc/pins.xdc"] \
  [setting TIMING_FILE "XDC with the clocks of these pins, as boards/t1-rfsoc/timing.xdc"] \
]
board ps [setting PS_PRESET_FILE "Tcl with the PS's preset: memory, boot and console, as boards/t1-rfsoc/ps.tcl"]
board flash {}
board defines {}
