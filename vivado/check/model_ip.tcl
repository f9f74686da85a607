# SPDX-License-Identifier: Apache-2.0
# The stub's IP catalogue: instances and their properties.
namespace eval ::stub {
  variable definitions {}
  variable kind
  variable property
  variable names
  variable allowed
  variable patterns
  variable defaults
  variable finished {}

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
    variable patterns
    variable defaults
    if {[info exists names($ip)]} {
      return
    }
    set names($ip) {}
    set allowed($ip) {}
    set patterns($ip) {}
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
        like {
          foreach word [lrange $words 2 end] {
            foreach name [expand $word] {
              dict set patterns($ip) $name [lindex $words 1]
            }
          }
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

  # Whether the facts allow a value of a property. A property of which they list no values is an error.
  proc may_be {ip name value} {
    variable allowed
    variable patterns
    if {[dict exists $allowed($ip) $name]} {
      return [expr {$value in [dict get $allowed($ip) $name]}]
    }
    if {![dict exists $patterns($ip) $name]} {
      error "the facts list no values for CONFIG.$name of $ip (vivado/check/facts/properties)"
    }
    return [regexp "^(?:[dict get $patterns($ip) $name])\$" $value]
  }

  # Vivado keeps the old value where it does not like the new one, and says so in its log only.
  proc put {object name value} {
    variable kind
    variable property
    variable env
    known $object $name
    set ip $kind($object)
    record "  $object $name = $value"
    if {![may_be $ip $name $value]} {
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

  # Blocks of the device, or the quads that the block reaches that was chosen.
  proc sites_of {object name} {
    variable folder
    variable part
    regexp {^[^-]+-[^-]+} $part device
    set found {}
    foreach line [lines [file join $folder facts pcie_sites.txt]] {
      lassign $line is block quad
      if {$is eq $device && $name eq "pcie_blk_locn"} {
        lappend found $block
      } elseif {$is eq $device && $block eq [value $object pcie_blk_locn]} {
        lappend found $quad
      }
    }
    return $found
  }

  # The template of an instance, which shows the ports of an IP, by facts/ports.txt.
  proc template {module} {
    variable folder
    variable kind
    set sizes [dict create]
    if {$kind($module) eq "qdma"} {
      dict set sizes W [regsub _bit [value $module axi_data_width] {}]
      dict set sizes L [string range [value $module pl_link_cap_max_link_width] 1 end]
    } elseif {$kind($module) eq "pcie4_uscale_plus"} {
      set bits [regsub _bit [value $module axisten_if_width] {}]
      dict set sizes W $bits
      dict set sizes K [expr {$bits / 32}]
      dict set sizes L [string range [value $module PL_LINK_CAP_MAX_LINK_WIDTH] 1 end]
    }
    set out [open [file join $::stub::place($module) $module $module.veo] w]
    set inside 0
    foreach line [lines [file join $folder facts ports.txt]] {
      lassign $line direction name width optional
      if {$direction eq "module"} {
        set inside [expr {$name eq $module}]
      } elseif {$inside && $optional eq {}} {
        if {[dict exists $sizes $width]} {
          set width [dict get $sizes $width]
        }
        set names [list $name]
        if {[string match *{N}* $name]} {
          set names {}
          for {set port 0} {$port < [value $module NUM_OF_CORES]} {incr port} {
            lappend names [string map [list {{N}} $port] $name]
          }
        }
        foreach one $names {
          set range [expr {$width == 1 ? {} : "\[[expr {$width - 1}] : 0\] "}]
          puts $out "  .${one}(${one}),  // $direction wire $range$one"
        }
      }
    }
    close $out
  }

  # The PCIe block reaches the quad, as far as the facts know. A device and package that they do not know is not judged.
  proc check_site {object} {
    variable folder
    variable part
    regexp {^[^-]+-[^-]+} $part device
    set rows {}
    foreach line [lines [file join $folder facts pcie_sites.txt]] {
      lassign $line name block quad
      if {$name eq $device} {
        lappend rows [list $block $quad]
      }
    }
    set is [list [value $object pcie_blk_locn] [value $object select_quad]]
    if {$rows ne {} && $is ni $rows} {
      error "$device: no PCIe block and quad '$is' in the facts (vivado/check/facts/pcie_sites.txt)"
    }
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
  proc remove_files {given rest} {
    set module [file rootname [file tail $rest]]
    unset ::stub::kind([need $module])
    set at [lsearch $::stub::finished $module]
    set ::stub::finished [lreplace $::stub::finished $at $at]
  }
  # A table with a line an instance.
  proc report_ip_status {given rest} {
    set bought Purchased
    if {[info exists ::env(MERIDIAN_STUB_LICENCE)]} {
      set bought $::env(MERIDIAN_STUB_LICENCE)
    }
    set table "| Instance Name | License |"
    foreach object [lsort [array names ::stub::kind]] {
      append table "\n| $object | [expr {$::stub::kind($object) eq {xxv_ethernet} ? $bought : {Included}}] |"
    }
    return $table
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
    if {$name in {pcie_blk_locn select_quad}} {
      return [sites_of $object $name]
    }
    if {[dict exists $::stub::allowed($ip) $name]} {
      return [dict get $::stub::allowed($ip) $name]
    }
    return ""
  }
  proc synth_ip {given rest} {
    lappend ::stub::finished [need $rest]
    if {$::stub::kind($rest) in {qdma pcie4_uscale_plus}} {
      check_site $rest
    }
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
    lassign $rest what object
    if {$what eq "instantiation_template"} {
      file mkdir [file join $::stub::place($object) $object]
      template $object
    }
  }
  proc get_files {given rest} {
    return $rest
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
      set values [option $given -dict]
      if {[string match CONFIG.* [lindex $values 0]]} {
        put_all $rest $values
        return
      }
      dict for {name value} $values {
        set_design_property $name $value [lindex $rest 0]
      }
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
