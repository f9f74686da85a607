# SPDX-License-Identifier: Apache-2.0
"""Trains of frames at line rate from the wire, of all sizes, for some of the host's functions."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from meridian_twin.wire import Wire, WireError

from .record import Record

SOURCE = bytes.fromhex("020000000099")
ETHERTYPE = b"\x88\xb5"  # IEEE 802's for experiments
SIZES = (64, 128, 256, 512, 1024, 1518)  # with FCS
PAUSE = 0.2
NUMBERED = slice(14, 22)


def frame(receiver: bytes, number: int, size: int) -> bytes:
    return (receiver + SOURCE + ETHERTYPE + number.to_bytes(8, "big")).ljust(size - 4, b"\x5a")


def number_of(data: bytes) -> int | None:
    """Of a frame of ours that is on its way from the wire; nothing of any other."""
    return int.from_bytes(data[NUMBERED], "big") if data[6:14] == SOURCE + ETHERTYPE else None


class Bursts:
    """Until it is closed. Trains of `frames` each, sizes and receivers in turn."""

    def __init__(self, path: Path, receivers: Sequence[bytes], frames: int, record: Record) -> None:
        self._wire, self._receivers, self._frames, self._record = Wire(path), receivers, frames, record
        self._sent = 0
        self._end = threading.Event()
        self._error = ""
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        sizes, receivers = cycle(SIZES), cycle(self._receivers)
        try:
            while not self._end.wait(PAUSE):
                receiver, size = next(receivers), next(sizes)
                for _ in range(self._frames):
                    self._wire.send(frame(receiver, self._sent, size))
                    self._sent += 1
                self._record.bursts.append((self._record.now(), self._frames))
                self._wire.take()
        except (WireError, OSError) as error:
            self._error = str(error)

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def close(self) -> None:
        self._end.set()
        self._thread.join(30)
        self._wire.close()
        if self._error:
            self._record.note(f"bursts ended: {self._error}")
