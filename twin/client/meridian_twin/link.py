# SPDX-License-Identifier: Apache-2.0
"""A machine's end of the link to the card: registers, DMA, interrupts, resets, time."""

from __future__ import annotations

import select
import socket
import time
from collections import Counter, deque
from dataclasses import replace
from pathlib import Path

from .closing import Closing
from .doorbells import DOORBELL_REGISTERS, Doorbells
from .memory import Memory
from .protocol import (
    ALL_FUNCTIONS,
    LOCKSTEP,
    MAGIC,
    MAX_PAYLOAD,
    REPLY,
    VERSION,
    Header,
    Hello,
    Region,
    Role,
    Status,
    Type,
    Welcome,
)
from .waiting import LinkError, LinkTimeout, Waiting

Message = tuple[Header, bytes]


class Link(Closing, Waiting):
    """One connection. While any call waits, the card's DMA and interrupts are served.

    lockstep: twin time stands still but for `advance`, `wait` and the accesses that wait for a reply.
    patience: seconds that any one reply may take. version: of the link, for a card that knows no newer one. function:
    of a client that plays one function alone (PCIE_FUNCTION).

    Raises LinkError if no card answers, if it refuses a request, breaks the protocol or is gone, and LinkTimeout, which
    is one, if a reply does not come in time.
    """

    def __init__(
        self,
        path: Path | str,
        role: Role = Role.PCIE,
        name: str = "python",
        lockstep: bool = False,
        patience: float = 30,
        version: int = VERSION,
        function: int = 0,
    ) -> None:
        super().__init__(patience)
        self.role = role
        self.lockstep = lockstep
        self.step_ps = 1_000_000  # of twin time between two looks of `wait`, in lockstep
        self.interrupts: Counter[tuple[int, int]] = Counter()  # by function and vector, until taken
        self.line = 0  # AXI: level of the interrupt
        self.dma = Counter[str]()
        self.astray = Counter[int]()  # DMA to where no memory is, by function
        self.messages = Counter[str]()  # "sent" and "received"
        self._memories: list[Memory] = []
        self._doorbells: dict[int, Doorbells] = {}
        self._tag = 0
        self._buffer = bytearray()
        self._out = bytearray()
        self._flushing = False
        self._arrived: deque[Message] = deque()  # in the order in which the card sent them
        self._replies: dict[int, Message] = {}
        self._awaited: set[int] = set()
        self._error = ""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(str(path))
            self._socket.setblocking(False)
        except OSError as error:
            self._socket.close()
            raise LinkError(f"no card answers at {path}: {error.strerror}") from None
        hello = Hello(MAGIC, version, role, LOCKSTEP if lockstep else 0, function, name.encode()[:47])
        try:
            _, payload = self._ask(Header(0, Type.HELLO), hello.pack())
        except LinkError:
            self._socket.close()
            raise
        if len(payload) != Welcome.length():
            raise LinkError(f"the card's welcome has {len(payload)} bytes instead of {Welcome.length()}")
        self.welcome = Welcome.unpack(payload)
        if (self.welcome.magic, self.welcome.version) != (MAGIC, version):
            raise LinkError(f"the card speaks version {self.welcome.version} of the link, this driver {version}")

    def close(self) -> None:
        """Leaves: the card resets this machine's side."""
        self._socket.close()
        for bells in self._doorbells.values():
            bells.close()
        self._doorbells.clear()

    # Registers

    def bar_access(
        self, function: int, bar: int, offset: int, width: int = 4, value: int | None = None
    ) -> tuple[Status, int]:
        """A read, or a write if there is a value; the status of a write is always OK, it is posted."""
        if value is not None:
            self._send(Header(0, Type.BAR_WRITE, 0, 0, function, bar, width, offset, value))
            return Status.OK, value
        header, _ = self._ask(Header(0, Type.BAR_READ, 0, 0, function, bar, width, offset))
        return Status(header.status), header.value & ((1 << 8 * width) - 1)

    def read(self, function: int, bar: int, offset: int, width: int = 4) -> int:
        """As a processor reads: all ones where nothing answers."""
        return self.bar_access(function, bar, offset, width)[1]

    def write(self, function: int, bar: int, offset: int, value: int, width: int = 4) -> None:
        self.bar_access(function, bar, offset, width, value)

    def share_doorbells(self, function: int, queues: int) -> None:
        """The function's doorbells go by shared memory from now on, without a message."""
        bells = Doorbells(queues)
        try:
            self._ask(Header(0, Type.DOORBELLS, function=function, value=queues), file=bells.file)
        except LinkError:
            bells.close()
            raise
        self._doorbells[function] = bells

    def forget_doorbells(self, function: int) -> None:
        self._ask(Header(0, Type.DOORBELLS, function=function))
        self._doorbells.pop(function).close()

    def doorbell(self, function: int, first: int, queue: int, register: int, value: int) -> None:
        """By shared memory if the queue has its doorbells there, else by a write. first: of the doorbells in BAR 0."""
        bells = self._doorbells.get(function)
        if not bells or queue >= bells.queues:
            self.write(function, 0, first + DOORBELL_REGISTERS * queue + register, value)
        elif bells.ring(queue, register, value):
            self._send(Header(0, Type.WAKE))

    # Functions, resets, time

    def enable(self, function: int, enabled: bool = True, parent: int | None = None) -> None:
        """Lets a function access memory, as bus mastering does. parent: the PF of a VF, 0 by default."""
        if parent is None:
            parent = function if function < 4 else 0
        self._ask(Header(0, Type.FUNCTION, 0, 0, function, parent, 0, 0, int(enabled)))

    def may_access(self, function: int) -> bool:
        """Whether a function may access memory: `enable` has said so, and no reset has taken it back."""
        return bool(self._ask(Header(0, Type.FUNCTION_STATE, function=function))[0].value)

    def reset_function(self, function: int) -> None:
        """Function level reset, until it is done. The function may not access memory afterwards."""
        self._ask(Header(0, Type.RESET_FUNCTION, function=function))

    def reset(self) -> None:
        """PCIE: the slot is reset. AXI: the PS is."""
        self._ask(Header(0, Type.RESET))

    def advance(self, ps: int) -> int:
        """Lets time go on, in lockstep; the twin time then."""
        return self._ask(Header(0, Type.ADVANCE, value=ps))[0].value

    # Memory

    def share(self, memory: Memory, mapped: bool = True) -> None:
        """The card may access the memory: by itself if mapped, else each access is a message."""
        if mapped:
            region = Region(memory.base, memory.size, 0, memory.function, 1)
            self._ask(Header(0, Type.MEMORY), region.pack(), memory.file)
        self._memories.append(memory)

    def forget(self, memory: Memory) -> None:
        self._ask(Header(0, Type.FORGET, function=memory.function, address=memory.base))
        self._memories.remove(memory)

    # Waiting

    def serve(self, seconds: float = 0) -> None:
        """Does what the card asks for; waits up to that long for it to ask."""
        if self._socket.fileno() >= 0 and select.select([self._socket], [], [], seconds)[0]:
            self._receive()
        self._raise_if_gone()

    def _pass(self, pause: float) -> None:
        if self.lockstep:
            self.advance(self.step_ps)
        self.serve(0 if self.lockstep else pause)

    def take_interrupts(self, function: int, vector: int) -> int:
        """How many interrupts came since the last call."""
        self.serve()
        return self.interrupts.pop((function, vector), 0)

    # Messages

    def _ask(self, header: Header, payload: bytes = b"", file: int | None = None) -> Message:
        self._tag = (self._tag + 1) & 0xFFFFFFFF
        tag = self._tag
        self._awaited.add(tag)
        self._send(replace(header, tag=tag), payload, file)
        deadline = time.monotonic() + self.patience
        while tag not in self._replies:
            left = deadline - time.monotonic()
            if left <= 0:
                raise LinkTimeout(f"the card has not answered {Type(header.type).name} for {self.patience:.0f} s")
            self.serve(left)
        self._awaited.discard(tag)
        reply, data = self._replies.pop(tag)
        if reply.status in (Status.INVALID, Status.BUSY):
            raise LinkError(data.decode(errors="replace") or f"{Type(header.type).name}: {Status(reply.status).name}")
        if reply.status != Status.OK and header.type != Type.BAR_READ:
            raise LinkError(f"{Type(header.type).name}: {Status(reply.status).name}")
        return reply, data

    def _send(self, header: Header, payload: bytes = b"", file: int | None = None) -> None:
        self.messages["sent"] += 1
        data = replace(header, size=Header.length() + len(payload)).pack() + payload
        try:
            if file is None:
                self._out += data
                self._flush()
            else:
                self._flush()
                sent = socket.send_fds(self._socket, [data], [file])
                self._out += data[sent:]
                self._flush()
        except OSError:
            self._drain()
            self._raise_if_gone()
            raise LinkError("the card is gone") from None

    def _flush(self) -> None:
        """Serves the card while it does not take more, as it may wait for an answer before it does."""
        if self._flushing:  # the one further up sends what was added
            return
        self._flushing = True
        try:
            deadline = time.monotonic() + self.patience
            while self._out:
                try:
                    sent = self._socket.send(self._out, socket.MSG_DONTWAIT)
                    del self._out[:sent]
                    continue
                except BlockingIOError:
                    pass
                if time.monotonic() > deadline:
                    raise LinkTimeout(f"the card has taken nothing for {self.patience:.0f} s")
                if select.select([self._socket], [self._socket], [], self.patience)[0]:
                    self._receive()
                    self._raise_if_gone()
        finally:
            self._flushing = False

    def _drain(self) -> None:
        """The card's last words, if there are some."""
        while not self._error and select.select([self._socket], [], [], 1)[0]:
            self._receive()

    def _raise_if_gone(self) -> None:
        if self._error:
            raise LinkError(self._error)

    def _receive(self) -> None:
        try:
            data = self._socket.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._error = self._error or "the card is gone"
            return
        self._buffer += data
        self._split()
        # An answer that waits for room in the socket may come here again: that call goes on with the same queue, so
        # the card's accesses keep their order.
        while self._arrived:
            self._take(*self._arrived.popleft())

    def _split(self) -> None:
        """Takes whole messages off the buffer."""
        at = 0
        while len(self._buffer) - at >= Header.length():
            header = Header.unpack(bytes(self._buffer[at : at + Header.length()]))
            if not Header.length() <= header.size <= Header.length() + MAX_PAYLOAD:
                raise LinkError(f"the card sent a message of {header.size} bytes")
            if len(self._buffer) - at < header.size:
                break
            self._arrived.append((header, bytes(self._buffer[at + Header.length() : at + header.size])))
            at += header.size
        del self._buffer[:at]

    def _take(self, header: Header, payload: bytes) -> None:
        self.messages["received"] += 1
        if header.type & REPLY:
            if header.tag in self._awaited:
                self._replies[header.tag] = header, payload
            return
        match header.type:
            case Type.DMA_READ:
                self._answer(header)
            case Type.DMA_WRITE:
                self.dma["writes"] += 1
                memory = self._memory(header.function, header.address, len(payload))
                if memory:
                    memory.write(header.address, payload)
                else:
                    self._note_astray(header.function)
            case Type.MSIX:
                self.interrupts[header.function, header.value] += 1
            case Type.INTERRUPT:
                self.line = header.value
                self.interrupts[0, 0] += 1
            case Type.ERROR:
                self._error = payload.decode(errors="replace")
            case _:
                raise LinkError(f"the card sent a message of type {header.type}")

    def _answer(self, header: Header) -> None:
        count = header.value
        self.dma["reads"] += int(count != 0)
        memory = self._memory(header.function, header.address, count)
        status, data = Status.OK, b""
        if count and memory:
            data = memory.read(header.address, count)
        elif count:
            self._note_astray(header.function)
            status = Status.UNSUPPORTED
        self._send(replace(header, type=Type.DMA_READ | REPLY, status=status, value=0), data)

    def _note_astray(self, function: int) -> None:
        self.dma["astray"] += 1
        self.astray[function] += 1

    def _memory(self, function: int, address: int, count: int) -> Memory | None:
        """A function's own before one of all, as the card has it."""
        for owner in (function, ALL_FUNCTIONS):
            for memory in self._memories:
                if memory.function == owner and memory.holds(address, count):
                    return memory
        return None
