# SPDX-License-Identifier: Apache-2.0
# A few crossings as the shell's generator writes them, with made-up names.
crossing sync a/flag ps_clk a/sync/buffers_0 axi_aclk
crossing sync a/copy ps_clk a/other/buffers_0 mac_tx_clk_0
crossing bus a/gray axi_aclk a/cc/buffers_0 mac_tx_clk_0
crossing held {a/data a/more} ps_clk a/taken mac_rx_clk_0 {It stands still.}
crossing held a/mode ps_clk a/mode_seen axi_aclk {It is set once.}
crossing memory a/ram mac_rx_clk_0 a/read ps_clk
crossing memory a/big mac_rx_clk_0 a/read ps_clk
crossing input mac_link_up_0 mac_rx_clk_0 a/link/buffers_0 ps_clk
