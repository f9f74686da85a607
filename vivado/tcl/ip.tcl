# SPDX-License-Identifier: Apache-2.0
# Creates IP out of context, once for each content, and reads back every property it has set.
namespace eval ip {

  # Sets properties of an IP or of a cell in steps, as some reset others, then compares all of them with what was asked
  # for. Vivado takes a value that it does not like with a warning, or leaves the property as it was.
  proc configure {object what steps} {
    set asked {}
    foreach step $steps {
      set list {}
      dict for {name value} $step {
        lappend list CONFIG.$name $value
        dict set asked $name $value
      }
      set_property -dict $list $object
    }
    set wrong {}
    dict for {name value} $asked {
      set is [get_property CONFIG.$name $object]
      if {![same $is $value]} {
        lappend wrong "  $name is '$is', asked for '$value'[allowed $object $name]"
      }
    }
    if {$wrong ne {}} {
      error "$what does not take what it was given:\n[join $wrong \n]"
    }
  }

  # Numbers may come back in another notation, words in another case.
  proc same {is asked} {
    if {[string equal -nocase $is $asked]} {
      return 1
    }
    return [expr {[string is double -strict $is] && [string is double -strict $asked] && $is == $asked}]
  }
  proc allowed {object name} {
    if {[catch {list_property_value CONFIG.$name $object} values] || $values eq {}} {
      return ""
    }
    return ", allowed: $values"
  }

  # A property that not every version of an IP has.
  proc has {object name} {
    return [expr {"CONFIG.$name" in [list_property $object]}]
  }

  # What the licence of an IP's module allows now, in the words of report_ip_status: Included, Purchased,
  # Hardware_Evaluation or Design_Linking; several if its parts differ, `unknown` if Vivado says none.
  proc licence {module} {
    set words {}
    foreach line [split [report_ip_status -license_status -return_string] \n] {
      if {[string first $module $line] >= 0} {
        lappend words {*}[regexp -all -inline {Included|Purchased|Hardware_Evaluation|Design_Linking} $line]
      }
    }
    return [expr {$words eq {} ? {unknown} : [lsort -unique $words]}]
  }

  # An IP `name` as module `module`: from the cache, or made. `steps` are dicts of properties in the order they are
  # to be set, `optional` a dict of those that are set where they exist.
  proc create {release part name module steps {optional {}}} {
    releases::check_ip $release $name
    set key [hash::of [list $release $part $name $module $steps $optional]]
    set folder [file join [settings::get cache] $module-$key]
    set xci [file join $folder $module $module.xci]
    set complete [file join $folder complete]
    if {[file exists $complete]} {
      read_ip $xci
      set in [open $complete]
      set made_with [string trim [read $in]]
      close $in
      if {[licence $module] eq $made_with} {
        puts "ip: $module from [settings::shown $folder], licence $made_with"
        return
      }
      # What was synthesised with an evaluation licence stops after hours, whatever licence there is later.
      puts "ip: $module was made with the licence $made_with and now has [licence $module]: it is made anew"
      remove_files [get_files $xci]
    }
    puts "ip: $module is made in [settings::shown $folder]"
    file delete -force $folder
    file mkdir $folder
    create_ip -name $name -vendor xilinx.com -library ip -module_name $module -dir $folder
    set object [get_ips $module]
    set all $steps
    dict for {property value} $optional {
      if {[has $object $property]} {
        lappend all [dict create $property $value]
      }
    }
    configure $object "IP $name" $all
    set licence [licence $module]
    if {"Design_Linking" in $licence} {
      error "IP $name has a licence of the kind Design_Linking, with which Vivado writes no bitstream:\
        get one that is Purchased, or for evaluation Hardware_Evaluation"
    }
    generate_target all $object
    synth_ip $object
    set out [open $complete w]
    puts $out $licence
    close $out
    puts "ip: $module, licence $licence"
  }
}
