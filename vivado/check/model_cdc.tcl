# SPDX-License-Identifier: Apache-2.0
# The stub's report_cdc: what UG906 says that a netlist's crossings are called, and what waivers do to it.
#
# The netlist file has a line `path FROM TO CIRCUIT` for each crossing, by cells: bit n of TO hangs on bit n of FROM, or
# on its highest. CIRCUIT:
#   plain   a register behind a register      CDC-1 or, of several bits, CDC-4
#   fan     the same, and FROM feeds others   the same; where that is waived, CDC-11
#   gated   logic before a synchroniser       CDC-10
#   bus     as plain, told as one line with ranges of bits
#   reset   an asynchronous reset             CDC-7
#   enable  a clock enable says when          CDC-15
#   sync    a synchroniser                    CDC-3 or, of several bits, CDC-6
namespace eval ::stub {
  variable waivers {}

  # Rules that a path breaks, in the order in which report_cdc tells them: only the first that is not waived (UG906, CDC
  # Rules Precedence).
  proc rules {circuit width} {
    set several [expr {$width > 1}]
    switch $circuit {
      plain { return [list [expr {$several ? {CDC-4 Critical} : {CDC-1 Critical}}]] }
      fan { return [list {*}[rules plain $width] {CDC-11 Critical}] }
      bus { return {{CDC-4 Critical}} }
      reset { return {{CDC-7 Critical}} }
      gated { return {{CDC-10 Critical}} }
      enable { return {{CDC-15 Warning}} }
      sync { return [list [expr {$several ? {CDC-6 Warning} : {CDC-3 Info}}]] }
    }
    error "no circuit $circuit"
  }

  proc width {cell} {
    variable cells
    if {![dict exists $cells $cell]} {
      error "the netlist file has a path at $cell, and no such cell"
    }
    return [lindex [dict get $cells $cell] 1]
  }
  proc bit {cell number} {
    set width [width $cell]
    return [expr {$width == 1 ? $cell : "$cell\[[expr {min($number, $width - 1)}]\]"}]
  }

  # The lines of the report, a bit each.
  proc cdc_lines {} {
    variable paths
    variable waivers
    set found {}
    foreach path $paths {
      lassign $path from to circuit
      set width [width $to]
      if {$circuit eq "bus"} {
        for {set number 0} {$number < $width} {incr number} {
          if {[list CDC-4 [bit $from $number]/C [bit $to $number]/D] ni $waivers} {
            set last "\[[expr {$width - 1}]:0\]"
            lappend found "CDC-4  Critical  bus  0  None  $from$last/C  $to$last/D"
            break
          }
        }
        continue
      }
      for {set number 0} {$number < $width} {incr number} {
        set source [bit $from $number]/C
        set target [bit $to $number]/D
        foreach rule [rules $circuit $width] {
          lassign $rule id severity
          if {[list $id $source $target] ni $waivers} {
            lappend found "$id  $severity  $circuit  0  None  $source  $target"
            break
          }
        }
      }
    }
    return $found
  }
}

namespace eval ::stub::do {
  namespace path ::stub

  proc create_waiver {given rest} {
    if {[option $given -type] ne "CDC" || [option $given -description] eq {}} {
      error "create_waiver: -type CDC and -description are needed"
    }
    foreach source [option $given -from] {
      foreach target [option $given -to] {
        lappend ::stub::waivers [list [option $given -id] $source $target]
      }
    }
  }
  # What was recorded, and what the netlist has.
  proc report_cdc {given rest} {
    if {$::stub::step eq "none"} {
      error "report_cdc wants a synthesised design"
    }
    set in [open [file join $::stub::reports cdc.rpt]]
    set out [open [option $given -file] w]
    puts $out "[read $in]\n[join [cdc_lines] \n]"
    close $in
    close $out
  }
}
