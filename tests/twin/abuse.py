# SPDX-License-Identifier: Apache-2.0
"""Functions that do whatever comes into their heads, beside functions that only want to work.

Each function has an address space of its own, in which the same addresses lead to other bytes. Every piece of memory,
every frame and every message carries the mark of whose it is, so that what gets to another is seen.
"""

from __future__ import annotations

from random import Random

from attacks import (
    ATTACKERS,
    BASE,
    BYTES,
    ELSEWHERE,
    GHOST,
    GIVEN_AWAY,
    PARENT,
    QUEUES,
    SETTING,
    VICTIMS,
    Attacks,
    mac,
    mark,
    marked,
)
from meridian_twin import Host, Link, Memory, qdma
from meridian_twin.driver import Pair
from meridian_twin.pf_service import PfService
from meridian_twin.qdma import C2hQueue, H2cQueue
from meridian_twin.wire import Wire


class Abuse(Attacks):
    """PF 0 owns the card and programs everybody's queues; PF 0, PF 3 and its VF are victims, the rest attack."""

    def __init__(self, link: Link, wire: Wire, seed: int) -> None:
        memories = {function: Memory(BYTES, BASE, function) for function in (*range(4), *PARENT, GHOST)}
        super().__init__(link, wire, Random(seed), memories)
        for function, memory in self.memories.items():
            line = (ELSEWHERE + mac(function) + b"\x88\xb5" + mark(function) * 5)[:64]
            memory.write(BASE, line * (BYTES // 64))
            link.share(memory)
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
        self.from_attackers = 0
        self.snapshots: dict[int, bytes] = {}
        self.snap()

    def close(self) -> None:
        self.link.close()
        for memory in self.memories.values():
            memory.close()

    # What the owner of the card does

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
            control = regs.field("FUNCTION", "FLAGS", "CONTROL_FRAMES").at(int(function < 4))  # a PF always has it
            assert card.read(regs.address("FUNCTION", "FLAGS", function)) == control
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
            while self.done < min(end, operations):
                self.one()
                if self.done % 50 == 0:
                    self.service.poll()
                    self.link.serve()
            self.check()
        self.check_end()

    def one(self) -> None:
        attacker = self.random.choice(ATTACKERS)
        self.attack(attacker)
        if self.done % 41 == 0:
            self.start(attacker)
        if self.done % 1013 == 0:
            self.reset(attacker)

    def reset(self, function: int) -> None:
        self.link.reset_function(function)
        for other in (function, *(vf for vf, pf in PARENT.items() if pf == function)):
            self.start(other)
