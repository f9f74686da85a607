# SPDX-License-Identifier: Apache-2.0
"""The QDMA IP as a driver works it: global registers of a PF, and queues with their rings in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

from .completion import Completion
from .contexts import Contexts, Select
from .link import Link
from .memory import Memory
from .offload import Offload

IDENTIFIER = 0x000
IDENTIFIER_MAGIC = 0x1FD3
MISC_CAPABILITY = 0x134
FUNCTION_NUMBER = 0x12C
QUEUES = 0x120
RING_SIZES = 0x204
DESCRIPTOR_CONFIG = 0x250
TIMERS = 0xA00
COUNTERS = 0xA40
BUFFER_SIZES = 0xAB0
TIMER_TICK = 0xB0C
PF_DOORBELLS = 0x18000
VF_DOORBELLS = 0x3000

# BAR 4, the window of pushed frames, on a card with the capability PUSH.
WINDOW_BYTES = 512  # of a queue
WINDOW_HEADER = 256  # behind the longest frame
LONGEST_PUSHED = 256

# The defaults of the public Xilinx drivers.
DEFAULT_RINGS = (2049, 65, 129, 193, 257, 385, 513, 769, 1025, 1537, 3073, 4097, 6145, 8193, 12289, 16385)
DEFAULT_TIMERS = (1, 2, 4, 5, 8, 10, 15, 20, 25, 30, 50, 75, 100, 125, 150, 200)
DEFAULT_COUNTERS = (2, 4, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192)
DEFAULT_BUFFERS = (4096, 256, 512, 1024, 2048, 3968, *[4096] * 7, 8192, 9018, 16384)


class QueueError(Exception):
    """A ring says that something went wrong, or is used in a way it does not allow."""


class Trigger(IntEnum):
    """When a completion ring tells its host."""

    DISABLED = 0
    EVERY = 1
    USER_COUNT = 2
    USER = 3
    USER_TIMER = 4
    USER_TIMER_COUNT = 5


@dataclass
class Tables:
    """The tables that queues choose from by index. Ring sizes count the status entry."""

    rings: Sequence[int] = DEFAULT_RINGS
    timers: Sequence[int] = DEFAULT_TIMERS
    counters: Sequence[int] = DEFAULT_COUNTERS
    buffers: Sequence[int] = DEFAULT_BUFFERS

    def write(self, link: Link, function: int = 0) -> None:
        for base, values in self.places():
            for index, value in enumerate(values):
                link.write(function, 0, base + 4 * index, value)

    @classmethod
    def read(cls, link: Link, function: int = 0) -> Tables:
        def table(base: int) -> list[int]:
            return [link.read(function, 0, base + 4 * index) for index in range(16)]

        return cls(table(RING_SIZES), table(TIMERS), table(COUNTERS), table(BUFFER_SIZES))

    def places(self) -> list[tuple[int, Sequence[int]]]:
        """Where each table begins, and its words."""
        return [
            (RING_SIZES, self.rings),
            (TIMERS, self.timers),
            (COUNTERS, self.counters),
            (BUFFER_SIZES, self.buffers),
        ]


@dataclass(frozen=True)
class QueueSetting:
    """ring: descriptors including the status entry; completions the same; buffer in bytes. All out of the tables."""

    ring: int = 513
    completions: int = 1025
    buffer: int = 4096
    trigger: Trigger = Trigger.EVERY
    timer: int = 5
    counter: int = 64
    full_update: bool = False
    h2c_irq: bool = False
    c2h_irq: bool = False
    vector: int = 0  # or the aggregation ring
    aggregate: bool = False
    prefetch: bool = True
    paced: bool = False  # transmit at the rates of the function; descriptors are fetched on credit
    completion16: bool = False  # completion entries of 16 bytes
    transmit_offload: bool = False  # its descriptors may ask for tags and checksums
    transmit_segments: bool = False  # and for segments
    pieces: int = 1  # a transmit descriptor has so many entries of 16 bytes: 1, 2 or 4
    push: int = 0  # frames of up to so many bytes are pushed if nothing of the queue is in flight

    @property
    def completion_bytes(self) -> int:
        return 16 if self.completion16 else 8


def check_identifier(link: Link, function: int = 0) -> None:
    """Raises QueueError unless BAR 0 is that of a QDMA."""
    word = link.read(function, 0, IDENTIFIER)
    if word >> 16 != IDENTIFIER_MAGIC:
        raise QueueError(f"BAR 0 is not that of a QDMA: it begins with {word:#010x}, not with 0x1fd3")


def program_h2c(
    contexts: Contexts, queue: int, function: int, base: int, setting: QueueSetting, tables: Tables
) -> None:
    """A transmit queue's contexts, from a PF. queue: absolute; base: of its ring."""
    contexts.clear_queue(queue, c2h=False)
    contexts.write(
        Select.SW_H2C,
        queue,
        function=function,
        enable=1,
        fetch_credit=int(setting.paced),
        write_back_pending=1,
        write_back_interval=1,
        ring_size_index=tables.rings.index(setting.ring),
        descriptor_size=setting.pieces.bit_length(),
        write_back=1,
        irq_enable=int(setting.h2c_irq),
        irq_arm=int(setting.h2c_irq),
        base=base,
        vector=setting.vector,
        aggregate=int(setting.aggregate),
    )


