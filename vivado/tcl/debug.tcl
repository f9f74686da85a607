# SPDX-License-Identifier: Apache-2.0
# Logic analysers (ILA) at the pins of the shell, for a build with debug=1. The top marks the wires (mark_debug), so
# that synthesis keeps them under their names (UG912); a wire that is not there ends the build.
namespace eval debug {
  # Each ILA: the pin of the shell with its clock, its samples, and its probes, a wire with its bits each. W is the beat
  # of the host streams. Of completions, those bits that the shell uses. Wires that hold a constant are left out.
  variable ilas {
    ila_host axi_aclk 1024 {
      m_axis_h2c_tvalid 1 m_axis_h2c_tready 1 m_axis_h2c_tdata W m_axis_h2c_tlast 1 m_axis_h2c_tuser_qid 11
      m_axis_h2c_tuser_err 1 m_axis_h2c_tuser_mdata 32 m_axis_h2c_tuser_mty 6 m_axis_h2c_tuser_zero_byte 1
      s_axis_c2h_tvalid 1 s_axis_c2h_tready 1 s_axis_c2h_tdata W s_axis_c2h_tlast 1 s_axis_c2h_mty 6
      s_axis_c2h_ctrl_len 16 s_axis_c2h_ctrl_qid 11
      s_axis_c2h_cmpt_tvalid 1 s_axis_c2h_cmpt_tready 1 s_axis_c2h_cmpt_tdata 128 s_axis_c2h_cmpt_ctrl_qid 11
      s_axis_c2h_cmpt_ctrl_wait_pld_pkt_id 16
      axis_c2h_status_valid 1 axis_c2h_status_drop 1 axis_c2h_status_last 1 axis_c2h_status_cmp 1
      axis_c2h_status_error 1 axis_c2h_status_qid 11
      tm_dsc_sts_vld 1 tm_dsc_sts_qen 1 tm_dsc_sts_dir 1 tm_dsc_sts_error 1 tm_dsc_sts_qid 11 tm_dsc_sts_avl 16
      tm_dsc_sts_qinv 1 tm_dsc_sts_irq_arm 1 tm_dsc_sts_pidx 16
      dsc_crdt_in_vld 1 dsc_crdt_in_rdy 1 dsc_crdt_in_crdt 16 dsc_crdt_in_qid 11 dsc_crdt_in_dir 1
      usr_flr_set 1 usr_flr_fnc 8 usr_flr_done_vld 1 usr_flr_done_fnc 8
    }
    ila_rx mac_rx_clk_0 2048 {
      rx_axis_tvalid_0 1 rx_axis_tdata_0 64 rx_axis_tkeep_0 8 rx_axis_tlast_0 1 rx_axis_tuser_0 1
      rx_ptp_tstamp_valid_0 1 rx_ptp_tstamp_0 80 mac_link_up_0 1
    }
    ila_tx mac_tx_clk_0 2048 {
      tx_axis_tvalid_0 1 tx_axis_tready_0 1 tx_axis_tdata_0 64 tx_axis_tkeep_0 8 tx_axis_tlast_0 1 tx_axis_tuser_0 1
      tx_ptp_1588op_0 2 tx_ptp_tag_field_0 16 tx_ptp_tstamp_valid_0 1 tx_ptp_tstamp_tag_0 16 tx_ptp_tstamp_0 80
    }
    ila_ps ps_clk 1024 {
      m_axi_ps_awvalid 1 m_axi_ps_awready 1 m_axi_ps_awaddr 40 m_axi_ps_awid 6 m_axi_ps_awlen 8
      m_axi_ps_wvalid 1 m_axi_ps_wready 1 m_axi_ps_wdata 64 m_axi_ps_wlast 1 m_axi_ps_bvalid 1 m_axi_ps_bready 1
      m_axi_ps_bid 6 m_axi_ps_bresp 2
      m_axi_ps_arvalid 1 m_axi_ps_arready 1 m_axi_ps_araddr 40 m_axi_ps_arid 6 m_axi_ps_arlen 8
      m_axi_ps_rvalid 1 m_axi_ps_rready 1 m_axi_ps_rdata 64 m_axi_ps_rid 6 m_axi_ps_rresp 2 m_axi_ps_rlast 1
      s_axil_ps_awvalid 1 s_axil_ps_awready 1 s_axil_ps_awaddr 20
      s_axil_ps_wvalid 1 s_axil_ps_wready 1 s_axil_ps_wdata 32
      s_axil_ps_bvalid 1 s_axil_ps_bready 1 s_axil_ps_arvalid 1 s_axil_ps_arready 1 s_axil_ps_araddr 20
      s_axil_ps_rvalid 1 s_axil_ps_rready 1 s_axil_ps_rdata 32
      mac_rx_restart_0 1 ps_irq 1
    }
  }
  # Those of ila_host where the shell has our DMA engine: the streams of the PCIe block, of accesses of the card
  # the descriptor with the first word, and of tuser what PG213 gives a meaning without straddle and parity.
  variable block {
    m_axis_cq_tvalid 1 m_axis_cq_tready 1 m_axis_cq_tdata 160 m_axis_cq_tlast 1 m_axis_cq_tuser 42
    s_axis_cc_tvalid 1 s_axis_cc_tready 4 s_axis_cc_tdata 128 s_axis_cc_tlast 1
    s_axis_rq_tvalid 1 s_axis_rq_tready 4 s_axis_rq_tdata W s_axis_rq_tkeep 8 s_axis_rq_tlast 1 s_axis_rq_tuser 8
    m_axis_rc_tvalid 1 m_axis_rc_tready 1 m_axis_rc_tdata W m_axis_rc_tlast 1 m_axis_rc_tuser 43
    cfg_function_status 16 cfg_interrupt_msix_enable 4
    cfg_flr_in_process 4 cfg_flr_done 4 cfg_vf_flr_done 1 cfg_vf_flr_func_num 8
  }

