# SPDX-License-Identifier: Apache-2.0
"""The card's PS beside a machine that has the card: the small host of `peer`, at the PS's rings in place of a wire."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from meridian_twin import Ps
from meridian_twin.link import LinkError
from meridian_twin.wire import WireError
from peer import Peer

MAC = bytes.fromhex("02a53a53a501")


@dataclass(frozen=True)
class Taken:
    """A frame, as a wire gives it."""

    data: bytes
    time_ps: int


class PsWire:
    """Rings of a PS, in the thread that takes from them; `send` and `counters` are for any thread."""

    def __init__(self, ps: Ps) -> None:
        self.ps = ps
        self.inside = 0  # frames of functions among those taken
        self._work: deque[Callable[[], object]] = deque()

    def send(self, frame: bytes) -> None:
        self._work.append(lambda: self.ps.send(frame))

    def counters(self) -> dict[str, int]:
        """Of the rings."""
        result: Future[dict[str, int]] = Future()

        def ask() -> None:
            try:
                result.set_result(self.ps.ports[0].counters())
            except Exception as error:
                result.set_exception(error)
                raise

        self._work.append(ask)
        return result.result(timeout=60)

    def take(self) -> list[Taken]:
        try:
            while self._work:
                self._work.popleft()()
            self.ps.link.serve()
            frames = self.ps.ports[0].poll()
        except LinkError as error:
            raise WireError(str(error)) from None
        self.inside += sum(frame.inside for frame in frames)
        return [Taken(frame.data, 1000 * frame.time_ns) for frame in frames]


class PsHost(Peer):
    """It answers what comes from inside the card and from the wire alike."""

    def __init__(self, ps: Ps, address: str) -> None:
        self.rings = PsWire(ps)
        super().__init__(self.rings, address, MAC)  # type: ignore[arg-type]


@contextmanager
def ps_host(card: Path, address: str) -> Iterator[PsHost]:
    """At an IPv4 address, with the rings of port 0."""
    with Ps.connect(card) as ps:
        ps.start(0, MAC)
        with PsHost(ps, address) as host:
            yield host
