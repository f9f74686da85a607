# SPDX-License-Identifier: Apache-2.0
# Asks a Vivado for what the build and its check infer from public text: vivado -mode batch -source vivado/probe.tcl
# -tclargs board=NAME output=FOLDER file=SETTINGS. Writes FOLDER/probe.txt, a fact a line; check/probe.py compares it
# with check/facts. Builds no IP and no bitstream. A step that fails is written down as `error`, and the rest goes on.
set tcl [file join [file dirname [file normalize [info script]]] tcl]
foreach part {settings releases board ip functions qdma pcie ethernet clocking ps crossings gate implement} {
  source [file join $tcl $part.tcl]
}

namespace eval probe {
  variable check [file join [file dirname $::tcl] check]
  variable facts {}

  proc fact {args} {
    variable facts
    lappend facts [join $args { }]
  }
  # Runs a step; what fails is a fact, too.
  proc step {name script} {
    puts "probe: $name"
    if {[catch {uplevel 1 $script} message]} {
      fact error $name [string map [list \n { }] $message]
    }
  }
  proc lines {path} {
    set in [open $path]
    set all [split [read $in] \n]
    close $in
    return $all
  }

  proc commands {} {
    variable check
    foreach line [lines [file join $check facts commands.txt]] {
      if {[regexp {^[a-z]\w*} $line name]} {
        fact command $name [expr {[info commands ::$name] ne {}}]
      }
    }
  }

  proc definitions {} {
    foreach name {qdma pcie4_uscale_plus xxv_ethernet clk_wiz zynq_ultra_ps_e axi_interconnect} {
      foreach definition [get_ipdefs -all xilinx.com:ip:$name:*] {
        fact ipdef $name [lindex [split $definition :] 3]
      }
    }
  }

  # Names and values of an object's properties; what it does not take of the build's settings.
  proc properties {ip object steps} {
    foreach name [list_property $object] {
      if {[string match CONFIG.* $name]} {
        fact property $ip [string range $name 7 end]
      }
    }
    if {[catch {ip::configure $object $ip $steps} message]} {
      fact error "settings of $ip" [string map [list \n { }] $message]
    }
    foreach name [list_property $object] {
      if {[string match CONFIG.* $name] && ![catch {list_property_value $name $object} values] && $values ne {}} {
        fact values $ip [string range $name 7 end] [join $values |]
      }
    }
  }

