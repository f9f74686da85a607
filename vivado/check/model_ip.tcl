# SPDX-License-Identifier: Apache-2.0
# The stub's IP catalogue and block design.
namespace eval ::stub {
  variable definitions {}
  variable kind
  variable property
  variable names
  variable allowed
  variable defaults
  variable finished {}
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

  # Words of the facts with {012} stand for one of each digit.
  proc expand {word} {
    if {![regexp {^(.*)\{(\d+)\}(.*)$} $word -> head digits tail]} {
      return [list $word]
    }
    set all {}
    foreach digit [split $digits {}] {
      lappend all $head$digit$tail
    }
    return $all
  }

  proc load_properties {ip} {
    variable folder
    variable release
    variable names
    variable allowed
    variable defaults
    if {[info exists names($ip)]} {
      return
    }
    set names($ip) {}
    set allowed($ip) {}
    set defaults($ip) {}
    foreach line [lines [file join $folder facts properties $ip.txt]] {
      set words [split $line]
      switch [lindex $words 0] {
        names {
          foreach word [lrange $words 1 end] {
            lappend names($ip) {*}[expand $word]
          }
        }
        since {
          if {[package vcompare $release [lindex $words 1]] >= 0} {
            lappend names($ip) {*}[expand [lindex $words 2]]
          }
        }
        values {
          dict set allowed($ip) [lindex $words 1] [split [join [lrange $words 2 end]] |]
        }
        default {
          dict set defaults($ip) [lindex $words 1] [join [lrange $words 2 end]]
        }
      }
    }
  }

  # A new instance with the properties of an IP.
  proc instance {object ip} {
    variable kind
    variable property
    variable defaults
    if {[info exists kind($object)]} {
      error "$object is there already"
    }
    load_properties $ip
    set kind($object) $ip
    set property($object) $defaults($ip)
  }

  proc known {object name} {
    variable kind
    variable names
    if {![info exists kind($object)]} {
      error "no IP, cell or interface $object"
    }
    if {$name ni $names($kind($object))} {
      error "$kind($object) has no property CONFIG.$name in the facts (vivado/check/facts/properties)"
    }
  }

  # Vivado keeps the old value where it does not like the new one, and says so in its log only.
  proc put {object name value} {
    variable kind
    variable property
    variable allowed
    variable env
    known $object $name
    set ip $kind($object)
    record "  $object $name = $value"
    if {[dict exists $allowed($ip) $name] && $value ni [dict get $allowed($ip) $name]} {
      return
    }
    if {[info exists ::env(MERIDIAN_STUB_REFUSE)] && $::env(MERIDIAN_STUB_REFUSE) eq $name} {
      return
    }
    dict set property($object) $name $value
  }

  proc put_all {object list} {
    variable kind
    variable property
    variable defaults
    if {[llength $list] % 2} {
      error "set_property -dict: [llength $list] words are no pairs"
    }
    set seen {}
    foreach {name value} $list {
      if {$name in $seen} {
        error "set_property -dict: $name twice"
      }
      lappend seen $name
      put $object [regsub ^CONFIG\\. $name {}] $value
    }
    # With CORE some others go back to their defaults, whatever was set with it.
    if {$kind($object) eq "xxv_ethernet" && "CONFIG.CORE" in $seen} {
      foreach name {LINE_RATE BASE_R_KR GT_REF_CLK_FREQ} {
        dict set property($object) $name [dict get $defaults(xxv_ethernet) $name]
      }
    }
  }

  proc value {object name} {
    variable property
    known $object $name
    if {[dict exists $property($object) $name]} {
      return [dict get $property($object) $name]
    }
    return ""
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

  proc need {object} {
    variable kind
    if {![info exists kind($object)]} {
      error "no object $object"
    }
    return $object
  }
}

namespace eval ::stub::do {
  namespace path ::stub

  proc version {given rest} {
    return $::stub::release
  }
  proc get_ipdefs {given rest} {
    set found {}
    foreach line [lines [file join $::stub::folder facts ipdefs.txt]] {
      lassign $line release ip version
      if {$release eq $::stub::release && [string match $rest xilinx.com:ip:$ip:$version]} {
        lappend found xilinx.com:ip:$ip:$version
      }
    }
    return $found
  }
  proc create_ip {given rest} {
    instance [option $given -module_name] [option $given -name]
    set ::stub::place([option $given -module_name]) [option $given -dir]
  }
  proc read_ip {given rest} {
    if {![file exists $rest]} {
      error "read_ip: no $rest"
    }
    set in [open $rest]
    lassign [read $in] ip values
    close $in
    set module [file rootname [file tail $rest]]
    instance $module $ip
    set ::stub::property($module) $values
    lappend ::stub::finished $module
  }
  proc get_ips {given rest} {
    return [need $rest]
  }
  proc list_property {given rest} {
    set found {}
    foreach name $::stub::names($::stub::kind([need $rest])) {
      lappend found CONFIG.$name
    }
    return $found
  }
  proc list_property_value {given rest} {
    lassign $rest name object
    set ip $::stub::kind([need $object])
    set name [regsub ^CONFIG\\. $name {}]
    if {[dict exists $::stub::allowed($ip) $name]} {
      return [dict get $::stub::allowed($ip) $name]
    }
    return ""
  }
  proc synth_ip {given rest} {
    lappend ::stub::finished [need $rest]
    set folder [file join $::stub::place($rest) $rest]
    file mkdir $folder
    set out [open [file join $folder $rest.xci] w]
    puts $out [list $::stub::kind($rest) $::stub::property($rest)]
    close $out
  }
  proc generate_target {given rest} {
    if {[lindex $rest 1] eq "zynq_ps.bd" && "validated" ni $::stub::finished} {
      error "generate_target: the block design is not validated"
    }
  }
  proc get_files {given rest} {
    return $rest
  }

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
    return [cell_pin $rest]
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

  proc get_property {given rest} {
    lassign $rest name object
    if {[regexp {^CONFIG\.(.*)$} $name -> name]} {
      return [value $object $name]
    }
    return [design_property $name $object]
  }
  proc set_property {given rest} {
    if {[dict exists $given -dict]} {
      put_all $rest [option $given -dict]
      return
    }
    lassign $rest name value object
    if {[regexp {^CONFIG\.(.*)$} $name -> name]} {
      put $object $name $value
    } elseif {$name eq "name" && [string match port:* $object]} {
      record "  $object is $value"
      instance $value axi_interconnect
    } elseif {$name eq "synth_checkpoint_mode" && $value in {None Singular Hierarchical}} {
      record "  $object $name = $value"
    } else {
      set_design_property $name $value $object
    }
  }
}
