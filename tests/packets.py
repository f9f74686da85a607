# SPDX-License-Identifier: Apache-2.0
"""IP packets with lengths and checksums that are right, and the ways in which they can be wrong."""

from __future__ import annotations

from random import Random

TCP, UDP = 6, 17


def checksum(data: bytes) -> bytes:
    """Internet checksum, RFC 1071."""
    padded = data + bytes(len(data) % 2)
    total = sum(int.from_bytes(padded[at : at + 2], "big") for at in range(0, len(padded), 2))
    return (-total % 0xFFFF).to_bytes(2, "big")


def packet(random: Random, size: int, mark: bytes) -> bytes:
    """Type and payload of a frame, size bytes that end with the mark; now and then with Ethernet padding, which has it."""
    build = _ipv6 if random.random() < 0.35 else _ipv4
    room = size - 2
    padding = random.randint(len(mark), 24) if random.random() < 0.2 else 0
    if room - padding < 48 + len(mark):
        padding = 0
    return build(random, room - padding, b"" if padding else mark) + (random.randbytes(padding) + mark)[-padding:] * (
        padding > 0
    )


def _ipv4(random: Random, size: int, mark: bytes) -> bytes:
    options = (
        random.randbytes(4 * random.randint(0, max(0, min(10, (size - 54) // 4)))) if random.random() < 0.3 else b""
    )
    addresses = random.randbytes(8)
    protocol = random.choice((TCP, UDP, UDP, random.randrange(256)))
    body = _l4(random, protocol, addresses, size - 20 - len(options), mark)
    flags = random.choice((b"\x40\0", b"\0\0", random.randbytes(2)))
    first = bytes([0x45 + len(options) // 4, random.randrange(256)]) + size.to_bytes(2, "big") + random.randbytes(2)
    first += flags + bytes([random.randrange(256), protocol])
    check = checksum(first + addresses + options)
    return b"\x08\0" + first + check + addresses + options + body


def _ipv6(random: Random, size: int, mark: bytes) -> bytes:
    if size < 40 + len(mark):
        return _ipv4(random, size, mark)
    addresses = random.randbytes(32)
    protocol = random.choice((TCP, UDP, UDP, random.randrange(256)))
    body = _l4(random, protocol, addresses, size - 40, mark)
    first = b"\x60" + random.randbytes(3) + len(body).to_bytes(2, "big") + bytes([protocol, random.randrange(256)])
    return b"\x86\xdd" + first + addresses + body


def _l4(random: Random, protocol: int, addresses: bytes, size: int, mark: bytes) -> bytes:
    """A segment or datagram of size bytes, its checksum right; if there is no room for its header, anything."""
    at = {TCP: 16, UDP: 6}.get(protocol)
    body = bytearray(random.randbytes(size - len(mark)) + mark)
    if at is None or size - len(mark) < at + 2:
        return bytes(body)
    if protocol == UDP:
        body[4:6] = size.to_bytes(2, "big")
    body[at : at + 2] = bytes(2)
    pseudo = addresses + protocol.to_bytes(2, "big") + size.to_bytes(2, "big")
    check = checksum(pseudo + body)
    body[at : at + 2] = b"\xff\xff" if check == bytes(2) else check
    return bytes(body)


def spoilt(random: Random, frame: bytes, start: int) -> bytes:
    """The frame, or one with a wrong bit or field behind its Ethernet header; its last bytes stay."""
    kind = random.random()
    if kind < 0.6 or len(frame) < start + 34:
        return frame
    wrong = bytearray(frame)
    ip = start + 2
    if kind < 0.75:
        wrong[random.randrange(ip, len(frame) - 8)] ^= 1 << random.randrange(8)
    elif kind < 0.9:
        wrong[ip + random.choice((0, 2, 3, 4, 5, 6, 7, 9))] = random.randrange(256)
    else:
        datagram = ip + (40 if frame[start] == 0x86 else 4 * (frame[ip] & 15))
        at = datagram + random.choice((4, 6))
        if at + 2 <= len(frame) - 8:
            wrong[at : at + 2] = bytes(2)
    return bytes(wrong)


def scrambled(random: Random, frame: bytes, mark: int) -> bytes:
    """The frame with anything where its checksums are; its last bytes, as many as the mark has, stay."""
    start = 18 if frame[12:14] == b"\x81\0" else 14
    kind = frame[start - 2 : start]
    if kind not in (b"\x08\0", b"\x86\xdd") or len(frame) < start + 40:
        return frame
    v4 = kind == b"\x08\0"
    l4 = start + (4 * (frame[start] & 15) if v4 else 40)
    protocol = frame[start + (9 if v4 else 6)]
    wrong = bytearray(frame)
    for at in ([start + 10] if v4 else []) + [l4 + {TCP: 16, UDP: 6}.get(protocol, len(frame))]:
        if at + 2 <= len(frame) - mark:
            wrong[at : at + 2] = random.randbytes(2)
    return bytes(wrong)