def program_c2h(
    contexts: Contexts, queue: int, function: int, base: int, completions: int, setting: QueueSetting, tables: Tables
) -> None:
    """A receive queue's contexts, from a PF. base, completions: of its two rings."""
    contexts.clear_queue(queue, h2c=False)
    contexts.write(
        Select.SW_C2H,
        queue,
        function=function,
        enable=1,
        fetch_credit=1,
        ring_size_index=tables.rings.index(setting.ring),
        descriptor_size=0,
        write_back=1,
        base=base,
        vector=setting.vector,
        aggregate=int(setting.aggregate),
    )
    contexts.write(
        Select.PREFETCH,
        queue,
        buffer_size_index=tables.buffers.index(setting.buffer),
        enable=int(setting.prefetch),
        valid=1,
    )
    contexts.write(
        Select.COMPLETION,
        queue,
        status_enable=1,
        irq_enable=int(setting.c2h_irq),
        trigger=setting.trigger,
        function=function,
        counter_index=tables.counters.index(setting.counter),
        timer_index=tables.timers.index(setting.timer),
        color=1,
        ring_size_index=tables.rings.index(setting.completions),
        base_high=completions >> 6,
        base_low=completions >> 2 & 15,
        entry_size=int(setting.completion16),
        valid=1,
        full_update=int(setting.full_update),
        vector=setting.vector,
        aggregate=int(setting.aggregate),
        is_c2h=1,
    )


class _Ring:
    def __init__(self, link: Link, function: int, queue: int, memory: Memory, setting: QueueSetting) -> None:
        self.link = link
        self.function = function
        self.queue = queue  # counted from the function's first
        self.memory = memory
        self.setting = setting
        self.pidx = 0

    def _doorbell(self, register: int, value: int) -> None:
        page = PF_DOORBELLS if self.function < 4 else VF_DOORBELLS
        self.link.doorbell(self.function, page, self.queue, register, value)

    def _next(self, index: int, entries: int) -> int:
        """The last entry of a ring is for its status."""
        return 0 if index + 1 >= entries - 1 else index + 1


