# SPDX-License-Identifier: Apache-2.0
"""Records of pcap and pcapng files, with what a capture says of each: link type, FCS, errors, whether it was cut.

dpkt is not used for this: it takes the link type of a pcapng file's first interface for all of them, and tells neither
FCS nor errors, nor a record that the capture's snap length has cut. Formats: draft-ietf-opsawg-pcap,
draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_PCAP = {b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\xa1\xb2\x3c\x4d": ">"}
_COMPRESSED = {b"\x1f\x8b": "gunzip", b"\x28\xb5\x2f\xfd": "unzstd", b"\xfd7zXZ": "unxz", b"BZh": "bunzip2"}
_PCAP_HEADER, _PCAP_RECORD = 24, 16
_PCAP_VERSIONS = (2, 3), (2, 4)
_INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 1, 2, 3, 6
_BYTE_ORDER = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_LINK_TYPE_BITS = 0xFFFF  # of pcap's 32-bit field
_FCS_IS_TOLD = 1 << 26  # of the same: its highest 4 bits are then 16-bit words of FCS
_OPTION_FCS, _OPTION_FLAGS = 13, 2  # of an interface, of a packet
_FLAGS_OF_ERRORS = 0xFFFF0000
_SHORTEST_BLOCK, _SHORTEST_SECTION = 12, 28


class FormatError(Exception):
    """What stands there is no capture; the message says what."""


class TornError(FormatError):
    """The file goes no further here; the message says where and why. The records before are whole."""


@dataclass(frozen=True)
class Record:
    """length: of the frame on the wire; data: what the capture kept of it; both without FCS. faulty: received so."""

    link_type: int
    length: int
    data: bytes
    faulty: bool = False


@dataclass(frozen=True)
class _Interface:
    """snap: the longest that it keeps, 0 without a limit; fcs: bytes that end each frame."""

    link_type: int
    snap: int = 0
    fcs: int = 0

    def record(self, length: int, kept: bytes, flags: int = 0) -> Record:
        """A packet's own length of the FCS goes before the interface's."""
        wire = max(length - (flags >> 5 & 0xF or self.fcs), 0)
        data = kept if len(kept) > length else kept[:wire]
        return Record(self.link_type, wire, data, bool(flags & _FLAGS_OF_ERRORS))


def records(content: bytes) -> Iterator[Record]:
    """In the file's order. Raises FormatError, or TornError behind the last whole one."""
    if len(content) < _PCAP_HEADER:
        raise FormatError(f"{len(content)} bytes are too few for a capture; is the file complete?")
    if content[:4] in _PCAP:
        return _of_pcap(content, _PCAP[content[:4]])
    if content[:4] == b"\x0a\x0d\x0d\x0a":
        return _of_pcapng(content)
    for magic, tool in _COMPRESSED.items():
        if content.startswith(magic):
            raise FormatError(f"the file is compressed: unpack it with {tool} first")
    raise FormatError(f"not a pcap or pcapng file (it starts with {content[:4].hex(' ')})")


def _breaks_off(content: bytes, where: str) -> TornError:
    return TornError(f"the file breaks off at byte {len(content)}: {where} is not whole")


def _of_pcap(content: bytes, order: str) -> Iterator[Record]:
    version = struct.unpack_from(order + "HH", content, 4)
    if version not in _PCAP_VERSIONS:
        raise FormatError("version {}.{} of pcap is not known here".format(*version))
    (link,) = struct.unpack_from(order + "I", content, 20)
    interface = _Interface(link & _LINK_TYPE_BITS, fcs=2 * (link >> 28) if link & _FCS_IS_TOLD else 0)
    at = _PCAP_HEADER
    while at < len(content):
        start = at + _PCAP_RECORD
        if start > len(content):
            raise _breaks_off(content, f"the record at byte {at}")
        captured, length = struct.unpack_from(order + "II", content, at + 8)
        if start + captured > len(content):
            raise _breaks_off(content, f"the record at byte {at}")
        yield interface.record(length, content[start : start + captured])
        at = start + captured


def _of_pcapng(content: bytes) -> Iterator[Record]:
    order = "<"
    interfaces: list[_Interface] = []
    at = 0
    while at < len(content):
        is_section = content[at : at + 4] == b"\x0a\x0d\x0d\x0a"
        shortest = _SHORTEST_SECTION if is_section else _SHORTEST_BLOCK
        if at + shortest > len(content):
            raise _breaks_off(content, f"the block at byte {at}")
        if is_section:
            if content[at + 8 : at + 12] not in _BYTE_ORDER:
                raise TornError(f"the section at byte {at} has no byte-order magic")
            order = _BYTE_ORDER[content[at + 8 : at + 12]]
            major = int.from_bytes(content[at + 12 : at + 14], "little" if order == "<" else "big")
            if major != 1:
                raise TornError(f"the section at byte {at} is of version {major} of pcapng, which is not known here")
            interfaces = []
        kind, size = struct.unpack_from(order + "II", content, at)
        if size % 4 or size < shortest:
            raise TornError(f"the block at byte {at} says that it is {size} bytes long")
        if at + size > len(content):
            raise _breaks_off(content, f"the block at byte {at}")
        if struct.unpack_from(order + "I", content, at + size - 4)[0] != size:
            raise TornError(f"the block at byte {at} has two different lengths")
        try:
            yield from _of_block(kind, content[at + 8 : at + size - 4], order, interfaces)
        except (struct.error, IndexError):
            raise TornError(f"the block at byte {at} is too short, or of an interface that nobody describes") from None
        at += size


def _of_block(kind: int, body: bytes, order: str, interfaces: list[_Interface]) -> Iterator[Record]:
    """Blocks of other kinds hold no frames."""
    if kind == _INTERFACE:
        fcs = _option(body[8:], _OPTION_FCS, order, 1)
        interfaces.append(_Interface(*struct.unpack_from(order + "H2xI", body), fcs))
    elif kind == _SIMPLE_PACKET:
        (length,) = struct.unpack_from(order + "I", body)
        interface = interfaces[0]
        yield interface.record(length, _kept(min(length, interface.snap or length), body[4:]))
    elif kind in (_PACKET, _OLD_PACKET):
        number = struct.unpack_from(order + ("I" if kind == _PACKET else "H"), body)[0]
        captured, length = struct.unpack_from(order + "II", body, 12)
        flags = _option(body[20 + captured + -captured % 4 :], _OPTION_FLAGS, order, 4)
        yield interfaces[number].record(length, _kept(captured, body[20:]), flags)


def _kept(captured: int, data: bytes) -> bytes:
    if captured > len(data):
        raise IndexError
    return data[:captured]


def _option(options: bytes, wanted: int, order: str, size: int) -> int:
    """A number out of a block's options: the last one, 0 without one. Options end where one goes beyond the block."""
    found = at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from(order + "HH", options, at)
        value = options[at + 4 : at + 4 + length]
        if code == 0 or len(value) < length:
            break
        if code == wanted and length >= size:
            found = int.from_bytes(value[:size], "little" if order == "<" else "big")
        at += 4 + length + -length % 4
    return found
