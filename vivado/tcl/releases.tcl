# SPDX-License-Identifier: Apache-2.0
# What differs from Vivado release to release. The only place: no other file names a version.
#
# Versions of an IP are those that create_ip takes when it is given none; several where it is not known which. Those of
# 2024.1, and which of 5.0 and 5.1 a 2025.x has of xxv_ethernet, are unverified.
namespace eval releases {
  variable table {
    2023.2 {qdma 5.0 xxv_ethernet 4.1 clk_wiz 6.0 zynq_ultra_ps_e 3.5 pcie4_uscale_plus 1.3}
    2024.1 {qdma 5.0 xxv_ethernet 4.1 clk_wiz 6.0 zynq_ultra_ps_e 3.5 pcie4_uscale_plus 1.3}
    2024.2 {qdma 5.0 xxv_ethernet 4.1 clk_wiz 6.0 zynq_ultra_ps_e 3.5 pcie4_uscale_plus 1.3}
    2025.1 {qdma 5.1 xxv_ethernet {5.0 5.1} clk_wiz 6.0 zynq_ultra_ps_e 3.5 pcie4_uscale_plus 1.3}
    2025.2 {qdma 5.1 xxv_ethernet {5.0 5.1} clk_wiz 6.0 zynq_ultra_ps_e 3.5 pcie4_uscale_plus 1.3}
  }

  # The row of the Vivado that runs: update releases (2024.2.2) are their release.
  proc current {} {
    variable table
    set version [version -short]
    set release [join [lrange [split $version .] 0 1] .]
    if {![dict exists $table $release]} {
      error "Vivado $version is not known here: use one of [dict keys $table],\
        or add a row to vivado/tcl/releases.tcl and run make check-vivado"
    }
    return $release
  }

  # That the IP catalogue has the version of an IP that this release should have.
  proc check_ip {release ip} {
    variable table
    set wanted [dict get $table $release $ip]
    set found {}
    foreach definition [get_ipdefs -all xilinx.com:ip:$ip:*] {
      lappend found [lindex [split $definition :] 3]
    }
    if {$found eq {}} {
      error "this Vivado has no IP $ip: install it, or see the board's README for the edition and licences it needs"
    }
    foreach version $found {
      if {$version in $wanted} {
        return
      }
    }
    error "Vivado $release has $ip $found, vivado/tcl/releases.tcl says $wanted:\
      compare ports and properties of the IP, then correct the row"
  }
}
