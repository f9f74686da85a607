# SPDX-License-Identifier: Apache-2.0
# Settings of the integrated block for PCIe, for a shell with the DMA engine of our own: streams as the engine has them
# (Pcie4Pins in spinal/src/main/scala/meridian/dma/pcie), and functions, BARs and MSI-X tables as those of the QDMA IP.
namespace eval pcie {

  # The first step, on which the others depend.
  proc link {board} {
    dict with board {
      set settings [dict create \
        mode_selection Advanced \
        PL_LINK_CAP_MAX_LINK_WIDTH X$pcie_lanes \
        PL_LINK_CAP_MAX_LINK_SPEED [boards::link_speed $board] \
        pcie_blk_locn $pcie_block \
        en_gt_selection true \
        select_quad $pcie_quad \
        REF_CLK_FREQ 100_MHz \
        plltype QPLL1 \
        axisten_if_width [expr {8 * $host_bytes}]_bit \
        axisten_freq $host_mhz \
        sys_reset_polarity ACTIVE_LOW \
        SYS_RST_N_BOARD_INTERFACE Custom \
        PCIE_BOARD_INTERFACE Custom \
      ]
    }
    return $settings
  }

  # A beat has one packet, whose data follow its descriptor at once. The engine gives the tags of its reads itself. The
  # room for completions that it counts with, 128 headers, is that of the highest level (unverified). Messages on the
  # stream of requests end in it.
  proc streams {board} {
    return {
      AXISTEN_IF_CQ_ALIGNMENT_MODE DWORD_Aligned
      AXISTEN_IF_RQ_ALIGNMENT_MODE DWORD_Aligned
      AXISTEN_IF_RC_STRADDLE false
      axisten_if_enable_client_tag true
      extended_tag_field true
      axisten_if_enable_rx_msg_intfc false
      perf_level Extreme
      pf0_dev_cap_max_payload 512_bytes
      cfg_status_if true
      cfg_ctl_if true
      per_func_status_if true
    }
  }

  # SR-IOV as a whole, before what depends on it. No PF copies PF 0, and no VF has the MSI-X tables of its PF.
  proc virtual {board} {
    return {
      TL_PF_ENABLE_REG 4
      SRIOV_CAP_ENABLE true
      pf0_ari_enabled true
      SRIOV_FIRST_VF_OFFSET 4
      PF0_DEV_CAP_FUNCTION_LEVEL_RESET_CAPABLE true
      MSI_X_OPTIONS MSI-X_External
      use_msix_pfs_for_vfs false
      copy_pf0 false
      copy_sriov_pf0 false
      vendor_id 10EE
    }
  }

  # Of a BAR by the start of its property names.
  proc bar {bar scale size prefetchable} {
    set settings [dict create]
    foreach {part value} [list enabled true type Memory 64bit true prefetchable $prefetchable scale $scale size $size] {
      dict set settings ${bar}_$part $value
    }
    return $settings
  }

  # BAR0 has the engine's registers, BAR2 those of the card, BAR4 the window for pushed frames, in which a host may
  # combine writes. Tables of 8 vectors are where the engine has them, which is
  # where the QDMA IP has them.
  proc functions {board} {
    set settings [dict create]
    foreach pf {0 1 2 3} {
      set settings [dict merge $settings [dict create \
        PF${pf}_DEVICE_ID [functions::device_id $pf] \
        PF${pf}_SUBSYSTEM_VENDOR_ID 10EE \
        PF${pf}_SUBSYSTEM_ID [functions::subsystem_id] \
        PF${pf}_CLASS_CODE 020000 \
        pf${pf}_msi_enabled false \
        pf${pf}_msix_enabled true \
        PF${pf}_MSIX_CAP_TABLE_SIZE 007 \
        PF${pf}_MSIX_CAP_TABLE_BIR BAR_1:0 \
        PF${pf}_MSIX_CAP_TABLE_OFFSET 00030000 \
        PF${pf}_MSIX_CAP_PBA_BIR BAR_1:0 \
        PF${pf}_MSIX_CAP_PBA_OFFSET 00034000 \
        VFG${pf}_MSIX_CAP_TABLE_SIZE 007 \
        VFG${pf}_MSIX_CAP_TABLE_OFFSET 00004000 \
        VFG${pf}_MSIX_CAP_PBA_OFFSET 00004800 \
        PF${pf}_SRIOV_VF_DEVICE_ID [functions::vf_device_id $pf] \
        PF${pf}_SRIOV_CAP_INITIAL_VF [lindex [dict get $board vfs] $pf] \
        PF${pf}_SRIOV_FIRST_VF_OFFSET [functions::first_vf_offset $board $pf] \
      ] [bar pf${pf}_bar0 Kilobytes 256 false] [bar pf${pf}_bar2 Megabytes 4 false] \
        [bar pf${pf}_bar4 Kilobytes 256 true] [bar pf${pf}_sriov_bar0 Kilobytes 32 true] \
        [bar pf${pf}_sriov_bar2 Kilobytes 4 true] [bar pf${pf}_sriov_bar4 Kilobytes 32 true]]
    }
    return $settings
  }

  proc steps {board} {
    return [list [link $board] [streams $board] [virtual $board] [functions $board]]
  }

  proc create {release board} {
    ip::create $release [dict get $board part] pcie4_uscale_plus pcie4_uscale_plus_0 [steps $board]
  }
}
