# SPDX-License-Identifier: Apache-2.0
"""What a PF's driver does for its VFs: answers their requests, gives them nothing that is not theirs."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace

from . import qdma
from .contexts import INTERRUPT_RING, Operation, Select, pack, unpack
from .driver import Host
from .mailbox import (
    RESPONSE,
    Code,
    Mailbox,
    MailboxError,
    Message,
    Op,
    QueueRequest,
    QueueType,
    pack_tables,
    place,
)

# Byte 4 and 6 of the capabilities: streams, mailbox; overflow check may be off, large descriptors and completions,
# counter and timer together.
CAPABILITIES = (4, 512, 1 << 1 | 1 << 4, 1, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 7)


@dataclass
class VfState:
    base: int = 0
    count: int = 0
    active: dict[QueueType, set[int]] = field(default_factory=lambda: {kind: set() for kind in QueueType})


class RefusalError(Exception):
    def __init__(self, code: Code) -> None:
        super().__init__(code.name)
        self.code = code


class PfService:
    """Serves the mailbox while anything waits on the PF's link. queues: the absolute ones it may give away.

    first_ring: aggregation rings from there on may be used by VFs, one each.

    Raises RefusalError within a request only, which becomes the answer; what its Link raises comes out of `poll`.
    """

    def __init__(self, host: Host, queues: range) -> None:
        self.host = host
        self.mailbox = Mailbox(host.link, host.function)
        self.vfs: dict[int, VfState] = {}
        self.refused = 0
        self.paced: set[int] = set()  # VFs that send at the rates of their function, from their next start on
        self._free = list(queues)
        self._answers: list[Message] = []
        self.mailbox.clear()
        host.link.services.append(self.poll)

    def poll(self) -> None:
        """Takes one message and answers it."""
        message = self.mailbox.receive()
        answer = self._answer(message) if message else None
        if answer:
            self._answers.append(answer)
        self._send_answers()

    def say(self, vf: int, op: Op) -> None:
        """A message of the PF's own: RESET_PREPARE, RESET_DONE, PF_BYE."""
        self._answers.append(Message(op, 0, self.host.function, vf))

    def _send_answers(self) -> None:
        """Retries replies, for each VF in the order of its requests: a later one may fit where an earlier one did not."""
        waiting, full = list[Message](), set[int]()
        for answer in self._answers:
            if answer.destination in full or not self._sent(answer):
                full.add(answer.destination)
                waiting.append(answer)
        self._answers = waiting

    def _sent(self, message: Message) -> bool:
        try:
            self.mailbox.send(message)
        except MailboxError:
            return False
        return True

    def _answer(self, message: Message) -> Message | None:
        if message.op & RESPONSE:
            return None
        payload, status = b"", 0
        try:
            payload = self._do(message)
        except RefusalError as refusal:
            self.refused += 1
            status = -refusal.code
        except (struct.error, ValueError, KeyError):
            self.refused += 1
            status = -Code.BAD_MESSAGE
        if message.op == Op.VF_BYE:
            return None
        return Message(message.op | RESPONSE, status, self.host.function, message.source, payload)

    def _do(self, message: Message) -> bytes:
        vf = message.source
        if message.op == Op.HELLO:
            self._drop(vf)
            self.vfs[vf] = VfState()
            pfs, queues, first, channels, second = CAPABILITIES
            return place((16, "B", pfs), (18, "H", queues), (20, "B", first), (21, "B", channels), (22, "B", second))
        if vf not in self.vfs:
            raise RefusalError(Code.NOT_EXISTS)
        state = self.vfs[vf]
        match message.op:
            case Op.VF_BYE | Op.PF_RESET_VF_BYE:
                self._drop(vf)
            case Op.QUEUE_REQUEST:
                return self._give(vf, message.field(12, "I"))
            case Op.FMAP:
                return self._map(vf, message.field(8, "i"), message.field(12, "I"))
            case Op.CSR:
                return pack_tables(self.host.tables)
            case Op.QUEUE_ADD:
                state.active[QueueType(message.field(8, "I"))].add(self._own(state, message))
            case Op.QUEUE_DELETE:
                state.active[QueueType(message.field(8, "I"))].discard(self._own(state, message))
            case Op.ACTIVE_COUNT:
                counts = [len(state.active[kind]) for kind in QueueType]
                return place(*((8 + 4 * i, "I", count) for i, count in enumerate(counts)))
            case Op.CONTEXT_WRITE:
                self._program(vf, state, QueueRequest.unpack(message))
            case Op.CONTEXT_READ:
                return self._read_contexts(self._own(state, message), bool(message.field(8, "B") >> 1 & 1))
            case Op.CONTEXT_CLEAR | Op.CONTEXT_INVALIDATE:
                self._end(message.op, self._own(state, message), bool(message.field(8, "B") >> 1 & 1))
            case Op.RING_WRITE | Op.RING_READ | Op.RING_CLEAR | Op.RING_INVALIDATE:
                return self._ring(vf, message)
            case _:
                raise RefusalError(Code.NOT_SUPPORTED)
        return b""

    def _own(self, state: VfState, message: Message) -> int:
        queue = message.field(6, "H")
        if not state.base <= queue < state.base + state.count:
            raise RefusalError(Code.QUEUE)
        return queue

    def _give(self, vf: int, count: int) -> bytes:
        state = self.vfs[vf]
        self._take_back(vf)
        pieces = [self._free[i : i + count] for i in range(len(self._free) - count + 1)]
        fitting = next((p for p in pieces if p and p[-1] - p[0] == count - 1), None)
        if count and fitting is None:
            raise RefusalError(Code.QUEUE_COUNT)
        if fitting:
            state.base, state.count = fitting[0], count
            self._free = [queue for queue in self._free if queue not in set(fitting)]
        return place((8, "i", state.base), (12, "I", state.count))

    def _map(self, vf: int, base: int, count: int) -> bytes:
        state = self.vfs[vf]
        if count and (base != state.base or count > state.count):
            raise RefusalError(Code.QUEUE_COUNT)
        self.host.contexts.map_function(vf, base, count)
        self.host.card.set_queues(vf, base, count)
        if count:
            self.host.card.set_indirection(vf, [k % count for k in range(128)])
        self.host.settle()
        return b""

    def _program(self, vf: int, state: VfState, request: QueueRequest) -> None:
        if not state.base <= request.queue < state.base + state.count:
            raise RefusalError(Code.QUEUE)
        code = request.refusal(self.host.tables)
        if code:
            raise RefusalError(code)
        if request.setting.aggregate and request.setting.vector != vf:
            raise RefusalError(Code.BAD_PARAMETER)
        contexts, tables = self.host.contexts, self.host.tables
        # The function is whom the mailbox names, whatever the message says.
        if request.is_c2h:
            self.host.card.set_buffer_size(request.queue, request.setting.buffer)
            self.host.card.set_queue_switches(request.queue, request.setting.completion16)
            qdma.program_c2h(contexts, request.queue, vf, request.base, request.completions, request.setting, tables)
        else:
            setting = replace(request.setting, paced=vf in self.paced)
            self.host.card.set_queue_switches(request.queue, paced=setting.paced)
            self.host.settle()  # the VF's doorbell comes another way
            qdma.program_h2c(contexts, request.queue, vf, request.base, setting, tables)

    def _end(self, op: int, queue: int, is_c2h: bool) -> None:
        end = self.host.contexts.clear_queue if op == Op.CONTEXT_CLEAR else self.host.contexts.invalidate_queue
        end(queue, h2c=not is_c2h, c2h=is_c2h)

    def _read_contexts(self, queue: int, is_c2h: bool) -> bytes:
        """The fields that drivers show: PIDX, enable, ring size, base of the software context, and the hardware's CIDX."""
        software = self.host.contexts.read(Select.SW_C2H if is_c2h else Select.SW_H2C, queue)
        hardware = self.host.contexts.read(Select.HW_C2H if is_c2h else Select.HW_H2C, queue)
        return place((24, "Q", software["base"]), (80, "H", hardware["cidx"]))

    def _ring(self, vf: int, message: Message) -> bytes:
        """A VF has the aggregation ring of its own number."""
        if message.field(8, "B") != 1 or message.field(12, "I") != vf:
            raise RefusalError(Code.BAD_PARAMETER)
        contexts = self.host.contexts
        if message.op == Op.RING_CLEAR:
            contexts.clear(Select.INTERRUPT_RING, vf)
        elif message.op == Op.RING_INVALIDATE:
            contexts.invalidate(Select.INTERRUPT_RING, vf)
        elif message.op == Op.RING_READ:
            ring = unpack(INTERRUPT_RING, contexts.read_words(Select.INTERRUPT_RING, vf))
            return place((8, "B", 1), (12, "I", vf), (16, "Q", ring["base_4k"] << 12), (26, "H", ring["pidx"]))
        else:
            words = pack(
                INTERRUPT_RING,
                {
                    "valid": 1,
                    "vector": message.field(24, "H") & 0x7FF,
                    "color": 1,
                    "base_4k": message.field(16, "Q") >> 12,
                    "pages": message.field(31, "B") & 7,
                    "function": vf,
                },
            )
            contexts.command(Operation.CLEAR, Select.INTERRUPT_RING, vf)
            contexts.write_words(Select.INTERRUPT_RING, vf, words)
        return b""

    def _take_back(self, vf: int) -> None:
        state = self.vfs[vf]
        if state.count:
            self.host.card.set_queues(vf, 0, 0)
            self.host.contexts.map_function(vf, 0, 0)
            self._free = sorted([*self._free, *range(state.base, state.base + state.count)])
        state.base = state.count = 0

    def _drop(self, vf: int) -> None:
        if vf not in self.vfs:
            self.host.contexts.map_function(vf, 0, 0)
            return
        state = self.vfs[vf]
        for queue in range(state.base, state.base + state.count):
            self.host.contexts.clear_queue(queue)
        self._take_back(vf)
        del self.vfs[vf]
