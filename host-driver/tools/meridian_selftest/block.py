# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Checks that need the self-test block of the shell: a generator and a checker on each stream, and loops in each port.

A bitstream has the block if the bit CAPABILITY of its capabilities is set. The kernel's driver drives it, as no program
may map BAR2 meanwhile: 'ethtool -t INTERFACE offline'. The driver says in the kernel's log what it has found.
"""

from __future__ import annotations

import re

from . import changes, ethtool, system
from .context import Context
from .result import Fail, Skip

CAPABILITY = 1 << 19
ABSENT = "this bitstream has no self-test block: build it with --self-test true"
UNKNOWN = "this program does not drive the loops of the self-test block yet: take meridian-tools of a newer commit"
OLD_DRIVER = "the driver does not know the self-test block: take driver and meridian-tools of one commit"
#: The driver's result, and what its sentences look like.
PATTERN = "dma_pattern"
GOOD = re.compile(r"(\d+) bytes in (\d+) frames of .* each way through (\d+) queues in (\d+) ms")
LEFT_OUT = "left out"


def _need_block(context: Context) -> None:
    if not context.dump().word("CAPABILITIES") & CAPABILITY:
        raise Skip(ABSENT)


def _sentence(log: str, interface: str) -> str:
    """The driver's last in the kernel's log."""
    found = re.findall(rf" {re.escape(interface)}: self-test: (.*)", log)
    return found[-1] if found else ""


def judged(interface: str, error: int | None, said: str) -> str:
    """What a result of the driver and its sentence come to."""
    if error is None:
        raise Skip(OLD_DRIVER)
    if error:
        reason, _, remedy = said.rpartition(": ")
        if not reason:
            reason, remedy = f"'ethtool -t {interface} offline' fails (error {error})", "'dmesg' has the reason"
        raise Fail(f"{interface}: {reason}", remedy[:1].upper() + remedy[1:])
    if LEFT_OUT in said:
        raise Skip(f"{interface}: {said}")
    found = GOOD.search(said)
    if not found:
        return f"{interface} good ('dmesg' has how much)"
    count, frames, queues, milliseconds = found.groups()
    return f"{interface} {count} bytes in {frames} frames through {queues} queue(s) in {milliseconds} ms"


def _pattern_of(interface: str) -> str:
    with changes.interface_up(interface), system.kernel_log() as log:
        error = ethtool.self_test(interface, offline=True).get(PATTERN)
        return judged(interface, error, _sentence(log(), interface))


def pattern(context: Context) -> str:
    """256 MiB of a pattern, or as much as goes in 2 s, go by DMA both ways through every queue, without an error."""
    _need_block(context)
    interfaces = context.host.interfaces or [context.host.first_interface()]
    context.may_disturb("takes the traffic of each interface away for about 2 s")
    return f"a pattern went each way without an error: {', '.join(_pattern_of(interface) for interface in interfaces)}"


def loops(context: Context) -> str:
    """Frames of 64 to 9600 bytes go round in each loop of each port, without an error."""
    _need_block(context)
    raise Skip(UNKNOWN)
