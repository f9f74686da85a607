# SPDX-License-Identifier: Apache-2.0
# Settings of the QDMA IP: streams with completion, four PFs with VFs, mailbox and function level reset.
namespace eval qdma {

  # The first step, on which the others depend.
  proc link {board} {
    dict with board {
      set settings [dict create \
        mode_selection Advanced \
        pl_link_cap_max_link_width X$pcie_lanes \
        pl_link_cap_max_link_speed [boards::link_speed $board] \
        pcie_blk_locn $pcie_block \
        en_gt_selection true \
        select_quad $pcie_quad \
        ref_clk_freq 100_MHz \
        plltype QPLL1 \
        axi_data_width [expr {8 * $host_bytes}]_bit \
        axisten_freq $host_mhz \
        SYS_RST_N_BOARD_INTERFACE Custom \
        PCIE_BOARD_INTERFACE Custom \
      ]
    }
    return $settings
  }

  proc streams {board} {
    return {
      dma_intf_sel_qdma AXI_Stream_with_Completion
      en_axi_st_qdma true
      en_axi_mm_qdma false
      testname st
      axilite_master_en true
      csr_axilite_slave false
      dsc_byp_mode None
      num_queues 512
      tl_pf_enable_reg 4
      dma_reset_source_sel Phy_Ready
      en_transceiver_status_ports false
      sys_reset_polarity ACTIVE_LOW
      c2h_stream_cpl_col_bit_pos0 1
      c2h_stream_cpl_err_bit_pos0 2
    }
  }

  # SR-IOV as a whole, before what depends on it.
  proc virtual {board} {
    return {
      SRIOV_CAP_ENABLE true
      MAILBOX_ENABLE true
      flr_enable true
      pf0_ari_enabled true
      SRIOV_FIRST_VF_OFFSET 4
      copy_pf0 true
      copy_sriov_pf0 true
    }
  }

  # Every PF. The register map is in BAR2, the same for all of them, and a VF has its page there: the shell knows by the
  # user wires whose access it is, and does not look at the addresses that the IP gives each BAR.
  proc functions {board} {
    set settings [dict create]
    foreach pf {0 1 2 3} {
      set vfs [lindex [dict get $board vfs] $pf]
      dict set settings pf${pf}_device_id [functions::device_id $pf]
      dict set settings pf${pf}_subsystem_id [functions::subsystem_id]
      dict set settings PF${pf}_SRIOV_VF_DEVICE_ID [functions::vf_device_id $pf]
      dict set settings pf${pf}_msix_enabled_qdma true
      dict set settings PF${pf}_MSIX_CAP_TABLE_SIZE_qdma 007
      dict set settings PF${pf}_SRIOV_CAP_INITIAL_VF $vfs
      dict set settings PF${pf}_SRIOV_FIRST_VF_OFFSET [functions::first_vf_offset $board $pf]
      dict set settings barlite_mb_pf$pf [expr {$vfs > 0}]
    }
    return [dict merge $settings {
      pf0_base_class_menu_qdma Network_controller
      pf0_class_code_base_qdma 02
      pf0_class_code_sub_qdma 00
      pf0_bar0_type_qdma DMA
      pf0_bar0_64bit_qdma true
      pf0_bar0_scale_qdma Kilobytes
      pf0_bar0_size_qdma 256
      pf0_bar2_type_qdma AXI_Lite_Master
      pf0_bar2_64bit_qdma true
      pf0_bar2_scale_qdma Megabytes
      pf0_bar2_size_qdma 4
      pf0_sriov_bar0_type DMA
      pf0_sriov_bar0_scale Kilobytes
      pf0_sriov_bar0_size 32
      pf0_sriov_bar2_type AXI_Lite_Master
      pf0_sriov_bar2_scale Kilobytes
      pf0_sriov_bar2_size 4
    }]
  }

  proc create {release board} {
    set optional {}
    foreach pf {0 1 2 3} {
      dict set optional VFG${pf}_MSIX_CAP_TABLE_SIZE_qdma 007
    }
    ip::create $release [dict get $board part] qdma qdma_0 \
      [list [link $board] [streams $board] [virtual $board] [functions $board]] $optional
  }
}
