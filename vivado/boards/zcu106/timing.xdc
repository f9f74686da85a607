# SPDX-License-Identifier: Apache-2.0
# Clocks that come in by pins. Those of the IP, and the crossings of the shell, are constrained elsewhere.
create_clock -period 10.000 -name pcie_refclk [get_ports pcie_refclk_p]
create_clock -period 6.400 -name eth_refclk [get_ports eth_refclk_p]
create_clock -period 8.000 -name pl_clk [get_ports pl_clk_p]

# PERST# comes at any time; the IP for PCIe synchronises it.
set_false_path -from [get_ports pcie_perstn]
# No clock goes with these pins: their jitter is that of a cycle of ps_clk, and ext_ts_in is synchronised in the shell.
set_false_path -to [get_ports pps_out]
set_false_path -to [get_ports perout_out]
set_false_path -from [get_ports ext_ts_in]
# A constant.
set_false_path -to [get_ports {sfp_tx_enable[*]}]
