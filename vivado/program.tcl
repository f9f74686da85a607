# SPDX-License-Identifier: Apache-2.0
# Loads a bitstream by JTAG: vivado -source vivado/program.tcl -tclargs BITSTREAM SERVER
proc program {bitstream server} {
  open_hw_manager
  connect_hw_server -url $server
  open_hw_target
  # A ZynqMP shows as its debug port and as the device itself.
  set devices [get_hw_devices -quiet xczu*]
  if {[llength $devices] != 1} {
    error "found '$devices' at $server: exactly one card has to be there, powered and with its JTAG cable"
  }
  current_hw_device $devices
  set_property PROGRAM.FILE $bitstream $devices
  # Of a build with logic analysers.
  set probes [file rootname $bitstream].ltx
  if {[file exists $probes]} {
    set_property PROBES.FILE $probes $devices
    set_property FULL_PROBES.FILE $probes $devices
  }
  program_hw_devices $devices
  refresh_hw_device $devices
  close_hw_manager
  puts "programmed $devices with $bitstream"
}
if {[catch {program [lindex $argv 0] [lindex $argv 1]} message]} {
  puts stderr "program: $message"
  exit 1
}
