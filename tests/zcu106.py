# SPDX-License-Identifier: Apache-2.0
"""What the shell's generator is told for the ZCU106, which differs from the default."""

from __future__ import annotations

#: The board has ports of 10G and a host clock of 125 MHz, as vivado/boards/zcu106 says.
ZCU106 = ("--ports", "2", "--line-rate", "10", "--host-bytes", "32", "--host-mhz", "125", "--functions", "16")
