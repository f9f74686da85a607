# SPDX-License-Identifier: Apache-2.0
"""The mailbox's client and a PF's service when answers are late, at a link of our own: no card is needed for that."""

from __future__ import annotations

import struct
from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest
from meridian_twin.link import LinkTimeout
from meridian_twin.mailbox import (
    COMMAND,
    HARMLESS,
    IN,
    IN_MESSAGE,
    OUT,
    RECEIVE,
    RESPONSE,
    SEND,
    STATUS,
    VF_BASE,
    WORDS,
    Code,
    Mailbox,
    MailboxError,
    Message,
    Op,
    place,
)
from meridian_twin.pf_service import PfService
from meridian_twin.waiting import Waiting

VF = 4


class Slow(Waiting):
    """A VF's registers, with a PF that answers the request of each turn with its number, unless it is told to be late."""

    def __init__(self) -> None:
        super().__init__(patience=1)
        self.words = [0] * WORDS
        self.came: deque[bytes] = deque()
        self.requests: list[int] = []
        self.held: list[bytes] = []
        self.late = False
        self.code = 0

    def _pass(self, pause: float) -> None:
        pass

    def read(self, function: int, bar: int, offset: int) -> int:
        register = offset - VF_BASE
        if register == STATUS:
            return IN_MESSAGE if self.came else 0
        assert IN <= register < IN + 4 * WORDS
        return int.from_bytes(self.came[0][register - IN :][:4], "little")

    def write(self, function: int, bar: int, offset: int, value: int) -> None:
        register = offset - VF_BASE
        if OUT <= register < OUT + 4 * WORDS:
            self.words[(register - OUT) // 4] = value
        elif (register, value) == (COMMAND, SEND):
            self._answer(Message.unpack(struct.pack(f"<{WORDS}I", *self.words)))
        elif (register, value) == (COMMAND, RECEIVE):
            self.came.popleft()

    def _answer(self, request: Message) -> None:
        self.requests.append(request.op)
        number = place((8, "I", len(self.requests)))
        self.held.append(Message(request.op | RESPONSE, -self.code, 0, VF, number).pack())
        if not self.late:
            self.let_go()

    def let_go(self) -> None:
        self.came.extend(self.held)
        self.held.clear()


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def mailbox(slow: Slow) -> Mailbox:
    return Mailbox(slow, VF)  # type: ignore[arg-type]


def ask(mailbox: Mailbox, op: Op, seconds: float = 5) -> int:
    """Which request was answered."""
    return mailbox.ask(Message(op, 0, VF), seconds).field(8, "I")


def given_up(slow: Slow, mailbox: Mailbox, op: Op) -> None:
    slow.late = True
    with pytest.raises(LinkTimeout, match=f"a response to {op.name}"):
        ask(mailbox, op, 0)
    slow.late = False


@pytest.mark.parametrize("op", [Op.QUEUE_REQUEST, Op.ACTIVE_COUNT, Op.CSR])
def test_a_late_answer_is_not_that_of_the_next_request(slow: Slow, mailbox: Mailbox, op: Op) -> None:
    given_up(slow, mailbox, op)
    assert ask(mailbox, op) == 3, "between them is a request whose answer tells that the late one has come"
    assert ask(mailbox, op) == 4, "and nothing more once it has"
    assert slow.requests[1] in HARMLESS and slow.requests[1] != op


def test_a_late_answer_that_has_come_already_is_left_out(slow: Slow, mailbox: Mailbox) -> None:
    given_up(slow, mailbox, Op.CSR)
    slow.let_go()
    assert ask(mailbox, Op.CSR) == 3


def test_another_request_need_not_wait_for_a_late_answer(slow: Slow, mailbox: Mailbox) -> None:
    given_up(slow, mailbox, Op.QUEUE_REQUEST)
    assert ask(mailbox, Op.CSR) == 2


def test_a_refusal_is_that_of_the_request_that_it_answers(slow: Slow, mailbox: Mailbox) -> None:
    given_up(slow, mailbox, Op.HELLO)
    slow.code = Code.NOT_EXISTS
    with pytest.raises(MailboxError, match="HELLO was refused: NOT_EXISTS"):
        ask(mailbox, Op.HELLO)
    assert len(slow.requests) == 3


def test_a_pf_that_owes_too_many_answers_is_an_error_until_a_new_start(slow: Slow, mailbox: Mailbox) -> None:
    for op in HARMLESS:
        given_up(slow, mailbox, op)
    with pytest.raises(MailboxError, match="owes answers to 2 requests: start anew"):
        ask(mailbox, Op.CSR)
    slow.let_go()
    mailbox.clear()
    assert ask(mailbox, Op.CSR) == 3


class Narrow:
    """A PF's mailbox: room comes only when the test lets the VFs take what there is."""

    def __init__(self) -> None:
        self.requests: deque[Message] = deque()
        self.tried = 0
        self.sent: list[Message] = []

    def clear(self) -> None:
        pass

    def receive(self) -> Message | None:
        return self.requests.popleft() if self.requests else None

    def send(self, message: Message) -> None:
        self.tried += 1
        if message.destination == VF and self.tried <= 2:  # there is room at once behind the second attempt
            raise MailboxError("no room")
        self.sent.append(message)


def test_a_pf_answers_in_the_order_of_the_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = Narrow()
    monkeypatch.setattr("meridian_twin.pf_service.Mailbox", lambda link, function: narrow)
    host: Any = SimpleNamespace(link=SimpleNamespace(services=[]), function=0)
    service = PfService(host, range(0))
    for vf, op in ((VF, Op.CSR), (VF, Op.ACTIVE_COUNT), (VF + 1, Op.CSR)):
        narrow.requests.append(Message(op, 0, vf))
    while len(narrow.sent) < 3:
        service.poll()
    assert [m.op & ~RESPONSE for m in narrow.sent if m.destination == VF] == [Op.CSR, Op.ACTIVE_COUNT]
