# SPDX-License-Identifier: Apache-2.0
"""A shell whose first two PFs have two VFs each: 4 and 5, and 6 and 7. Tests that need any of it share it."""

from __future__ import annotations

TWO_PFS = ("--functions", "8", "--vfs", "2,2,0,0")  # our own DMA engine alone is made with the VFs of each PF
OF_TWO_PORTS = ("--ports", "2", *TWO_PFS)
