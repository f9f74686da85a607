# SPDX-License-Identifier: Apache-2.0
# The stub's debug cores. Nets are those wires of the top that it marks for debugging (mark_debug): of all others, and
# of a build without the macro MERIDIAN_DEBUG, synthesis may have changed the names.
namespace eval ::stub {
  variable nets {}
  # Ports of the cores: name, what they are connected to.
  variable debug_ports {}
  variable debug_widths {}
  variable debug_properties {
    ALL_PROBE_SAME_MU ALL_PROBE_SAME_MU_CNT C_ADV_TRIGGER C_DATA_DEPTH C_EN_STRG_QUAL C_INPUT_PIPE_STAGES C_TRIGIN_EN
    C_TRIGOUT_EN C_CLK_INPUT_FREQ_HZ C_ENABLE_CLK_DIVIDER C_USER_SCAN_CHAIN
  }

  # Of the files beside the top that have its wires: each marked wire with its bits.
  proc find_nets {folder host_bytes ports macros} {
    set found {}
    if {"MERIDIAN_DEBUG" ni $macros} {
      return {}
    }
    set absent [expr {"MERIDIAN_OWN_DMA" in $macros ? "qdma_wires.svh" : "pcie_wires.svh"}]
    foreach file [lsort [glob -directory $folder *_wires.svh]] {
      if {[file tail $file] eq $absent} {
        continue
      }
      foreach line [lines $file] {
        set wire {^`PROBED wire (?:\[(8\*HOST_BYTES|HOST_BYTES/4|\d+)(-1)?:0\] )?(\w+)(``N)?;}
        if {![regexp $wire $line -> high less name each]} {
          continue
        }
        set of_a_beat [expr {[string match 8* $high] ? 8 * $host_bytes : $host_bytes / 4}]
        set bits [expr {$high eq {} ? 1 : $less eq {} ? $high + 1 : $of_a_beat}]
        for {set port 0} {$port < ($each eq {} ? 1 : $ports)} {incr port} {
          dict set found $name[expr {$each eq {} ? {} : $port}] $bits
        }
      }
    }
    return $found
  }

  proc set_debug_property {name value object} {
    variable debug_properties
    variable debug_ports
    variable debug_widths
    if {[string match port:* $object]} {
      set port [string range $object 5 end]
      if {![dict exists $debug_ports $port]} {
        error "there is no port $port of a debug core"
      }
      switch $name {
        port_width { dict set debug_widths $port $value }
        PROBE_TYPE { if {$value ne "DATA_AND_TRIGGER"} { error "PROBE_TYPE $value is not in the facts" } }
        default { error "no property $name of a debug port that the facts know" }
      }
    } elseif {$name ni $debug_properties} {
      error "no property $name of a debug core that the facts know"
    }
  }

  # Before cores are put in.
  proc check_debug {} {
    variable debug_ports
    dict for {port nets} $debug_ports {
      if {$nets eq {}} {
        error "opt_design: $port of a debug core is not connected"
      }
    }
  }
}

namespace eval ::stub::do {
  namespace path ::stub

  proc create_debug_core {given rest} {
    lassign $rest name kind
    if {$::stub::step ne "synth" || $kind ne "ila"} {
      error "create_debug_core: an ila, behind synth_design and before opt_design"
    }
    foreach port [list $name/clk $name/probe0 dbg_hub/clk] {
      if {![dict exists $::stub::debug_ports $port]} {
        dict set ::stub::debug_ports $port {}
      }
    }
  }
  proc create_debug_port {given rest} {
    lassign $rest core kind
    if {$kind ne "probe" || ![dict exists $::stub::debug_ports $core/clk]} {
      error "create_debug_port: a probe of a core"
    }
    set number 0
    while {[dict exists $::stub::debug_ports $core/probe$number]} {
      incr number
    }
    dict set ::stub::debug_ports $core/probe$number {}
  }
  proc get_debug_cores {given rest} {
    if {![dict exists $::stub::debug_ports $rest/clk]} {
      error "there is no debug core $rest"
    }
    return core:$rest
  }
  proc get_debug_ports {given rest} {
    return port:$rest
  }
  # By name, or at a pin with a clock.
  proc get_nets {given rest} {
    if {[dict exists $given -of_objects]} {
      return net:[option $given -of_objects]
    }
    set net [lindex $rest 0]
    regexp {^(.*?)(?:\[(\d+)\])?$} $net -> name bit
    set bits [expr {[dict exists $::stub::nets $name] ? [dict get $::stub::nets $name] : 0}]
    if {($bit eq {} && $bits == 1) || ($bit ne {} && $bits > 1 && $bit < $bits)} {
      return net:$net
    }
    return {}
  }
  proc connect_debug_port {given rest} {
    lassign $rest port nets
    if {![dict exists $::stub::debug_ports $port] || [dict get $::stub::debug_ports $port] ne {}} {
      error "connect_debug_port: there is no $port, or it is connected"
    }
    set width [expr {[dict exists $::stub::debug_widths $port] ? [dict get $::stub::debug_widths $port] : 1}]
    if {[llength $nets] != $width} {
      error "connect_debug_port: $port has $width bits, not [llength $nets]"
    }
    dict set ::stub::debug_ports $port $nets
    set last [lindex $nets end]
    record "connect_debug_port $port [lindex $nets 0][expr {$width > 1 ? " to $last" : {}}]"
  }
  proc write_debug_probes {given rest} {
    after_route write_debug_probes
    if {$::stub::debug_ports eq {}} {
      error "write_debug_probes: there is no debug core"
    }
    result $rest
  }
}