  # An IP as the build makes it, up to the template that shows its ports.
  proc instance {folder name module steps} {
    create_ip -name $name -vendor xilinx.com -library ip -module_name $module -dir $folder
    set object [get_ips $module]
    properties $name $object $steps
    fact licence $module [ip::licence $module]
    generate_target instantiation_template $object
    foreach line [lines [file join $folder $module $module.veo]] {
      if {[regexp {//\s*(input|output)\s+wire\s+(?:\[\s*(\d+)\s*:\s*(\d+)\s*\]\s*)?(\w+)} $line -> way high low port]} {
        fact port $module $way $port [expr {$high eq {} ? 1 : $high - $low + 1}]
      }
    }
    return $object
  }

  # Which quads each PCIe block of the device reaches with the board's lanes.
  proc blocks {object} {
    foreach block [list_property_value CONFIG.pcie_blk_locn $object] {
      set_property -dict [list CONFIG.pcie_blk_locn $block] $object
      foreach quad [list_property_value CONFIG.select_quad $object] {
        fact pcie_site $block $quad
      }
    }
  }

  proc processing_system {board} {
    source [file join [dict get $board folder] [dict get $board ps]]
    create_bd_design probe_ps
    set zynq [create_bd_cell -type ip -vlnv xilinx.com:ip:zynq_ultra_ps_e zynq]
    properties zynq_ultra_ps_e $zynq [list $ps_preset $ps::needed]
    fact memory [ps::ddr_bytes $ps_preset]
    foreach segment {HP0_DDR_LOW HP0_DDR_HIGH} {
      fact segment $segment [expr {[get_bd_addr_segs -quiet zynq/SAXIGP2/$segment] ne {}}]
    }
  }

  # Transceivers behind the board's pins, by an empty design of the device.
  proc sites {board} {
    link_design -part [dict get $board part]
    foreach file [dict get $board pins] {
      foreach line [lines [file join [dict get $board folder] $file]] {
        set pin {PACKAGE_PIN (\w+) \[get_ports \{?((?:eth|pcie)_[rt]xp\[\d+\])\}?\]}
        if {[regexp $pin $line -> pin port]} {
          fact site $port [get_sites -quiet -of_objects [get_package_pins -quiet $pin]]
        }
      }
    }
  }

  # A design of a few crossings: what report_cdc calls them, how it writes them, and whether waivers take them away.
  proc crossings {board folder} {
    variable check
    read_verilog [file join $check probe.v]
    synth_design -top probe -part [dict get $board part] -flatten_hierarchy rebuilt
    foreach clock {a b} {
      create_clock -period [expr {$clock eq {a} ? 4.0 : 2.56}] -name $clock [get_ports clk_$clock]
    }
    foreach state {before after} {
      report_cdc -details -file [file join $folder probe_cdc_$state.rpt]
      foreach finding [gate::cdc_findings [gate::report $folder probe_cdc_$state.rpt]] {
        lassign $finding rule severity from to
        fact cdc $state $rule $severity $from $to
      }
      if {$state eq "before"} {
        create_waiver -type CDC -id CDC-1 -description "Meridian: a probe." \
          -from [get_pins bit_a_reg/C] -to [get_pins bit_b_reg/D]
      }
    }
  }

  # Messages that the build makes errors of, by number: how often Vivado gave each for a mistake made on purpose.
  proc messages {} {
    catch {get_ports -quiet no_such_port}
    catch {get_ports no_such_port}
    foreach id [array names implement::mistakes] {
      fact message [string map [list { } _] $id] [get_msg_config -id $id -count]
    }
  }

  proc run {arguments} {
    variable facts
    settings::parse [concat {rtl=. cache=. hash=00000000 date=0} $arguments]
    if {[settings::get file] ne ""} {
      boards::read_settings [settings::get file]
    }
    set board [boards::describe [settings::get board]]
    set folder [settings::get output]
    file mkdir $folder
    foreach key {name part ports pcie_lanes host_bytes pcie_block pcie_quad eth_lanes} {
      fact board $key [dict get $board $key]
    }
    fact board engines [boards::engines $board]
    fact release [version -short]
    step commands {commands}
    step definitions {definitions}
    set scratch [file join $folder probe]
    file delete -force $scratch
    file mkdir $scratch
    create_project -in_memory -part [dict get $board part]
    step "QDMA" {
      set steps [list [qdma::link $board] [qdma::streams $board] [qdma::virtual $board] [qdma::functions $board]]
      blocks [instance $scratch qdma qdma_0 $steps]
    }
    if {"meridian" in [boards::engines $board]} {
      step "PCIe block" {instance $scratch pcie4_uscale_plus pcie4_uscale_plus_0 [pcie::steps $board]}
    }
    step "Ethernet" {instance $scratch xxv_ethernet xxv_ethernet_0 [ethernet::steps $board]}
    step "clocks" {instance $scratch clk_wiz clk_wiz_0 [clocking::steps $board]}
    step "PS" {processing_system $board}
    step "sites" {sites $board}
    step "crossings" {crossings $board $folder}
    step "messages" {messages}
    set out [open [file join $folder probe.txt] w]
    puts $out [join $facts \n]
    close $out
    puts "probe: [llength $facts] facts in [file join $folder probe.txt]"
  }
}

if {[catch {probe::run $argv} message options]} {
  puts stderr "probe: $message"
  if {[info exists env(MERIDIAN_DEBUG)]} {
    puts stderr [dict get $options -errorinfo]
  }
  exit 1
}
