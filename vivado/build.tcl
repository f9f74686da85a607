# SPDX-License-Identifier: Apache-2.0
# Builds the bitstream of a board, without a project: vivado -mode batch -source vivado/build.tcl -tclargs NAME=VALUE
# and so on (scripts/bitstream). Arguments: tcl/settings.tcl.
set tcl [file join [file dirname [file normalize [info script]]] tcl]
foreach part {
  settings releases board ip functions qdma pcie ethernet clocking ps crossings gate waivers debug implement outputs
} {
  source [file join $tcl $part.tcl]
}

proc build {arguments} {
  settings::parse $arguments
  if {[settings::get file] ne ""} {
    boards::read_settings [settings::get file]
  }
  set board [boards::describe [settings::get board] [settings::get dma]]
  set release [releases::current]
  puts "board [dict get $board name] ([dict get $board part]), Vivado [version -short]"
  set files [concat [implement::sources] [glob -directory $implement::wrappers *.svh] [glob -directory $::tcl *.tcl]]
  lappend files [file join [settings::get rtl] Shell.crossings.tcl] {*}[implement::headers]
  if {[settings::get file] ne ""} {
    lappend files [settings::get file]
  }
  foreach file [concat board.tcl [dict get $board pins] [dict get $board ps]] {
    lappend files [file join [dict get $board folder] $file]
  }
  set inputs [hash::inputs $files]

  create_project -in_memory -part [dict get $board part]
  set_param general.maxThreads [settings::get jobs]
  file mkdir [settings::get output] [settings::get cache]
  if {[settings::get dma] eq "meridian"} {
    pcie::create $release $board
  } else {
    qdma::create $release $board
  }
  ethernet::create $release $board
  clocking::create $release $board
  ps::create $release $board

  implement::synthesise $board
  implement::constrain $board
  set reports [file join [settings::get output] reports]
  waivers::create $reports synthesised
  implement::check_lanes $board
  if {[settings::get debug]} {
    debug::insert $board
  }
  implement::place_and_route
  waivers::create $reports routed
  implement::reports $reports
  gate::check $reports [dict get $board totals]
  outputs::write $board $inputs
}

if {[catch {build $argv} message options]} {
  puts stderr "build: $message"
  if {[info exists env(MERIDIAN_DEBUG)]} {
    puts stderr [dict get $options -errorinfo]
  }
  exit 1
}
