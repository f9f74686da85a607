# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""The card's registers, mapped: by /dev/mem on the card's ARM side, by BAR2 on its host."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Protocol

from meridian_selftest import system
from meridian_selftest.card import ArmCard, HostCard

#: Bytes of the card's registers that both sides see, and where they begin in BAR2 (docs/registers.md).
BYTES, BAR2_OFFSET = 0x10000, 0x100000


class NotReachable(Exception):
    """The kernel does not let a program have the registers, and what to do about it."""


class Registers32(Protocol):
    """32-bit registers by their address as the ARM side has it."""

    def read(self, address: int) -> int: ...

    def write(self, address: int, value: int) -> None: ...


class Window:
    """A part of a file that is mapped."""

    def __init__(self, path: Path, offset: int) -> None:
        handle = os.open(path, os.O_RDWR | os.O_SYNC)
        try:
            self._map = mmap.mmap(handle, BYTES, offset=offset)
        finally:
            os.close(handle)
        self._bytes = memoryview(self._map)
        self._words = self._bytes.cast("I")

    def close(self) -> None:
        self._words.release()
        self._bytes.release()
        self._map.close()

    def read(self, address: int) -> int:
        return self._words[address // 4]

    def write(self, address: int, value: int) -> None:
        self._words[address // 4] = value


def _arm_address(device: Path) -> int:
    """Of the first part of the device's property reg; its parent tells how many cells of 4 bytes an address has."""
    # The kernel follows of_node, which is a link, before it goes up.
    cells = int.from_bytes((device / "of_node/../#address-cells").read_bytes(), "big")
    return int.from_bytes((device / "of_node/reg").read_bytes()[: 4 * cells], "big")


def window_of(card: HostCard | ArmCard) -> Window:
    """Raises NotReachable."""
    if isinstance(card, HostCard):
        driver = card.pfs[0].path / "driver"
        path, offset = card.pfs[0].path / "resource2", BAR2_OFFSET
    else:
        device = system.ROOT / "sys/bus/platform/devices" / card.name
        driver = device / "driver"
        path, offset = system.ROOT / "dev/mem", _arm_address(device)
    try:
        return Window(path, offset)
    except OSError as error:
        raise NotReachable(
            f"the kernel does not map the card's registers ({path}: {error.strerror}). It refuses that while a driver has "
            f"them if it is built with CONFIG_IO_STRICT_DEVMEM: boot with iomem=relaxed, or take the driver off by "
            f"'echo {card.name} >{driver}/unbind' and put it back by bind afterwards. Secure Boot refuses it always"
        ) from None
