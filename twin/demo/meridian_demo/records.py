# SPDX-License-Identifier: Apache-2.0
"""Records of pcap and pcapng files, with what a capture says of each: its link type, and whether it was cut.

dpkt is not used for this: it takes the link type of a pcapng file's first interface for all of them, and does not tell a
record that the capture's snap length has cut. Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_PCAP = {b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\xa1\xb2\x3c\x4d": ">"}
_PCAP_HEADER, _PCAP_RECORD = 24, 16
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6
_BYTE_ORDER = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_LINK_TYPE_BITS = 0xFFFF  # of pcap's 32-bit field; the others tell of the FCS
_SHORTEST_BLOCK, _SHORTEST_SECTION = 12, 28


class FormatError(Exception):
    """What stands there is no capture; the message says what."""


class TornError(FormatError):
    """The file goes no further here; the message says where and why. The records before are whole."""


@dataclass(frozen=True)
class Record:
    """length: of the frame on the wire; data: what the capture kept of it."""

    link_type: int
    length: int
    data: bytes


def records(content: bytes) -> Iterator[Record]:
    """In the file's order. Raises FormatError, or TornError behind the last whole one."""
    if len(content) < _PCAP_HEADER:
        raise FormatError(f"{len(content)} bytes are too few for a capture; is the file complete?")
    if content[:4] in _PCAP:
        return _of_pcap(content, _PCAP[content[:4]])
    if content[:4] == b"\x0a\x0d\x0d\x0a":
        return _of_pcapng(content)
    raise FormatError(f"not a pcap or pcapng file (it starts with {content[:4].hex(' ')})")


def _of_pcap(content: bytes, order: str) -> Iterator[Record]:
    link_type = struct.unpack_from(order + "I", content, 20)[0] & _LINK_TYPE_BITS
    at = _PCAP_HEADER
    while at < len(content):
        start = at + _PCAP_RECORD
        if start > len(content):
            raise TornError(f"truncated: the record at byte {at} ends beyond the file")
        captured, length = struct.unpack_from(order + "II", content, at + 8)
        if start + captured > len(content):
            raise TornError(f"truncated: the record at byte {at} ends beyond the file")
        yield Record(link_type, length, content[start : start + captured])
        at = start + captured


def _of_pcapng(content: bytes) -> Iterator[Record]:
    order = "<"
    interfaces: list[tuple[int, int]] = []  # link type and snap length of each
    at = 0
    while at < len(content):
        if at + _SHORTEST_BLOCK > len(content):
            raise TornError(f"truncated: the block at byte {at} ends beyond the file")
        if content[at : at + 4] == b"\x0a\x0d\x0d\x0a":
            if content[at + 8 : at + 12] not in _BYTE_ORDER:
                raise TornError(f"the section at byte {at} has no byte-order magic")
            order = _BYTE_ORDER[content[at + 8 : at + 12]]
            interfaces = []
        kind, size = struct.unpack_from(order + "II", content, at)
        if size % 4 or size < (_SHORTEST_SECTION if kind == _SECTION else _SHORTEST_BLOCK):
            raise TornError(f"the block at byte {at} says that it is {size} bytes long")
        if at + size > len(content):
            raise TornError(f"truncated: the block at byte {at} ends beyond the file")
        if struct.unpack_from(order + "I", content, at + size - 4)[0] != size:
            raise TornError(f"the block at byte {at} has two different lengths")
        try:
            yield from _of_block(kind, content[at + 8 : at + size - 4], order, interfaces)
        except (struct.error, IndexError):
            raise TornError(f"the block at byte {at} is too short, or of an interface that nobody describes") from None
        at += size


def _of_block(kind: int, body: bytes, order: str, interfaces: list[tuple[int, int]]) -> Iterator[Record]:
    """Blocks of other kinds hold no frames."""
    if kind == _INTERFACE:
        interfaces.append(struct.unpack_from(order + "H2xI", body))
    elif kind == _SIMPLE_PACKET:
        (length,) = struct.unpack_from(order + "I", body)
        link_type, snap = interfaces[0]
        yield _kept(link_type, length, min(length, snap or length), body[4:])
    elif kind in (_PACKET, _OLD_PACKET):
        number = struct.unpack_from(order + ("I" if kind == _PACKET else "H"), body)[0]
        captured, length = struct.unpack_from(order + "II", body, 12)
        yield _kept(interfaces[number][0], length, captured, body[20:])


def _kept(link_type: int, length: int, captured: int, data: bytes) -> Record:
    if captured > len(data):
        raise IndexError
    return Record(link_type, length, data[:captured])
