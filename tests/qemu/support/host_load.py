# SPDX-License-Identifier: Apache-2.0
"""A host that does nothing but load the card: it sends all it can, and receives, or lets its queues stand."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from meridian_twin import Host

MAC = bytes.fromhex("020000000001")
AWAY = bytes.fromhex("020000000077")
LENGTH = 1500
FRAME = (AWAY + MAC + b"\x88\xb5").ljust(LENGTH, b"\x5a")
ENOUGH = 128  # frames that wait to be sent, at which another batch is made
SECONDS = 30


class HostLoad:
    """The host in a thread of its own, until it is closed. receives: takes what comes; else its queue is soon full.
    counters: of its function, at the end."""

    def __init__(self, host: Host, receives: bool) -> None:
        self._host, self._receives = host, receives
        self.received = 0
        self.counters: dict[str, int] = {}
        self._end = threading.Event()
        self._pool = ThreadPoolExecutor(1)
        self._done = self._pool.submit(self._work)

    def _work(self) -> None:
        queue = self._host.pairs[0].h2c
        while not self._end.is_set():
            if queue.in_flight < ENOUGH:
                while queue.room() > 0:
                    queue.post(FRAME)
                queue.ring()
            if self._receives:
                self.received += len(self._host.take())
            self._host.link.serve()
            self._end.wait(0.001)
        self.counters = self._host.card.counters("FUNCTION")

    def check(self) -> None:
        """Raises what ended it."""
        if self._done.done():
            self._done.result()

    def close(self) -> None:
        self._end.set()
        self._done.result(SECONDS)
        self._pool.shutdown()


@contextmanager
def host_load(card: Path, receives: bool) -> Iterator[HostLoad]:
    with Host.connect(card) as host:
        host.bring_up(1)
        host.add_mac(MAC)
        load = HostLoad(host, receives)
        try:
            yield load
        finally:
            load.close()
