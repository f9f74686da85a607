# SPDX-License-Identifier: Apache-2.0
# The stub's design: ports of the top, constraints, cells and clocks.
namespace eval ::stub {
  variable part {}
  variable xdc {}
  variable ports {}
  variable port_property {}
  variable clock_ports {}
  variable step none

  proc design_property {name object} {
    variable port_property
    set object [lindex $object 0]
    if {$name eq "PERIOD" && [string match clock:* $object]} {
      return [clock_period [string range $object 6 end]]
    }
    if {$name in {PACKAGE_PIN IOSTANDARD} && [dict exists $port_property $object $name]} {
      return [dict get $port_property $object $name]
    }
    # Nothing tells a test's constant from a signal but the test.
    if {$name eq "TYPE" && [string match net:* $object]} {
      if {[info exists ::env(MERIDIAN_STUB_CONSTANT)] && $object eq "net:$::env(MERIDIAN_STUB_CONSTANT)"} {
        return GROUND
      }
      return SIGNAL
    }
    error "no property $name of $object that the facts know"
  }

  proc set_design_property {name value object} {
    variable port_property
    variable ports
    record "  $object $name = $value"
    if {$name in {BITSTREAM.GENERAL.COMPRESS BITSTREAM.CONFIG.USR_ACCESS} && $object eq "design"} {
      return
    }
    if {$name in {PROGRAM.FILE PROBES.FILE FULL_PROBES.FILE} && [string match hw:* $object]} {
      return
    }
    if {[regexp {^(core|port):.*/?} $object] && [dict size $::stub::debug_ports]} {
      set_debug_property $name $value $object
      return
    }
    if {$name ni {PACKAGE_PIN IOSTANDARD PULLUP DQS_BIAS} || $object eq ""} {
      error "no property $name of '$object' that the facts know"
    }
    if {$name eq "IOSTANDARD" && ![is_io_standard $value]} {
      error "no I/O standard $value in the facts (vivado/check/facts/io_standards.txt)"
    }
    foreach port $object {
      if {$name eq "PACKAGE_PIN"} {
        if {![is_ball $value]} {
          error "the package of [set ::stub::part] has no ball $value, which $port is given"
        }
        dict for {other properties} $port_property {
          if {[dict exists $properties PACKAGE_PIN] && [dict get $properties PACKAGE_PIN] eq $value} {
            error "pin $value is given to $other and to $port"
          }
        }
      }
      if {[dict exists $port_property $port $name]} {
        error "$name of $port is set twice"
      }
      dict set port_property $port $name $value
    }
  }

  # Whether the part's package has a ball.
  proc is_ball {pin} {
    variable folder
    variable part
    if {![regexp {^[^-]+-([^-]+)} $part -> package]} {
      error "the package of part '$part' is not in its name"
    }
    set letters {A B C D E F G H J K L M N P R T U V W Y}
    foreach line [lines [file join $folder facts packages.txt]] {
      lassign $line name rows columns
      if {$name eq $package} {
        if {![regexp {^(A?)([A-Z])([1-9]\d?)$} $pin -> second letter column]} {
          return 0
        }
        set row [expr {[lsearch -exact $letters $letter] + ($second eq "" ? 0 : [llength $letters])}]
        return [expr {$letter in $letters && $row < $rows && $column <= $columns}]
      }
    }
    error "no package $package in the facts (vivado/check/facts/packages.txt)"
  }

  proc is_io_standard {name} {
    variable folder
    foreach line [lines [file join $folder facts io_standards.txt]] {
      if {$name in $line} {
        return 1
      }
    }
    return 0
  }

