# SPDX-License-Identifier: Apache-2.0
"""A VF's driver: everything that is not its own rings it asks its PF for."""

from __future__ import annotations

from .driver import Pair, Queues
from .link import Link
from .mailbox import Mailbox, Message, Op, QueueRequest, QueueType, place, unpack_tables
from .memory import Memory
from .qdma import IDENTIFIER_MAGIC, C2hQueue, H2cQueue, QueueError, QueueSetting

VERSION = 0x5014


class Vf(Queues):
    """The PF's service must run on the same link, or in another machine's driver.

    Raises QueueError if BAR 0 is not that of a VF, MailboxError if the PF refuses a request, and LinkTimeout if it does
    not answer.
    """

    def __init__(self, link: Link, function: int, memory: Memory, parent: int = 0) -> None:
        super().__init__(link, function)
        self.memory = memory
        self.parent = parent
        self.number = 0  # its own, as the PF tells it
        self.base = 0
        link.enable(function, True, parent)
        version = link.read(function, 0, VERSION)
        if version >> 16 != IDENTIFIER_MAGIC:
            raise QueueError(f"BAR 0 of function {function} is not that of a QDMA VF: {version:#010x}")
        self.mailbox = Mailbox(link, function)
        self.mailbox.clear()

    def ask(self, op: Op, payload: bytes = b"") -> Message:
        return self.mailbox.ask(Message(op, 0, self.number, self.parent, payload))

    def hello(self) -> Message:
        answer = self.ask(Op.HELLO)
        self.number = answer.destination
        return answer

    def bring_up(self, queues: int = 1, setting: QueueSetting | None = None) -> None:
        setting = setting or QueueSetting()
        self.hello()
        granted = self.ask(Op.QUEUE_REQUEST, place((8, "i", -1), (12, "I", queues)))
        self.base = granted.field(8, "i")
        self.ask(Op.FMAP, place((8, "i", self.base), (12, "I", granted.field(12, "I"))))
        tables = unpack_tables(self.ask(Op.CSR))
        for queue in range(queues):
            h2c = H2cQueue(self.link, self.function, queue, self.memory, setting)
            c2h = C2hQueue(self.link, self.function, queue, self.memory, setting, tables)
            for kind in QueueType:
                self.ask(Op.QUEUE_ADD, place((6, "H", self.base + queue), (8, "I", kind)))
            self.write_context(QueueRequest(self.base + queue, False, self.number, h2c.base, 0, setting))
            self.write_context(
                QueueRequest(self.base + queue, True, self.number, c2h.base, c2h.completion_base, setting)
            )
            c2h.start()
            self.pairs.append(Pair(h2c, c2h, self.base + queue))
        self.settle()

    def settle(self) -> None:
        """Until the card has the doorbells that were written: a frame that overtakes them finds a full queue."""
        for _ in range(2):
            self.link.read(self.function, 0, VERSION)

    def write_context(self, request: QueueRequest) -> None:
        self.ask(Op.CONTEXT_WRITE, request.pack())

    def stop(self) -> None:
        """Gives the queues back and says good-bye."""
        for queue, pair in enumerate(self.pairs):
            for kind in (1, 3):  # a stream, in one direction and the other
                self.ask(Op.CONTEXT_INVALIDATE, place((6, "H", self.base + queue), (8, "B", kind)))
            for kind in QueueType:
                self.ask(Op.QUEUE_DELETE, place((6, "H", self.base + queue), (8, "I", kind)))
            pair.h2c.free()
            pair.c2h.free()
        self.pairs.clear()
        self.mailbox.send(Message(Op.VF_BYE, 0, self.number, self.parent))
