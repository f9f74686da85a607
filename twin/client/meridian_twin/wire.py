# SPDX-License-Identifier: Apache-2.0
"""The other end of a port's wire in a script's hands (the card's `--wire PORT=socket:path=PATH`)."""

from __future__ import annotations

import select
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

from .closing import Closing
from .patience import stretched

_HEADER = struct.Struct("<QII")
_BAD_FCS = 1
_LONGEST = 65535


@dataclass(frozen=True)
class WireFrame:
    """A frame that the card sent. time_ps: of the end of its start-of-frame delimiter, in twin time."""

    data: bytes
    time_ps: int
    bad_fcs: bool


class WireError(Exception):
    """Nobody is at the card's end, or it sent what is no frame."""


class Wire(Closing):
    """Frames without FCS to and from one port.

    Raises WireError if no card is at the path, if it is gone, or if it takes no frame in time.
    """

    def __init__(self, path: Path | str, patience: float = 10) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._patience = stretched(patience)
        self._socket.settimeout(self._patience)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise WireError(f"no wire ends at {path}: {error.strerror}") from None
        self._socket.setblocking(False)

    def close(self) -> None:
        self._socket.close()

    def send(self, frame: bytes, at_ps: int = 0, bad_fcs: bool = False) -> None:
        """To the card; at_ps: the earliest start of its preamble, as soon as the wire is free by default."""
        if not select.select([], [self._socket], [], self._patience)[1]:
            raise WireError(f"the card has not taken a frame for {self._patience:.0f} s")
        self._socket.send(_HEADER.pack(at_ps, len(frame), _BAD_FCS if bad_fcs else 0) + frame)

    def take(self) -> list[WireFrame]:
        """What has come from the card, without waiting."""
        frames: list[WireFrame] = []
        while True:
            try:
                message = self._socket.recv(_HEADER.size + _LONGEST, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return frames
            except OSError as error:
                raise WireError(f"the wire is gone: {error.strerror}") from None
            if not message:
                raise WireError("the wire is gone")
            time_ps, length, flags = _HEADER.unpack(message[: _HEADER.size])
            if length != len(message) - _HEADER.size:
                raise WireError(f"a message of {len(message)} bytes with a frame of {length}")
            frames.append(WireFrame(message[_HEADER.size :], time_ps, bool(flags & _BAD_FCS)))
