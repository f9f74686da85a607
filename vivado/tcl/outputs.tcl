# SPDX-License-Identifier: Apache-2.0
# What the build is for: bitstream, the same for the FPGA manager of Linux, and the hand-off for the PS's software.
namespace eval outputs {
  proc write {board inputs} {
    set base [file join [settings::get output] meridian-[dict get $board name]]
    set_property BITSTREAM.GENERAL.COMPRESS TRUE [current_design]
    set_property BITSTREAM.CONFIG.USR_ACCESS 0x[settings::get hash] [current_design]
    write_checkpoint -force $base.dcp
    write_bitstream -force $base.bit
    # The words of the configuration port, as the FPGA manager takes them (unverified; bootgen makes .bit.bin of .bit).
    write_cfgmem -force -format BIN -interface SMAPx32 -disablebitswap -loadbit "up 0x0 $base.bit" $base.bin
    write_hw_platform -fixed -force -include_bit -file $base.xsa
    set kinds {bit bin xsa}
    # That of a build before fits no other bitstream.
    file delete $base.ltx
    if {[settings::get debug]} {
      write_debug_probes -force $base.ltx
      lappend kinds ltx
    }
    set out [open $base.txt w]
    puts $out "board [dict get $board name]\nvivado [version -short]\nhash [settings::get hash]"
    puts $out "dma [settings::get dma]"
    puts $out "date [settings::get date]\ninputs $inputs"
    foreach kind $kinds {
      if {![file exists $base.$kind]} {
        error "Vivado wrote no $base.$kind: look for the last error in its log"
      }
      puts $out "$kind [hash::of_file $base.$kind]"
      puts "output: [hash::of_file $base.$kind] [settings::shown $base.$kind]"
    }
    close $out
  }
}
