# SPDX-License-Identifier: Apache-2.0
# Says from the reports whether a routed design may become a bitstream, and names the paths if not. Reads files only, so
# that it runs in any tclsh: `tclsh gate.tcl REPORTS`.
namespace eval gate {
  # What check_timing may not find: paths that nobody looks at.
  variable unchecked {no_clock unconstrained_internal_endpoints multiple_clock loops latch_loops}
  # Resources by the names of board.tcl: their row in report_utilization, and how many percent may be used.
  variable resources {
    lut {"CLB LUTs" 70} ff {"CLB Registers" 70} bram36 {"Block RAM Tile" 80} uram {URAM 80}
  }

  proc report {folder name} {
    set path [file join $folder $name]
    if {![file readable $path]} {
      error "timing gate: no report $path"
    }
    set in [open $path]
    set text [read $in]
    close $in
    return $text
  }

  # Slacks of the whole design by name, of report_timing_summary.
  proc slacks {text} {
    set number {(-?[0-9.]+|NA)}
    set lines [split $text \n]
    set at -1
    foreach line $lines {
      incr at
      if {[regexp {^\s*WNS\(ns\)\s+TNS\(ns\)} $line]} {
        set names [regexp -all -inline {[A-Z]+\(ns\)} $line]
        set values [regexp -all -inline {\S+} [lindex $lines [expr {$at + 2}]]]
        if {[llength $values] < 12} {
          break
        }
        # Each slack pair is followed by the numbers of failing and of all endpoints.
        set result {}
        foreach name $names column {0 1 4 5 8 9} {
          dict set result [string range $name 0 end-4] [lindex $values $column]
        }
        return $result
      }
    }
    error "timing gate: timing_summary.rpt has no design timing summary"
  }

  # Violated paths, as "slack from -> to"; of a bus, the bit that comes late or early.
  proc violated {text} {
    set paths {}
    foreach line [split $text \n] {
      if {[regexp {^Slack \(VIOLATED\)\s*:\s*(-?[0-9.]+)ns} $line -> slack]} {
        lappend paths "$slack ns"
      } elseif {[regexp {^Slack } $line]} {
        set slack {}
      } elseif {![info exists slack] || $slack eq {}} {
        continue
      } elseif {[regexp {^\s+(?:Endpoint )?Source:\s+(\S+)} $line -> from]} {
        lset paths end "[lindex $paths end] $from"
      } elseif {[regexp {^\s+(?:Endpoint )?Destination:\s+(\S+)} $line -> to]} {
        lset paths end "[lindex $paths end] -> $to"
        set slack {}
      }
    }
    return $paths
  }

  # Counts of check_timing, by what they are of.
  proc checks {text} {
    set result {}
    foreach {- name count} [regexp -all -inline {checking (\w+) \((\d+)\)} $text] {
      dict set result $name $count
    }
    return $result
  }

  # Findings of report_cdc -details, each as rule, severity and its two pins, or the rest of the line if it has none.
  # Its tables have rule and severity in either order.
  proc cdc_findings {text} {
    set found {}
    foreach line [split $text \n] {
      set severities {Critical|Warning|Info}
      if {![regexp "(CDC-\\d+)\\s+($severities)\\s+(.*)$" $line -> rule severity rest] &&
          ![regexp "($severities)\\s+(CDC-\\d+)\\s+(.*)$" $line -> severity rule rest]} {
        continue
      }
      set pins {}
      foreach word [split $rest] {
        if {[regexp {/[A-Z][A-Z0-9_]*(\[\d+\])?$} $word]} {
          lappend pins $word
        }
      }
      if {[llength $pins] < 2} {
        set pins [list [string trim $rest] {}]
      }
      lappend found [list $rule $severity {*}[lrange $pins 0 1]]
    }
    return $found
  }

  # Whether a pin is in a core for debugging, whose crossings are its vendor's.
  proc in_debug_core {pin} {
    return [regexp {^(dbg_hub|ila_[a-z]+)/} $pin]
  }

  # The critical ones, as "CDC-n from -> to".
  proc crossings {text} {
    set found {}
    foreach finding [cdc_findings $text] {
      lassign $finding rule severity from to
      if {$severity eq "Critical" && !([in_debug_core $from] && [in_debug_core $to])} {
        lappend found [string trimright "$rule $from -> $to" { ->}]
      }
    }
    return $found
  }

  # What report_utilization says of a kind of resource: how many are used, how many there are.
  proc utilisation {text} {
    variable resources
    set result {}
    dict for {kind wanted} $resources {
      lassign $wanted row
      foreach line [split $text \n] {
        set columns [split $line |]
        if {[string trim [lindex $columns 1]] eq $row} {
          dict set result $kind [list [string trim [lindex $columns 2]] [string trim [lindex $columns end-2]]]
          break
        }
      }
    }
    return $result
  }

  # What is wrong with the reports of a folder, a sentence each; none if the design may pass. `totals`: of the device.
  proc findings {folder totals} {
    variable unchecked
    variable resources
    set wrong {}
    set summary [report $folder timing_summary.rpt]
    dict for {name slack} [slacks $summary] {
      if {$slack ne "NA" && $slack < 0} {
        lappend wrong "$name is $slack ns"
      }
    }
    foreach path [violated [report $folder timing_violated.rpt]] {
      lappend wrong "violated: $path"
    }
    set checks [checks [report $folder check_timing.rpt]]
    foreach name $unchecked {
      if {![dict exists $checks $name]} {
        lappend wrong "check_timing.rpt says nothing of $name"
      } elseif {[dict get $checks $name] > 0} {
        lappend wrong "check_timing: $name ([dict get $checks $name]): their names are in check_timing.rpt"
      }
    }
    set cdc [report $folder cdc.rpt]
    if {![regexp {CDC Report|Clock Domain Crossing|CDC Details} $cdc]} {
      lappend wrong "cdc.rpt is no report of report_cdc"
    }
    foreach crossing [crossings $cdc] {
      lappend wrong "unsafe crossing: $crossing"
    }
    set skew [report $folder bus_skew.rpt]
    foreach path [violated $skew] {
      lappend wrong "bus skew: $path"
    }
    set used [utilisation [report $folder utilization.rpt]]
    dict for {kind wanted} $resources {
      lassign $wanted row most
      if {![dict exists $used $kind]} {
        lappend wrong "utilization.rpt says nothing of $row"
        continue
      }
      lassign [dict get $used $kind] count available
      if {100.0 * $count / $available > $most} {
        lappend wrong "$row: $count of $available, more than $most % leave the router no room"
      }
      if {[dict exists $totals $kind] && [dict get $totals $kind] != $available} {
        lappend wrong "$row: the device has $available, board.tcl says [dict get $totals $kind]"
      }
    }
    return $wrong
  }

  proc check {folder {totals {}}} {
    set wrong [findings $folder $totals]
    if {$wrong ne {}} {
      error "timing gate: no bitstream, as\n  [join $wrong "\n  "]\nreports: $folder"
    }
    puts "timing gate: passed"
  }
}

if {[info exists argv0] && [file normalize $argv0] eq [file normalize [info script]]} {
  if {[catch {gate::check [lindex $argv 0]} message]} {
    puts stderr $message
    exit 1
  }
}
