# SPDX-License-Identifier: Apache-2.0
"""A PF in Python that also knows the first version of Meridian's own messages (host-driver/qdma/mailbox/meridian_mailbox.h)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from meridian_twin import Host, LinkError, LinkTimeout, RegisterError
from meridian_twin.mailbox import Code, MailboxError, Message, place
from meridian_twin.patience import end_of
from meridian_twin.pf_service import PfService, RefusalError

CONFIG, ADDRESS, FLAGS = 0x40, 0x41, 0x42


def address_of(function: int) -> bytes:
    return bytes.fromhex("02aabbccdd") + bytes([function])


class MeridianPf(PfService):
    """Gives each VF the address that `address_of` says, and the addresses that it asks for."""

    def __init__(self, host: Host, queues: range) -> None:
        super().__init__(host, queues)
        self.addresses: dict[int, set[bytes]] = {}
        self.max_frame = host.card.geometry.max_frame

    def _do(self, message: Message) -> bytes:
        vf = message.source
        if message.op == CONFIG and vf in self.vfs:
            words = ((8 + at, "B", byte) for at, byte in enumerate(address_of(vf)))
            return place(*words, (16, "I", self.max_frame))
        if message.op == ADDRESS and vf in self.vfs:
            self._receive(vf, message.payload[2:8], bool(message.field(14, "B")))
            return b""
        if message.op == FLAGS and vf in self.vfs:
            if message.field(8, "I"):
                raise RefusalError(Code.NOT_SUPPORTED)  # they are for VFs that are trusted
            return b""
        return super()._do(message)

    def _receive(self, vf: int, address: bytes, wanted: bool) -> None:
        mine = self.addresses.setdefault(vf, set())
        if wanted and address not in mine:
            self.host.add_mac(address, vf)
            mine.add(address)
        elif not wanted and address in mine:
            self.host.remove_mac(address)
            mine.remove(address)


@contextmanager
def served(host: Host) -> Iterator[None]:
    """The PF answers while somebody else waits for it; nobody else uses its link meanwhile."""
    over = threading.Event()
    failures: list[Exception] = []

    def run() -> None:
        try:
            host.link.wait(over.is_set, "the others", 300)
        except (LinkError, LinkTimeout, MailboxError, RegisterError) as failure:
            failures.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        end_of(thread)
    assert not failures, failures
