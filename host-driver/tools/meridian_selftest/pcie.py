# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Checks of the card's place on the PCIe bus: memory, link, sizes of packets."""

from __future__ import annotations

import re
from pathlib import Path

from . import boards, ethtool, system
from .card import HOST_DRIVER, Function
from .context import Context
from .result import Fail, Skip

#: Least bytes of each BAR of a PF, as in meridian_main.c.
BARS = {0: 256 << 10, 2: 4 << 20}
#: Of a line of `resource` (include/linux/ioport.h).
UNSET = 0x20000000
CAPABILITIES, EXPRESS = 0x34, 0x10
#: As many capabilities as there is room for, as in Linux.
MOST_CAPABILITIES = 48
NO_ADDRESS = (
    "the port above has too small a window: restart the host with the card loaded, or start its kernel with pci=realloc"
)


def amount(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def driver(context: Context) -> str:
    """Every PF has its driver and an interface."""
    without = [pf.address for pf in context.host.pfs if not pf.driver]
    if without:
        raise Fail(
            f"no driver is bound to {', '.join(without)}",
            "Load it: 'modprobe meridian'; if it refuses the card, 'dmesg | grep meridian' says why",
        )
    others = [f"{pf.address} ({pf.driver})" for pf in context.host.pfs if pf.driver != HOST_DRIVER]
    if len(others) == len(context.host.pfs):
        raise Skip(f"another driver has {', '.join(others)}: bind the PFs to {HOST_DRIVER} for all checks")
    silent = [pf.address for pf in context.host.pfs if pf.driver == HOST_DRIVER and not pf.interface]
    if silent:
        raise Fail(f"{', '.join(silent)} has a driver and no interface", "'dmesg | grep meridian' says why")
    for interface in context.host.interfaces:
        try:
            ethtool.driver(interface)
        except ethtool.Detached as error:
            raise Fail(
                f"{error}: the driver resets it, or has given the card up", "'dmesg | grep meridian' says why"
            ) from None
    return f"{HOST_DRIVER} has {', '.join(context.host.interfaces)}" + (
        f"; left: {', '.join(others)}" if others else ""
    )


def _sizes(function: Function) -> dict[int, tuple[int, bool]]:
    """Bytes of each BAR and whether it has an address."""
    found = {}
    for bar, line in enumerate(system.read(function.path / "resource").splitlines()[:6]):
        start, end, flags = (int(word, 16) for word in line.split())
        if end > start:
            found[bar] = end - start + 1, bool(start) and not flags & UNSET
    return found


def bars(context: Context) -> str:
    """The memory of each PF has the size that the driver wants, and an address."""
    for pf in context.host.pfs:
        sizes = _sizes(pf)
        for bar, least in BARS.items():
            size, has_address = sizes.get(bar, (0, False))
            if size and not has_address:
                raise Fail(f"BAR{bar} of {pf.address} has no address", NO_ADDRESS[0].upper() + NO_ADDRESS[1:])
            if size < least:
                raise Fail(
                    f"BAR{bar} of {pf.address} has {amount(size)}, the driver needs {amount(least)}",
                    "The bitstream is another design, or its QDMA IP has other settings: load ours",
                )
    described = " and ".join(f"BAR{bar} of {amount(least)}" for bar, least in BARS.items())
    return f"{described}, with addresses, on {len(context.host.pfs)} PF(s)"


def _link(path: Path, which: str) -> tuple[float, int]:
    """GT/s and lanes, 0 where the kernel does not know them."""
    speed = re.match(r"[\d.]+", system.read(path / f"{which}_link_speed"))
    return float(speed[0]) if speed else 0.0, system.number(path / f"{which}_link_width")


def _above(function: Function) -> Path:
    """The port that the card is plugged into."""
    return function.path.resolve().parent


def _words(speed: float, width: int) -> str:
    return f"x{width} at {speed:g} GT/s"


def link(context: Context) -> str:
    """The link is as fast and wide as card and slot can, and as the board is made."""
    pf = context.host.pfs[0]
    now, best = _link(pf.path, "current"), _link(pf.path, "max")
    if not all(now) or not all(best):
        raise Skip("the kernel knows no speed of the link: 'lspci -vv' may, see LnkSta")
    slot = _link(_above(pf), "max")
    can = tuple(min(own, other) if other else own for own, other in zip(best, slot))
    if now < can or now[1] < can[1]:
        raise Fail(
            f"the link has {_words(*now)}, card and slot can {_words(*can)}",
            "Reseat the card, take out risers, and look whether the firmware divides the slot's lanes",
        )
    if not context.options.board:
        return f"{_words(*now)}, as card and slot can"
    _compare(context.options.board, now, best)
    return f"{_words(*now)}, as card, slot and the board {context.options.board} can"


def _compare(name: str, now: tuple[float, int], best: tuple[float, int]) -> None:
    """The link with what a board has. best: that the card says it can."""
    board = boards.all_boards()[name]
    speed, width = board.gigatransfers, board.lanes
    if best[0] < speed or best[1] < width:
        raise Fail(
            f"the card says that it can {_words(*best)}, the board {name} has {width} lanes at {speed:g} GT/s",
            f"Load a bitstream that was built for {name}",
        )
    if now[1] < width:
        raise Fail(f"the link has {_words(*now)}, the board {name} has {width} lanes", "Take a slot with as many lanes")
    if now[0] < speed:
        raise Fail(
            f"the link has {_words(*now)}, the board {name} can {speed:g} GT/s",
            f"Take a slot of generation {board.generation}, and look whether the firmware limits the speed",
        )


def _express(path: Path) -> tuple[int, int, int]:
    """Bytes of the largest packet that a device can, that it may send, and of its largest read."""
    data = (path / "config").read_bytes()
    if data.startswith(b"\xff\xff"):
        raise Fail(
            f"{path.name} does not answer",
            f"Remove it ('echo 1 >{path}/remove'), and rescan the bus ('echo 1 >/sys/bus/pci/rescan')",
        )
    at = data[CAPABILITIES]
    for _ in range(MOST_CAPABILITIES):
        if not at or at + 10 > len(data):
            break
        if data[at] == EXPRESS:
            can, control = data[at + 4] & 7, int.from_bytes(data[at + 8 : at + 10], "little")
            return 128 << can, 128 << (control >> 5 & 7), 128 << (control >> 12 & 7)
        at = data[at + 1]
    raise Skip(f"{path.name} shows no PCI Express capability")


def payload(context: Context) -> str:
    """MPS of card and port are equal, and MRRS is no smaller."""
    above = _above(context.host.pfs[0])
    if not ((above / "config").exists() and (above / "vendor").exists()):
        raise Skip("there is no port above the card on this machine's bus")
    can_above, mps_above, _ = _express(above)
    for pf in context.host.pfs:
        can, mps, mrrs = _express(pf.path)
        if mps != mps_above:
            raise Fail(
                f"MPS of {pf.address} is {mps} bytes, that of the port above is {mps_above}",
                "One of them takes the other's packets as malformed: start the kernel with pci=pcie_bus_safe",
            )
        if mrrs < mps:
            raise Fail(
                f"MRRS of {pf.address} is {mrrs} bytes, below its MPS of {mps}",
                f"Set 512 bytes: 'setpci -s {pf.address} CAP_EXP+8.w=2000:7000'",
            )
    most = min(can, can_above)
    more = f"; {most} are possible with pci=pcie_bus_safe" if most > mps else ""
    return f"MPS {mps} bytes as the port above, MRRS {mrrs} bytes{more}"
