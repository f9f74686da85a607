# SPDX-License-Identifier: Apache-2.0
# From sources to a routed design with its reports.
namespace eval implement {
  # Messages of Vivado that are mistakes here, by their number.
  variable mistakes
  array set mistakes {
    {Synth 8-689} "a port of another width than its wire"
    {Vivado 12-584} "a port in the constraints that the design has not"
  }
  variable wrappers [file join [file dirname [file dirname [file normalize [info script]]]] rtl]

  # The folder of the user's module, with the headers that it includes; nothing without one.
  proc box {} {
    return [glob -nocomplain -types d [file join [settings::get rtl] box]]
  }

  # What the user's module includes: all in its folder that is not compiled by itself.
  proc headers {} {
    set files {}
    foreach file [lsort [glob -nocomplain -type f -directory [file join [settings::get rtl] box] *]] {
      if {[file extension $file] ni {.v .sv}} {
        lappend files $file
      }
    }
    return $files
  }

  # In the order of compilation. All are one compilation unit, in which macros and other directives go on from file to
  # file, so the user's are behind all others, by number: what they leave reaches nothing of the shell.
  proc sources {} {
    variable wrappers
    set boxes [lsort [glob -nocomplain -directory [file join [settings::get rtl] box] *.v *.sv]]
    # The other IP is not there.
    set unused [expr {[settings::get dma] eq "meridian" ? "qdma_wrapper.sv" : "pcie_wrapper.sv"}]
    set own {}
    foreach file [lsort [glob -directory $wrappers *.sv]] {
      if {[file tail $file] ne $unused} {
        lappend own $file
      }
    }
    return [concat [list [file join [settings::get rtl] Shell.v]] $own $boxes]
  }

  proc synthesise {board} {
    variable wrappers
    variable mistakes
    foreach id [lsort [array names mistakes]] {
      set_msg_config -id $id -new_severity ERROR
    }
    foreach source [sources] {
      if {[file extension $source] eq ".sv"} {
        read_verilog -sv $source
      } else {
        read_verilog $source
      }
    }
    foreach file [dict get $board pins] {
      read_xdc [file join [dict get $board folder] $file]
    }
    dict with board {
      foreach {more macro} {1 MORE_THAN_1_PORT 2 MORE_THAN_2_PORTS} {
        if {$ports > $more} {
          lappend defines $macro
        }
      }
      if {[settings::get debug]} {
        lappend defines DEBUG
      }
      if {[settings::get selftest]} {
        lappend defines SELF_TEST
      }
      if {[settings::get dma] eq "meridian"} {
        lappend defines OWN_DMA
      }
      if {[box] ne ""} {
        lappend defines USER_BOX
      }
      # A user's module sees them, too, which may have names like these for itself.
      set macros {}
      foreach macro $defines {
        lappend macros -verilog_define MERIDIAN_$macro
      }
      # Registers that hold the same, as the sample of the time for each MAC clock, keep their names for crossings.tcl.
      synth_design -top meridian_top -part $part -include_dirs [concat [list $wrappers] [box]] {*}$macros \
        -generic LANES=$pcie_lanes -generic PORTS=$ports -generic HOST_BYTES=$host_bytes \
        -generic BUILD_HASH=32'h[settings::get hash] -generic BUILD_DATE=32'd[settings::get date] \
        -flatten_hierarchy rebuilt -keep_equivalent_registers
    }
  }

  # What each of the shell's clocks runs at, in MHz.
  proc clocks {board} {
    dict with board {
      set clocks [list axi_aclk $host_mhz ps_clk 250]
      for {set port 0} {$port < $ports} {incr port} {
        lappend clocks mac_rx_clk_$port [expr {$line_rate * 15.625}] mac_tx_clk_$port [expr {$line_rate * 15.625}]
      }
    }
    return $clocks
  }

  proc constrain {board} {
    # A constant, or a pin of the board that its timing.xdc has a false path for.
    set drivers {ext_ts_in {}}
    for {set port 0} {$port < [dict get $board ports]} {incr port} {
      lappend drivers mac_link_up_$port ethernet/link_state_$port/link_up_reg
    }
    crossings::constrain_shell [file join [settings::get rtl] Shell.crossings.tcl] [clocks $board] $drivers
    # Those of the wrappers.
    for {set port 0} {$port < [dict get $board ports]} {incr port} {
      foreach {from to} {link_up link_sync remote_fault_seen fault_sync} {
        crossings::constrain [crossings::of_wrapper ethernet/link_state_$port/${from}_reg] \
          [get_cells "ethernet/${to}_$port/flops_reg\[0\]"] [crossings::period mac_tx_clk_$port]
      }
      # The reset of a receiver, from ps_clk to the free running clock of 100 MHz.
      set restart [expr {[settings::get selftest] ? "ps/rxRestart" : "ps/recovery_$port/reset"}]
      crossings::constrain [crossings::registers $restart source] \
        [get_cells "ethernet/restart_sync_$port/flops_reg\[0\]"] 10.0
      if {[settings::get selftest]} {
        crossings::constrain [crossings::registers ps/regs/transceivers_$port/txReset_pin source] \
          [get_cells "ethernet/tx_restart_sync_$port/flops_reg\[0\]"] 10.0
      }
    }
    crossings::reset_synchronisers {ps_reset dclk_reset}
  }

  # The channels of the Ethernet IP are those that the pins of the board lead to. Where Vivado does not tell,
  # place_design will.
  proc check_lanes {board} {
    set number 0
    foreach lane [dict get $board eth_lanes] {
      set pin [get_property PACKAGE_PIN [get_ports "eth_rxp\[$number\]"]]
      set site [get_sites -quiet -of_objects [get_package_pins -quiet $pin]]
      if {[regexp {CHANNEL_(X\d+Y\d+)$} $site -> is] && $is ne $lane} {
        error "board [dict get $board name]: port $number is at $site (pin $pin), eth_lanes says $lane:\
          correct eth_quad and eth_lanes"
      }
      incr number
    }
  }

  proc place_and_route {} {
    opt_design
    place_design -directive Explore
    phys_opt_design -directive AggressiveExplore
    route_design -directive AggressiveExplore
    phys_opt_design -directive AggressiveExplore
  }

  proc reports {folder} {
    file mkdir $folder
    report_timing_summary -file [file join $folder timing_summary.rpt]
    report_timing -delay_type min_max -slack_lesser_than 0 -max_paths 100 -file [file join $folder timing_violated.rpt]
    check_timing -verbose -file [file join $folder check_timing.rpt]
    report_cdc -details -file [file join $folder cdc.rpt]
    report_bus_skew -file [file join $folder bus_skew.rpt]
    report_pulse_width -all_violators -file [file join $folder pulse_width.rpt]
    report_exceptions -file [file join $folder exceptions.rpt]
    report_clock_interaction -file [file join $folder clock_interaction.rpt]
    report_utilization -file [file join $folder utilization.rpt]
    report_utilization -hierarchical -file [file join $folder utilization_by_block.rpt]
    report_design_analysis -logic_level_distribution -file [file join $folder logic_levels.rpt]
    report_methodology -file [file join $folder methodology.rpt]
    report_drc -file [file join $folder drc.rpt]
  }
}
