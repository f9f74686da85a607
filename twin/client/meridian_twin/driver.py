# SPDX-License-Identifier: Apache-2.0
"""Small drivers of the card: a host's PF and its VFs, and the PS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, Self

from . import qdma
from .card import LinkedCard, RegisterError
from .closing import Closing
from .contexts import Contexts
from .link import Link
from .memory import Memory
from .offload import Offload
from .phc import Phc
from .protocol import Role
from .ps_port import PsPort
from .qdma import C2hQueue, H2cQueue, QueueSetting, Tables
from .registers import Registers

MEGABYTE = 1 << 20


@dataclass
class Pair:
    """A transmit and a receive queue with the same number."""

    h2c: H2cQueue
    c2h: C2hQueue
    absolute: int  # the queue's number in the card


class Queues:
    """Frames through the queue pairs of a function."""

    def __init__(self, link: Link, function: int) -> None:
        self.link = link
        self.function = function
        self.pairs: list[Pair] = []

    def send(
        self,
        frame: bytes,
        queue: int = 0,
        seconds: float | None = None,
        offload: Offload | None = None,
        cuts: Sequence[int] = (),
    ) -> None:
        """Hands a frame to the card; waits for room in the ring. offload: what the card is asked to do with it.

        cuts: where it is cut into pieces, of a queue whose descriptors have several.
        """
        ring = self.pairs[queue].h2c
        if ring.room() <= 0:
            self.link.wait(lambda: ring.room() > 0, f"room in transmit queue {queue}", seconds)
        ring.send(frame, offload, cuts)

    def drain(self, seconds: float | None = None) -> None:
        """Until the card has taken every frame."""
        for pair in self.pairs:
            pair.h2c.drain(seconds)

    def take(self) -> list[bytes]:
        """Frames that are there, of all queues, without waiting."""
        return [frame for pair in self.pairs for frame in pair.c2h.poll()]

    def receive(self, count: int = 1, seconds: float | None = None) -> list[bytes]:
        """Waits until count frames are there; there may be more."""
        return self.link.collect(self.take, count, f"frames for function {self.function}", seconds)


class Host(Closing, Queues):
    """A PF, brought up as a driver does.

    memory: bytes of the machine's memory; mapped: the card may reach it by itself.

    Raises MismatchError for a card that it does not know, and RegisterError if the MAC table refuses an entry.
    """

    def __init__(
        self,
        link: Link,
        function: int = 0,
        memory: Memory | int = 64 * MEGABYTE,
        mapped: bool = True,
        registers: Registers | None = None,
        tables: Tables | None = None,
    ) -> None:
        super().__init__(link, function)
        self.card = LinkedCard(link, registers, function)
        qdma.check_identifier(link, function)
        self.contexts = Contexts(link, function)
        self.tables = tables or Tables()
        if isinstance(memory, int):
            memory = Memory(memory)
            link.share(memory, mapped)
        self.memory = memory
        self.queue_base = 0
        #: This PF's queues, and those of the VFs that it brought up itself.
        self.functions: dict[int, Queues] = {function: self}
        link.enable(function)

    @classmethod
    def connect(
        cls, path: Path | str, lockstep: bool = False, memory: int = 64 * MEGABYTE, mapped: bool = True
    ) -> Self:
        return cls(Link(path, Role.PCIE, "meridian_twin host", lockstep), memory=memory, mapped=mapped)

    def close(self) -> None:
        self.link.close()
        self.memory.close()

    def bring_up(
        self,
        queues: int = 1,
        base: int = 0,
        setting: QueueSetting | None = None,
        ports: Sequence[int] = (0,),
        tables: bool = True,
    ) -> None:
        """Queues base until base + queues for this PF, RSS over all of them, the ports open for the host.

        tables: also writes the global tables, which only one PF should do.
        """
        setting = setting or QueueSetting()
        if tables:
            self.tables.write(self.link, self.function)
            self.link.write(self.function, 0, qdma.TIMER_TICK, 25)
            self.card.enforce_credit(True)
        self.queue_base = base
        self.contexts.map_function(self.function, base, queues)
        for queue in range(queues):
            self.pairs.append(self.start_pair(queue, setting))
        self.card.set_queues(self.function, base, queues)
        self.card.set_indirection(self.function, [k % queues for k in range(128)])
        for port in ports:
            self.card.enable_host(port)
        self.settle()

    def settle(self) -> None:
        """Until what was written to the card's registers is in force.

        Writes are posted, and those to BAR 2 take another way than doorbells: a read behind them says that they are
        done. The switches then cross into other clocks, which takes less than another read.
        """
        for _ in range(2):
            self.card.read(self.card.regs.address("PORT", "HOST_ENABLE", 0), function=self.function)

    def bring_up_vf(self, function: int, queues: int, base: int, setting: QueueSetting | None = None) -> Queues:
        """Queues base until base + queues for a VF, whose part this PF's driver plays itself."""
        setting = setting or QueueSetting()
        vf = self.functions[function] = Queues(self.link, function)
        self.link.enable(function, parent=self.function)
        self.contexts.map_function(function, base, queues)
        for queue in range(queues):
            vf.pairs.append(self._start(function, base, queue, setting))
        self.card.set_queues(function, base, queues)
        self.card.set_indirection(function, [k % queues for k in range(128)])
        self.settle()
        return vf

    def start_pair(self, queue: int, setting: QueueSetting) -> Pair:
        """queue: counted from this PF's first."""
        return self._start(self.function, self.queue_base, queue, setting)

    def _start(self, function: int, base: int, queue: int, setting: QueueSetting) -> Pair:
        absolute = base + queue
        h2c = H2cQueue(self.link, function, queue, self.memory, setting)
        c2h = C2hQueue(self.link, function, queue, self.memory, setting, self.tables)
        self.card.set_queue_switches(
            absolute, setting.completion16, setting.paced, setting.transmit_offload, setting.transmit_segments
        )
        qdma.program_h2c(self.contexts, absolute, function, h2c.base, setting, self.tables)
        self.card.set_buffer_size(absolute, setting.buffer)
        qdma.program_c2h(self.contexts, absolute, function, c2h.base, c2h.completion_base, setting, self.tables)
        c2h.start()
        return Pair(h2c, c2h, absolute)

    def stop(self) -> None:
        """Takes all queues away; frames for them are dropped from then on."""
        self.card.set_queues(self.function, 0, 0)
        self.settle()
        for queue, pair in enumerate(self.pairs):
            self.contexts.invalidate_queue(self.queue_base + queue)
            pair.h2c.free()
            pair.c2h.free()
        self.pairs.clear()
        self.contexts.map_function(self.function, 0, 0)

    def add_mac(self, address: bytes, function: int | None = None, port: int = 0, vid: int | None = None) -> None:
        """Frames for the address go to the function, this PF by default."""
        self._mac("ADD", address, self.function if function is None else function, port, vid)

    def remove_mac(self, address: bytes, port: int = 0, vid: int | None = None) -> None:
        self._mac("REMOVE", address, 0, port, vid)

    def _mac(
        self, operation: Literal["ADD", "REMOVE"], address: bytes, function: int, port: int, vid: int | None
    ) -> None:
        result = self.card.mac_command(operation, port, address, vid, function)
        if result != "DONE":
            raise RegisterError(f"MAC table, {operation.lower()} {address.hex(':')} on port {port}: {result}")


