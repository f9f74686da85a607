# SPDX-License-Identifier: Apache-2.0
"""Frames through QEMU's device: descriptor rings in guest memory, DMA and MSI-X on QEMU's PCIe bus."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from frames import MINE, PEER, frame
from meridian_twin import Host, QueueSetting
from meridian_twin.pf_service import PfService
from meridian_twin.vf import Vf
from meridian_twin.wire import Wire
from qemu_fixtures import on_wire, plugged_into, qemu
from qtest_link import EXPRESS, FIRST_VF, SRIOV, QtestLink

__all__ = ["qemu"]
pytestmark = pytest.mark.qemu
VECTOR = 5
plug = plugged_into(QtestLink)


@pytest.fixture
def shared_vfs(own_dma: bool) -> None:
    """PFs have the VFs that the host gives them, and PCIe may offer more than the shell has."""
    if own_dma:
        pytest.skip("a shell with the DMA engine of our own gives each PF its VFs")


shares_vfs = pytest.mark.usefixtures("shared_vfs")


@pytest.fixture
def plugged(plug: Callable[..., tuple[QtestLink, Wire]]) -> tuple[QtestLink, Wire]:
    return plug()


def test_frames_of_many_sizes_pass_both_ways_by_dma(plugged: tuple[QtestLink, Wire]) -> None:
    link, wire = plugged
    host = Host(link, memory=link.memory)
    host.bring_up()
    sizes = [60, 61, 127, 1514, 4096, 4097, 9600]
    outgoing = [frame(size, size, PEER, MINE) for size in sizes]
    incoming = [frame(size, size) for size in sizes]
    for data in outgoing:
        host.send(data)
    assert on_wire(link, wire, len(sizes)) == outgoing
    for data in incoming:
        wire.send(data)
    assert host.receive(len(sizes)) == incoming
    trace = link.trace.read_text()
    assert "meridian_dma_read function 0" in trace
    assert "meridian_dma_write function 0" in trace
    assert "ok 0" not in trace


def test_a_vector_of_the_table_interrupts(plugged: tuple[QtestLink, Wire]) -> None:
    link, wire = plugged
    host = Host(link, memory=link.memory)
    link.enable_interrupts(10)
    host.bring_up(setting=QueueSetting(c2h_irq=True, vector=VECTOR))
    assert not link.take_interrupt(VECTOR)
    wire.send(frame(100, 1))
    link.wait(lambda: link.take_interrupt(VECTOR), "an interrupt")
    assert host.receive() == [frame(100, 1)]


def test_without_bus_mastering_no_memory_is_touched(plugged: tuple[QtestLink, Wire]) -> None:
    link, wire = plugged
    host = Host(link, memory=link.memory)
    host.bring_up()
    link.enable(0, False)
    dropped = host.card.counters("FUNCTION", 0)["rx_delivered"]
    wire.send(frame(100, 1))
    link.wait(lambda: host.card.counters("FUNCTION", 0)["rx_delivered"] > dropped, "the frame in the shell", 10)
    assert host.take() == []
    link.enable(0)
    assert "meridian_dma_write" not in link.trace.read_text()


def test_the_card_works_after_a_function_level_reset(plugged: tuple[QtestLink, Wire]) -> None:
    link, wire = plugged
    Host(link, memory=link.memory).bring_up()
    link.reset_function(0)
    again = Host(link, memory=link.memory)
    again.bring_up()
    wire.send(frame(200, 2))
    assert again.receive() == [frame(200, 2)]


def test_a_card_that_ends_reads_as_ones_and_qemu_lives(run_card: Callable[..., Any], qemu: Path) -> None:
    card = run_card("--time", "wall")
    link = QtestLink(qemu, card.socket)
    try:
        assert link.read(0, 0, 0) >> 16 == 0x1FD3
        card.stop()
        assert link.read(0, 0, 0) == 0xFFFFFFFF
        link.write(0, 2, 0, 1)
        assert link.read(0, 2, 0x100000) == 0xFFFFFFFF
        assert f"the card at {card.socket} is lost" in link.errors()
    finally:
        link.close()


def test_a_card_that_starts_again_takes_its_place(run_card: Callable[..., Any], qemu: Path, tmp_path: Path) -> None:
    """Bus mastering, which the guest has left on, is told to the new card."""
    place = tmp_path / "card"
    first = run_card("--time", "wall")
    place.symlink_to(first.socket)
    link = QtestLink(qemu, place)
    try:
        Host(link, memory=link.memory).bring_up()
        first.stop()
        link.wait(lambda: link.read(0, 0, 0) == 0xFFFFFFFF, "the loss of the card")
        second = run_card("--time", "wall")
        place.unlink()
        place.symlink_to(second.socket)
        link.wait(lambda: link.read(0, 0, 0) >> 16 == 0x1FD3, "the next card")
        assert f"the card at {place} is back" in link.errors()
        host = Host(link, memory=link.memory)
        host.bring_up()
        second.wires[0].send(frame(300, 3))
        assert host.receive() == [frame(300, 3)]
    finally:
        link.close()


def test_vfs_pass_frames_and_interrupts_of_their_own(plug: Callable[..., tuple[QtestLink, Wire]]) -> None:
    """Rings, mailbox and MSI-X of two VFs, each by its own configuration space."""
    link, wire = plug(vfs=2)
    host = Host(link, memory=link.memory)
    host.bring_up(queues=2)
    PfService(host, range(64, 128))
    for function in (FIRST_VF, FIRST_VF + 1):
        mine = MINE[:5] + bytes([function])
        link.enable_interrupts(8, function)
        vf = Vf(link, function, link.memory)
        vf.bring_up(1, QueueSetting(c2h_irq=True, vector=VECTOR))
        host.add_mac(mine, function)
        host.settle()
        wire.send(frame(1000, function, mine))
        assert vf.receive(1) == [frame(1000, function, mine)]
        link.wait(lambda function=function: link.take_interrupt(VECTOR, function), "an interrupt of the VF")
        vf.send(frame(500, function, PEER, mine))
        assert on_wire(link, wire, 1) == [frame(500, function, PEER, mine)]
    trace = link.trace.read_text()
    for function in (FIRST_VF, FIRST_VF + 1):
        assert f"meridian_dma_write function {function} " in trace


def test_a_vf_without_bus_mastering_touches_no_memory(plug: Callable[..., tuple[QtestLink, Wire]]) -> None:
    link, wire = plug(vfs=1)
    host = Host(link, memory=link.memory)
    host.bring_up()
    PfService(host, range(64, 128))
    vf = Vf(link, FIRST_VF, link.memory)
    vf.bring_up()
    host.add_mac(MINE, FIRST_VF)
    host.settle()
    link.enable(FIRST_VF, False)
    wire.send(frame(100, 1))
    link.wait(lambda: host.card.counters("FUNCTION", FIRST_VF)["rx_delivered"] == 1, "the frame in the shell", 10)
    assert vf.take() == []
    assert f"meridian_dma_write function {FIRST_VF} " not in link.trace.read_text()


@shares_vfs
def test_vfs_are_those_that_the_card_offers(plug: Callable[..., tuple[QtestLink, Wire]]) -> None:
    """Whatever QEMU is asked for: the PFs share what the card has behind function 4."""
    for pfs, offered, each in [(1, (), 4), (2, (), 2), (4, (), 1), (2, ("--pcie-functions", "11"), 3)]:
        link, _ = plug(pfs=pfs, card_options=offered)
        assert [link.offered_vfs(pf) for pf in range(pfs)] == [each] * pfs
        assert [link.first_vf(pf) for pf in range(pfs)] == [FIRST_VF + pf * each for pf in range(pfs)]


def ones(link: QtestLink, function: int) -> list[bool]:
    """Of each width in both BARs, the end of a BAR among them: all ones are read, and what is written vanishes."""
    read = []
    for bar, offset in ((0, 0), (0, 0x2000), (2, 0), (2, 0xFF8)):
        for width in (1, 2, 4, 8):
            link.write(function, bar, offset, 0, width)
            read.append(link.read(function, bar, offset, width) == (1 << 8 * width) - 1)
    return read


def answers(link: QtestLink, function: int) -> bool:
    return link.read(function, 0, 0 if function < FIRST_VF else 0x5014) >> 16 == 0x1FD3


def test_a_function_without_its_memory_bit_reads_as_ones(plug: Callable[..., tuple[QtestLink, Wire]]) -> None:
    """A PF and a VF, as a root complex answers for them; nothing of it reaches the card."""
    link, _ = plug(vfs=1)
    PfService(host := Host(link, memory=link.memory), range(64, 128))
    host.bring_up()
    Vf(link, FIRST_VF, link.memory).hello()
    for function in (0, FIRST_VF):
        before = link.trace.read_text().count("meridian_bar_")
        link.config_write(link._device(function), 0x04, 0)
        assert all(ones(link, function))
        assert link.trace.read_text().count("meridian_bar_") == before
        link.enable(function)
        assert answers(link, function)
    assert link.read(0, 0, 0) >> 16 == 0x1FD3


def test_a_function_that_is_reset_or_not_there_reads_as_ones(plug: Callable[..., tuple[QtestLink, Wire]]) -> None:
    link, _ = plug(vfs=2)
    link.reset_function(FIRST_VF)
    assert all(ones(link, FIRST_VF))
    assert answers(link, FIRST_VF + 1)
    link.config_write(link._device(0), SRIOV + 0x08, 0)
    assert all(ones(link, FIRST_VF + 1))
    assert all(ones(link, FIRST_VF + 100)), "in the port's window, and nobody's"
    control = link.config_read(link._device(0), EXPRESS + 8)
    link.config_write(link._device(0), EXPRESS + 8, control | 1 << 15)
    assert all(ones(link, 0))


@shares_vfs
def test_every_pf_drives_its_queues_and_its_vfs(plug: Callable[..., tuple[QtestLink, Wire]]) -> None:
    link, wire = plug(pfs=4, vfs=1)
    assert [link.config_read(link._device(pf), 0) for pf in range(4)] == [0x9_03F_10EE + (pf << 24) for pf in range(4)]
    assert [link.first_vf(pf) for pf in range(4)] == [FIRST_VF + pf * link.offered_vfs(0) for pf in range(4)]
    hosts = [Host(link, function=pf, memory=link.memory) for pf in range(4)]
    for pf, host in enumerate(hosts):
        host.bring_up(base=8 * pf, tables=pf == 0)
        mine = MINE[:5] + bytes([pf])
        host.add_mac(mine, pf)
        host.settle()
        wire.send(frame(200, pf, mine))
        assert host.receive(1)[-1] == frame(200, pf, mine)
        host.send(frame(300, pf, PEER, mine))
        assert on_wire(link, wire, 1) == [frame(300, pf, PEER, mine)]
    link.reset_function(3)
    hosts[2].send(frame(301, 2, PEER, MINE[:5] + bytes([2])))
    assert on_wire(link, wire, 1) == [frame(301, 2, PEER, MINE[:5] + bytes([2]))]


@shares_vfs
def test_each_of_252_vfs_of_one_pf_is_reached(plug: Callable[..., tuple[QtestLink, Wire]]) -> None:
    """PCIe may offer more than the shell has. Bus numbers beyond a slot, by ARI; the last one has its mailbox."""
    link, _ = plug(card_options=["--pcie-functions", "256"], vfs=252)
    host = Host(link, memory=link.memory)
    host.bring_up()
    PfService(host, range(64, 128))
    for function in (FIRST_VF, 128, 255):
        vf = Vf(link, function, link.memory)
        vf.hello()
        assert vf.number == function
