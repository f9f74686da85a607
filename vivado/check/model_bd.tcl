# SPDX-License-Identifier: Apache-2.0
# The stub's block design: cells, their pins, and whether all that has to be connected is.
namespace eval ::stub {
  variable pins
  variable connected

  # Each pin of a block design's cell, and the property without which it is not there.
  array set pins {
    zynq_ultra_ps_e {
      maxihpm0_fpd_aclk PSU__USE__M_AXI_GP0 maxihpm1_fpd_aclk PSU__USE__M_AXI_GP1 maxihpm0_lpd_aclk PSU__USE__M_AXI_GP2
      saxihp0_fpd_aclk PSU__USE__S_AXI_GP2 saxihpc0_fpd_aclk PSU__USE__S_AXI_GP0 M_AXI_HPM0_FPD PSU__USE__M_AXI_GP0
      S_AXI_HP0_FPD PSU__USE__S_AXI_GP2 S_AXI_HPC0_FPD PSU__USE__S_AXI_GP0 pl_ps_irq0 PSU__USE__IRQ0
      pl_resetn0 PSU__USE__FABRIC__RST pl_clk0 {}
      SAXIGP2/HP0_DDR_LOW PSU__USE__S_AXI_GP2 SAXIGP2/HP0_DDR_HIGH PSU__USE__S_AXI_GP2
    }
    axi_interconnect {
      ACLK {} ARESETN {} S00_ACLK {} S00_ARESETN {} M00_ACLK {} M00_ARESETN {} S00_AXI {} M00_AXI {}
    }
  }

  # Whether the PS has memory above 2 GiB, by its properties: an address segment of its own, seen in public block
  # designs of boards with 4 GB and missing from those of boards with 2 GB.
  proc high_memory {} {
    foreach name {BUS_WIDTH DRAM_WIDTH DEVICE_CAPACITY} {
      set $name [lindex [value zynq PSU__DDRC__$name] 0]
      if {[set $name] eq {}} {
        return 0
      }
    }
    set ranks [value zynq PSU__DDRC__RANK_ADDR_COUNT]
    return [expr {$BUS_WIDTH / $DRAM_WIDTH * $DEVICE_CAPACITY * (1 << ($ranks eq {} ? 0 : $ranks)) > 2048 * 8}]
  }

  # A pin of a cell, if the cell's properties let it be there.
  proc cell_pin {path} {
    variable kind
    variable pins
    set cell [lindex [split $path /] 0]
    set pin [string range $path [string length $cell]+1 end]
    if {![info exists kind($cell)] || ![dict exists $pins($kind($cell)) $pin]} {
      error "no pin $path in the block design"
    }
    set needs [dict get $pins($kind($cell)) $pin]
    if {$needs ne {} && [value $cell $needs] != 1} {
      error "no pin $path in the block design: $needs is '[value $cell $needs]'"
    }
    return $path
  }
}

namespace eval ::stub::do {
  namespace path ::stub

  proc create_bd_cell {given rest} {
    instance $rest [lindex [split [option $given -vlnv] :] 2]
    return $rest
  }
  proc create_bd_port {given rest} {
    instance $rest axi_interconnect
  }
  proc current_bd_design {given rest} {
    return zynq_ps
  }
  proc get_bd_pins {given rest} {
    return [cell_pin $rest]
  }
  proc get_bd_intf_pins {given rest} {
    return [cell_pin $rest]
  }
  proc get_bd_addr_segs {given rest} {
    if {[regexp {^(.*)/Reg$} $rest -> interface]} {
      need $interface
      return $rest
    }
    # As Vivado does it: nothing, with a warning.
    if {[string match */HP0_DDR_HIGH $rest] && ![high_memory]} {
      return {}
    }
    return [cell_pin $rest]
  }
  proc assign_bd_address {given rest} {
    if {[lindex $rest 0] eq {}} {
      error "assign_bd_address: no address segment"
    }
  }
  proc connect_bd_net {given rest} {
    lassign $rest from to
    need $from
    if {[info exists ::stub::connected($to)]} {
      error "connect_bd_net: $to is connected already"
    }
    set ::stub::connected($to) $from
  }
  proc make_bd_pins_external {given rest} {
    set ::stub::connected($rest) external
    instance port:$rest axi_interconnect
  }
  proc make_bd_intf_pins_external {given rest} {
    make_bd_pins_external $given $rest
  }
  proc get_bd_nets {given rest} {
    return net:[option $given -of_objects]
  }
  proc get_bd_intf_nets {given rest} {
    return net:[option $given -of_objects]
  }
  proc get_bd_ports {given rest} {
    if {$rest ne ""} {
      return [need $rest]
    }
    return [need port:[string range [option $given -of_objects] 4 end]]
  }
  proc get_bd_intf_ports {given rest} {
    return [get_bd_ports $given $rest]
  }
  proc validate_bd_design {given rest} {
    foreach cell {zynq registers} {
      dict for {pin needs} $::stub::pins($::stub::kind($cell)) {
        if {![regexp {aclk$|ACLK$|ARESETN$} $pin] || ($needs ne {} && [value $cell $needs] != 1)} {
          continue
        }
        if {![info exists ::stub::connected($cell/$pin)]} {
          error "validate_bd_design: $cell/$pin is not connected"
        }
      }
    }
    lappend ::stub::finished validated
  }
  proc make_wrapper {given rest} {
    lappend ::stub::finished zynq_ps_wrapper
    return zynq_ps_wrapper.v
  }
}
