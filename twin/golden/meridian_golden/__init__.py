# SPDX-License-Identifier: Apache-2.0
"""Reference model of the shell's decisions, written from the design text and never from the RTL.

It says who gets a frame and why a frame drops. It knows no clocks: what depends on timing (a buffer that overflows, a
copy that is cut, a frame over a limit) is for the caller to account for from the counters and times.
"""
