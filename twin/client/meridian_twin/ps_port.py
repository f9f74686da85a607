# SPDX-License-Identifier: Apache-2.0
"""A small driver of the PS port: rings in PS memory, as docs/ps-port.md has them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from random import Random
from typing import Protocol

from .card import Card

DESCRIPTOR = 32
LARGEST = 9600
SLOT = 0x4000
GENERATION = 1
STAMPED = 2
ERROR = 4
INSIDE = 8


class PsPortError(Exception):
    """The card broke the rules of its rings."""


class PsMemory(Protocol):
    """The PS's memory, wherever it is kept."""

    def read_memory(self, address: int, count: int) -> bytes: ...

    def write_memory(self, address: int, data: bytes) -> None: ...


@dataclass(frozen=True)
class PsFrame:
    data: bytes
    seconds: int
    nanoseconds: int
    inside: bool = False  # of a function of the host: it has no timestamp
    stamped: bool = True

    @property
    def time_ns(self) -> int:
        return 1_000_000_000 * self.seconds + self.nanoseconds


@dataclass(frozen=True)
class Timestamp:
    tag: int
    time_ns: int


class PsPort:
    """One Ethernet port of the PS. Frames are taken out of PS memory by `poll`; buffers go back at once.

    Raises PsPortError if a ring does not stop, or if a completion says that something went wrong.
    """

    def __init__(
        self,
        card: Card,
        memory: PsMemory,
        port: int = 0,
        size_log2: int = 8,
        seed: int = 1,
        base: int = 0x10_0000_0000,
    ) -> None:
        self.card = card
        self.memory = memory
        self.port = port
        self.size_log2 = size_log2
        self.size = 1 << size_log2
        start = base + 0x1000_0000 * port
        self.rx_ring, self.tx_ring = start, start + 0x10_0000
        self.rx_slots, self.tx_slots = start + 0x100_0000, start + 0x800_0000
        self.random = Random(seed)
        self.rx_producer = self.rx_consumer = self.tx_producer = self.tx_consumer = 0
        self.waiting: deque[tuple[bytes, int, bool]] = deque()
        self._in_flight: deque[tuple[int, int]] = deque()
        self._buffers: dict[int, int] = {}
        self.all_stamped = True  # a frame of the wire without a timestamp is an error

    def start(self) -> None:
        """Resets both rings, whatever they were left at, fills the receive ring and starts both."""
        self.reset()
        for ring in (self.rx_ring, self.tx_ring):
            self.memory.write_memory(ring, bytes(DESCRIPTOR * self.size))
        for name, base in (("RX", self.rx_ring), ("TX", self.tx_ring)):
            self._write(f"{name}_BASE_LOW", base & 0xFFFFFFFF)
            self._write(f"{name}_BASE_HIGH", base >> 32)
            self._control(name, enable=True)
        self._post(self.size)

    def reset(self) -> None:
        """Stops both rings and takes them back to their first descriptor."""
        for name in ("RX", "TX"):
            self._write(f"{name}_CONTROL", self.card.regs.field("PS_RING", f"{name}_CONTROL", "RESET").at(1))
        self._wait_stopped()
        for name in ("RX", "TX"):
            self._write(f"{name}_CONTROL", 0)

    def stop(self) -> None:
        """Stops both rings and waits until they do not run."""
        for name in ("RX", "TX"):
            self._control(name, enable=False)
        self._wait_stopped()

    def _wait_stopped(self, max_polls: int = 10000) -> None:
        running = [self.card.regs.field("PS_RING", f"{name}_STATUS", "RUNNING") for name in ("RX", "TX")]
        for _ in range(max_polls):
            if not any(f.of(self._read(f"{n}_STATUS")) for n, f in zip(("RX", "TX"), running, strict=True)):
                return
        raise PsPortError(f"port {self.port}: a ring does not stop")

    def send(self, frame: bytes, tag: int = 0, timestamp: bool = False) -> None:
        """Queues a frame; `push` and `poll` hand it to the card as the ring has room."""
        self.waiting.append((frame, tag, timestamp))

    def poll(self) -> list[PsFrame]:
        """Frames received since the last call; takes transmit completions and gives the rings new work."""
        frames = self._receive()
        self.push()
        return frames

    def push(self) -> None:
        """Takes transmit completions and gives the transmit ring new work."""
        self._complete()
        self._transmit()

    @property
    def sending(self) -> bool:
        return bool(self.waiting or self._in_flight)

    def timestamps(self) -> list[Timestamp]:
        """Transmit timestamps the card holds, oldest first; they are removed."""
        field = self.card.regs.field
        result: list[Timestamp] = []
        while True:
            status = self._read("TIMESTAMP_STATUS")
            if not field("PS_RING", "TIMESTAMP_STATUS", "VALID").of(status):
                return result
            seconds = self._read("TIMESTAMP_SECONDS_HIGH") << 32 | self._read("TIMESTAMP_SECONDS_LOW")
            time_ns = 1_000_000_000 * seconds + self._read("TIMESTAMP_NANOSECONDS")
            result.append(Timestamp(field("PS_RING", "TIMESTAMP_STATUS", "TAG").of(status), time_ns))
            self._write("TIMESTAMP_POP", 1)

    def counters(self) -> dict[str, int]:
        return self.card.events("PS_RING", self.port)

    def _write(self, register: str, value: int) -> None:
        self.card.write(self.card.regs.ps_address("PS_RING", register, self.port), value, "ps")

    def _read(self, register: str) -> int:
        return self.card.read(self.card.regs.ps_address("PS_RING", register, self.port), "ps")

    def _control(self, ring: str, enable: bool) -> None:
        field = self.card.regs.field
        word = field("PS_RING", f"{ring}_CONTROL", "SIZE_LOG2").at(self.size_log2)
        self._write(f"{ring}_CONTROL", word | field("PS_RING", f"{ring}_CONTROL", "ENABLE").at(int(enable)))

    def _memory(self, address: int, length: int) -> bytes:
        return self.memory.read_memory(address, length)

    def _generation(self, index: int) -> int:
        return (index >> self.size_log2 & 1) ^ 1

    def _said(self, ring: int, seen: bytes, index: int) -> bytes | None:
        """The card's half of a descriptor, if the card has written it. seen: the whole ring, read before.

        The card may have written while `seen` was read, so the half is read again behind its flags.
        """
        at = DESCRIPTOR * (index % self.size) + 16
        if int.from_bytes(seen[at + 14 : at + 16], "little") & GENERATION != self._generation(index):
            return None
        return self._memory(ring + at, 16)

    def _descriptor(self, ring: int, index: int, head: bytes) -> None:
        """Only the half that belongs to software."""
        self.memory.write_memory(ring + DESCRIPTOR * (index % self.size), head.ljust(16, b"\xa5"))

    def _post(self, count: int) -> None:
        if not count:
            return
        for index in range(self.rx_producer, self.rx_producer + count):
            # Another slot each pass, at any byte, so that a frame that goes astray is seen.
            address = self.rx_slots + SLOT * (index % (2 * self.size)) + self.random.randrange(64)
            self._buffers[index] = address
            self._descriptor(self.rx_ring, index, address.to_bytes(8, "little") + LARGEST.to_bytes(2, "little"))
        self.rx_producer += count
        self._write("RX_PRODUCER", self.rx_producer & 0xFFFF)

    def _receive(self) -> list[PsFrame]:
        ring = self._memory(self.rx_ring, DESCRIPTOR * self.size)
        frames = []
        while self.rx_consumer < self.rx_producer:
            said = self._said(self.rx_ring, ring, self.rx_consumer)
            if said is None:
                break
            flags = int.from_bytes(said[14:16], "little")
            stamped, inside = bool(flags & STAMPED), bool(flags & INSIDE)
            if flags & ERROR or (stamped and inside) or (self.all_stamped and not stamped and not inside):
                raise PsPortError(f"port {self.port}, receive descriptor {self.rx_consumer}: flags {flags:#x}")
            length = int.from_bytes(said[4:6], "little")
            data = self._memory(self._buffers.pop(self.rx_consumer), length)
            seconds, nanoseconds = int.from_bytes(said[8:14], "little"), int.from_bytes(said[:4], "little")
            frames.append(PsFrame(data, seconds, nanoseconds, inside, stamped))
            self.rx_consumer += 1
        self._post(len(frames))
        return frames

    def _complete(self) -> None:
        if not self._in_flight:
            return
        ring = self._memory(self.tx_ring, DESCRIPTOR * self.size)
        while self._in_flight:
            said = self._said(self.tx_ring, ring, self.tx_consumer)
            if said is None:
                return
            flags = int.from_bytes(said[14:16], "little")
            length, tag = self._in_flight.popleft()
            found = int.from_bytes(said[4:6], "little"), int.from_bytes(said[6:8], "little")
            if flags & ERROR or found != (length, tag):
                raise PsPortError(f"port {self.port}, transmit descriptor {self.tx_consumer}: {said.hex()}")
            self.tx_consumer += 1

    def _transmit(self) -> None:
        posted = self.tx_producer
        while self.waiting and self.tx_producer - self.tx_consumer < self.size:
            frame, tag, timestamp = self.waiting.popleft()
            address = self.tx_slots + SLOT * (self.tx_producer % self.size) + self.random.randrange(64)
            self.memory.write_memory(address, frame)
            head = address.to_bytes(8, "little") + len(frame).to_bytes(2, "little")
            head += int(timestamp).to_bytes(2, "little") + tag.to_bytes(2, "little")
            self._descriptor(self.tx_ring, self.tx_producer, head)
            self._in_flight.append((len(frame), tag))
            self.tx_producer += 1
        if self.tx_producer != posted:
            self._write("TX_PRODUCER", self.tx_producer & 0xFFFF)
