# SPDX-License-Identifier: Apache-2.0
"""A card process that does what no card does: the other end of QEMU's link in the hands of a test."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from meridian_twin.closing import Closing
from meridian_twin.patience import end_of
from meridian_twin.protocol import MAGIC, MAX_PAYLOAD, REPLY, VERSION, Header, Status, Type, Welcome

WELCOME = Welcome(MAGIC, VERSION, 1, 4, 8, 2048, 0, 0, 256 << 10, 4 << 20, 32 << 10, 4 << 10, 0x903F, 0xA03F, 0)
Answer = Callable[["FakeCard", Header, bytes], None]


def message(kind: int, payload: bytes = b"", **fields: int) -> bytes:
    return Header(Header.length() + len(payload), kind, **fields).pack() + payload


def answer_all(card: FakeCard, header: Header, payload: bytes) -> None:
    """Registers are 0; all else is done."""
    if header.type not in (Type.BAR_WRITE, Type.DMA_READ | REPLY):
        card.send(message(header.type | REPLY, tag=header.tag, function=header.function))


class FakeCard(Closing):
    """Listens at `path`, takes one client after the other, and answers each by `answer`, in a thread.

    HELLO is welcomed, unless `answer` has been told to take it, too. seen: messages by type.
    """

    def __init__(self, path: Path, answer: Answer = answer_all, welcome: Welcome | None = WELCOME) -> None:
        self.answer, self.welcome = answer, welcome
        self.seen: Counter[int] = Counter()
        self.errors: list[Exception] = []
        self.client: socket.socket | None = None
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(path))
        self.listener.listen(0)
        self.listener.settimeout(0.1)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        if self.client:
            with contextlib.suppress(OSError):
                self.client.shutdown(socket.SHUT_RDWR)
        end_of(self._thread)
        self.listener.close()
        if self.errors:
            raise self.errors[0]

    def send(self, data: bytes) -> None:
        """As far as the client takes it."""
        if self.client:
            with contextlib.suppress(OSError):
                self.client.sendall(data)

    def hang_up(self) -> None:
        if self.client:
            with contextlib.suppress(OSError):
                self.client.shutdown(socket.SHUT_RDWR)

    def wait_over(self, seconds: float) -> bool:
        return self._over.wait(seconds)

    def _serve(self) -> None:
        try:
            while not self._over.is_set():
                with contextlib.suppress(TimeoutError):
                    client, _ = self.listener.accept()
                    client.settimeout(5)
                    self.client = client
                    with client:
                        self._talk(client)
        except (AssertionError, OSError, ValueError) as error:
            self.errors.append(error)

    def _talk(self, client: socket.socket) -> None:
        data = b""
        while not self._over.is_set():
            try:
                more = client.recv(1 << 20)
            except TimeoutError:
                continue
            except OSError:
                return
            if not more:
                return
            data += more
            while len(data) >= Header.length():
                header = Header.unpack(data[: Header.length()])
                assert Header.length() <= header.size <= Header.length() + MAX_PAYLOAD, header
                if len(data) < header.size:
                    break
                payload, data = data[Header.length() : header.size], data[header.size :]
                self.seen[header.type] += 1
                if header.type == Type.HELLO and self.welcome:
                    self.send(message(Type.HELLO | REPLY, self.welcome.pack(), tag=header.tag, status=Status.OK))
                else:
                    self.answer(self, header, payload)
