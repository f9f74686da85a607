# SPDX-License-Identifier: Apache-2.0
"""Trains of frames at line rate from the wire, of all sizes, for some of the host's functions: one right before each Sync
of the grandmaster and one right behind it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from meridian_twin.control import Control, ControlError
from meridian_twin.wire import Wire, WireError

from .record import Record

SOURCE = bytes.fromhex("020000000099")
ETHERTYPE = b"\x88\xb5"  # IEEE 802's for experiments
SIZES = (68, 132, 260, 516, 1028, 1518)  # with FCS: those of the published figures, and the largest
SYNC_LOG = -3  # log2 of the seconds between two Sync
PERIOD_PS = int(10**12 * 2.0**SYNC_LOG)
SYNC_PS = 1_000_000  # when in each period one is sent
LEAD_PS = 20_000_000_000  # a train is handed over so long before
BIT_PS = 40
AROUND = 20  # bytes of preamble and gap
LOOK_SECONDS = 0.02
NUMBERED = slice(14, 22)


def frame(receiver: bytes, number: int, size: int) -> bytes:
    return (receiver + SOURCE + ETHERTYPE + number.to_bytes(8, "big")).ljust(size - 4, b"\x5a")


def number_of(data: bytes) -> int | None:
    """Of a frame of ours that is on its way from the wire; nothing of any other."""
    return int.from_bytes(data[NUMBERED], "big") if data[6:14] == SOURCE + ETHERTYPE else None


def times(period: int, size: int, frames: int) -> list[int]:
    """When each of the frames around a period's Sync is due, in twin time; the Sync is due in their middle."""
    pace = (size + AROUND) * 8 * BIT_PS
    start = period * PERIOD_PS + SYNC_PS - frames * pace // 2
    return [start + n * pace for n in range(frames)]


class Bursts:
    """Until it is closed. `frames` around each Sync, sizes and receivers in turn."""

    def __init__(self, path: Path, receivers: Sequence[bytes], frames: int, control: Control, record: Record) -> None:
        self._wire, self._receivers, self._frames = Wire(path), receivers, frames
        self._control, self._record = control, record
        self._sent = 0
        self._last_ps = 0
        self._end = threading.Event()
        self._error = ""
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        sizes, receivers = cycle(SIZES), cycle(self._receivers)
        last = 0
        try:
            while not self._end.wait(LOOK_SECONDS):
                period = (self._control.ask("stats")["t_ps"] + LEAD_PS) // PERIOD_PS + 1
                if period > last:
                    self._train(times(period, size := next(sizes), self._frames), next(receivers), size)
                    last = period
                self._wire.take()
        except (WireError, ControlError, OSError) as error:
            self._error = str(error)

    def _train(self, moments: Sequence[int], receiver: bytes, size: int) -> None:
        for moment in moments:
            self._wire.send(frame(receiver, self._sent, size), moment)
            self._sent += 1
            self._last_ps = moment
        self._record.bursts.append((self._record.now(), len(moments)))

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def end(self) -> None:
        """No train more is handed over."""
        self._end.set()
        self._thread.join(30)

    @property
    def ends(self) -> float:
        """When the last frame that was handed over is due, in seconds of twin time."""
        return self._last_ps * 1e-12

    def close(self) -> None:
        self.end()
        self._wire.close()
        if self._error:
            self._record.note(f"bursts ended: {self._error}")
