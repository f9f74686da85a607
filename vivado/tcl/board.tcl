# SPDX-License-Identifier: Apache-2.0
# Reads a board's folder. Runs in any tclsh: scripts/bitstream asks it for the shell's options.
#
# board.tcl sets keys by `board KEY VALUE`; values that are the user's come by `[setting NAME MEANING]`. All settings
# that are missing are told at once.
namespace eval boards {
  variable folder [file join [file dirname [file dirname [file normalize [info script]]]] boards]
  # Every key a board has, and what it is.
  variable keys {
    part            "device, package and speed grade"
    totals          "of the device: lut ff bram36 uram"
    ports           "Ethernet ports"
    line_rate       "Gb/s of a port"
    host_bytes      "bytes in a beat of the QDMA streams"
    host_mhz        "clock of the QDMA streams"
    vfs             "VFs of each PF"
    pcie_gen        "generation of the PCIe link: 1, 2 or 3"
    pcie_lanes      "lanes of the PCIe link"
    pcie_block      "site of the PCIe block"
    pcie_quad       "transceiver quad of lane 0"
    eth_gt          "kind of the Ethernet transceivers: GTY or GTH"
    eth_quad        "their quad, in coordinates"
    eth_lanes       "their channels, port 0 first"
    eth_refclk_mhz  "their reference clock"
    pl_clock_mhz    "free running clock that ps_clk is made from"
    pins            "constraints files: pins and timing"
    ps              "Tcl that sets up the PS"
    flash           "kind of its flash memory, in the words of program_flash; empty: not known"
    defines         "Verilog macros of pins that only some boards have"
  }
  # GT/s of a lane by the generation of PCIe, in the words of the IPs.
  variable speeds {1 2.5 2 5.0 3 8.0}
  variable settings {}
  variable missing {}
  variable values {}

  proc names {} {
    variable folder
    set found {}
    foreach file [glob -directory $folder */board.tcl] {
      lappend found [file tail [file dirname $file]]
    }
    return [lsort $found]
  }

  # Settings of the user, from a file of lines NAME=VALUE. Paths in it are relative to the file.
  proc read_settings {file} {
    variable settings
    if {![file readable $file]} {
      error "cannot read the settings file $file"
    }
    set in [open $file]
    set lines [split [read $in] \n]
    close $in
    foreach line $lines {
      set line [string trim $line]
      if {$line eq "" || [string index $line 0] eq "#"} {
        continue
      }
      if {![regexp {^([A-Z][A-Z0-9_]*)=(.+)$} $line -> name value]} {
        error "$file: not NAME=VALUE: $line"
      }
      if {[string match *_FILE $name]} {
        set value [file normalize [file join [file dirname $file] $value]]
      }
      dict set settings $name $value
    }
  }

  # Called by board.tcl.
  proc board {key value} {
    variable keys
    variable values
    if {![dict exists $keys $key]} {
      error "unknown key $key: a board has [dict keys $keys]"
    }
    if {[dict exists $values $key]} {
      error "$key is set twice"
    }
    dict set values $key $value
  }
  proc setting {name meaning} {
    variable settings
    variable missing
    if {[dict exists $settings $name]} {
      return [dict get $settings $name]
    }
    lappend missing $name $meaning
    return ""
  }

  # The dict of a board; an error says what to do about it. `dma`: the DMA engine that it is built with.
  proc describe {name {dma qdma}} {
    variable folder
    variable keys
    variable values
    variable missing
    if {$name ni [names]} {
      error "no board '$name': BOARD is one of [join [names] {, }]"
    }
    set values [dict create name $name folder [file join $folder $name]]
    set missing {}
    source [file join $folder $name board.tcl]
    if {$missing ne {}} {
      set lines {}
      foreach {setting meaning} $missing {
        lappend lines "  $setting=...  $meaning"
      }
      error "board $name needs what is not public; write it into a file and give it as SETTINGS=file:\n[join $lines \n]"
    }
    foreach key [dict keys $keys] {
      if {![dict exists $values $key]} {
        error "board $name: $key is not set ([dict get $keys $key])"
      }
    }
    check $values
    if {$dma ni {qdma meridian}} {
      error "no DMA engine '$dma': DMA is qdma or meridian"
    }
    if {$dma eq "meridian"} {
      check_engine $values
    }
    return $values
  }

  proc check {board} {
    variable speeds
    dict with board {
      if {![dict exists $speeds $pcie_gen]} {
        error "board $name: pcie_gen is '$pcie_gen', one of [dict keys $speeds] is known"
      }
      if {$ports != [llength $eth_lanes]} {
        error "board $name: $ports ports and [llength $eth_lanes] lanes"
      }
      if {$ports ni {1 2 4}} {
        error "board $name: $ports ports; the wrappers have 1, 2 or 4"
      }
      if {[llength $vfs] != 4} {
        error "board $name: vfs is '$vfs', one number for each of 4 PFs"
      }
      if {$eth_gt eq "GTH" && $line_rate != 10} {
        error "board $name: GTH transceivers do 10 Gb/s, line_rate is $line_rate"
      }
      foreach file [concat $pins $ps] {
        if {![file readable [file join $folder $file]]} {
          error "board $name: cannot read [file join $folder $file]"
        }
      }
    }
  }

  # GT/s of a lane, as the IPs have it.
  proc link_speed {board} {
    variable speeds
    return [dict get $speeds [dict get $board pcie_gen]]_GT/s
  }

  # Whether the board can have the DMA engine of our own.
  proc check_engine {board} {
    dict with board {
      if {$host_bytes != 32 || $host_mhz != 250} {
        error "board $name: the DMA engine meridian takes 32 bytes at 250 MHz, and the PCIe block of this board gives\
          $host_bytes bytes at $host_mhz MHz with its $pcie_lanes lanes: build it with DMA=qdma"
      }
      if {0 in $vfs} {
        error "board $name: vfs is '$vfs'; the PCIe block wants at least one VF of each PF (PG213, SRIOV Config Tab)"
      }
    }
  }
  proc engines {board} {
    return [expr {[catch {check_engine $board}] ? {qdma} : {qdma meridian}}]
  }

  # PFs are functions 0 to 3, VFs from 4 on.
  proc functions {board} {
    return [expr {4 + [tcl::mathop::+ {*}[dict get $board vfs]]}]
  }

  # Options for the shell's generator.
  # With the self-test, the QDMA IP's shell knows whose VFs are whose, too.
  proc generator_options {board dma selftest} {
    dict with board {
      set options [list --ports $ports --line-rate $line_rate --host-bytes $host_bytes --host-mhz $host_mhz \
        --functions [functions $board]]
      if {$dma eq "meridian"} {
        lappend options --dma meridian --vfs [join $vfs ,]
      } elseif {$selftest} {
        lappend options --vfs [join $vfs ,]
      }
      return [join $options]
    }
  }
}

# tclsh board.tcl BOARD [SETTINGS [DMA [SELFTEST]]]: the options of the shell's generator for a board.
if {[info exists argv0] && [file normalize $argv0] eq [file normalize [info script]]} {
  if {[catch {
    if {[lindex $argv 1] ne ""} {
      boards::read_settings [lindex $argv 1]
    }
    set dma [expr {[llength $argv] > 2 ? [lindex $argv 2] : {qdma}}]
    set selftest [expr {[llength $argv] > 3 ? [lindex $argv 3] : 0}]
    puts [boards::generator_options [boards::describe [lindex $argv 0] $dma] $dma $selftest]
  } message]} {
    puts stderr $message
    exit 1
  }
}
