# SPDX-License-Identifier: Apache-2.0
# Constrains every clock crossing of the shell. Which there are is written by the shell's generator, from the netlist it
# writes: Shell.crossings.tcl has one line `crossing KIND FROM CLOCK TO CLOCK ?REASON?` each. A name without a cell
# stops the build: Vivado itself would only warn, and time the path as if the clocks had to do with each other, or not
# at all.
#
# sync    one bit into a synchroniser
# bus     two bits or more into a synchroniser, of which one changes at a time (Gray)
# held    registers that stand still while they are taken over, for the reason that the shell's source declares
# memory  the memory of a dual-clock FIFO
# input   a pin of the shell that a synchroniser listens to
namespace eval crossings {
  variable prefix shell/
  variable done
  variable periods {}
  variable inputs {}
  # Of each held crossing: its reason, its sources and its targets.
  variable held {}

  # Cells with the copies that Vivado made of them for timing, which have names of their own.
  proc with_copies {cells} {
    return [get_cells -quiet -include_replicated_objects $cells]
  }

  # A register of the wrappers and its copies.
  proc of_wrapper {name} {
    set found [with_copies [list $name]]
    if {![llength $found]} {
      error "crossing: no cell $name: it was renamed or optimised away"
    }
    return $found
  }

  # Registers by their path in the shell's Verilog, and their copies; a list of paths gives all of theirs.
  proc registers {paths what} {
    variable prefix
    set cells {}
    foreach path $paths {
      set found [with_copies [list "$prefix${path}_reg" "$prefix${path}_reg\[*\]"]]
      if {![llength $found]} {
        error "crossing: no cell for $what $prefix$path: it was renamed or optimised away.\
          If it is gone for a reason, the shell should not have it; if its name changed, see vivado/tcl/crossings.tcl"
      }
      lappend cells {*}$found
    }
    return $cells
  }

  # Period of a clock by its pin of the shell, in ns.
  proc period {clock} {
    variable prefix
    variable periods
    if {![dict exists $periods $clock]} {
      set clocks [get_clocks -quiet -of_objects [get_pins $prefix$clock]]
      if {![llength $clocks]} {
        error "crossing: no clock at $prefix$clock: the clock of its IP, or a create_clock of the board, is missing"
      }
      set all {}
      foreach one $clocks {
        lappend all [get_property PERIOD $one]
      }
      dict set periods $clock [lindex [lsort -real $all] 0]
    }
    return [dict get $periods $clock]
  }

  # The clocks that the board has promised: 1 % off is another clock.
  proc check_clocks {promised} {
    dict for {clock mhz} $promised {
      set is [expr {1000.0 / [period $clock]}]
      if {abs($is / $mhz - 1) > 0.01} {
        error "crossing: shell/$clock runs at [format %.3f $is] MHz, the board says $mhz MHz"
      }
    }
  }

  # The path takes at most `limit`, whatever the phase of the clocks; `skew`: bits of a bus arrive within that.
  proc constrain {from to limit {skew {}}} {
    variable done
    set_max_delay -datapath_only -from $from -to $to $limit
    incr done(max_delay)
    if {$skew ne {}} {
      set_bus_skew -from $from -to $to $skew
      incr done(bus_skew)
    }
  }

  proc crossing {kind from from_clock to to_clock {reason {}}} {
    variable prefix
    variable inputs
    variable held
    variable done
    if {($kind eq "held") != ($reason ne {})} {
      error "crossing: $kind $from -> $to: a held crossing, and no other, has a reason"
    }
    switch $kind {
      sync {
        constrain [registers $from source] [registers $to target] [period $to_clock]
      }
      held {
        set sources [registers $from source]
        set targets [registers $to target]
        constrain $sources $targets [period $to_clock]
        lappend held [list $reason $sources $targets]
      }
      bus {
        set shorter [expr {min([period $from_clock], [period $to_clock])}]
        constrain [registers $from source] [registers $to target] [period $from_clock] $shorter
      }
      input {
        if {![dict exists $inputs $from]} {
          error "crossing: nobody says what drives shell/$from: see implement::constrain"
        }
        if {[dict get $inputs $from] ne {}} {
          constrain [of_wrapper [dict get $inputs $from]] [registers $to target] [period $to_clock]
        }
      }
      memory {
        # Block RAM has two clocks and no path between them; distributed RAM is read through.
        set cells [get_cells -quiet "$prefix${from}_reg*"]
        if {![llength $cells]} {
          error "crossing: no memory $prefix$from: it was renamed or optimised away"
        }
        if {[llength [filter $cells {REF_NAME =~ RAMB* || REF_NAME =~ URAM*}]]} {
          incr done(block_ram)
        } else {
          constrain $cells [registers $to target] [period $to_clock]
        }
      }
      default {
        error "crossing: unknown kind $kind"
      }
    }
    incr done($kind)
  }

  # Resets of the wrappers: they come at any time and leave with the clock, by two flip-flops.
  proc reset_synchronisers {cells} {
    foreach cell $cells {
      set pins [get_pins -quiet "$cell/flops_reg\[*\]/PRE"]
      if {![llength $pins]} {
        error "crossing: no reset synchroniser $cell"
      }
      set_false_path -to $pins
    }
  }

  # All of the shell. `promised`: MHz by clock pin of the shell. `drivers`: what drives the pins of the shell that
  # are crossings; nothing, if there is no path to constrain.
  proc constrain_shell {file promised drivers} {
    variable done
    variable periods {}
    variable inputs $drivers
    variable held {}
    array unset done
    array set done {max_delay 0 bus_skew 0 block_ram 0 sync 0 bus 0 held 0 memory 0 input 0}
    check_clocks $promised
    source $file
    if {!$done(sync) || !$done(bus)} {
      error "crossing: $file has none: is it that of the shell that was synthesised?"
    }
    set counts {}
    foreach kind {sync bus held memory input max_delay bus_skew block_ram} {
      lappend counts "$kind $done($kind)"
    }
    puts "crossings: [join $counts {, }]"
  }
}
