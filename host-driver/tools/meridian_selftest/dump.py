# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""The registers that the host's driver dumps (ethtool -d): linux/netdev/meridian_diag.c has the order."""

from __future__ import annotations

from .registers import Registers
from .result import Fail, Skip

VERSION = 2
#: Words of each part, in order: identification, port, filter, ports of the host side, function, four parts of the
#: QDMA IP, the port's receiver, the rings of the ARM side.
PARTS = {
    "ident": 16,
    "port": 2,
    "filter": 14,
    "host_port": 16,
    "function": 4,
    "qdma": 1 + 16 + 32 + 32 + 24,
    "receiver": 1,
    "ps_ring": 16,
}


class Dump:
    """Words of the card's registers by part. version: of the format of the words."""

    def __init__(self, registers: Registers, version: int, words: list[int]) -> None:
        if version != VERSION or len(words) != sum(PARTS.values()):
            raise Skip(
                f"the driver's dump of registers has {len(words)} words of version {version}, which this program does "
                f"not know: take driver and meridian-tools of one version"
            )
        if set(words) == {0xFFFFFFFF}:
            raise Fail(
                "the card does not answer: its registers read as ones",
                "Look at PCIe's errors in 'dmesg'; remove the card, and rescan the bus",
            )
        self._map = registers
        self.parts: dict[str, list[int]] = {}
        for name, count in PARTS.items():
            self.parts[name], words = words[:count], words[count:]

    def word(self, register: str) -> int:
        """A register of the identification, as VERSION."""
        return self.parts["ident"][self._map[f"IDENT_{register}"] // 4]

    def ident(self, register: str, field: str) -> int:
        """A field of the identification, as GEOMETRY and PORTS."""
        return self._map.field(f"IDENT_{register}_{field}", self.word(register))

    @property
    def ports(self) -> int:
        """Of the card."""
        return self.ident("GEOMETRY", "PORTS")

    @property
    def gigabits(self) -> int:
        """Of the function's port."""
        return self._map.field("PORT_LINK_STATUS_GIGABITS", self.parts["port"][0])

    def link_up(self, port: int) -> bool:
        """Whether a port of the card has a link."""
        return bool(self._map.field("HOST_PORT_STATE_LINK_UP", self.parts["host_port"][4 * port + 1]))

    @property
    def receiver_resets(self) -> int:
        """How often the card has reset the receiver of the function's port."""
        return self._map.field("PORT_RECEIVER_RESETS", self.parts["receiver"][0])

    def ring(self, register: str, field: str) -> int:
        """A field of the ARM side's rings of the function's port, as RX_STATUS and RUNNING."""
        word = self.parts["ps_ring"][self._map[f"PS_RING_{register}"] // 4]
        return self._map.field(f"PS_RING_{register}_{field}", word)
