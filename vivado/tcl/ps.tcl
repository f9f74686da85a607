# SPDX-License-Identifier: Apache-2.0
# The processing system as a block design of its own: a hardware hand-off (XSA) needs one. Everything else is RTL.
#
# The shell's registers are at 0xA000_0000 on M_AXI_HPM0_FPD, its interrupt is pl_ps_irq0[0], and it reaches memory by
# S_AXI_HP0_FPD, not coherent: what the layer's device tree says.
namespace eval ps {
  variable needed {
    PSU__USE__M_AXI_GP0 1
    PSU__MAXIGP0__DATA_WIDTH 32
    PSU__USE__M_AXI_GP1 0
    PSU__USE__M_AXI_GP2 0
    PSU__USE__S_AXI_GP2 1
    PSU__SAXIGP2__DATA_WIDTH 64
    PSU__USE__IRQ0 1
    PSU__USE__FABRIC__RST 1
    PSU__NUM_FABRIC_RESETS 1
  }

  # Bytes of the DDR memory by a preset: chips side by side, times ranks, without those for ECC. 0: the preset does not
  # say.
  proc ddr_bytes {preset} {
    foreach name {BUS_WIDTH DRAM_WIDTH DEVICE_CAPACITY} {
      if {![dict exists $preset PSU__DDRC__$name]} {
        return 0
      }
      # "32 Bit", "8192 MBits".
      set $name [lindex [dict get $preset PSU__DDRC__$name] 0]
    }
    set ranks 1
    if {[dict exists $preset PSU__DDRC__RANK_ADDR_COUNT]} {
      set ranks [expr {1 << [dict get $preset PSU__DDRC__RANK_ADDR_COUNT]}]
    }
    return [expr {wide($BUS_WIDTH) / $DRAM_WIDTH * $DEVICE_CAPACITY * $ranks * 1048576 / 8}]
  }

  # The address segments of the PS's memory, as the shell's DMA sees them: what is above 2 GiB has a segment of its own,
  # which is not there otherwise (UG1085, address map).
  proc segments {preset} {
    set found [get_bd_addr_segs zynq/SAXIGP2/HP0_DDR_LOW]
    set high [get_bd_addr_segs -quiet zynq/SAXIGP2/HP0_DDR_HIGH]
    set memory [ddr_bytes $preset]
    if {$memory && ($memory > 0x80000000) != ($high ne {})} {
      error "the PS: the preset has [expr {$memory >> 20}] MiB of memory, and HP0_DDR_HIGH is\
        [expr {$high eq {} ? {missing} : {there}}]: the DDR settings of the preset are not those of the board"
    }
    return [concat $found $high]
  }

  proc external_pin {cell pin name} {
    make_bd_pins_external [get_bd_pins $cell/$pin]
    set_property name $name [get_bd_ports -of_objects [get_bd_nets -of_objects [get_bd_pins $cell/$pin]]]
  }
  proc external_interface {cell pin name properties} {
    make_bd_intf_pins_external [get_bd_intf_pins $cell/$pin]
    set nets [get_bd_intf_nets -of_objects [get_bd_intf_pins $cell/$pin]]
    set_property name $name [get_bd_intf_ports -of_objects $nets]
    if {$properties ne {}} {
      ip::configure [get_bd_intf_ports $name] "interface $name" [list $properties]
    }
  }

  proc create {release board} {
    variable needed
    releases::check_ip $release zynq_ultra_ps_e
    source [file join [dict get $board folder] [dict get $board ps]]
    set folder [file join [settings::get output] ps]
    file delete -force $folder
    file mkdir $folder
    create_bd_design -dir $folder zynq_ps

    set zynq [create_bd_cell -type ip -vlnv xilinx.com:ip:zynq_ultra_ps_e zynq]
    ip::configure $zynq "the PS" [list $ps_preset $needed]
    set registers [create_bd_cell -type ip -vlnv xilinx.com:ip:axi_interconnect registers]
    ip::configure $registers "the interconnect of the registers" [list {NUM_SI 1 NUM_MI 1}]

    create_bd_port -dir I -type clk -freq_hz 250000000 ps_clk
    create_bd_port -dir I -type rst ps_resetn
    foreach pin {zynq/maxihpm0_fpd_aclk zynq/saxihp0_fpd_aclk registers/ACLK registers/S00_ACLK registers/M00_ACLK} {
      connect_bd_net [get_bd_ports ps_clk] [get_bd_pins $pin]
    }
    foreach pin {registers/ARESETN registers/S00_ARESETN registers/M00_ARESETN} {
      connect_bd_net [get_bd_ports ps_resetn] [get_bd_pins $pin]
    }
    external_pin zynq pl_resetn0 pl_resetn0
    external_pin zynq pl_ps_irq0 pl_ps_irq0
    connect_bd_intf_net [get_bd_intf_pins zynq/M_AXI_HPM0_FPD] [get_bd_intf_pins registers/S00_AXI]
    external_interface registers M00_AXI m_axil_card {PROTOCOL AXI4LITE DATA_WIDTH 32 ADDR_WIDTH 20}
    external_interface zynq S_AXI_HP0_FPD s_axi_dma {}
    set_property CONFIG.ASSOCIATED_BUSIF m_axil_card:s_axi_dma [get_bd_ports ps_clk]
    set_property CONFIG.ASSOCIATED_RESET ps_resetn [get_bd_ports ps_clk]

    foreach segment [segments $ps_preset] {
      assign_bd_address -target_address_space /s_axi_dma $segment -force
    }
    assign_bd_address -offset 0xA0000000 -range 1M -target_address_space zynq/Data \
      [get_bd_addr_segs m_axil_card/Reg] -force
    validate_bd_design
    save_bd_design [current_bd_design]
    # Synthesised with the rest: a checkpoint of its own would need runs of a project.
    set_property synth_checkpoint_mode None [get_files zynq_ps.bd]
    generate_target all [get_files zynq_ps.bd]
    read_verilog [make_wrapper -files [get_files zynq_ps.bd] -top]
  }
}
