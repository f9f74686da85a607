# SPDX-License-Identifier: Apache-2.0
# The stub's reports and results, and the card at its cable.
namespace eval ::stub {
  proc after_route {what} {
    variable step
    if {$step ne "route"} {
      error "$what before route_design"
    }
  }
  # What stands in a recorded report for the numbers of the device.
  proc device {} {
    variable folder
    variable part
    foreach line [lines [file join $folder facts parts.txt]] {
      lassign $line name lut ff bram36 uram
      if {[string match $name-* $part]} {
        return [list @lut@ $lut @ff@ $ff @bram36@ $bram36 @uram@ $uram]
      }
    }
    error "no device $part in the facts"
  }
  proc result {file} {
    set out [open $file w]
    puts $out "written by the check's stand-in for Vivado"
    close $out
  }
}

namespace eval ::stub::do {
  namespace path ::stub

  # Reports: those that are recorded, or one that says nothing.
  proc report {name given rest} {
    after_route $name
    set file [option $given -file]
    set recorded [file join $::stub::reports [file tail $file]]
    if {[file exists $recorded]} {
      set in [open $recorded]
      set text [read $in]
      close $in
      set out [open $file w]
      puts -nonewline $out [string map [device] $text]
      close $out
    } else {
      result $file
    }
  }
  foreach name {
    report_timing_summary report_timing check_timing report_bus_skew report_pulse_width report_exceptions
    report_clock_interaction report_utilization report_design_analysis report_methodology report_drc
  } {
    interp alias {} ::stub::do::$name {} ::stub::do::report $name
  }
  proc write_bitstream {given rest} {
    after_route write_bitstream
    result $rest
  }
  proc write_checkpoint {given rest} {
    result $rest
  }
  proc write_cfgmem {given rest} {
    if {![file exists [lindex [option $given -loadbit] 2]]} {
      error "write_cfgmem: no [lindex [option $given -loadbit] 2]"
    }
    result $rest
  }
  proc write_hw_platform {given rest} {
    after_route write_hw_platform
    result [option $given -file]
  }
  proc get_hw_devices {given rest} {
    if {[info exists ::env(MERIDIAN_STUB_NO_CARD)]} {
      return {}
    }
    return hw:xczu21dr_0
  }
}