  # Ports of the top, bit by bit, by its text, its parameters and its macros.
  proc find_ports {file parameters macros} {
    set found {}
    set wanted 1
    foreach line [lines $file] {
      if {[regexp {^`ifdef (\w+)} $line -> macro]} {
        set wanted [expr {$macro in $macros}]
      } elseif {[regexp {^`endif} $line]} {
        set wanted 1
      } elseif {$line eq ");"} {
        break
      } elseif {[regexp {^parameter (?:int|bit \[31:0\]) (\w+)} $line -> name]} {
        if {![dict exists $parameters $name] && $name ne "PORTS"} {
          error "synth_design: parameter $name is not given"
        }
        dict unset parameters $name
      } elseif {$wanted && [regexp {^(?:input|output)\s+wire (?:\[(\w+)-1:0\] )?(\w+),?$} $line -> size name]} {
        if {$size eq ""} {
          lappend found $name
        } else {
          for {set bit 0} {$bit < $::stub::sizes($size)} {incr bit} {
            lappend found "$name\[$bit\]"
          }
        }
      }
    }
    if {[dict size $parameters]} {
      error "synth_design: the top has no parameter [dict keys $parameters]"
    }
    return $found
  }

  # XDC: constraints and little else.
  proc read_constraints {file} {
    set inner [interp create -safe]
    foreach name [$inner eval {info commands}] {
      if {$name ni {set list expr}} {
        $inner hide $name
      }
    }
    foreach name {set_property create_clock set_false_path get_ports} {
      $inner alias $name stub::call_one $name
    }
    set in [open $file]
    set text [read $in]
    close $in
    if {[catch {$inner eval $text} message]} {
      interp delete $inner
      error "[file tail $file]: $message"
    }
    interp delete $inner
  }

  proc check_pins {} {
    variable ports
    variable port_property
    variable clock_ports
    foreach port $ports {
      if {![dict exists $port_property $port PACKAGE_PIN]} {
        error "port $port has no PACKAGE_PIN"
      }
      if {![regexp {^(pcie_(rx|tx|refclk)|eth_)} $port] && ![dict exists $port_property $port IOSTANDARD]} {
        error "port $port has no IOSTANDARD"
      }
    }
    set wanted [list pcie_refclk_p 100 \
      eth_refclk_p [value xxv_ethernet_0 GT_REF_CLK_FREQ] pl_clk_p [value clk_wiz_0 PRIM_IN_FREQ]]
    foreach {port mhz} $wanted {
      if {![dict exists $clock_ports $port]} {
        error "no create_clock on $port"
      }
      set is [expr {1000.0 / [dict get $clock_ports $port]}]
      if {abs($is / $mhz - 1) > 0.001} {
        error "create_clock on $port is [format %.3f $is] MHz, its IP has $mhz MHz"
      }
    }
  }

  # Of a clock pin of the shell, by what drives it.
  proc clock_period {pin} {
    switch -glob $pin {
      axi_aclk {
        set pcie [expr {[info exists ::stub::kind(qdma_0)] ? {qdma_0} : {pcie4_uscale_plus_0}}]
        return [expr {1000.0 / [value $pcie axisten_freq]}]
      }
      ps_clk { return [expr {1000.0 / [value clk_wiz_0 CLKOUT1_REQUESTED_OUT_FREQ]}] }
      mac_* { return [expr {64.0 / [value xxv_ethernet_0 LINE_RATE]}] }
    }
    error "no clock at $pin"
  }

  proc advance {to from} {
    variable step
    if {$step ni $from} {
      error "${to}_design after $step"
    }
    set step $to
    replicate
  }

  # Copies of registers that the step makes: cells of their own, which constraints by name do not have (UG903).
  proc replicate {} {
    variable step
    variable replicas
    variable cells
    variable paths
    foreach replica $replicas {
      lassign $replica of name when
      if {$when eq $step} {
        dict set cells $name [dict get $cells $of]
        foreach path $paths {
          if {[lindex $path 0] eq $of} {
            lappend paths [lreplace $path 0 0 $name]
          }
        }
      }
    }
  }