  # The nets of a wire, bit 0 first. A bit that holds a constant has no net that a probe could be at.
  proc nets {wire bits} {
    set found {}
    for {set bit 0} {$bit < $bits} {incr bit} {
      set name [expr {$bits == 1 ? $wire : "$wire\[$bit\]"}]
      set net [get_nets -quiet $name]
      if {![llength $net]} {
        error "debug: no net $name: it was renamed or optimised away, although the top marks it"
      }
      if {[get_property TYPE $net] in {POWER GROUND}} {
        puts "debug: $name holds a constant and has no probe"
        continue
      }
      lappend found $net
    }
    return $found
  }

  proc set_all {object properties} {
    dict for {name value} $properties {
      set_property $name $value $object
    }
  }

  # With the clock net at a pin.
  proc connect_clock {port pin} {
    connect_debug_port $port [get_nets -of_objects [get_pins $pin]]
  }

  # Behind synthesis; opt_design puts the cores in. Storage qualification lets a core keep only the beats of a stream.
  proc insert {board} {
    variable ilas
    variable block
    foreach {ila clock samples probes} $ilas {
      if {$ila eq "ila_host" && [settings::get dma] eq "meridian"} {
        set probes $block
      }
      create_debug_core $ila ila
      set_all [get_debug_cores $ila] [dict create ALL_PROBE_SAME_MU true ALL_PROBE_SAME_MU_CNT 2 C_ADV_TRIGGER false \
        C_DATA_DEPTH $samples C_EN_STRG_QUAL true C_INPUT_PIPE_STAGES 2 C_TRIGIN_EN false C_TRIGOUT_EN false]
      set_property port_width 1 [get_debug_ports $ila/clk]
      connect_clock $ila/clk shell/$clock
      set number 0
      foreach {wire bits} $probes {
        set nets [nets $wire [expr {$bits eq "W" ? 8 * [dict get $board host_bytes] : $bits}]]
        if {$nets eq {}} {
          continue
        }
        # A core has its first probe from the beginning.
        if {$number} {
          create_debug_port $ila probe
        }
        set port [get_debug_ports $ila/probe$number]
        set_all $port [dict create PROBE_TYPE DATA_AND_TRIGGER port_width [llength $nets]]
        connect_debug_port $ila/probe$number $nets
        incr number
      }
      puts "debug: $ila has $number probes"
    }
    # The hub answers JTAG in the free running clock of 100 MHz, whatever the link, the PCIe and the PS do.
    set_all [get_debug_cores dbg_hub] {C_CLK_INPUT_FREQ_HZ 100000000 C_ENABLE_CLK_DIVIDER false C_USER_SCAN_CHAIN 1}
    connect_clock dbg_hub/clk clocks/clk_out2
  }
}
