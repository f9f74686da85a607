# SPDX-License-Identifier: Apache-2.0
# What the build is given, NAME=VALUE each, and the hashes that tell whether two builds had the same inputs.
namespace eval settings {
  variable meanings {
    board   "name of a folder in vivado/boards"
    rtl     "folder with Shell.v and Shell.crossings.tcl"
    output  "folder for reports and results"
    cache   "folder for IP that is made once"
    hash    "first 32 bits of the git commit, in hexadecimal"
    date    "its date, or that of the newest source, in seconds since 1970"
    file    "settings of a board that needs some, or empty"
    jobs    "threads"
    debug   "1: with logic analysers, 0: without"
    dma      "qdma: with the QDMA IP; meridian: the shell has the DMA engine of our own, at the PCIe block"
    selftest "1: the shell has the self-test, so it has pins to the transceivers; 0: it has not"
  }
  variable values {jobs 2 file {} debug 0 selftest 0 dma qdma}
  variable repository [file dirname [file dirname [file dirname [file normalize [info script]]]]]

  proc parse {arguments} {
    variable meanings
    variable values
    foreach argument $arguments {
      if {![regexp {^([a-z]+)=(.*)$} $argument -> name value] || ![dict exists $meanings $name]} {
        error "unknown argument '$argument': there are [dict keys $meanings], each as NAME=VALUE"
      }
      if {$name in {rtl output cache} || ($name eq "file" && $value ne "")} {
        set value [file normalize $value]
      }
      dict set values $name $value
    }
    dict for {name meaning} $meanings {
      if {![dict exists $values $name]} {
        error "argument $name is missing: $meaning"
      }
    }
    if {![regexp {^[0-9a-f]{8}$} [get hash]]} {
      error "hash is '[get hash]': give 8 hexadecimal digits"
    }
    if {![string is wideinteger -strict [get date]] || [get date] < 0 || [get date] > 0xffffffff} {
      error "date is '[get date]': give seconds since 1970"
    }
    foreach name {debug selftest} {
      if {[get $name] ni {0 1}} {
        error "$name is '[get $name]': give 0 or 1"
      }
    }
  }
  proc get {name} {
    variable values
    return [dict get $values $name]
  }

  # A path without what differs from machine to machine.
  proc shown {path} {
    variable repository
    if {$path eq [get file]} {
      return SETTINGS
    }
    foreach {folder name} [list [get output] OUTPUT [get rtl] RTL [get cache] CACHE $repository REPOSITORY] {
      if {[string first $folder/ $path/] == 0} {
        return "$name[string range $path [string length $folder] end]"
      }
    }
    return $path
  }
}

namespace eval hash {
  # 16 hexadecimal digits of SHA-256.
  proc of {text} {
    return [string range [exec sha256sum << $text] 0 15]
  }
  proc of_file {path} {
    return [string range [exec sha256sum $path] 0 15]
  }

  # Prints what goes into a build, file by file; returns the hash of all.
  proc inputs {files} {
    set lines {}
    foreach path $files {
      lappend lines "[of_file $path] [settings::shown $path]"
    }
    set lines [lsort -index 1 $lines]
    foreach line $lines {
      puts "input: $line"
    }
    set all [of [join $lines \n]]
    puts "inputs: $all"
    return $all
  }
}
