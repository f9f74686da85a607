# SPDX-License-Identifier: Apache-2.0
"""Which segments the card makes of a large frame of TCP (RFC 9293) or UDP (RFC 768) over IPv4 (RFC 791) or IPv6 (RFC 8200)."""

from __future__ import annotations

from dataclasses import dataclass

from .checksum import IPV4, IPV6, TCP, UDP
from .frame import parse

#: Bytes of payload that may be asked for.
LEAST, LEAST_IN_TUNNEL = 256, 512
FRAGMENT = 0x3FFF  # more fragments, or an offset
SEQUENCE = 4  # where TCP has its sequence number, and its flags
FLAGS = 13
FIN_AND_PSH, CWR = 0x09, 0x80
LENGTH_OF_UDP = 4


@dataclass(frozen=True)
class Segment:
    """A frame that goes on in place of another. error: it is not sent; data is None for one that was refused.

    inner: where the packet begins that checksums are of, if that is in a tunnel. is_cut: it is one of the frames that a
    larger one was cut into.
    """

    data: bytes | None
    error: bool = False
    inner: int | None = None
    is_cut: bool = True


REFUSED = (Segment(None, True),)


@dataclass(frozen=True)
class Layout:
    """Where the headers of a large frame are: of IP, of TCP or UDP, the payload and its end, counted from the frame's
    first byte. end is what the IP header says, whether or not the frame has so many bytes."""

    version: int
    ip: int
    protocol: int
    l4: int
    payload: int
    end: int


def layout_of(frame: bytes) -> Layout | None:
    """None: it is not a packet that can be cut."""
    header = parse(frame)
    ip, packet = header.payload_offset, frame[header.payload_offset :]
    if header.ethertype == IPV4 and len(packet) >= 20 and packet[0] >> 4 == 4:
        size = 4 * (packet[0] & 15)
        if size < 20 or int.from_bytes(packet[6:8], "big") & FRAGMENT:
            return None
        return _l4(frame, 4, ip, packet[9], ip + size, ip + int.from_bytes(packet[2:4], "big"))
    if header.ethertype == IPV6 and len(packet) >= 40 and packet[0] >> 4 == 6:
        return _l4(frame, 6, ip, packet[6], ip + 40, ip + 40 + int.from_bytes(packet[4:6], "big"))
    return None


def _l4(frame: bytes, version: int, ip: int, protocol: int, l4: int, end: int) -> Layout | None:
    if protocol == TCP and len(frame) >= l4 + 20:
        size = 4 * (frame[l4 + 12] >> 4)
        if size < 20:
            return None
    elif protocol == UDP:
        size = 8
    else:
        return None
    payload = l4 + size
    # Each has to have a byte of payload, in the frame and by its header.
    return Layout(version, ip, protocol, l4, payload, end) if payload < min(end, len(frame)) else None


def segments_of(
    frame: bytes, size: int, good: int | None = None, beat: int = 1 << 16, least: int = LEAST
) -> tuple[Segment, ...]:
    """With size bytes of payload each, but the last; checksums are not filled in. good: bytes that came before an error.
    beat: bytes that the card takes at once. least: the smallest size that it takes.

    The card cuts while the frame comes, by the length in the IP header. So what came well has gone on before an error, or
    the end of a frame that is too short, is seen. Bytes behind the packet belong to no segment; if they are in beats of
    their own, these are a refused frame.
    """
    layout = layout_of(frame)
    if layout is None or size < least:
        return REFUSED
    came_well = len(frame) if good is None else good
    made = []
    for at in range(layout.payload, layout.end, size):
        stop = min(at + size, layout.end)
        made.append(Segment(_segment(frame, layout, at, stop, len(made), stop == layout.end), stop > came_well))
        if stop > len(frame):
            break
    behind = -(-layout.end // beat) < -(-len(frame) // beat)
    return tuple(made) + (REFUSED if behind else ())


def _segment(frame: bytes, layout: Layout, at: int, stop: int, number: int, is_last: bool) -> bytes:
    data = bytearray(frame[: layout.payload] + frame[at:stop])

    def put(place: int, value: int, width: int = 2) -> None:
        data[place : place + width] = (value % 256**width).to_bytes(width, "big")

    def get(place: int, width: int = 2) -> int:
        return int.from_bytes(frame[place : place + width], "big")

    ip, l4 = layout.ip, layout.l4
    length = layout.payload - l4 + stop - at  # of TCP's or UDP's part
    if layout.version == 4:
        put(ip + 2, l4 - ip + length)
        put(ip + 4, get(ip + 4) + number)
    else:
        put(ip + 4, length)
    if layout.protocol == UDP:
        put(l4 + LENGTH_OF_UDP, length)
    else:
        put(l4 + SEQUENCE, get(l4 + SEQUENCE, 4) + at - layout.payload, 4)
        kept = 0xFF
        if not is_last:
            kept &= ~FIN_AND_PSH
        if number:
            kept &= ~CWR
        data[l4 + FLAGS] &= kept
    return bytes(data)
