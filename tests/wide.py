# SPDX-License-Identifier: Apache-2.0
"""A shell with two ports, 512 bit and 20 functions. Tests that need two ports share it, so that it is built once."""

from __future__ import annotations

WIDE = ("--ports", "2", "--host-bytes", "64", "--functions", "20")
