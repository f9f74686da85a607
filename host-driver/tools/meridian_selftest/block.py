# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Checks that need the self-test block of the shell: a generator and a checker on each stream, and loops in each port.

A bitstream has the block if the bit CAPABILITY of its capabilities is set. What drives it belongs here.
"""

from __future__ import annotations

from .context import Context
from .result import Skip

CAPABILITY = 1 << 19
ABSENT = "this bitstream has no self-test block: build it with --self-test true"
UNKNOWN = "this program does not drive the self-test block yet: take meridian-tools of a newer commit"


def _need_block(context: Context) -> None:
    if not context.dump().word("CAPABILITIES") & CAPABILITY:
        raise Skip(ABSENT)


def pattern(context: Context) -> str:
    """256 MiB of a pattern go by DMA both ways through every queue, without an error."""
    _need_block(context)
    raise Skip(UNKNOWN)


def loops(context: Context) -> str:
    """Frames of 64 to 9600 bytes go round in each loop of each port, without an error."""
    _need_block(context)
    raise Skip(UNKNOWN)
