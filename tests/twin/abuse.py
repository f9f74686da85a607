# SPDX-License-Identifier: Apache-2.0
"""Functions that do whatever comes into their heads, beside functions that only want to work.

Each function has an address space of its own, in which the same addresses lead to other bytes. Every piece of memory,
every frame and every message carries the mark of whose it is, so that what gets to another is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from meridian_twin import Host, Link, Memory, QueueSetting, qdma
from meridian_twin.driver import Pair
from meridian_twin.mailbox import COMMAND, OUT, PF_BASE, SEND, TARGET, VF_BASE, WORDS, Message, Op, QueueRequest, place
from meridian_twin.pf_service import PfService
from meridian_twin.qdma import C2hQueue, H2cQueue
from meridian_twin.wire import Wire

BASE = 0x1_0000_0000
BYTES = 1 << 20
CSR_END = 0x2000
PARENT = {4: 3, 5: 0, 6: 1, 7: 2}  # the shell's usual eight functions, a VF for each PF
VICTIMS = (0, 3, 4)
ATTACKERS = (1, 2, 5, 6, 7)
GHOST = 13  # may not access memory at all
QUEUES = 2
SETTING = QueueSetting(ring=65, completions=129, buffer=2048)
GIVEN_AWAY = range(64, 128)  # queues that VFs may ask for
ELSEWHERE = bytes.fromhex("02fe00000000")


def mac(function: int) -> bytes:
    return bytes([2, 0, 0xAB, 0, 0, function])


def mark(function: int) -> bytes:
    return b"OF:" + Random(function).randbytes(8)


def marked(function: int, source: bytes, destination: bytes, number: int, size: int) -> bytes:
    head = destination + source + b"\x88\xb5" + number.to_bytes(4, "big")
    return head + (mark(function) * (size // 11))[: size - len(head)]


class Abuse:
    """PF 0 owns the card and programs everybody's queues; PF 0, PF 3 and its VF are victims, the rest attack."""

    def __init__(self, link: Link, wire: Wire, seed: int) -> None:
        self.link, self.wire, self.random = link, wire, Random(seed)
        self.memories = {function: Memory(BYTES, BASE, function) for function in (*range(4), *PARENT, GHOST)}
        for function, memory in self.memories.items():
            line = (ELSEWHERE + mac(function) + b"\x88\xb5" + mark(function) * 5)[:64]
            memory.write(BASE, line * (BYTES // 64))
            link.share(memory)
        self.pairs: dict[int, list[Pair]] = {}
        self.host = Host(link, 0, self.memories[0])
        self.host.tables.write(link)
        self.host.card.enforce_credit(True)
        self.host.card.enable_host(0)
        self.service = PfService(self.host, GIVEN_AWAY)
        assert self.host.card.geometry.functions > max(*VICTIMS, *ATTACKERS)
        for function in (*VICTIMS, *ATTACKERS):
            self.host.add_mac(mac(function), function)
            self.start(function)
        self.host.settle()
        self.number = 0
        self.operations = 0
        self.from_attackers = 0
        self.snapshots: dict[int, bytes] = {}
        self.snap()

    def close(self) -> None:
        self.link.close()
        for memory in self.memories.values():
            memory.close()

    # What the owner of the card does

    def base(self, function: int) -> int:
        return 4 * function

    def start(self, function: int) -> None:
        """Fresh queues, as after a driver's reload."""
        card, contexts, memory = self.host.card, self.host.contexts, self.memories[function]
        card.set_flags(function, function in ATTACKERS, False, False, False)
        card.set_queues(function, 0, 0)
        self.host.settle()
        self.link.enable(function, True, PARENT.get(function, function))
        contexts.map_function(function, self.base(function), QUEUES)
        for pair in self.pairs.pop(function, []):
            contexts.invalidate_queue(pair.absolute)
            pair.h2c.free()
            pair.c2h.free()
        self.pairs[function] = []
        for queue in range(QUEUES):
            absolute = self.base(function) + queue
            h2c = H2cQueue(self.link, function, queue, memory, SETTING)
            c2h = C2hQueue(self.link, function, queue, memory, SETTING, self.host.tables)
            qdma.program_h2c(contexts, absolute, function, h2c.base, SETTING, self.host.tables)
            card.set_buffer_size(absolute, SETTING.buffer)
            qdma.program_c2h(contexts, absolute, function, c2h.base, c2h.completion_base, SETTING, self.host.tables)
            c2h.start()
            self.pairs[function].append(Pair(h2c, c2h, absolute))
        card.set_queues(function, self.base(function), QUEUES)
        card.set_indirection(function, [k % QUEUES for k in range(8)])

    # What the victims do, and what they must find

    def snap(self) -> None:
        for function in (*VICTIMS, GHOST):
            self.snapshots[function] = self.memories[function].read(BASE, BYTES)

    def check(self) -> None:
        """Victims' memory is as they left it; their frames come and go; nobody else's frames are theirs."""
        for function in (*VICTIMS, GHOST):
            found = self.memories[function].read(BASE, BYTES)
            assert found == self.snapshots[function], f"memory of function {function} was written by another"
        outgoing: dict[int, bytes] = {}
        for function in VICTIMS:
            self.number += 1
            data = marked(function, ELSEWHERE, mac(function), self.number, self.random.randrange(60, 1500))
            outgoing[function] = marked(function, mac(function), ELSEWHERE, self.number, 60 + self.number % 1000)
            self.wire.send(data)
            self.pairs[function][self.number % QUEUES].h2c.send(outgoing[function])
            self.link.wait(lambda f=function, d=data: self.take(f) == [d], f"the frame of function {function}")
        expected = set(outgoing.values())

        def all_out() -> bool:
            for frame in self.wire.take():
                self.judge(frame.data, expected)
            return not expected

        self.link.wait(all_out, "the victims' frames on the wire")
        for function in VICTIMS:
            for pair in self.pairs[function]:
                pair.h2c.drain()
        self.host.settle()
        self.snap()
        assert set(self.link.astray) <= set(ATTACKERS), f"DMA in the name of others: {self.link.astray}"
        innocent = set(VICTIMS) | {GHOST}
        assert not innocent & {function for function, _ in self.link.interrupts}, "interrupts nobody asked for"

    def take(self, function: int) -> list[bytes]:
        return [frame for pair in self.pairs[function] for frame in pair.c2h.poll()]

    def judge(self, frame: bytes, expected: set[bytes]) -> None:
        """A frame on the wire is one that a victim has sent, or an attacker's with nobody else's bytes in it."""
        if frame in expected:
            expected.remove(frame)
            return
        senders = [function for function in ATTACKERS if frame[6:12] == mac(function)]
        assert senders, f"a frame with the source address {frame[6:12].hex(':')}"
        others = [function for function in self.memories if function != senders[0] and mark(function) in frame]
        assert not others, f"function {senders[0]} has sent bytes of functions {others}"
        self.from_attackers += 1

    def check_end(self) -> None:
        """Once more, and the tables: addresses, switches and contexts of the victims."""
        for function in ATTACKERS:
            others = [
                f for f in self.memories if f != function and mark(f) in self.memories[function].read(BASE, BYTES)
            ]
            assert not others, f"function {function} holds bytes of functions {others}"
        card, regs = self.host.card, self.host.card.regs
        for function in (*VICTIMS, *ATTACKERS):
            assert card.mac_command("FIND", 0, mac(function)) == "DONE"
            status = card.read(regs.address("FILTER", "MAC_STATUS"))
            assert regs.field("FILTER", "MAC_STATUS", "INDEX").of(status) == function
        for function in VICTIMS:
            assert card.read(regs.address("FUNCTION", "FLAGS", function)) == 0
            queues = card.read(regs.address("FUNCTION", "QCONF", function))
            assert regs.field("FUNCTION", "QCONF", "BASE").of(queues) == self.base(function)
            assert regs.field("FUNCTION", "QCONF", "COUNT").of(queues) == QUEUES
            entries = [card.read(regs.address("FUNCTION", "INDIRECTION", function, k)) for k in range(8)]
            assert entries == [k % QUEUES for k in range(8)]
            for pair in self.pairs[function]:
                context = self.host.contexts.read(qdma.Select.SW_H2C, pair.absolute)
                assert (context["function"], context["base"], context["enable"]) == (function, pair.h2c.base, 1)

    # What the attackers do

    def run(self, operations: int, each_round: int = 500) -> None:
        for end in range(each_round, operations + each_round, each_round):
            while self.operations < min(end, operations):
                self.operations += 1
                self.one()
                if self.operations % 50 == 0:
                    self.service.poll()
                    self.link.serve()
            self.check()
        self.check_end()

    def one(self) -> None:
        kinds: list[tuple[int, Callable[[int], None]]] = [
            (20, self.own_doorbell),
            (10, self.any_doorbell),
            (20, self.any_register),
            (6, self.page_register),
            (25, self.descriptors),
            (8, self.message),
            (4, self.request),
            (6, self.frame),
        ]
        attacker = self.random.choice(ATTACKERS)
        self.random.choices([k for _, k in kinds], [w for w, _ in kinds])[0](attacker)
        if self.operations % 41 == 0:
            self.start(attacker)
        if self.operations % 1013 == 0:
            self.reset(attacker)

    def word(self) -> int:
        """Small numbers, single bits and all bits are where mistakes are."""
        kind = self.random.randrange(4)
        if kind == 0:
            return self.random.randrange(130)
        if kind == 1:
            return 1 << self.random.randrange(32)
        return self.random.choice((0, 0xFFFFFFFF, 0xFFFF)) if kind == 2 else self.random.getrandbits(32)

    def address(self) -> int:
        """In its own memory, at its border, or anywhere."""
        kind = self.random.randrange(8)
        if kind == 0:
            return self.random.getrandbits(64)
        if kind == 1:
            return BASE + self.random.choice((-64, -1, 0, BYTES - 64, BYTES - 1, BYTES))
        return BASE + 64 * self.random.randrange(BYTES // 64)

    def doorbells(self, function: int) -> int:
        return qdma.PF_DOORBELLS if function < 4 else qdma.VF_DOORBELLS

    def own_doorbell(self, function: int) -> None:
        which = 16 * self.random.randrange(QUEUES) + self.random.choice((0, 4, 8, 12))
        self.link.write(function, 0, self.doorbells(function) + which, self.word())

    def any_doorbell(self, function: int) -> None:
        entries = 0x8000 if function < 4 else 0x1000
        self.link.write(function, 0, self.doorbells(function) + 4 * self.random.randrange(entries // 4), self.word())

    def any_register(self, function: int) -> None:
        """A PF's global registers are left out: by them it owns the IP."""
        least, end = (CSR_END, 0x40000) if function < 4 else (0, 0x8000)
        if self.random.random() < 0.5:
            least, end = (PF_BASE, PF_BASE + 0xC80) if function < 4 else (VF_BASE, VF_BASE + 0xC80)
        offset = 4 * self.random.randrange(least // 4, end // 4)
        self.link.write(function, 0, offset, self.word())

    def page_register(self, function: int) -> None:
        """BAR 2. A PF's is the whole card's, so only the VFs' may be written."""
        if function >= 4:
            self.link.write(function, 2, 4 * self.random.randrange(0x400), self.word())

    def descriptors(self, function: int) -> None:
        """Some in a ring of its own, and the doorbell that says so."""
        pair, count = self.random.choice(self.pairs[function]), self.random.randrange(1, 9)
        ring, memory = (pair.h2c, self.memories[function]) if self.random.random() < 0.7 else (pair.c2h, None)
        for _ in range(count):
            if memory:
                length = self.random.choice((0, 1, 59, 60, 64, 1514, 9600, 9601, 65535, self.random.randrange(2000)))
                word = self.random.getrandbits(32) | length << 32 | self.random.getrandbits(16) << 48
                memory.set_word(ring.base + 16 * ring.pidx, word, 8)
                memory.set_word(ring.base + 16 * ring.pidx + 8, self.address() & (1 << 64) - 1, 8)
            else:
                at = ring.base + 8 * ring.pidx
                self.memories[function].set_word(at, self.address() & (1 << 64) - 1, 8)
            ring.pidx = (ring.pidx + 1) % (SETTING.ring - 1)
        which = 4 if memory else 8
        self.link.write(function, 0, self.doorbells(function) + 16 * ring.queue + which, ring.pidx)

    def post(self, function: int, words: list[int], target: int) -> None:
        at = PF_BASE if function < 4 else VF_BASE
        self.link.write(function, 0, at + TARGET, target)
        for index, value in enumerate(words):
            self.link.write(function, 0, at + OUT + 4 * index, value)
        self.link.write(function, 0, at + COMMAND, SEND)

    def message(self, function: int) -> None:
        words = [self.word() for _ in range(self.random.choice((1, 3, WORDS)))]
        self.post(function, words, self.random.choice((0, function, 4, self.random.getrandbits(12))))

    def request(self, function: int) -> None:
        """One that a VF's driver may send, about queues, sizes and addresses that need not be its own."""
        queue = self.random.choice((0, self.base(4), self.random.choice(GIVEN_AWAY), self.random.getrandbits(11)))
        setting = QueueSetting(
            ring=65, completions=129, aggregate=self.random.random() < 0.2, vector=self.word() & 0x7FF
        )
        asked = QueueRequest(
            queue, self.random.random() < 0.5, self.random.randrange(9), self.address() & ~4095, self.address() & ~4095,
            setting,
        )  # fmt: skip
        payload = self.random.choice(
            (asked.pack(), place((8, "i", queue), (12, "I", self.random.choice((1, 2, 2048)))), place((6, "H", queue)))
        )
        message = Message(self.random.choice(list(Op)), 0, self.random.randrange(9), 0, payload).pack()
        self.post(function, [int.from_bytes(message[i : i + 4], "little") for i in range(0, 4 * WORDS, 4)], 0)

    def frame(self, function: int) -> None:
        destination = self.random.choice((mac(function), mac(function), b"\xff" * 6, ELSEWHERE))
        size = self.random.choice((60, 64, 1514, 2049, 9600, self.random.randrange(60, 300)))
        if destination == mac(function):
            self.wire.send(marked(function, ELSEWHERE, destination, self.operations, size))
        else:
            self.wire.send((destination + ELSEWHERE + b"\x88\xb5").ljust(size, b"\0"))

    def reset(self, function: int) -> None:
        self.link.reset_function(function)
        for other in (function, *(vf for vf, pf in PARENT.items() if pf == function)):
            self.start(other)
