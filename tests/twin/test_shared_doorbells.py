# SPDX-License-Identifier: Apache-2.0
"""Frames whose descriptors, data and doorbells are all in shared memory, against the same by messages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from meridian_twin import Host, Link, LinkError, Memory
from meridian_twin.control import Control
from meridian_twin.wire import Wire
from test_frames import MINE, PEER, frame, on_wire

SIZES = (64, 1514, 9600, 65, 4096, 777)
COUNT = 60


@contextmanager
def joined(card: Any, mapped: bool, bells: bool, version: int = 2) -> Iterator[Host]:
    with Link(card.socket, version=version) as link:
        host = Host(link, mapped=mapped)
        if bells:
            link.share_doorbells(0, 4)
        yield host
    host.memory.close()


def exchange(host: Host, wire: Wire, count: int) -> None:
    """One frame at a time, each way, so that nothing is batched."""
    for number in range(count):
        size = SIZES[number % len(SIZES)]
        out, back = frame(size, number, PEER, MINE), frame(size, number + count)
        host.send(out)
        assert [f.data for f in on_wire(host, wire, 1)] == [out]
        wire.send(back)
        assert host.receive(1) == [back]
    host.drain()


def messages_a_frame(host: Host, wire: Wire) -> float:
    exchange(host, wire, 2)
    before = host.link.messages.total()
    exchange(host, wire, COUNT)
    return (host.link.messages.total() - before) / (2 * COUNT)


def test_frames_take_no_messages_but_wakes(run_card: Any, record_property: Callable[[str, object], None]) -> None:
    """Only wakes are left: at most one for each doorbell that finds the card asleep."""
    found = {}
    for mapped, bells in ((False, False), (True, False), (True, True)):
        card = run_card("--time", "free")
        with joined(card, mapped, bells) as host:
            host.bring_up(queues=1)
            found[mapped, bells] = messages_a_frame(host, card.wires[0])
            if bells:
                sent = host.link.messages["sent"]
                burst = [frame(200, number, PEER, MINE) for number in range(400)]
                for data in burst:
                    host.send(data)
                assert [f.data for f in on_wire(host, card.wires[0], len(burst))] == burst
                assert host.link.messages["sent"] - sent < len(burst) / 2
                assert host.link.dma.total() == 0
    record_property("messages_a_frame", {f"mapped {m}, doorbells {b}": value for (m, b), value in found.items()})
    print(found)
    assert found[False, False] > 5
    assert found[True, True] <= found[True, False] <= 2


def test_version_1_still_works(run_card: Any) -> None:
    card = run_card()
    with joined(card, True, False, version=1) as host:
        host.bring_up(queues=1)
        exchange(host, card.wires[0], 4)
        with pytest.raises(LinkError, match="does not send messages of type 15 in version 1"):
            host.link.share_doorbells(0, 1)


def test_doorbells_taken_back_go_by_writes(run_card: Any) -> None:
    card = run_card()
    with joined(card, True, True) as host:
        host.bring_up(queues=4)
        exchange(host, card.wires[0], 4)
        host.link.forget_doorbells(0)
        exchange(host, card.wires[0], 4)
        host.link.share_doorbells(0, 4)
        exchange(host, card.wires[0], 4)


def test_shared_doorbells_work_in_lockstep(run_card: Any) -> None:
    card = run_card("--time", "lockstep")
    with Link(card.socket, lockstep=True) as link:
        host = Host(link)
        link.share_doorbells(0, 1)
        host.bring_up(queues=1)
        exchange(host, card.wires[0], 6)
        host.memory.close()


def test_an_idle_card_sleeps(run_card: Callable[..., Any], tmp_path: Path) -> None:
    card = run_card("--time", "wall", "--control", str(tmp_path / "control"))
    with Control(tmp_path / "control") as control, joined(card, True, True) as host:
        host.bring_up(queues=1)
        exchange(host, card.wires[0], 2)
        before, began = simulated_steps(control), time.monotonic()
        # A wake costs more while others use the processor, which they do not in each of the seconds.
        assert min(share_of_processor(card.pid, 1) for _ in range(4)) < 0.2
        # An edge of a clock is a step, and there are 1.3 billion a second; each of the wakes takes some hundred.
        assert simulated_steps(control) - before < 20_000 * (time.monotonic() - began)
        exchange(host, card.wires[0], 2)


def share_of_processor(pid: int, seconds: float) -> float:
    used, began = cpu_seconds(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu_seconds(pid) - used) / (time.monotonic() - began)


def simulated_steps(control: Control) -> int:
    return control.ask("stats")["simulation"]["steps"]


def cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def test_dma_outside_goes_by_message(run_card: Any, request: pytest.FixtureRequest) -> None:
    """Rings in shared memory, and a second memory that the card reaches by messages alone."""
    card = run_card()
    with joined(card, True, True) as host:
        host.bring_up(queues=1)
        far = Memory(1 << 16, base=0x7_0000_0000)
        host.link.share(far, mapped=False)
        data = frame(1000, 5, PEER, MINE)
        ring = host.pairs[0].h2c
        address = far.allocate(len(data))
        far.write(address, data)
        word = len(data) | len(data) << 32 | 3 << 48
        host.memory.write(ring.base + 16 * ring.pidx, word.to_bytes(8, "little") + address.to_bytes(8, "little"))
        ring.pidx += 1
        ring.ring()
        assert [f.data for f in on_wire(host, card.wires[0], 1)] == [data]
        # The DMA engine of our own asks for 512 bytes at most.
        assert host.link.dma["reads"] == (1 if request.config.getoption("--dma") == "qdma" else 2)
        far.close()


def test_a_host_that_leaves_in_the_middle_does_not_end_the_card(run_card: Any) -> None:
    """Its memory and its doorbells go with it, the card does not."""
    card = run_card()
    for _ in range(5):
        with joined(card, True, True) as host:
            host.bring_up(queues=1)
            for number in range(100):
                host.send(frame(9000, number, PEER, MINE))
    card.wires[0].take()
    with joined(card, True, True) as host:
        host.bring_up(queues=1)
        host.link.wait(lambda: not card.wires[0].take(), "the rest of what was sent")
        exchange(host, card.wires[0], 4)
