# SPDX-License-Identifier: Apache-2.0
# Waivers for the crossings that have no synchroniser and need none, as the shell's source declares them (kind `held` in
# Shell.crossings.tcl). report_cdc calls such a path critical, whatever its constraint is, and its severities are fixed:
# only a waiver lets it pass (UG906). A waiver here has exactly the pins of a declared crossing and its reason. Whatever
# else report_cdc finds critical stays, and ends the build at the gate.
namespace eval waivers {
  # What may be waived: no synchroniser (1 bit, several bits), logic on the way, more than one register behind a source.
  # Each of them is harmless while the source stands still. Resets, memories and mixed clocks are not among them.
  variable rules {CDC-1 CDC-4 CDC-10 CDC-11}
  # A waived path may be found again by the next rule, but not more often than there are rules.
  variable rounds 5
  variable waived
  array set waived {}
  # Held crossings of which a report had a line, critical or not. A waived path has none any more.
  variable seen
  array set seen {}

  # Numbers of the held crossings by the cells of their targets, and the sources by number. A step of the implementation
  # may have copied registers on the way.
  variable into
  array set into {}
  variable sources
  array set sources {}

  proc index {} {
    variable into
    variable sources
    array unset into
    set number 0
    foreach crossing $crossings::held {
      lassign $crossing reason from to
      set sources($number) [crossings::with_copies $from]
      foreach target [crossings::with_copies $to] {
        lappend into($target) $number
      }
      incr number
    }
  }

  # The number of the held crossing that has both pins of a finding, or -1.
  proc crossing_of {from to} {
    variable into
    variable sources
    set cell [file dirname $to]
    if {[info exists into($cell)]} {
      foreach number $into($cell) {
        if {[file dirname $from] in $sources($number)} {
          return $number
        }
      }
    }
    return -1
  }

  # A pin as report_cdc writes it, bit by bit: a range stands for all of its bits.
  proc pins {word} {
    if {![regexp {^(.*)\[(\d+):(\d+)\](/\w+)$} $word -> base high low pin]} {
      return [list $word]
    }
    set all {}
    for {set bit $low} {$bit <= $high} {incr bit} {
      lappend all "$base\[$bit\]$pin"
    }
    return $all
  }

  # Waives what the report has of held crossings. Returns how many waivers are new.
  proc waive {text} {
    variable rules
    variable waived
    variable seen
    variable sources
    set wanted [dict create]
    foreach finding [gate::cdc_findings $text] {
      lassign $finding rule severity from to
      foreach source [pins $from] {
        foreach target [pins $to] {
          set number [crossing_of $source $target]
          if {$number < 0} {
            continue
          }
          set seen($number) 1
          if {$severity eq "Critical" && $rule in $rules && ![info exists waived($rule,$source,$target)]} {
            set waived($rule,$source,$target) 1
            dict lappend wanted [list $rule $number] $target
          }
        }
      }
    }
    set count 0
    dict for {key targets} $wanted {
      lassign $key rule number
      lassign [lindex $crossings::held $number] reason
      set clock_pins {}
      foreach cell $sources($number) {
        lappend clock_pins $cell/C
      }
      create_waiver -type CDC -id $rule -description "Meridian: $reason" \
        -from [get_pins $clock_pins] -to [get_pins [lsort -unique $targets]]
      incr count
    }
    return $count
  }

  # Behind synthesis and again behind routing, as optimisation may change what a path looks like. `folder` is where the
  # reports go. What is critical and not declared ends the build here, before hours of routing.
  proc create {folder step} {
    variable rounds
    variable seen
    index
    set total 0
    file mkdir $folder
    for {set round 1} {$round <= $rounds} {incr round} {
      set report cdc_${step}_$round.rpt
      report_cdc -details -file [file join $folder $report]
      set text [gate::report $folder $report]
      set new [waive $text]
      incr total $new
      if {!$new} {
        break
      }
    }
    set unsafe [gate::crossings $text]
    if {$new || $unsafe ne {}} {
      error "unsafe crossing: [join $unsafe "\n  unsafe crossing: "]\nreport: [file join $folder $report]"
    }
    set number 0
    foreach crossing $crossings::held {
      if {![info exists seen($number)]} {
        lassign $crossing reason from to
        error "waivers: report_cdc knows no path from [lindex $from 0] to [lindex $to 0],\
          which the shell declares as held ($reason): is it gone, or are its clocks related?"
      }
      incr number
    }
    puts "waivers, $step: $total for [llength $crossings::held] held crossings"
  }
}
