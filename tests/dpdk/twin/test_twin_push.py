# SPDX-License-Identifier: Apache-2.0
"""Small frames that the driver writes into the card, of a PF and of a VF: what is on the wire, and what the card reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from cuts import Whole, must_be_segments
from dpdk_fixtures import library, testpmd
from large_frames import Large, large
from meridian_twin.control import Control
from pf import address_of
from sessions import xstats
from test_twin_attach import MAC, MINE, PEER, from_wire, udp
from test_twin_pf import SERVING
from test_twin_segments import OUR_DMA, Sender, program, sent
from test_twin_vf import FIRST
from testpmd import Testpmd

__all__ = ["library", "program", "sent", "testpmd"]  # fixtures
COUNT = 40
UNTOUCHED = ("tx_refused", "tx_discarded", "card_tx_error", "card_tx_offload_skipped")


def frame_of(random: Random, addresses: bytes, size: int) -> Large:
    """With so many bytes, or as many as its headers have."""
    made = replace(large(random, addresses, 0), ip_options=b"", tcp_options=b"")
    return replace(made, payload=random.randbytes(max(1, size - made.payload_at)))


def some(seed: int, addresses: bytes, sizes: tuple[int, ...], count: int = COUNT) -> list[Whole]:
    """Of one to four segments of memory, with tags and checksums that some ask for."""
    random = Random(seed)

    def one(number: int) -> Whole:
        frame = frame_of(random, addresses, sizes[number % len(sizes)])
        vlan = random.getrandbits(16) if random.random() < 0.4 else None
        return Whole(frame, random.randint(1, 4), vlan, random.random() < 0.6)

    return [one(number) for number in range(count)]


def reads(card_control: Path) -> int:
    with Control(card_control) as inside:
        return int(inside.ask("stats")["link"]["dma_reads"])


def test_pushed_frames_are_whole_and_not_read(run_card: Any, sent: Sender, tmp_path: Path) -> None:
    """Each that is not pushed takes two reads at least, of its descriptor and of its bytes."""
    control = tmp_path / "control"
    card = run_card("--control", str(control), configuration=OUR_DMA)
    frames = some(1, PEER + MINE, (80, 100, 127, 128, 129, 200, 255, 256))
    taken, pushed = [], []
    for limit in (0, 128, 256):
        before = reads(control)
        came, text = sent(card, frames, f"mac={MAC},push={limit}", "alone")
        taken.append(reads(control) - before)
        must_be_segments(came, frames)
        counted = xstats(text)
        pushed.append(counted["tx_pushed"])
        assert pushed[-1] == sum(len(frame.data) <= limit for frame in frames)
        assert [counted[name] for name in UNTOUCHED] == [0] * len(UNTOUCHED)
        assert not counted["tx_copied"]
    assert pushed[0] == 0 < pushed[1] < pushed[2] == COUNT
    for fewer, count in zip(taken[1:], pushed[1:], strict=True):
        assert taken[0] - fewer >= 3 * count // 2, f"{taken} reads, {pushed} frames were pushed"


def test_pushed_frames_keep_their_order_among_others(run_card: Any, sent: Sender) -> None:
    """The program waits for nothing, so some of them find the ring empty."""
    card = run_card(configuration=OUR_DMA)
    frames = some(2, PEER + MINE, (60, 100, 1514, 256, 70, 300, 8000), 200)
    came, text = sent(card, frames, f"mac={MAC},push=256")
    must_be_segments(came, frames)
    counted = xstats(text)
    assert 0 < counted["tx_pushed"] <= sum(len(frame.data) <= 256 for frame in frames)
    assert [counted[name] for name in UNTOUCHED] == [0] * len(UNTOUCHED)


def test_a_vf_pushes(run_card: Any, testpmd: Callable[..., Testpmd], sent: Sender) -> None:
    """Its PF tells it that the card can, and it has a window of its own."""
    card = run_card(configuration=OUR_DMA)
    pf = testpmd(card, more=SERVING)
    pf.command("set promisc 0 off")
    pf.start("io")
    frames = some(3, PEER + address_of(FIRST), (60, 64, 150, 256, 400))
    came, text = sent(card, frames, f"function={FIRST},push=256", "alone")
    must_be_segments(came, frames)
    assert xstats(text)["tx_pushed"] == sum(len(frame.data) <= 256 for frame in frames)
    pf.quit()


def test_testpmd_pushes_what_it_forwards_alone(run_card: Any, testpmd: Callable[..., Testpmd]) -> None:
    """Its io mode asks for no offload; a port without the key pushes nothing."""
    card = run_card(configuration=OUR_DMA)
    sizes = (60, 61, 64, 100, 127, 128, 129, 256, 1514)
    for more, pushed in ((",push=128", 6), ("", 0)):
        pmd = testpmd(card, more=f"mac={MAC}{more}")
        pmd.start("io")
        for size in sizes:
            card.wires[0].send(udp(size, size))
            assert from_wire(pmd, card.wires[0], 1) == [udp(size, size)]
        assert "pushed frames" not in pmd.start_text
        assert xstats(pmd.command("show port xstats 0"))["tx_pushed"] == pushed
        pmd.quit()


def test_a_card_without_the_window_is_told_once(run_card: Any, testpmd: Callable[..., Testpmd], own_dma: bool) -> None:
    if own_dma:
        pytest.skip("this card has the window")
    card = run_card()
    pmd = testpmd(card, more=f"mac={MAC},push=64")
    pmd.start("io")
    card.wires[0].send(udp(60, 1))
    assert from_wire(pmd, card.wires[0], 1) == [udp(60, 1)]
    assert xstats(pmd.command("show port xstats 0"))["tx_pushed"] == 0
    pmd.quit()
    assert pmd.said.count("push=64: the card takes no pushed frames") == 1
