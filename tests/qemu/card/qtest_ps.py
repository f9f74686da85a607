# SPDX-License-Identifier: Apache-2.0
"""The card in the PL of QEMU's PS machine as a link: drivers of meridian_twin run on it, through QEMU's own device."""

from __future__ import annotations

from pathlib import Path

from meridian_machine.ps_hardware import with_card
from meridian_twin import Role
from qtest import RAM, Qtest

WINDOW = 0xA000_0000
SPI = 89
GIC = "/machine/soc/gic"


class GuestMemory:
    """Memory of the machine by QEMU's hands, as the test cannot reach it."""

    base, size = 0, RAM

    def __init__(self, link: QtestPs) -> None:
        self._link = link

    def read(self, address: int, count: int) -> bytes:
        return bytes.fromhex(self._link._ask(f"read {address:#x} {count:#x}")[0][2:].decode())

    def write(self, address: int, data: bytes) -> None:
        self._link._ask(f"write {address:#x} {len(data):#x} 0x{data.hex()}")

    def close(self) -> None:
        """Belongs to the link."""


class QtestPs(Qtest):
    """Offers what `meridian_twin.Ps` asks of a link. shared: the card may map the machine's memory."""

    role = Role.AXI
    lockstep = False

    def __init__(self, qemu: Path, card: Path | None, shared: bool = True, patience: float = 60) -> None:
        super().__init__(qemu, with_card(card, RAM >> 20), patience, shared)

    def _begin(self) -> None:
        self._ask(f"irq_intercept_in {GIC}")

    @property
    def line(self) -> int:
        """Level of the card's interrupt."""
        self._ask("readb 0")
        return self.lines.get(SPI, 0)

    def _address(self, function: int, bar: int, offset: int) -> int:
        return WINDOW + offset
