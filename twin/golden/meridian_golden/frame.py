# SPDX-License-Identifier: Apache-2.0
"""What of an Ethernet frame the shell looks at."""

from __future__ import annotations

from dataclasses import dataclass

BROADCAST = b"\xff" * 6
SERVICE_TYPE = 0x88A8
#: PAUSE and priority flow control (IEEE 802.3, annex 31A).
MAC_CONTROL_TYPE = 0x8808
#: Of the addresses that no bridge forwards (IEEE 802.1Q, table 8-1), the last byte up to 0F.
LINK_LOCAL = bytes.fromhex("0180c20000")
#: The tag the filters and RSS look at (802.1Q); a service tag is to them a frame without a VLAN.
VLAN_TYPE = 0x8100
#: What the counters call a VLAN frame.
COUNTED_VLAN_TYPES = (VLAN_TYPE, SERVICE_TYPE)


@dataclass(frozen=True)
class Header:
    destination: bytes
    source: bytes
    tagged: bool
    tci: int
    ethertype: int
    payload_offset: int

    @property
    def vid(self) -> int:
        """VLAN id; 0 for an untagged or priority-tagged frame."""
        return self.tci & 0xFFF

    @property
    def multicast(self) -> bool:
        """Group bit set, broadcast not included."""
        return bool(self.destination[0] & 1) and self.destination != BROADCAST

    @property
    def broadcast(self) -> bool:
        return self.destination == BROADCAST

    @property
    def counted_as_vlan(self) -> bool:
        return self.tagged or self.ethertype in COUNTED_VLAN_TYPES


def controls_link(frame: bytes) -> bool:
    """It is for the other end of the wire alone: by its type, behind one tag at most, or by its address."""
    padded = frame[:18].ljust(18, b"\0")
    outer, inner = (int.from_bytes(padded[at : at + 2], "big") for at in (12, 16))
    link_local = frame[:5] == LINK_LOCAL and frame[5] < 16
    return link_local or MAC_CONTROL_TYPE in (outer, inner if outer in COUNTED_VLAN_TYPES else None)


def without_tag(frame: bytes) -> bytes:
    """A tagged frame without its 802.1Q tag."""
    return frame[:12] + frame[16:]


def with_tag(frame: bytes, tci: int) -> bytes:
    """A frame with an 802.1Q tag behind its addresses."""
    return frame[:12] + VLAN_TYPE.to_bytes(2, "big") + tci.to_bytes(2, "big") + frame[12:]


def parse(frame: bytes) -> Header:
    """Splits the Ethernet header off; a frame shorter than a field reads as if zeros followed."""
    padded = frame[:18].ljust(18, b"\0")
    ethertype = int.from_bytes(padded[12:14], "big")
    if ethertype == VLAN_TYPE:
        tci = int.from_bytes(padded[14:16], "big")
        return Header(padded[:6], padded[6:12], True, tci, int.from_bytes(padded[16:18], "big"), 18)
    return Header(padded[:6], padded[6:12], False, 0, ethertype, 14)