class H2cQueue(_Ring):
    """A transmit queue's ring. One descriptor is one frame, on a card with the capability PIECES of several pieces.

    Raises QueueError if the ring is full, if the frame does not suit the queue, or if the status entry has an error;
    MemoryFullError without room for the frame.
    """

    def __init__(self, link: Link, function: int, queue: int, memory: Memory, setting: QueueSetting) -> None:
        super().__init__(link, function, queue, memory, setting)
        self._stride = 16 * setting.pieces
        self.base = memory.allocate(self._stride * setting.ring, 4096)
        self._in_flight: deque[list[int]] = deque()
        self._cidx = 0
        self.sent = 0  # frames the card has taken
        self.pushed = 0  # frames that were written into the card, too

    @property
    def in_flight(self) -> int:
        self.poll()
        return len(self._in_flight)

    def room(self) -> int:
        return self.setting.ring - 2 - self.in_flight

    def post(self, data: bytes, metadata: int | None = None, flags: int = 3, cuts: Sequence[int] = ()) -> None:
        """Puts a frame into the ring; `ring` tells the card. metadata: its length by default, as OpenNIC has it.

        cuts: where in the frame a piece ends and the next one begins. The flags are those of a frame in one piece.
        """
        if self.room() <= 0:
            raise QueueError(f"transmit queue {self.queue} of function {self.function} is full")
        pieces = [data[begin:end] for begin, end in pairwise((0, *cuts, len(data)))]
        if len(pieces) > self.setting.pieces:
            raise QueueError(f"a descriptor of this queue has {self.setting.pieces} pieces, not {len(pieces)}")
        addresses, entries = [], b""
        for number, piece in enumerate(pieces):
            address = self.memory.allocate(max(len(piece), 1))
            self.memory.write(address, piece)
            addresses.append(address)
            bits = flags if len(pieces) == 1 else int(number == 0) | int(number == len(pieces) - 1) << 1
            word = (len(data) if metadata is None else metadata) | len(piece) << 32 | bits << 48
            entries += word.to_bytes(8, "little") + address.to_bytes(8, "little")
        self.memory.write(self.base + self._stride * self.pidx, entries.ljust(self._stride, b"\0"))
        if len(data) <= self.setting.push and not self.in_flight:
            self._push(data, len(data) if metadata is None else metadata)
        self._in_flight.append(addresses)
        self.pidx = self._next(self.pidx, self.setting.ring)

    def _push(self, data: bytes, metadata: int) -> None:
        """Writes the frame of the next descriptor into the card, which need not read it then."""
        if len(data) > LONGEST_PUSHED:
            raise QueueError(f"a frame of {len(data)} bytes is pushed; the window has room for {LONGEST_PUSHED}")
        window = self.queue * WINDOW_BYTES
        for at in range(0, len(data), 8):
            word = int.from_bytes(data[at : at + 8], "little")
            self.link.write(self.function, 4, window + at, word, 8)
        header = metadata | len(data) << 32 | self.pidx << 48
        self.link.write(self.function, 4, window + WINDOW_HEADER, header, 8)
        self.pushed += 1

    def ring(self) -> None:
        self._doorbell(4, self.pidx | int(self.setting.h2c_irq) << 16)

    def send(self, data: bytes, offload: Offload | None = None, cuts: Sequence[int] = ()) -> None:
        self.post(data, offload and offload.metadata, cuts=cuts)
        self.ring()

    def status(self) -> dict[str, int]:
        """The entry that the card writes behind the descriptors."""
        word = self.memory.word(self.base + self._stride * (self.setting.ring - 1), 8)
        return {"error": word & 3, "cidx": word >> 16 & 0xFFFF, "pidx": word >> 32 & 0xFFFF}

    def poll(self) -> int:
        """Frees the frames that the card has taken since the last call; how many."""
        status = self.status()
        if status["error"]:
            raise QueueError(f"transmit queue {self.queue} of function {self.function}: error {status['error']}")
        taken = 0
        while self._cidx != status["cidx"] and self._in_flight:
            self._release()
            self._cidx = self._next(self._cidx, self.setting.ring)
            taken += 1
        self.sent += taken
        return taken

    def drain(self, seconds: float | None = None) -> None:
        """Until the card has taken everything."""
        self.link.wait(
            lambda: self.in_flight == 0, f"transmit queue {self.queue}: {len(self._in_flight)} left", seconds
        )

    def free(self) -> None:
        """Gives the memory back; the queue must have been invalidated."""
        while self._in_flight:
            self._release()
        self.memory.free(self.base)

    def _release(self) -> None:
        for address in self._in_flight.popleft():
            self.memory.free(address)


