# SPDX-License-Identifier: Apache-2.0
"""A shell with two ports, 512 bit, 20 functions and segmentation. Tests that need any of it share it: it is built once."""

from __future__ import annotations

WIDE = ("--ports", "2", "--host-bytes", "64", "--functions", "20", "--segmentation", "true")
