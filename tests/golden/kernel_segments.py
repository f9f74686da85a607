# SPDX-License-Identifier: Apache-2.0
"""What Linux makes of a large frame that its network card does not cut: software GSO, between a packet socket and a tap.

The tap is in a network namespace of its own, in a process of its own, which this file is, too.
"""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

TUN = Path("/dev/net/tun")
NAME = b"segments"
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 2, 0x1000
SIOCSIFFLAGS, SIOCSIFMTU, IFF_UP = 0x8914, 0x8922, 1
SOL_PACKET, PACKET_VNET_HDR = 263, 15
MTU = 9600  # of what fits in one segment
NEEDS_CHECKSUM = 1
GSO_TCP4, GSO_TCP6, GSO_UDP, GSO_CWR = 1, 4, 5, 0x80
END = b"\x02\0\0\0\0\1" * 2 + b"\x88\xb5" + bytes(46)
SECONDS = 10
REFUSED = (1 << 32) - 1  # in the place of a number of frames


@dataclass(frozen=True)
class Order:
    """A frame whose L4 checksum field has the sum of the pseudo header, as Linux gives it to a card."""

    gso: int
    size: int
    headers: int
    l4_at: int
    checksum_at: int  # from there
    frame: bytes

    def packed(self) -> bytes:
        """As struct virtio_net_hdr of Linux, in the byte order of the machine, and the frame."""
        of_header = (NEEDS_CHECKSUM, self.gso, self.headers, self.size, self.l4_at, self.checksum_at)
        return struct.pack("=BBHHHH", *of_header) + self.frame


def _send_frames(stream, frames: list[bytes]) -> None:
    stream.write(struct.pack("=I", len(frames)))
    for frame in frames:
        stream.write(struct.pack("=I", len(frame)) + frame)
    stream.flush()


def _exactly(stream, count: int) -> bytes:
    data = stream.read(count)
    if len(data) != count:
        raise EOFError
    return data


def _take_frames(stream) -> list[bytes] | None:
    (count,) = struct.unpack("=I", _exactly(stream, 4))
    if count == REFUSED:
        return None
    return [_exactly(stream, struct.unpack("=I", _exactly(stream, 4))[0]) for _ in range(count)]


class Kernel:
    """The process. OSError if this machine does not allow it."""

    def __init__(self) -> None:
        command = [shutil.which("unshare") or "unshare", "--net", sys.executable, __file__]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._answer()  # it has begun

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def segments(self, order: Order) -> list[bytes] | None:
        """None: the kernel refuses it, as one before 6.2 does with UDP."""
        _send_frames(self._process.stdin, [order.packed()])
        return self._answer()

    def _answer(self) -> list[bytes] | None:
        try:
            return _take_frames(self._process.stdout)
        except EOFError:
            message = self._process.communicate()[1].decode(errors="replace").strip().splitlines()
            raise OSError(message[-1] if message else "the process has ended") from None


def serve() -> None:
    """In the namespace: takes orders from standard input, and answers each with the frames that the tap gets."""
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")  # it would send frames of its own
    tap = os.open(TUN, os.O_RDWR)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", NAME, IFF_TAP | IFF_NO_PI))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFMTU, struct.pack("16si20x", NAME, MTU))
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", NAME, IFF_UP))
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sender.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    sender.bind((NAME.decode(), 0))
    _send_frames(sys.stdout.buffer, [])
    while True:
        try:
            (order,) = _take_frames(sys.stdin.buffer)
        except EOFError:
            return
        try:
            sender.send(order)
        except OSError:
            sys.stdout.buffer.write(struct.pack("=I", REFUSED))
            sys.stdout.buffer.flush()
            continue
        sender.send(bytes(10) + END)
        frames = []
        while True:
            if not select.select([tap], [], [], SECONDS)[0]:
                raise TimeoutError(f"{len(frames)} frames, and no end")
            frame = os.read(tap, 1 << 16)
            if frame == END:
                break
            frames.append(frame)
        _send_frames(sys.stdout.buffer, frames)


if __name__ == "__main__":
    serve()
