# SPDX-License-Identifier: Apache-2.0
"""QEMU's end of the link: a card process that hangs or lies costs the guest the card, and QEMU nothing."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_card import WELCOME, FakeCard, answer_all, message
from meridian_twin import LinkError
from meridian_twin.patience import deadline_in
from meridian_twin.protocol import MAX_PAYLOAD, REPLY, Header, Status, Type
from qemu_fixtures import qemu
from qtest_link import CARD, CONFIG, EXPRESS_ID, ROOT_PORT, QtestLink

__all__ = ["qemu"]
pytestmark = pytest.mark.qemu
PATIENCE = 15  # seconds that QEMU waits for an answer
ONES = 0xFFFFFFFF
POWER_OFF = 0x700  # in the port's Slot Control: the slot's power and its indicator are off
NATIVE_HOT_PLUG = ("-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off")


@contextmanager
def machine(qemu: Path, card: Path, *more: str, pfs: int = 1) -> Iterator[QtestLink]:
    link = QtestLink(qemu, card, pfs=pfs, more=more)
    try:
        yield link
    finally:
        link.close()


def slot_control(link: QtestLink) -> int:
    """Where in the port's configuration space."""
    at = link.config_read(ROOT_PORT, 0x34) & 0xFF
    while (capability := link.config_read(ROOT_PORT, at) & 0xFFFF) & 0xFF != EXPRESS_ID:
        at = capability >> 8
    return at + 0x18


def point_vector_at(link: QtestLink, address: int, data: int) -> None:
    for register, value in enumerate((address & ONES, address >> 32, data, 0)):
        link.write(0, 0, 0x30000 + 4 * register, value)
    link.config_write(CARD, 0x60, 1 << 31)
    link.enable(0)


def lost(link: QtestLink, seconds: float = 30) -> None:
    deadline = deadline_in(seconds)
    while "is lost" not in link.errors():
        assert time.monotonic() < deadline, link.errors()
        time.sleep(0.1)
        link.config_read(CARD, 0)


@pytest.mark.parametrize("pfs", [1, 2])
@pytest.mark.parametrize("within", ["the main loop", "a read", "a configuration write"])
@pytest.mark.quick
def test_an_interrupt_may_unplug_the_card(qemu: Path, tmp_path: Path, within: str, pfs: int) -> None:
    """The guest has the message of a vector turn the slot's power off, in the midst of QEMU's own call."""
    armed = False

    def answer(card: FakeCard, header: Header, payload: bytes) -> None:
        if armed and header.type in (Type.BAR_READ, Type.FUNCTION):
            card.send(8 * message(Type.MSIX, value=0) + message(Type.DMA_READ, tag=1, address=0, value=64))
        answer_all(card, header, payload)

    with (
        FakeCard(tmp_path / "card", answer) as card,
        machine(qemu, tmp_path / "card", *NATIVE_HOT_PLUG, pfs=pfs) as link,
    ):
        point_vector_at(link, CONFIG + (ROOT_PORT << 4) + slot_control(link), POWER_OFF)
        armed = True
        if within == "a read":
            assert link.read(0, 2, 0x100) == ONES
        elif within == "a configuration write":
            link.enable(0, False)
        else:
            card.send(8 * message(Type.MSIX, value=0))
        # QEMU lets no device's access come back to it, and the configuration space is one device.
        deadline = deadline_in(10)
        while within != "a configuration write" and link.config_read(CARD, 0) != ONES:
            assert time.monotonic() < deadline, "the card is still in its slot"
        for _ in range(20):
            link.config_read(CARD, 0)
            assert link.read(0, 0, 0) in (0, ONES)


@pytest.mark.quick
def test_the_second_pf_may_be_taken_out_before_the_first(qemu: Path, tmp_path: Path) -> None:
    """As ACPI's hot plug does it: by the order of the devices on the bus."""
    acpi = 0x0CC0
    with FakeCard(tmp_path / "card"), machine(qemu, tmp_path / "card", pfs=4) as link:
        for bus in range(4):
            link._do(f"outl {acpi + 0x10:#x} {bus:#x}")
            link._do(f"outl {acpi + 0x08:#x} {1:#x}")
        for _ in range(20):
            link.config_read(CARD, 0)
            link.read(0, 0, 0)


def memory_of(link: QtestLink) -> int:
    """MiB that QEMU has of its own; the guest's is a file."""
    status = Path(f"/proc/{link.pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+)", status)[1]) >> 10  # type: ignore[index]


def test_a_card_that_asks_and_does_not_read_is_lost(qemu: Path, tmp_path: Path) -> None:
    """Its answers do not fill QEMU's memory."""
    asked = 0

    def ask(card: FakeCard, header: Header, payload: bytes) -> None:
        nonlocal asked
        answer_all(card, header, payload)
        if header.type != Type.FUNCTION or not header.value:
            return
        read = message(Type.DMA_READ, tag=7, address=0, value=MAX_PAYLOAD)
        for _ in range(400):
            card.send(100 * read)
            asked += 100
        card.wait_over(60)

    with FakeCard(tmp_path / "card", ask), machine(qemu, tmp_path / "card") as link:
        before = memory_of(link)
        link.enable(0)
        most = 0
        deadline = deadline_in(40)
        while "is lost" not in link.errors() and time.monotonic() < deadline:
            most = max(most, memory_of(link))
            time.sleep(0.01)
        assert "is lost: it has gone or takes nothing more" in link.errors()
        assert max(most, memory_of(link)) - before < 150, f"after {asked} reads"
        assert link.config_read(CARD, 0) & 0xFFFF == 0x10EE


