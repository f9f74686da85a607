# SPDX-License-Identifier: Apache-2.0
"""A small host on the wire: answers ARP and ICMP echo, keeps what else comes."""

from __future__ import annotations

import struct
import threading
import time
from ipaddress import IPv4Address
from types import TracebackType
from typing import Self

from meridian_twin.patience import deadline_in, end_of
from meridian_twin.wire import Wire, WireError

ARP, IPV4 = 0x0806, 0x0800
BROADCAST = b"\xff" * 6


def checksum(data: bytes) -> int:
    """Of the internet (RFC 1071)."""
    total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ethernet(to: bytes, of: bytes, kind: int, payload: bytes) -> bytes:
    return (to + of + kind.to_bytes(2, "big") + payload).ljust(60, b"\0")


def ipv4(of: str, to: str, protocol: int, payload: bytes) -> bytes:
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0)
    addresses = IPv4Address(of).packed + IPv4Address(to).packed
    return head[:10] + checksum(head + addresses).to_bytes(2, "big") + addresses + payload


def udp(of: str, to: str, source: int, destination: int, payload: bytes) -> bytes:
    """An IPv4 packet with a UDP datagram without checksum."""
    return ipv4(of, to, 17, struct.pack("!HHHH", source, destination, 8 + len(payload), 0) + payload)


class Peer:
    """At the other end of a wire from `with` on, in a thread of its own."""

    def __init__(self, wire: Wire, address: str = "10.0.0.2", mac: bytes = bytes.fromhex("02bbbbbbbb02")) -> None:
        self.wire = wire
        self.address = IPv4Address(address)
        self.mac = mac
        self.other: list[bytes] = []  # frames that it has no answer to
        self.when: list[int] = []  # and their times
        self.seen = 0
        self.error: Exception | None = None  # what has ended it early
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
        if error is None:
            self._raise()

    def _raise(self) -> None:
        if self.error:
            raise AssertionError(f"the host at {self.address} has ended: {self.error!r}") from self.error

    def request(self, to: bytes, address: str) -> bytes:
        """An echo request of ours."""
        head, body = b"\x08\0", b"\x12\x34\0\1asked by the far end"
        message = head + checksum(head + b"\0\0" + body).to_bytes(2, "big") + body
        return ethernet(to, self.mac, IPV4, ipv4(str(self.address), address, 1, message))

    def answered(self, start: bytes, seconds: float = 20) -> bool:
        """Whether an answer to a request comes in a frame that starts so."""
        deadline = deadline_in(seconds)
        while time.monotonic() < deadline:
            self._raise()
            if any(frame.startswith(start) and b"asked by the far end" in frame for frame in self.other):
                return True
            time.sleep(0.05)
        return False

    def _run(self) -> None:
        try:
            self._serve()
        except Exception as error:  # noqa: BLE001 - whoever waits for the host is told
            self.error = error

    def _serve(self) -> None:
        while not self._end.is_set():
            try:
                frames = self.wire.take()
            except WireError:
                return  # the card has gone, and the wire with it
            for frame in frames:
                self.seen += 1
                answer = self._answer(frame.data)
                if answer:
                    self.wire.send(answer)
                else:
                    self.other.append(frame.data)
                    self.when.append(frame.time_ps)
            if not frames:
                time.sleep(0.001)

    def _answer(self, frame: bytes) -> bytes | None:
        to, of, kind = frame[:6], frame[6:12], int.from_bytes(frame[12:14], "big")
        if to not in (self.mac, BROADCAST):
            return None
        if kind == ARP:
            return self._arp(of, frame[14:42])
        if kind == IPV4 and frame[23] == 1 and frame[34] == 8 and frame[30:34] == self.address.packed:
            return self._echo(of, frame[14:])
        return None

    def _arp(self, of: bytes, message: bytes) -> bytes | None:
        if message[6:8] != b"\0\1" or message[24:28] != self.address.packed:
            return None
        reply = message[:6] + b"\0\2" + self.mac + self.address.packed + of + message[14:18]
        return ethernet(of, self.mac, ARP, reply)

    def _echo(self, of: bytes, packet: bytes) -> bytes:
        packet = packet[: int.from_bytes(packet[2:4], "big")]
        body = b"\0\0\0\0" + packet[24:]
        body = b"\0\0" + checksum(body).to_bytes(2, "big") + packet[24:]
        sender = str(IPv4Address(packet[12:16]))
        return ethernet(of, self.mac, IPV4, ipv4(str(self.address), sender, 1, body))
