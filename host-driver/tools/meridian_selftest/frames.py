# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Frames of the program's own: EtherType 0x88B5, which IEEE 802 leaves to local experiments."""

from __future__ import annotations

import array
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext

from . import system

ETHERTYPE = 0x88B5
#: A locally administered address that nobody has.
NOBODY = bytes.fromhex("024d5244fffe")
LENGTH = 60
SOL_PACKET, PACKET_QDISC_BYPASS = 263, 20
SIOCOUTQ = 0x5411
RECEIVE_BYTES = 1 << 20


def address(interface: str) -> bytes:
    return bytes.fromhex(system.read(system.NET / interface / "address").replace(":", ""))


class Frames:
    """A socket that sends and receives such frames on an interface. bypass: without its queueing discipline. refusal: why
    Linux did not take the last frame that it refused.
    """

    def __init__(self, interface: str, bypass: bool = False) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
        self._own = address(interface)
        self.refusal = ""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        if bypass:
            self._socket.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
        self._socket.setblocking(False)
        self._socket.bind((interface, ETHERTYPE))

    def close(self) -> None:
        self._socket.close()

    def send(self, number: int, to: bytes = NOBODY) -> bool:
        """Whether Linux has taken the frame, which it does not while the interface is down or its queue is full."""
        text = b"meridian-selftest" + number.to_bytes(8, "big")
        try:
            self._socket.send((to + self._own + ETHERTYPE.to_bytes(2, "big") + text).ljust(LENGTH, b"\0"))
        except OSError as error:
            self.refusal = os.strerror(error.errno) if error.errno else str(error)
            return False
        return True

    def receive(self) -> int:
        """How many frames have come, our own not counted."""
        count = 0
        while True:
            try:
                _, (_, _, kind, _, _) = self._socket.recvfrom(LENGTH)
            except BlockingIOError:
                return count
            except OSError:
                return count
            count += kind != socket.PACKET_OUTGOING

    def waiting(self) -> bool:
        """Whether a frame that was sent is not done: the driver frees it when the card's completion has come."""
        amount = array.array("i", [0])
        fcntl.ioctl(self._socket.fileno(), SIOCOUTQ, amount)
        return amount[0] > 0

    def sent(self, seconds: float) -> bool:
        """Whether all are done in time. It looks all the time, for what comes within microseconds."""
        end = time.monotonic() + seconds
        while self.waiting():
            if time.monotonic() > end:
                return False
        return True


def opened(interface: str, bypass: bool = False) -> closing[Frames]:
    """Frames for as long as the context lasts."""
    return closing(Frames(interface, bypass))


@contextmanager
def on_processor(number: int) -> Iterator[None]:
    """This thread runs on one processor, from which Linux sends by the queue that belongs to it."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {number})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def by_first_queue(interface: str) -> Iterator[None]:
    """This thread sends by one queue; by any if no processor that it may run on belongs to one."""
    found = senders(interface)
    with on_processor(found[min(found)]) if found else nullcontext():
        yield


def processors(mask: str) -> set[int]:
    """Of a mask as sysfs has it, such as 00000000,00000003."""
    bits = int(mask.replace(",", "") or "0", 16)
    return {number for number in range(bits.bit_length()) if bits >> number & 1}


def senders(interface: str) -> dict[int, int]:
    """A processor for each transmit queue that one may send by."""
    allowed = os.sched_getaffinity(0)
    folder = system.NET / interface / "queues"
    found = {}
    for name in system.names(folder):
        if name.startswith("tx-"):
            usable = sorted(processors(system.read(folder / name / "xps_cpus")) & allowed)
            if usable:
                found[int(name[3:])] = usable[0]
    return found
