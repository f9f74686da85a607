# SPDX-License-Identifier: Apache-2.0
# The card's PCIe functions as a host sees them, whichever IP has them: 4 PFs, and VFs from number 4 on.
namespace eval functions {
  proc device_id {pf} {
    return 9${pf}3F
  }
  proc vf_device_id {pf} {
    return A${pf}3F
  }

  # By which our driver tells the card from other designs around the IP.
  proc subsystem_id {} {
    return 4D52
  }

  # From the PF's own number to that of its first VF; 0 for one without.
  proc first_vf_offset {board pf} {
    set vfs [dict get $board vfs]
    if {[lindex $vfs $pf] == 0} {
      return 0
    }
    return [expr {4 - $pf + [tcl::mathop::+ {*}[lrange $vfs 0 $pf-1]]}]
  }
}
