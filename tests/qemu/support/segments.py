# SPDX-License-Identifier: Apache-2.0
"""Large frames of TCP and UDP, the segments that they go out as, and who takes a stream of these from the wire."""

from __future__ import annotations

import struct
import threading
import time
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from types import TracebackType
from typing import Self

from meridian_twin.patience import end_of
from peer import Peer, checksum

TCP, UDP = 6, 17
FIN, SYN, PSH, ACK, ECE, CWR = 1, 2, 8, 16, 64, 128
TAG = b"\x81\x00"


def payload(length: int) -> bytes:
    """As segments_tool makes it."""
    return bytes((7 * i + i // 256) % 256 for i in range(length))


@dataclass
class Headers:
    """Of a frame.

    ip_options and tcp_options: multiples of four bytes. tci: of its 802.1Q tag; -1: it has none. may_be_cut: others may
    make fragments of it.
    """

    source: bytes
    destination: bytes
    of: str = "10.46.0.2"
    to: str = "10.46.0.99"
    protocol: int = TCP
    tci: int = -1
    identification: int = 0
    sequence: int = 0
    flags: int = ACK
    ip_options: bytes = b""
    tcp_options: bytes = b""
    may_be_cut: bool = False

    @property
    def is_v6(self) -> bool:
        return ":" in self.to

    @property
    def transport_at(self) -> int:
        return 14 + 4 * (self.tci >= 0) + (40 if self.is_v6 else 20 + len(self.ip_options))

    @property
    def checksum_field(self) -> int:
        """Where it is behind the beginning of TCP or UDP."""
        return 16 if self.protocol == TCP else 6

    def pseudo(self, length: int) -> bytes:
        return ip_address(self.of).packed + ip_address(self.to).packed + struct.pack("!II", length, self.protocol)

    def transport(self, length: int) -> bytes:
        """TCP's or UDP's header without checksum, for so many bytes of payload."""
        if self.protocol == UDP:
            return struct.pack("!HHHH", 1000, 9, 8 + length, 0)
        offset = 0x50 + 4 * len(self.tcp_options)
        return struct.pack("!HHIIBBHHH", 1000, 9, self.sequence, 77, offset, self.flags, 500, 0, 0) + self.tcp_options

    def before(self, length: int) -> bytes:
        """What is in front of so many bytes of TCP or UDP; the checksum of IPv4 is right."""
        addresses = ip_address(self.of).packed + ip_address(self.to).packed
        tag = b"" if self.tci < 0 else TAG + self.tci.to_bytes(2, "big")
        ether = self.destination + self.source + tag + (b"\x86\xdd" if self.is_v6 else b"\x08\x00")
        if self.is_v6:
            return ether + struct.pack("!IHBB", 6 << 28, length, self.protocol, 64) + addresses
        words = 5 + len(self.ip_options) // 4
        total = 4 * words + length
        fields = (0x40 + words, 0, total, self.identification, 0 if self.may_be_cut else 0x4000, 64, self.protocol, 0)
        head = struct.pack("!BBHHHBBH", *fields) + addresses + self.ip_options
        return ether + head[:10] + checksum(head).to_bytes(2, "big") + head[12:]

    def large(self, length: int) -> bytes:
        """The headers of a frame with so many bytes of payload as Linux gives it to a driver: with half of a checksum."""
        transport, at = self.transport(length), self.checksum_field
        half = checksum(self.pseudo(len(transport) + length)) ^ 0xFFFF
        return self.before(len(transport) + length) + transport[:at] + half.to_bytes(2, "big") + transport[at + 2 :]

    def segment(self, data: bytes) -> bytes:
        """A whole frame with that payload; 60 bytes at least, as the card pads it."""
        transport, at = self.transport(len(data)), self.checksum_field
        total = checksum(self.pseudo(len(transport) + len(data)) + transport + data)
        if self.protocol == UDP and total == 0:
            total = 0xFFFF
        transport = transport[:at] + total.to_bytes(2, "big") + transport[at + 2 :]
        return (self.before(len(transport) + len(data)) + transport + data).ljust(60, b"\0")

    def cut(self, data: bytes, most: int) -> list[bytes]:
        """The frames that go out for one with that payload."""
        frames = []
        for number, at in enumerate(range(0, len(data), most)):
            is_last = at + most >= len(data)
            kept = 0xFF if is_last else 0xFF & ~(FIN | PSH)
            kept &= 0xFF if number == 0 else 0xFF & ~CWR
            one = replace(
                self,
                identification=(self.identification + number) & 0xFFFF,
                sequence=(self.sequence + at) & 0xFFFFFFFF,
                flags=self.flags & kept,
            )
            frames.append(one.segment(data[at : at + most]))
        return frames


@dataclass
class Parsed:
    """What a frame on the wire says."""

    frame: bytes
    tci: int = -1
    identification: int = -1
    protocol: int = 0
    addresses: bytes = b""
    transport: bytes = b""
    at: int = field(default=0, repr=False)

    @classmethod
    def of(cls, frame: bytes) -> Parsed | None:
        """None if it is neither TCP nor UDP. Fields of length that contradict the frame are an error."""
        it, at = cls(frame), 12
        if frame[at : at + 2] == TAG:
            it.tci, at = int.from_bytes(frame[at + 2 : at + 4], "big"), at + 4
        kind, at = frame[at : at + 2], at + 2
        if kind == b"\x08\x00":
            head = 4 * (frame[at] & 15)
            assert checksum(frame[at : at + head]) == 0, f"checksum of IPv4: {frame[:64].hex()}"
            end = at + int.from_bytes(frame[at + 2 : at + 4], "big")
            it.identification = int.from_bytes(frame[at + 4 : at + 6], "big")
            it.protocol, it.addresses = frame[at + 9], frame[at + 12 : at + 20]
        elif kind == b"\x86\xdd":
            head, end = 40, at + 40 + int.from_bytes(frame[at + 4 : at + 6], "big")
            it.protocol, it.addresses = frame[at + 6], frame[at + 8 : at + 40]
        else:
            return None
        if it.protocol not in (TCP, UDP):
            return None
        assert len(frame) == max(60, end), f"{len(frame)} bytes with a packet to {end}"
        it.transport, it.at = frame[at + head : end], at + head
        if it.protocol == UDP:
            assert int.from_bytes(it.transport[4:6], "big") == len(it.transport), "length of UDP"
        return it

    @property
    def is_good(self) -> bool:
        """The checksum of TCP or UDP is right, and is there."""
        total = self.addresses + struct.pack("!II", len(self.transport), self.protocol) + self.transport
        return checksum(total) == 0 and (self.protocol == TCP or self.transport[6:8] != b"\0\0")

    @property
    def ports(self) -> tuple[int, int]:
        return struct.unpack("!HH", self.transport[:4])

    @property
    def sequence(self) -> int:
        return int.from_bytes(self.transport[4:8], "big")

    @property
    def flags(self) -> int:
        return self.transport[13]

    @property
    def data(self) -> bytes:
        return self.transport[8 if self.protocol == UDP else 4 * (self.transport[12] >> 4) :]

    @property
    def timestamp(self) -> int:
        """Of TCP's option (RFC 7323); -1: there is none."""
        options = self.transport[20 : 4 * (self.transport[12] >> 4)]
        while options and options[0]:
            if options[0] == 8:
                return int.from_bytes(options[2:6], "big")
            options = options[1 if options[0] == 1 else options[1] :]
        return -1


class Sink:
    """Takes one stream of TCP at the other end of the wire, with a window that never closes."""

    def __init__(self, peer: Peer, port: int, segment: int, with_times: bool = False) -> None:
        """segment: the largest that it asks for. with_times: it has the option of time stamps, if the sender has it."""
        self.peer, self.port, self.segment, self.with_times = (peer, port, segment, with_times)
        self.frames: list[Parsed] = []  # with payload, in their order
        self.data = bytearray()
        self.is_whole = threading.Event()
        self.error: Exception | None = None
        self._seen = len(peer.other)
        self._next = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        end_of(self._thread)
        if self.error and error is None:
            raise AssertionError(f"the stream's end has ended: {self.error!r}") from self.error

    def _run(self) -> None:
        try:
            while not self._end.is_set():
                frames = self.peer.other[self._seen :]
                self._seen += len(frames)
                for frame in frames:
                    packet = Parsed.of(frame)
                    if packet and packet.protocol == TCP and packet.ports[1] == self.port:
                        self._take(packet)
                if not frames:
                    time.sleep(0.001)
        except Exception as error:  # noqa: BLE001 - who waits is told
            self.error = error
            self.is_whole.set()

    def _take(self, packet: Parsed) -> None:
        assert packet.is_good, packet.frame.hex()
        if packet.flags & SYN:
            self._next = (packet.sequence + 1) & 0xFFFFFFFF
            self._answer(packet, SYN | ACK, struct.pack("!BBHBBBB", 2, 4, self.segment, 3, 3, 7, 1))
            return
        if packet.data:
            self.frames.append(packet)
        if packet.sequence == self._next:
            self.data += packet.data
            self._next = (self._next + len(packet.data)) & 0xFFFFFFFF
            if packet.flags & FIN:
                self._next = (self._next + 1) & 0xFFFFFFFF
                self._answer(packet, FIN | ACK)
                self.is_whole.set()
                return
        if packet.data:
            self._answer(packet, ACK)

    def _answer(self, packet: Parsed, flags: int, options: bytes = b"") -> None:
        if self.with_times and packet.timestamp >= 0:
            options += struct.pack("!BBBBII", 1, 1, 8, 10, 1, packet.timestamp)
        mine, theirs = packet.ports
        sequence = 1000 if flags & SYN else 1001
        head = struct.pack(
            "!HHIIBBHHH", theirs, mine, sequence, self._next, 0x50 + 4 * len(options), flags, 65535, 0, 0
        )
        half = len(packet.addresses) // 2
        addresses = packet.addresses[half:] + packet.addresses[:half]
        total = checksum(addresses + struct.pack("!II", len(head + options), TCP) + head + options)
        head = head[:16] + total.to_bytes(2, "big") + head[18:] + options
        if half == 16:
            packet_head = struct.pack("!IHBB", 6 << 28, len(head), TCP, 64) + addresses
        else:
            packet_head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(head), 0, 0x4000, 64, TCP, 0)
            packet_head = packet_head[:10] + checksum(packet_head + addresses).to_bytes(2, "big") + addresses
        kind = packet.frame[12 : packet.at - (40 if half == 16 else 20)]  # the tag, if there is one, and the type
        self.peer.wire.send((packet.frame[6:12] + packet.frame[:6] + kind + packet_head + head).ljust(60, b"\0"))
