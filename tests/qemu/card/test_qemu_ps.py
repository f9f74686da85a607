# SPDX-License-Identifier: Apache-2.0
"""The card in QEMU's PS machine: its registers, frames through rings in guest memory, its interrupt."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from frames import MINE, PEER, frame
from meridian_machine import tools
from meridian_machine.ps_hardware import with_card
from meridian_twin import Ps
from meridian_twin.wire import Wire
from qemu_fixtures import on_wire, plugged_into
from qtest_ps import GuestMemory, QtestPs

pytestmark = pytest.mark.qemu
RX_DONE = 1
ONES = 0xFFFF_FFFF
plug = plugged_into(QtestPs)


@pytest.fixture(scope="session")
def qemu() -> Path:
    return tools.qemu_ps()


def received(link: QtestPs, ps: Ps, count: int) -> list[bytes]:
    return [f.data for f in link.collect(ps.ports[0].poll, count, "frames for the PS")]


def ring(ps: Ps, register: str) -> int:
    return ps.card.regs.ps_address("PS_RING", register, 0)


def ps_of(link: QtestPs, shared: bool = True) -> Ps:
    """A small driver on the machine, its ring started."""
    ps = Ps(link, memory=link.memory if shared else GuestMemory(link))
    ps.start(0, MINE, size_log2=4)
    return ps


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "messages"])
def test_frames_of_many_sizes_pass_both_ways_through_the_ps_rings(
    plug: Callable[..., tuple[QtestPs, Wire]], shared: bool
) -> None:
    link, wire = plug(shared)
    ps = ps_of(link, shared)
    sizes = [60, 61, 127, 1514, 4096, 9600]
    outgoing = [frame(size, size, PEER, MINE) for size in sizes]
    incoming = [frame(size, size) for size in sizes]
    for data in outgoing:
        ps.send(data)
    assert on_wire(link, wire, len(sizes)) == outgoing
    for data in incoming:
        wire.send(data)
    assert received(link, ps, len(sizes)) == incoming
    trace = link.trace.read_text()
    assert ("meridian_memory" in trace and "shared 1" in trace) == shared
    assert ("meridian_dma_write" in trace) != shared
    assert "ok 0" not in trace


def test_the_window_takes_words_and_pairs_of_words(plug: Callable[..., tuple[QtestPs, Wire]]) -> None:
    link, _ = plug()
    ps = Ps(link, memory=link.memory)
    base = ring(ps, "RX_BASE_LOW")
    link.write(0, 0, base, 0x1234_5000)
    link.write(0, 0, base + 4, 0x56)
    assert link.read(0, 0, base) == 0x1234_5000
    assert link.read(0, 0, base, 8) == 0x56_1234_5000
    assert link.read(0, 0, base + 1, 1) == 0x50
    link.write(0, 0, base, 0xFF, 1)  # not a whole word: refused by the card
    assert link.read(0, 0, base) == 0x1234_5000


def test_the_line_follows_the_cause(plug: Callable[..., tuple[QtestPs, Wire]]) -> None:
    link, wire = plug()
    ps = ps_of(link)
    ps.card.write(ring(ps, "INTERRUPT_ENABLE_SET"), RX_DONE, "ps")
    assert link.line == 0
    wire.send(frame(100, 1))
    link.wait(lambda: link.line == 1, "the interrupt")
    assert received(link, ps, 1) == [frame(100, 1)]
    ps.card.write(ring(ps, "INTERRUPT_STATUS"), RX_DONE, "ps")
    link.wait(lambda: link.line == 0, "the end of the interrupt")


def test_memory_that_is_not_there_is_told_to_the_card(plug: Callable[..., tuple[QtestPs, Wire]]) -> None:
    """The ring ends with an error, as on a bus that answers with one."""
    link, _ = plug(False)
    ps = ps_of(link, False)
    regs = ps.card.regs
    ps.ports[0].reset()
    ps.card.write(ring(ps, "RX_BASE_LOW"), 0x6000_0000, "ps")
    control = regs.field("PS_RING", "RX_CONTROL", "ENABLE").at(1) | regs.field("PS_RING", "RX_CONTROL", "SIZE_LOG2").at(
        4
    )
    ps.card.write(ring(ps, "RX_CONTROL"), control, "ps")
    ps.card.write(ring(ps, "RX_PRODUCER"), 8, "ps")
    error = regs.field("PS_RING", "RX_STATUS", "ERROR")
    link.wait(lambda: error.of(ps.card.read(ring(ps, "RX_STATUS"), "ps")) == 1, "the ring's end")
    assert "0x60000000" in link.trace.read_text()


def test_a_card_that_starts_again_takes_its_place(run_card: Callable[..., Any], qemu: Path, tmp_path: Path) -> None:
    place = tmp_path / "card"
    first = run_card("--time", "wall")
    place.symlink_to(first.socket)
    link = QtestPs(qemu, place)
    try:
        ps = ps_of(link)
        magic = link.read(0, 0, 0)
        ps.card.write(ring(ps, "INTERRUPT_ENABLE_SET"), RX_DONE, "ps")
        first.wires[0].send(frame(100, 1))
        link.wait(lambda: link.line == 1, "the interrupt")
        first.stop()
        link.wait(lambda: link.read(0, 0, 0) == ONES, "the loss of the card")
        link.write(0, 0, 0, 1)
        assert link.line == 0
        assert f"the card at {place} is lost" in link.errors()
        second = run_card("--time", "wall")
        place.unlink()
        place.symlink_to(second.socket)
        link.wait(lambda: link.read(0, 0, 0) == magic, "the next card")
        assert f"the card at {place} is back" in link.errors()
        again = ps_of(link)
        second.wires[0].send(frame(300, 3))
        assert received(link, again, 1) == [frame(300, 3)]
        assert "meridian_dma_write" not in link.trace.read_text()
    finally:
        link.close()


def test_one_card_has_one_ps(run_card: Callable[..., Any], qemu: Path) -> None:
    card = run_card("--time", "wall")
    link = QtestPs(qemu, card.socket)
    try:
        done = refused(qemu, card.socket)
        assert done.returncode == 1
        assert "the PS is played by qemu already" in done.stderr
    finally:
        link.close()


def test_a_card_that_is_not_there_is_told_in_a_sentence(qemu: Path, tmp_path: Path) -> None:
    done = refused(qemu, tmp_path / "nobody")
    assert done.returncode == 1
    assert f"no card answers at {tmp_path / 'nobody'}" in done.stderr


def refused(qemu: Path, card: Path) -> subprocess.CompletedProcess[str]:
    command = [str(qemu), *with_card(card), "-accel", "qtest"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_without_a_card_the_pl_is_empty(qemu: Path) -> None:
    link = QtestPs(qemu, None)
    try:
        assert link.read(0, 0, 0) == 0
    finally:
        link.close()