def test_a_card_that_hangs_costs_one_access_its_patience(run_card: Callable[..., Any], qemu: Path) -> None:
    """Then the card is lost, and no access waits for it; when it goes on, it is taken back."""
    card = run_card("--time", "wall")
    with machine(qemu, card.socket) as link:
        assert link.read(0, 0, 0) >> 16 == 0x1FD3
        os.kill(card.pid, signal.SIGSTOP)
        try:
            started = time.monotonic()
            assert link.read(0, 0, 0) == ONES
            assert PATIENCE - 1 < time.monotonic() - started < PATIENCE + 5
            assert f"no answer for {PATIENCE} s" in link.errors()
            until = time.monotonic() + 2 * PATIENCE  # the time of two attempts to greet it
            while time.monotonic() < until:
                started = time.monotonic()
                assert link.read(0, 2, 0x100000) == ONES
                assert time.monotonic() - started < 2, "an access waits for a card that is lost"
                time.sleep(0.05)
        finally:
            os.kill(card.pid, signal.SIGCONT)
        link.wait(lambda: link.read(0, 0, 0) >> 16 == 0x1FD3, "the card again", 3 * PATIENCE)
        assert "is back" in link.errors()


def test_a_card_that_accepts_nobody_any_more_stops_nothing(qemu: Path, tmp_path: Path) -> None:
    """The queue of its socket is full, so that a connection would wait for ever."""

    def hang(card: FakeCard, header: Header, payload: bytes) -> None:
        if header.type != Type.BAR_READ:
            answer_all(card, header, payload)
            return
        card.hang_up()
        card.wait_over(60)

    with FakeCard(tmp_path / "card", hang) as card, machine(qemu, tmp_path / "card") as link:
        assert link.read(0, 0, 0) == ONES
        lost(link)
        until = time.monotonic() + PATIENCE + 5
        while time.monotonic() < until:
            started = time.monotonic()
            assert link.read(0, 0, 0) == ONES
            assert time.monotonic() - started < 2
            time.sleep(0.05)
        assert card.seen[Type.HELLO] == 1


@pytest.mark.parametrize(
    ("welcome", "said"),
    [
        (replace(WELCOME, magic=1), "speaks version"),
        (replace(WELCOME, version=99), "speaks version 99"),
        (replace(WELCOME, bar0_bytes=12345), "the card's BAR0 has 12345 bytes"),
        (replace(WELCOME, bar0_bytes=1), "fit in BARs"),
        (replace(WELCOME, bar2_bytes=0), "the card's BAR2 has 0 bytes"),
        (replace(WELCOME, bar0_bytes=4096), "fit in BARs"),
        (replace(WELCOME, vf_bar0_bytes=4096), "fit in BARs"),
        (replace(WELCOME, pfs=0), "this card has 0 PFs"),
        (None, "a message of type"),
    ],
)
@pytest.mark.quick
def test_a_card_with_a_wrong_welcome_is_refused_with_the_reason(
    qemu: Path, tmp_path: Path, welcome: Any, said: str
) -> None:
    def strange(card: FakeCard, header: Header, payload: bytes) -> None:
        card.send(message(Type.MSIX, tag=header.tag))

    with FakeCard(tmp_path / "card", strange, welcome), pytest.raises(LinkError, match=said) as error:
        machine(qemu, tmp_path / "card").__enter__().close()
    assert "QEMU ended" in str(error.value) or "QEMU is gone" in str(error.value)


@pytest.mark.quick
def test_vfs_are_those_that_the_card_was_made_with(qemu: Path, tmp_path: Path) -> None:
    """One that says of each PF how many it has; QEMU gives each at most these, at their numbers."""
    welcome = replace(WELCOME, functions=10, vfs=bytes((1, 3, 0, 2)))
    with FakeCard(tmp_path / "card", welcome=welcome), machine(qemu, tmp_path / "card", pfs=4) as link:
        assert [link.offered_vfs(pf) for pf in range(4)] == [1, 3, 0, 2]
        assert [link.first_vf(pf) for pf in (0, 1, 3)] == [4, 5, 8]


@pytest.mark.parametrize(
    "words",
    [
        message(Type.HELLO | REPLY, WELCOME.pack(), tag=1),
        message(99),
        message(Type.INTERRUPT, value=1),
        message(Type.ERROR, b"the card has had enough"),
        message(Type.DMA_READ, tag=1, value=MAX_PAYLOAD + 1),
        Header(31, Type.MSIX).pack(),
        Header(0xFFFFFFFF, Type.DMA_WRITE).pack(),
        message(Type.BAR_READ | REPLY, tag=12345, status=Status.OK),
    ],
    ids=["welcome", "type", "interrupt", "error", "read", "short", "long", "answer"],
)
@pytest.mark.quick
def test_a_message_that_is_invalid_loses_the_card_and_it_comes_back(qemu: Path, tmp_path: Path, words: bytes) -> None:
    with FakeCard(tmp_path / "card") as card, machine(qemu, tmp_path / "card") as link:
        assert link.read(0, 0, 0) == 0
        card.send(words)
        lost(link)
        link.wait(lambda: link.read(0, 0, 0) == 0, "the card again", 10)
