# SPDX-License-Identifier: Apache-2.0
"""The QDMA IP's mailbox between a PF and its VFs, and the message format of the public Xilinx drivers."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from .link import Link
from .qdma import QueueSetting, Tables, Trigger

PF_BASE = 0x22400
VF_BASE = 0x5000
STATUS = 0x00
COMMAND = 0x04
VECTOR = 0x08
TARGET = 0x0C
INTERRUPT_ENABLE = 0x10
ACKNOWLEDGED = 0x20
IN = 0x800
OUT = 0xC00
WORDS = 32
SEND = 1
RECEIVE = 2
IN_MESSAGE = 1
OUT_MESSAGE = 2
ACK = 4


class MailboxError(Exception):
    """The other side refused, is silent, or its message makes no sense. code: of the public drivers, if it sent one."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class Op(IntEnum):
    VF_BYE = 0
    HELLO = 1
    FMAP = 2
    CSR = 3
    QUEUE_REQUEST = 4
    QUEUE_ADD = 5
    QUEUE_DELETE = 6
    ACTIVE_COUNT = 7
    CONTEXT_WRITE = 8
    CONTEXT_READ = 9
    CONTEXT_CLEAR = 10
    CONTEXT_INVALIDATE = 11
    RING_WRITE = 12
    RING_READ = 13
    RING_CLEAR = 14
    RING_INVALIDATE = 15
    RESET_PREPARE = 16
    RESET_DONE = 17
    REGISTERS = 18
    PF_BYE = 19
    PF_RESET_VF_BYE = 20


RESPONSE = 0x80
#: Requests that change nothing: the answer to one shows that all before it were answered, or never will be.
HARMLESS = (Op.ACTIVE_COUNT, Op.CSR)


class Code(IntEnum):
    """Why a request was refused; sent as a negative status."""

    BAD_PARAMETER = 1
    NOT_SUPPORTED = 7
    NOT_EXISTS = 9
    QUEUE_COUNT = 15
    QUEUE = 16
    RING_SIZE = 17
    BUFFER_SIZE = 18
    COUNTER = 19
    TIMER = 20
    BAD_MESSAGE = 21


class QueueType(IntEnum):
    H2C = 0
    C2H = 1
    COMPLETION = 2


@dataclass(frozen=True)
class Message:
    """128 bytes; the payload stands at offset 6, as fields do in the public drivers' structures."""

    op: int
    status: int = 0
    source: int = 0
    destination: int = 0
    payload: bytes = b""

    def pack(self) -> bytes:
        head = struct.pack("<BbHH", self.op, self.status, self.source, self.destination)
        return (head + self.payload).ljust(4 * WORDS, b"\0")

    @classmethod
    def unpack(cls, data: bytes) -> Message:
        op, status, source, destination = struct.unpack("<BbHH", data[:6])
        return cls(op, status, source, destination, data[6:])

    def field(self, offset: int, form: str) -> int:
        """A number at that offset of the message."""
        value: int = struct.unpack_from("<" + form, self.payload, offset - 6)[0]
        return value


def place(*fields: tuple[int, str, int]) -> bytes:
    """A payload with numbers at offsets of the message."""
    data = bytearray(4 * WORDS - 6)
    for offset, form, value in fields:
        struct.pack_into("<" + form, data, offset - 6, value)
    return bytes(data)