  # With the copies of a cell, which know whose they are.
  proc with_replicas {names} {
    variable replicas
    variable cells
    set all $names
    foreach name $names {
      regexp {^(.*?)(\[\d+\])?$} $name -> base bit
      foreach replica $replicas {
        set copy [lindex $replica 1]$bit
        if {[lindex $replica 0] eq $base && [dict exists $cells [lindex $replica 1]] && $copy ni $all} {
          lappend all $copy
        }
      }
    }
    return $all
  }
}

namespace eval ::stub::do {
  namespace path ::stub

  proc create_project {given rest} {
    if {![dict exists $given -in_memory]} {
      error "create_project: only -in_memory is in the facts"
    }
    set ::stub::part [option $given -part]
  }
  proc read_verilog {given rest} {
    if {$rest ne "zynq_ps_wrapper.v" && ![file readable $rest]} {
      error "read_verilog: cannot read $rest"
    }
    lappend ::stub::files $rest
  }
  proc read_xdc {given rest} {
    lappend ::stub::xdc $rest
  }
  # An empty design: its pins and sites are there.
  proc link_design {given rest} {
    if {[option $given -part] ne $::stub::part} {
      error "link_design: the project's part is $::stub::part"
    }
  }
  # Vivado gave a message as often as it had cause to, if it has it under this number.
  proc get_msg_config {given rest} {
    foreach line [lines [file join $::stub::folder facts messages.txt]] {
      if {[string match "[option $given -id] *" $line]} {
        return 1
      }
    }
    return 0
  }
  proc synth_design {given rest} {
    # The probe's design has no IP, and its netlist is the one that the check is given.
    if {[option $given -top] eq "probe"} {
      set ::stub::ports {clk_a clk_b}
      advance synth none
      return
    }
    set macros [expr {[dict exists $given -verilog_define] ? [dict get $given -verilog_define] : {}}]
    set pcie [expr {"MERIDIAN_OWN_DMA" in $macros ? {pcie4_uscale_plus_0} : {qdma_0}}]
    foreach name [list $pcie xxv_ethernet_0 clk_wiz_0 zynq_ps_wrapper] {
      if {$name ni $::stub::finished} {
        error "synth_design: $name has no checkpoint"
      }
    }
    if {[option $given -part] ne $::stub::part} {
      error "synth_design: the project's part is $::stub::part"
    }
    set top [lsearch -inline $::stub::files */[option $given -top].sv]
    set parameters [dict create]
    foreach generic [dict get $given -generic] {
      lassign [split $generic =] name value
      dict set parameters $name $value
    }
    array set ::stub::sizes [list LANES [dict get $parameters LANES] \
      PORTS [expr {1 + ("MERIDIAN_MORE_THAN_1_PORT" in $macros) + 2 * ("MERIDIAN_MORE_THAN_2_PORTS" in $macros)}]]
    if {[dict exists $parameters PORTS] && [dict get $parameters PORTS] != $::stub::sizes(PORTS)} {
      error "synth_design: PORTS is [dict get $parameters PORTS], the macros say $::stub::sizes(PORTS)"
    }
    set ::stub::ports [find_ports $top $parameters $macros]
    set ::stub::nets [find_nets [file dirname $top] [dict get $parameters HOST_BYTES] $::stub::sizes(PORTS) $macros]
    advance synth none
    # Vivado makes one of registers that hold the same, unless it is told not to (UG901).
    if {![dict exists $given -keep_equivalent_registers]} {
      foreach pair $::stub::same {
        dict unset ::stub::cells [lindex $pair 1]
      }
    }
    foreach file $::stub::xdc {
      read_constraints $file
    }
    check_pins
  }
  proc opt_design {given rest} {
    check_debug
    advance opt synth
  }
  proc place_design {given rest} {
    advance place opt
  }
  proc phys_opt_design {given rest} {
    if {$::stub::step ni {place route}} {
      error "phys_opt_design after $::stub::step"
    }
  }
  proc route_design {given rest} {
    advance route place
  }
  proc current_design {given rest} {
    return design
  }

