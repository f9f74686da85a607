# SPDX-License-Identifier: Apache-2.0
"""The machine's serial ports as this side sees them: pairs of sockets, the other end in QEMU's hands."""

from __future__ import annotations

import socket
from collections.abc import Callable

Sink = Callable[[bytes], object]
CHUNK = 1 << 16


class Port:
    """A virtio serial port of the machine. `theirs` is for QEMU, closed here once it runs."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ours, self.theirs = socket.socketpair()
        self.ours.setblocking(False)

    def options(self) -> list[str]:
        """QEMU's, for a machine that has a virtio-serial-pci."""
        identity = self.name.replace(".", "-")
        return [
            *("-chardev", f"socket,id={identity},fd={self.theirs.fileno()}"),
            *("-device", f"virtserialport,chardev={identity},name={self.name}"),
        ]

    def take(self) -> bytes | None:
        """What has come; None when QEMU has closed it."""
        try:
            return self.ours.recv(CHUNK) or None
        except BlockingIOError:
            return b""
        except ConnectionResetError:
            return None

    def close(self) -> None:
        self.ours.close()
        self.theirs.close()


class Marked:
    """Bytes that end with a marker; all before it go to a sink as soon as they are known not to be of it."""

    def __init__(self, marker: bytes, sink: Sink) -> None:
        self._marker, self._sink, self._held = marker, sink, b""
        self.complete = False

    def feed(self, data: bytes) -> None:
        held = self._held + data
        at = held.find(self._marker)
        if at >= 0:
            self.complete = True
            keep = b""
            self._give(held[:at])
        else:
            longest = min(len(held), len(self._marker) - 1)
            size = next((n for n in range(longest, 0, -1) if held.endswith(self._marker[:n])), 0)
            keep = held[len(held) - size :]
            self._give(held[: len(held) - size])
        self._held = keep

    def flush(self) -> None:
        """There will be no more."""
        self._give(self._held)
        self._held = b""

    def _give(self, data: bytes) -> None:
        if data:
            self._sink(data)