class Mailbox:
    """One function's mailbox. A PF names the other side, a VF has its PF only.

    Raises MailboxError if the other side refuses a request (`code` says why) or has not taken the last message, and
    LinkTimeout if it does not answer in time.
    """

    def __init__(self, link: Link, function: int) -> None:
        self.link = link
        self.function = function
        self.is_pf = function < 4
        self.base = PF_BASE if self.is_pf else VF_BASE
        self._given_up: dict[int, set[int]] = {}  # by the other side: requests whose answers may still come

    def read(self, register: int) -> int:
        return self.link.read(self.function, 0, self.base + register)

    def write(self, register: int, value: int) -> None:
        self.link.write(self.function, 0, self.base + register, value)

    def enable_interrupt(self, vector: int = 0, on: bool = True) -> None:
        self.write(VECTOR, vector)
        self.write(INTERRUPT_ENABLE, int(on))

    def clear(self) -> None:
        """Throws away what waits from before, as drivers do when they start."""
        self._given_up.clear()
        for _ in range(256):
            status = self.read(STATUS)
            if status & ACK:
                for word in range(8):
                    self.write(ACKNOWLEDGED + 4 * word, 0xFFFFFFFF)
            if not status & IN_MESSAGE:
                return
            if self.is_pf:
                self.write(TARGET, status >> 4 & 0xFFF)
            self.write(COMMAND, RECEIVE)

    def receive(self) -> Message | None:
        """The next message; a PF believes the mailbox, not the sender, who that is."""
        status = self.read(STATUS)
        if not status & IN_MESSAGE:
            return None
        source = status >> 4 & 0xFFF
        if self.is_pf:
            self.write(TARGET, source)
        words = [self.read(IN + 4 * word) for word in range(WORDS)]
        self.write(COMMAND, RECEIVE)
        message = Message.unpack(struct.pack(f"<{WORDS}I", *words))
        if not self.is_pf:
            return message
        return Message(message.op, message.status, source, message.destination, message.payload)

    def can_send(self, target: int = 0) -> bool:
        """The last message to the target was taken."""
        if self.is_pf:
            self.write(TARGET, target)
        return not self.read(STATUS) & OUT_MESSAGE

    def send(self, message: Message) -> None:
        """Raises MailboxError while the other side has not taken the last one."""
        if not self.can_send(message.destination):
            raise MailboxError(f"function {message.destination} has not taken the last message")
        for word, value in enumerate(struct.unpack(f"<{WORDS}I", message.pack())):
            self.write(OUT + 4 * word, value)
        if self.is_pf:
            self.write(ACKNOWLEDGED + 4 * (message.destination // 32), 1 << message.destination % 32)
        self.write(COMMAND, SEND)

    def ask(self, message: Message, seconds: float = 10) -> Message:
        """A request and its response; others that come meanwhile are thrown away."""
        if message.op in self._given_up.get(message.destination, ()):
            self._forget_answers(message, seconds)
        answer = self._exchange(message, seconds)
        if answer.status < 0:
            code = -answer.status
            known = Code(code).name if code in set(Code) else str(code)
            raise MailboxError(f"{Op(message.op).name} was refused: {known}", code)
        return answer

    def _forget_answers(self, message: Message, seconds: float) -> None:
        """Until the answer to a request of this kind that was given up comes no more.

        Messages have no numbers, but are answered one after the other: behind the answer to another request there is
        none to an earlier one.
        """
        given_up = self._given_up[message.destination]
        other = next((op for op in HARMLESS if op not in given_up), None)
        if other is None:
            raise MailboxError(f"function {message.destination} owes answers to {len(given_up)} requests: start anew")
        self._exchange(Message(other, 0, message.source, message.destination), seconds)
        given_up.clear()

    def _exchange(self, message: Message, seconds: float) -> Message:
        """Sends a request; what is answered, also if that is a refusal."""
        self.link.wait(lambda: self.can_send(message.destination), "room in the mailbox", seconds)
        self.send(message)
        answers: list[Message] = []

        def answered() -> bool:
            came = self.receive()
            if came and came.op == message.op | RESPONSE:
                answers.append(came)
            return bool(answers)

        try:
            self.link.wait(answered, f"a response to {Op(message.op).name}", seconds)
        finally:
            if not answers:
                self._given_up.setdefault(message.destination, set()).add(message.op)
        return answers[0]


@dataclass(frozen=True)
class QueueRequest:
    """CONTEXT_WRITE: one direction of a queue, in sizes and times instead of indices. queue: absolute."""

    queue: int
    is_c2h: bool
    function: int
    base: int
    completions: int
    setting: QueueSetting

    def pack(self) -> bytes:
        s = self.setting
        is_h2c = not self.is_c2h
        flags = self.is_c2h << 0 | (is_h2c and s.h2c_irq) << 2 | is_h2c << 3 | is_h2c << 4 | 1 << 6
        flags |= (is_h2c and s.h2c_irq) << 7 | (self.is_c2h and s.prefetch) << 8
        flags |= s.c2h_irq << 11 | 1 << 13 | s.full_update << 14 | 1 << 15
        flags |= (is_h2c << 16) | (self.is_c2h and s.completion16) << 18 | s.trigger << 20
        values = self.function | s.counter << 16 | s.timer << 24
        kind = 1 | self.is_c2h << 1 | (2 if self.is_c2h else 3) << 2
        return place(
            (6, "H", self.queue),
            (8, "B", kind),
            (16, "Q", self.base),
            (24, "Q", self.completions),
            (32, "I", flags),
            (36, "I", values),
            (40, "H", s.vector | s.aggregate << 11),
            (42, "H", s.ring - 1),
            (44, "H", s.buffer),
            (46, "H", s.completions - 1),
        )

    @classmethod
    def unpack(cls, message: Message) -> QueueRequest:
        flags, values, vector = message.field(32, "I"), message.field(36, "I"), message.field(40, "H")
        setting = QueueSetting(
            ring=message.field(42, "H") + 1,
            completions=message.field(46, "H") + 1,
            buffer=message.field(44, "H"),
            trigger=Trigger(min(flags >> 20 & 7, 5)),
            timer=values >> 24,
            counter=values >> 16 & 0xFF,
            full_update=bool(flags >> 14 & 1),
            h2c_irq=bool(flags >> 7 & 1),
            c2h_irq=bool(flags >> 11 & 1),
            vector=vector & 0x7FF,
            aggregate=bool(vector >> 11 & 1),
            prefetch=bool(flags >> 8 & 1),
            completion16=flags >> 18 & 3 == 1,
        )
        is_c2h = bool(message.field(8, "B") >> 1 & 1)
        return cls(
            message.field(6, "H"), is_c2h, values & 0xFFFF, message.field(16, "Q"), message.field(24, "Q"), setting
        )

    def refusal(self, tables: Tables) -> Code | None:
        """The first of its values that the card's tables do not have."""
        s = self.setting
        if s.ring not in tables.rings or (self.is_c2h and s.completions not in tables.rings):
            return Code.RING_SIZE
        if not self.is_c2h:
            return None
        if s.buffer not in tables.buffers:
            return Code.BUFFER_SIZE
        if s.counter not in tables.counters:
            return Code.COUNTER
        return None if s.timer in tables.timers else Code.TIMER


def pack_tables(tables: Tables, interval: int = 5) -> bytes:
    """CSR's response."""
    fields = [(6 + 2 * i, "H", value) for i, value in enumerate(tables.rings)]
    fields += [(38 + 2 * i, "H", value) for i, value in enumerate(tables.buffers)]
    fields += [(70 + i, "B", value) for i, value in enumerate(tables.timers)]
    fields += [(86 + i, "B", value) for i, value in enumerate(tables.counters)]
    return place(*fields, (102, "B", interval))


def unpack_tables(message: Message) -> Tables:
    def table(offset: int, step: int, form: str) -> list[int]:
        return [message.field(offset + step * i, form) for i in range(16)]

    return Tables(table(6, 2, "H"), table(70, 1, "B"), table(86, 1, "B"), table(38, 2, "H"))