  proc get_ports {given rest} {
    set found {}
    set rest [lindex $rest 0]
    foreach port $::stub::ports {
      if {$port eq $rest || ([string match {*\[\*\]} $rest] && [string match [string range $rest 0 end-3]* $port])} {
        lappend found $port
      }
    }
    if {$found eq {}} {
      error "get_ports: no port $rest"
    }
    return $found
  }
  proc create_clock {given rest} {
    dict set ::stub::clock_ports $rest [option $given -period]
  }
  proc get_cells {given rest} {
    set found {}
    foreach pattern [lindex $rest 0] {
      if {[regexp {^(.*)\[(\*|\d+)\]$} $pattern -> base index]} {
        set width [expr {[dict exists $::stub::cells $base] ? [lindex [dict get $::stub::cells $base] 1] : 0}]
        for {set bit 0} {$width > 1 && $bit < $width} {incr bit} {
          if {$index in [list * $bit]} {
            lappend found "$base\[$bit\]"
          }
        }
      } elseif {[string match {*\*} $pattern]} {
        lappend found {*}[dict keys $::stub::cells $pattern]
      } elseif {[dict exists $::stub::cells $pattern] && [lindex [dict get $::stub::cells $pattern] 1] == 1} {
        lappend found $pattern
      }
    }
    if {$found eq {} && ![dict exists $given -quiet]} {
      error "get_cells: no cell [lindex $rest 0]"
    }
    return [expr {[dict exists $given -include_replicated_objects] ? [with_replicas $found] : $found}]
  }
  proc get_pins {given rest} {
    set found {}
    foreach pin [lindex $rest 0] {
      if {[regexp {^shell/(axi_aclk|ps_clk|mac_[rt]x_clk_\d)$} $pin] || $pin eq "clocks/clk_out2"} {
        lappend found $pin
      } elseif {[regexp {^(.*)/(PRE|CLR|C|D|CE|R|S)$} $pin -> cell name]} {
        foreach one [get_cells {-quiet 1} [list [list $cell]]] {
          lappend found $one/$name
        }
      }
    }
    if {$found eq {} && ![dict exists $given -quiet]} {
      error "get_pins: no pin $rest"
    }
    return $found
  }
  proc get_clocks {given rest} {
    return clock:[lindex [split [option $given -of_objects] /] end]
  }
  proc get_package_pins {given rest} {
    foreach pin $rest {
      if {![::stub::is_ball $pin]} {
        error "get_package_pins: the package of [set ::stub::part] has no ball $pin"
      }
    }
    return $rest
  }
  # Which sites a package has is not known here, but for what a test says: lines PIN SITE.
  proc get_sites {given rest} {
    if {[info exists ::env(MERIDIAN_STUB_SITES)]} {
      foreach line [lines $::env(MERIDIAN_STUB_SITES)] {
        lassign $line pin site
        if {$pin eq [option $given -of_objects]} {
          return $site
        }
      }
    }
    return {}
  }
  proc filter {given rest} {
    lassign $rest list expression
    if {![regexp {^REF_NAME =~ \S+( \|\| REF_NAME =~ \S+)*$} $expression]} {
      error "filter: '$expression' is more than this stand-in knows (REF_NAME =~ PATTERN, joined by ||)"
    }
    set kept {}
    foreach cell $list {
      set ref [lindex [dict get $::stub::cells $cell] 0]
      foreach {- pattern} [regexp -all -inline {REF_NAME =~ (\S+)} $expression] {
        if {[string match $pattern $ref]} {
          lappend kept $cell
        }
      }
    }
    return $kept
  }
  proc set_max_delay {given rest} {
    if {$::stub::step eq "none" || ![dict exists $given -from] || ![dict exists $given -to]} {
      error "set_max_delay -datapath_only wants a synthesised design, -from and -to"
    }
  }
}
