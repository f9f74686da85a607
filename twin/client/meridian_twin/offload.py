# SPDX-License-Identifier: Apache-2.0
"""What a host may ask the card to do with a frame, as the generated C header lays it out in a descriptor's metadata."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from .registers import Registers


@cache
def _registers() -> Registers:
    return Registers()


@dataclass(frozen=True)
class Offload:
    """For a queue with transmit_offload, and with transmit_segments for segment_bytes.

    vlan: control information of a tag to be put in. ip_checksum, l4_checksum: of the IPv4 header, and of TCP or UDP, to
    be filled in; what the fields hold before does not matter. segment_bytes: of payload, 256 to 8,191, in a tunnel 512
    and more, into which TCP's or UDP's payload is cut, each with all headers and checksums; 0: it is not cut.
    inner_start: where the IP header of the packet in a tunnel begins, which all of this is about; not beside vlan.
    """

    vlan: int | None = None
    ip_checksum: bool = False
    l4_checksum: bool = False
    segment_bytes: int = 0
    inner_start: int = 0

    @property
    def metadata(self) -> int:
        """The first 32 bits of the frame's descriptor."""
        values = {"VLAN_TCI": self.vlan or 0, "INSERT_VLAN": int(self.vlan is not None)}
        values |= {"IP_CHECKSUM": int(self.ip_checksum), "L4_CHECKSUM": int(self.l4_checksum)}
        values["SEGMENT_BYTES"] = self.segment_bytes
        if self.inner_start:
            assert self.vlan is None, "a descriptor that inserts a tag cannot tell of a tunnel"
            values["VLAN_TCI"] = self.inner_start
        return sum(_registers().field("H2C_REQUEST", name).at(value) for name, value in values.items())
