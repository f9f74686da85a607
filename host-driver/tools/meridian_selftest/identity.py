# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Checks of what the card says of itself: register map, bitstream, board; and of the path to its registers."""

from __future__ import annotations

import re
import time

from . import boards, ethtool
from .block import PATTERN
from .context import Context
from .result import Fail, Skip

#: What the driver tests that has a line of its own here.
ELSEWHERE = ("link", PATTERN)
FIRMWARE = re.compile(r"map (\d+)\.(\d+), build ([0-9a-f]{8})")
DAY = 86400
OTHER_MAP = "Take driver, meridian-tools and bitstream of one commit"


def _compare(context: Context, major: int, minor: int) -> str:
    own = context.map["MAP_MAJOR"], context.map["MAP_MINOR"]
    if major != own[0] or minor < own[1]:
        raise Fail(f"the card's register map is version {major}.{minor}, the driver's is {own[0]}.{own[1]}", OTHER_MAP)
    return f"register map {major}.{minor}, the driver's is {own[0]}.{own[1]}"


def host_map(context: Context) -> str:
    """Magic and version of the register map are the driver's."""
    dump = context.dump()
    magic = dump.word("MAGIC")
    if magic != context.map["MAGIC"]:
        raise Fail(
            f"the card's magic is {magic:#010x}, not {context.map['MAGIC']:#010x}",
            "The card does not answer any more, or has got another bitstream: remove it, and rescan the bus",
        )
    version = dump.word("VERSION")
    fields = (context.map.field(f"IDENT_VERSION_{name}", version) for name in ("MAJOR", "MINOR"))
    return f"magic {magic:#010x}, {_compare(context, *fields)}"


def _firmware(context: Context) -> re.Match[str]:
    """What the ARM side's driver says of the card."""
    if not context.arm.interfaces:
        raise Skip("no driver has made an interface of the card: 'modprobe meridian_ps', and look at 'dmesg'")
    said = ethtool.driver(context.arm.interfaces[0])[2]
    found = FIRMWARE.fullmatch(said)
    if not found:
        raise Fail(f"the driver says {said!r} of the card", OTHER_MAP)
    return found


def arm_map(context: Context) -> str:
    found = _firmware(context)
    return _compare(context, int(found[1]), int(found[2]))


def _hash(number: int) -> str:
    return f"git {number:08x}" if number else "git 00000000 (a tree with changes)"


def arm_bitstream(context: Context) -> str:
    return _hash(int(_firmware(context)[3], 16))


def host_bitstream(context: Context) -> str:
    """The bitstream is of a board that there is, of the one that the user names, and no younger than this day."""
    dump = context.dump()
    built = dump.word("BUILD_DATE")
    if built > time.time() + DAY:
        raise Fail(
            "the bitstream is dated after today", "Set the host's clock; if it is right, build the bitstream again"
        )
    date = time.strftime("%Y-%m-%d", time.gmtime(built)) if built else "without a date"
    found = boards.Board(
        dump.ports, dump.gigabits, dump.ident("GEOMETRY", "HOST_BYTES"), dump.ident("CLOCKS", "HOST_MHZ"), 0, 0
    )
    words = f"{found.ports} port(s) of {found.line_rate} Gb/s, {found.host_bytes} bytes at {found.host_mhz} MHz"
    known = {name: board.without_link() for name, board in boards.all_boards().items()}
    wanted = context.options.board
    if wanted and known[wanted] != found:
        raise Fail(f"the bitstream has {words}, which is not {wanted}", f"Load a bitstream that was built for {wanted}")
    names = [name for name, board in known.items() if board == found]
    whose = " or ".join(names) if names else "no board of the builds (a build of your own, or a simulated card)"
    return f"{words}: {wanted or whose}; {_hash(dump.word('BUILD_HASH'))}, {date}"


def registers(context: Context) -> str:
    """The driver's own tests of registers and tables pass."""
    done: list[str] = []
    for interface in context.host.interfaces or [context.host.first_interface()]:
        results = ethtool.self_test(interface)
        failed = [name for name, error in results.items() if error and name not in ELSEWHERE]
        if failed:
            raise Fail(
                f"'ethtool -t {interface}' fails in {', '.join(failed)}",
                "What was written to the card was not read back: load the bitstream again, and look at PCIe's errors "
                "('lspci -vv', UESta and CESta)",
            )
        done = [name for name in results if name not in ELSEWHERE]
        if not done:
            raise Skip(f"the driver of {interface} has no tests: take driver and meridian-tools of one version")
    return f"what is written is read back: {', '.join(done)}"