class MachineMemory(Protocol):
    """Memory of a machine, however it is reached."""

    base: int

    def read(self, address: int, count: int) -> bytes: ...

    def write(self, address: int, data: bytes) -> None: ...

    def close(self) -> None: ...


class Ps(Closing):
    """The processing system: one ring pair a port, and the PTP clock.

    memory: that it has, or bytes of memory of its own; mapped: the card may reach that by itself.
    """

    def __init__(
        self,
        link: Link,
        registers: Registers | None = None,
        memory: MachineMemory | int | None = None,
        mapped: bool = True,
    ) -> None:
        self.link = link
        self.card = LinkedCard(link, registers)
        if memory is None or isinstance(memory, int):
            # Only pages that are touched cost real memory.
            own = Memory(memory or 256 * MEGABYTE * self.card.geometry.ports, 0x10_0000_0000)
            link.share(own, mapped)
            memory = own
        self.memory: MachineMemory = memory
        self.phc = Phc(self.card)
        self.ports: dict[int, PsPort] = {}

    @classmethod
    def connect(cls, path: Path | str, lockstep: bool = False, mapped: bool = True) -> Self:
        return cls(Link(path, Role.AXI, "meridian_twin ps", lockstep), mapped=mapped)

    def close(self) -> None:
        self.link.close()
        self.memory.close()

    def start(self, port: int = 0, address: bytes | None = None, size_log2: int = 8) -> PsPort:
        """Rings and receive filter of a port; address: its own, for unicast."""
        self.ports[port] = PsPort(self.card, self, port, size_log2, base=self.memory.base)
        self.ports[port].start()
        self.card.set_ps_filter(port, True)
        self.card.set_ps_address(port, 0, address)
        self.card.access(0, None, "ps")  # behind the writes, which are posted
        return self.ports[port]

    def send(self, frame: bytes, port: int = 0, tag: int = 0, timestamp: bool = False) -> None:
        """Hands a frame to the card, or keeps it until the ring has room; what was received stays for `poll`."""
        self.ports[port].send(frame, tag, timestamp)
        self.ports[port].push()

    def read_memory(self, address: int, count: int) -> bytes:
        return self.memory.read(address, count)

    def write_memory(self, address: int, data: bytes) -> None:
        self.memory.write(address, data)