class C2hQueue(_Ring):
    """A receive queue: buffers in one ring, completions in another. tables: those its contexts were made with.

    Raises QueueError if a completion or the status entry has an error; MemoryFullError without room for the rings.
    """

    def __init__(
        self, link: Link, function: int, queue: int, memory: Memory, setting: QueueSetting, tables: Tables
    ) -> None:
        super().__init__(link, function, queue, memory, setting)
        #: The entries of the frames that the last poll gave.
        self.completions: list[Completion] = []
        self._stride = setting.completion_bytes
        self._counter_index = tables.counters.index(setting.counter)
        self._timer_index = tables.timers.index(setting.timer)
        self.base = self.memory.allocate(8 * self.setting.ring, 4096)
        self.completion_base = self.memory.allocate(self._stride * self.setting.completions, 4096)
        self._size = self.setting.buffer
        self._buffers = self.memory.allocate(self._size * (self.setting.ring - 1), 4096)
        self._next_buffer = 0  # the descriptor that the next frame begins with
        self.cidx = 0
        self._color = 1
        for index in range(self.setting.ring - 1):
            self.memory.set_word(self.base + 8 * index, self._buffers + self._size * index, 8)

    def start(self) -> None:
        """Posts all buffers but one, and asks to be told of completions."""
        self.update()
        self.pidx = self.setting.ring - 2
        self._doorbell(8, self.pidx)

    def update(self, arm: bool | None = None) -> None:
        """Tells the card how far completions are read. arm: ask for an interrupt, as the setting says by default."""
        word = self.cidx | self._counter_index << 16 | self._timer_index << 20
        word |= self.setting.trigger << 24 | 1 << 27
        word |= int(self.setting.c2h_irq if arm is None else arm) << 28
        self._doorbell(12, word)

    def status(self) -> dict[str, int]:
        """The entry that the card writes behind the completions."""
        word = self.memory.word(self.completion_base + self._stride * (self.setting.completions - 1), 8)
        return {
            "pidx": word & 0xFFFF,
            "cidx": word >> 16 & 0xFFFF,
            "color": word >> 32 & 1,
            "irq_state": word >> 33 & 3,
            "error": word >> 35 & 3,
        }

    def poll(self, limit: int | None = None, update: bool = True) -> list[bytes]:
        """Frames that came since the last call, by the entries' colour; their buffers go back."""
        frames: list[bytes] = []
        self.completions = []
        while limit is None or len(frames) < limit:
            word = self.memory.word(self.completion_base + self._stride * self.cidx, 8)
            if (word >> 1 & 1) != self._color:
                break
            entry = self.memory.read(self.completion_base + self._stride * self.cidx, self._stride)
            completion = Completion(int.from_bytes(entry, "little"))
            if completion.error:
                raise QueueError(f"receive queue {self.queue} of function {self.function}: completion {word:#018x}")
            frames.append(self._frame(completion.length))
            self.completions.append(completion)
            self.cidx = self._next(self.cidx, self.setting.completions)
            self._color ^= int(self.cidx == 0)
        error = self.status()["error"]
        if error and not frames:
            raise QueueError(f"receive queue {self.queue} of function {self.function}: error {error} in its status")
        if frames and update:
            self._doorbell(8, self.pidx)
            self.update()
        return frames

    def _frame(self, length: int) -> bytes:
        data = b""
        for _ in range(max(1, -(-length // self._size))):
            part = min(self._size, length - len(data))
            data += self.memory.read(self._buffers + self._size * self._next_buffer, part)
            self._next_buffer = self._next(self._next_buffer, self.setting.ring)
            self.pidx = self._next(self.pidx, self.setting.ring)
        return data

    def free(self) -> None:
        """Gives the memory back; the queue must have been invalidated."""
        for address in (self.base, self.completion_base, self._buffers):
            self.memory.free(address)


@dataclass(frozen=True)
class RingEntry:
    """An entry of an aggregation ring. queue: absolute."""

    queue: int
    is_c2h: bool
    pidx: int
    cidx: int
    error: int


class InterruptRing:
    """Events of many queues in one ring of memory, told by one vector.

    Raises MemoryFullError without room for the ring, and what its Contexts raise.
    """

    def __init__(self, contexts: Contexts, number: int, function: int, vector: int, memory: Memory, pages: int = 1):
        self.contexts = contexts
        self.number = number
        self.function = function
        self.memory = memory
        self.entries = 512 * pages
        self.base = memory.allocate(4096 * pages, 4096)
        self.cidx = 0
        self._color = 1
        contexts.clear(Select.INTERRUPT_RING, number)
        contexts.write(
            Select.INTERRUPT_RING,
            number,
            valid=1,
            vector=vector,
            color=1,
            base_4k=self.base >> 12,
            pages=pages - 1,
            function=function,
        )

    def poll(self) -> list[RingEntry]:
        """The events since the last call; tells the card that they are read."""
        events = []
        while True:
            word = self.memory.word(self.base + 8 * self.cidx, 8)
            if word >> 63 != self._color:
                break
            events.append(
                RingEntry(
                    word >> 39 & 0xFFFFFF, bool(word >> 38 & 1), word & 0xFFFF, word >> 16 & 0xFFFF, word >> 35 & 3
                )
            )
            self.cidx = (self.cidx + 1) % self.entries
            self._color ^= int(self.cidx == 0)
        page = PF_DOORBELLS if self.function < 4 else VF_DOORBELLS
        self.contexts.link.write(self.function, 0, page, self.cidx | self.number << 16)
        return events
