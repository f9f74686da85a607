# SPDX-License-Identifier: Apache-2.0
# Stands in for Vivado, in tclsh: knows the commands, IP, properties and ports that the facts have, refuses any other,
# and writes down what it is told. It builds nothing. A build that passes here can still fail in Vivado.
#
#   tclsh stub.tcl RELEASE LOG CELLS REPORTS SCRIPT ARGUMENTS...
#
# CELLS: the netlist's cells, lines NAME REF WIDTH, and its crossings, lines `path FROM TO CIRCUIT` (model_cdc.tcl);
# `same A B`: two registers that hold the same; `replica OF NAME STEP`: a copy of a register, made for timing by STEP,
# synth or route, whose paths are those of the register.
# REPORTS: folder of the reports that it hands out.
# MERIDIAN_STUB_LICENCE in the environment is the state of the licence of the Ethernet IP, Purchased if it is not set.
# MERIDIAN_STUB_REFUSE in the environment names a property that this Vivado does not take, though it knows it.
namespace eval ::stub {
  variable folder [file dirname [file normalize [info script]]]
  variable table
  variable log {}
  variable release
  variable reports
  variable cells
  variable files {}
  variable paths {}
  variable same {}
  variable replicas {}

  # Commands that only ask leave no trace.
  variable asking {
    get_msg_config report_ip_status version get_ipdefs get_ips get_property list_property list_property_value get_files
    get_bd_pins get_bd_ports
    get_bd_nets get_bd_intf_pins get_bd_intf_ports get_bd_intf_nets get_bd_addr_segs current_bd_design current_design
    get_cells get_pins get_ports get_clocks get_package_pins get_sites filter get_hw_devices set_property
    get_nets get_debug_cores get_debug_ports connect_debug_port
  }
  # What Tcl 8.5, which Vivado may have, has not.
  variable newer {lmap try throw zlib tailcall coroutine yield yieldto}

  proc lines {file} {
    set in [open $file]
    set all [split [read $in] \n]
    close $in
    set kept {}
    foreach line $all {
      set line [string trim [regsub {(^|\s)#.*$} $line {}]]
      if {$line ne ""} {
        lappend kept $line
      }
    }
    return $kept
  }

  # One line of the log, without what differs from machine to machine.
  proc record {line} {
    variable log
    variable folder
    set places [list [file dirname [file dirname $folder]] REPOSITORY]
    foreach name {output cache rtl} {
      if {![catch {settings::get $name} path]} {
        set places [linsert $places 0 $path [string toupper $name]]
      }
    }
    set line [string map $places $line]
    # Folders of the cache are named by hash.
    set line [folded $line]
    lappend log [regsub -all {CACHE/([a-z0-9_]+)-[0-9a-f]{16}} $line {CACHE/\1}]
  }

  # Bits of one register that follow each other are one word.
  proc folded {line} {
    set words {}
    set last {}
    foreach word [split $line { }] {
      set key {}
      if {[regexp {^(\{*)([^{}]*_reg)\[\d+\](/\w+)?(\}*)$} $word -> open base pin close]} {
        set key "$base $pin"
        if {$key eq $last} {
          lset words end "$first$base\[*\]$pin$close"
          continue
        }
        set first $open
      }
      set last $key
      lappend words $word
    }
    return [join $words { }]
  }

  proc call {name arguments} {
    variable table
    variable asking
    lassign $table($name) options least most
    set given [dict create]
    set rest {}
    while {[llength $arguments]} {
      set arguments [lassign $arguments word]
      if {[regexp {^-[a-z_]+$} $word]} {
        if {$word in $options} {
          dict set given $word 1
        } elseif {"$word=" in $options} {
          if {![llength $arguments]} {
            error "$name: $word wants a value"
          }
          set arguments [lassign $arguments value]
          dict lappend given $word $value
        } else {
          error "$name has no option $word that the facts know"
        }
      } else {
        lappend rest $word
      }
    }
    if {[llength $rest] < $least || [llength $rest] > $most} {
      error "$name takes $least to $most arguments, not [llength $rest]: $rest"
    }
    if {$name ni $asking} {
      set words $name
      dict for {option values} $given {
        if {"$option=" in $options} {
          foreach value $values {
            lappend words $option $value
          }
        } else {
          lappend words $option
        }
      }
      record [concat $words $rest]
    }
    if {[info commands ::stub::do::$name] ne ""} {
      return [do::$name $given $rest]
    }
  }

  proc call_one {name args} {
    return [call $name $args]
  }

  # The one value of an option.
  proc option {given name {default ""}} {
    if {[dict exists $given $name]} {
      return [lindex [dict get $given $name] end]
    }
    return $default
  }

  proc setup {arguments} {
    variable folder
    variable table
    variable release
    variable reports
    variable cells
    variable newer
    variable log_file
    set rest [lassign $arguments release log_file cells_file reports script]
    foreach line [lines [file join $folder facts commands.txt]] {
      set at [lsearch $line ";"]
      set table([lindex $line 0]) [list [lrange $line 1 $at-1] {*}[lrange $line $at+1 end]]
      interp alias {} ::[lindex $line 0] {} ::stub::call_one [lindex $line 0]
    }
    set cells [dict create]
    foreach line [lines $cells_file] {
      if {[string match "same *" $line]} {
        lappend ::stub::same [lrange $line 1 end]
        continue
      }
      if {[string match "replica *" $line]} {
        lappend ::stub::replicas [lrange $line 1 end]
        continue
      }
      if {[string match "path *" $line]} {
        lappend ::stub::paths [lrange $line 1 end]
        continue
      }
      lassign $line name ref width
      dict set cells $name [list $ref $width]
    }
    foreach part {model_cdc model_debug model_ip model_bd model_design model_results} {
      source [file join $folder $part.tcl]
    }
    proc ::unknown {name args} {
      error "no command $name in the facts (vivado/check/facts/commands.txt)"
    }
    rename ::exit ::stub::leave
    proc ::exit {{status 0}} {
      stub::finish
      stub::leave $status
    }
    foreach name $newer {
      rename ::$name {}
    }
    set ::argv0 vivado
    set ::argv $rest
    return $script
  }

  proc finish {} {
    variable log
    variable log_file
    set out [open $log_file w]
    puts $out [join $log \n]
    close $out
  }
}
uplevel #0 [list source [stub::setup $argv]]
exit 0
