# SPDX-License-Identifier: Apache-2.0
"""What the shell says of a received frame, as the generated C header lays it out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from .registers import Registers


@cache
def _registers() -> Registers:
    return Registers()


@dataclass(frozen=True)
class Completion:
    """An entry of a completion ring, of 8 bytes or of 16, as a number; of one of 8 bytes the rest reads 0."""

    raw: int

    def field(self, name: str) -> int:
        """A field by its name in the header, in lower case."""
        number = _registers()[f"COMPLETION_{name.upper()}_WORD"]
        return _registers().field("COMPLETION", name.upper()).of(self.raw >> 32 * number & 0xFFFFFFFF)

    def _name(self, field: str, kind: str) -> str:
        return _registers().value_names(kind)[self.field(field)]

    @property
    def error(self) -> bool:
        return bool(self.field("error"))

    @property
    def used(self) -> bool:
        return bool(self.field("used"))

    @property
    def length(self) -> int:
        return self.field("opennic_length")

    @property
    def packet(self) -> int:
        return self.field("packet")

    @property
    def hash(self) -> int:
        return self.field("hash")

    @property
    def vlan_tci(self) -> int | None:
        """Control information of the tag that was taken out of the frame; None: none was."""
        return self.field("vlan_tci") if self.field("vlan_stripped") else None

    @property
    def ip_checksum(self) -> str:
        """Of the IPv4 header: not_checked, good or bad."""
        return self._name("ip_checksum", "CHECKSUM")

    @property
    def l4_checksum(self) -> str:
        """Of TCP or UDP: not_checked, good or bad."""
        return self._name("l4_checksum", "CHECKSUM")

    @property
    def l4_kind(self) -> str:
        """tcp, udp or other."""
        return self._name("l4_kind", "L4_KIND")

    @property
    def hash_type(self) -> str:
        """What the hash was made over: none, ipv4, ipv4_tcp, ..."""
        return self._name("hash_type", "HASH_TYPE")
