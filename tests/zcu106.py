# SPDX-License-Identifier: Apache-2.0
"""Options of the shell's generator for boards that differ from the default."""

from __future__ import annotations

#: Of vivado/boards/zcu106: ports of 10G and a host clock of 125 MHz.
ZCU106 = ("--ports", "2", "--line-rate", "10", "--host-bytes", "32", "--host-mhz", "125", "--functions", "16")
