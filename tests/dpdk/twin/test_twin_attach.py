# SPDX-License-Identifier: Apache-2.0
"""testpmd of Debian's package on the card process: our driver's own data path, memory and doorbells shared."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from dpdk_fixtures import library, testpmd
from meridian_twin import Host, Link
from meridian_twin.control import Control
from meridian_twin.protocol import Role
from meridian_twin.wire import Wire, WireFrame
from packets import checksum
from testpmd import Testpmd, TestpmdError

MAC = "02:aa:bb:cc:dd:01"
MINE = bytes.fromhex(MAC.replace(":", ""))
PEER = bytes.fromhex("021111111111")
SIZES = (60, 61, 64, 127, 1500, 1514, 2047, 2048, 2049, 4096, 9600)
LARGE = ("--max-pkt-len=9600", "--enable-scatter", "--tx-offloads=0x8000")  # transmit of several segments
__all__ = ["library", "testpmd"]  # fixtures
Start = Callable[..., Testpmd]


def udp(size: int, number: int, flow: int = 0) -> bytes:
    """A frame of UDP over IPv4 with a checksum of the header that is right and none of the data."""
    length = size - 14
    head = bytes.fromhex("4500") + length.to_bytes(2, "big") + bytes.fromhex("0000000040110000")
    head += b"\x0a" + Random(flow).randbytes(3) + bytes((10, 1, 0, 1))
    head = head[:10] + checksum(head) + head[12:]
    ports = (1000 + flow).to_bytes(2, "big") + (9).to_bytes(2, "big") + (length - 20).to_bytes(2, "big") + b"\0\0"
    return MINE + PEER + b"\x08\0" + head + ports + Random(number).randbytes(length - 28)


def from_wire(pmd: Testpmd, wire: Wire, count: int, seconds: float = 30) -> list[bytes]:
    frames: list[WireFrame] = []

    def enough() -> bool:
        frames.extend(wire.take())
        return len(frames) >= count

    pmd.wait(f"{count} frames on the wire", enough, seconds)
    assert not any(frame.bad_fcs for frame in frames)
    return [frame.data for frame in frames]


def test_testpmd_receives_a_frame_and_counts_it(run_card: Any, testpmd: Start) -> None:
    card = run_card()
    pmd = testpmd(card, more=f"mac={MAC}")
    pmd.command("set verbose 1")
    pmd.start("rxonly")
    card.wires[0].send(udp(64, 1))
    pmd.wait("the frame", lambda: pmd.statistics()["RX-packets"] == 1)
    assert pmd.statistics()["RX-bytes"] == 64
    text = pmd.quit()
    assert "RX-packets: 1 " in text and "RX-dropped: 0 " in text


@pytest.mark.parametrize("sizes", [SIZES, pytest.param(tuple(range(60, 9601, 53)), marks=pytest.mark.long)])
def test_testpmd_forwards_frames_of_every_size_without_messages(
    run_card: Any, testpmd: Start, sizes: tuple[int, ...], tmp_path: Path
) -> None:
    """Each frame comes back as it was, and no DMA went by a message."""
    control = tmp_path / "control"
    card = run_card("--control", str(control))
    pmd = testpmd(card, *LARGE, more=f"mac={MAC}")
    pmd.start("io")
    frames = [udp(size, size) for size in sizes]
    for frame in frames:
        card.wires[0].send(frame)
    assert from_wire(pmd, card.wires[0], len(frames)) == frames
    with Control(control) as inside:
        link = inside.ask("stats")["link"]
    assert link["message_bytes"] == 0
    assert link["unsupported"] == 0
    pmd.quit()


@pytest.mark.pcie_link("fast")  # a slow one thins the stream, and the card sleeps between its frames
def test_a_stream_takes_fewer_messages_than_a_quarter_of_its_frames(
    run_card: Any, testpmd: Start, tmp_path: Path
) -> None:
    """Forwarding takes hardly a message: those that wake a card which has fallen asleep."""
    control = tmp_path / "control"
    card = run_card("--control", str(control))
    pmd = testpmd(card, more=f"mac={MAC}")
    pmd.start("io")
    frames = [udp(64 + number % 200, number) for number in range(1000)]
    with Control(control) as inside:
        before = inside.ask("stats")["link"]
        for at in range(0, len(frames), 50):
            for frame in frames[at : at + 50]:
                card.wires[0].send(frame)
            assert from_wire(pmd, card.wires[0], 50) == frames[at : at + 50]
        after = inside.ask("stats")["link"]
    assert after["messages"] - before["messages"] < len(frames) / 4
    assert after["doorbells"] > before["doorbells"]
    assert after["message_bytes"] == 0
    pmd.quit()


def test_testpmd_forwards_with_new_addresses_and_checksums(run_card: Any, testpmd: Start) -> None:
    card = run_card()
    pmd = testpmd(card, more=f"mac={MAC}")
    peer = "02:22:22:22:22:22"
    pmd.command(f"set eth-peer 0 {peer}")
    pmd.start("mac")
    frames = [udp(size, size) for size in (60, 64, 500, 1514)]
    for frame in frames:
        card.wires[0].send(frame)
    moved = [bytes.fromhex(peer.replace(":", "")) + MINE + frame[12:] for frame in frames]
    assert from_wire(pmd, card.wires[0], len(frames)) == moved
    pmd.command("stop")
    pmd.command("port stop all")
    for layer in ("ip", "udp"):
        pmd.command(f"csum set {layer} hw 0")
    pmd.start("csum")
    for frame in frames:
        card.wires[0].send(frame)
    for sent, back in zip(frames, from_wire(pmd, card.wires[0], len(frames)), strict=True):
        assert back[12:40] == sent[12:40]
        assert checksum(back[14:34]) == b"\0\0"
        # Of a frame with no UDP checksum testpmd asks for none.
        assert back[42:] == sent[42:]
    pmd.quit()


def test_testpmd_sends_all_that_it_counts_as_sent(run_card: Any, testpmd: Start) -> None:
    card = run_card()
    pmd = testpmd(card, *LARGE, "--txpkts=300", more=f"mac={MAC}")
    pmd.start("txonly")
    frames = from_wire(pmd, card.wires[0], 500)
    pmd.command("stop")
    sent = pmd.statistics()["TX-packets"]
    frames += from_wire(pmd, card.wires[0], sent - len(frames))
    assert len(frames) == sent
    for frame in frames:
        assert len(frame) == 300
        assert frame[6:12] == MINE
        assert checksum(frame[14:34]) == b"\0\0"
        assert frame[38:40] == (300 - 34).to_bytes(2, "big")
    pmd.quit()


@pytest.mark.parametrize("queues", [2, 4, 8])
def test_rss_spreads_flows_over_all_queues(run_card: Any, testpmd: Start, queues: int) -> None:
    """Flows are spread, each stays in its queue and in order, and all come back."""
    card = run_card()
    pmd = testpmd(card, f"--rxq={queues}", f"--txq={queues}", "--rss-ip", "--nb-cores=1", more=f"mac={MAC}")
    pmd.start("io")
    frames = [udp(100, number, flow=number % 128) for number in range(256)]
    for at in range(0, len(frames), 64):
        for frame in frames[at : at + 64]:
            card.wires[0].send(frame)
        back = from_wire(pmd, card.wires[0], 64)
        assert sorted(back) == sorted(frames[at : at + 64])
    text = pmd.command("show fwd stats all")
    used = re.findall(r"RX Port= 0/Queue=\s*(\d+)", text)
    assert len(used) == queues, text
    pmd.quit()


def test_a_port_that_is_attached_later_has_dma_by_messages(run_card: Any, library: Path, tmp_path: Path) -> None:
    """Memory that an application uses already stays where it is: the card reaches it by messages."""
    control = tmp_path / "control"
    card = run_card("--control", str(control))
    with Testpmd(library, [], card=card) as pmd:
        text = pmd.command(f"port attach net_meridian_twin0,socket={card.socket},mac={MAC}")
        assert "DMA goes by messages" in text
        pmd.command("set portlist 0")
        pmd.start("io")
        frames = [udp(size, size) for size in (60, 1514)]
        for frame in frames:
            card.wires[0].send(frame)
        assert from_wire(pmd, card.wires[0], len(frames)) == frames
        with Control(control) as inside:
            link = inside.ask("stats")["link"]
        assert link["shared_bytes"] == 0
        assert link["message_bytes"] > sum(map(len, frames))
        pmd.quit()


def test_a_card_serves_the_next_process_after_one_is_killed(run_card: Any, testpmd: Start) -> None:
    """A process that is killed leaves a card that the next one can use, and Python's host, too."""
    card = run_card()
    for _ in range(2):
        pmd = testpmd(card, "--txpkts=1500", more=f"mac={MAC}")
        pmd.start("txonly")
        from_wire(pmd, card.wires[0], 50)
        pmd.kill()
    with Host.connect(card.socket) as host:
        host.bring_up(queues=1)
        host.link.wait(lambda: not card.wires[0].take(), "the rest of what was sent")
        host.send(udp(64, 1))
        host.drain()
        host.link.wait(lambda: any(f.data == udp(64, 1) for f in card.wires[0].take()), "the frame")


def test_a_port_that_a_reset_of_the_cards_arm_closed_is_opened_again(run_card: Any, testpmd: Start) -> None:
    card = run_card()
    pmd = testpmd(card, more=f"mac={MAC}")
    pmd.start("io")
    ps = Link(card.socket, Role.AXI)
    ps.reset()
    ps.close()
    opened = "port 0 was closed to the host"
    pmd.wait("the look at the port", lambda: opened in pmd.command("show port stats 0") + pmd.said)
    card.wires[0].send(udp(64, 1))
    assert from_wire(pmd, card.wires[0], 1) == [udp(64, 1)]
    assert pmd.said.count(opened) == 1


def test_testpmd_is_told_that_the_card_has_gone_and_goes_on_without_it_until_it_ends(
    run_card: Any, testpmd: Start
) -> None:
    """The driver says it once, testpmd has the event of a removal and detaches the port, and then it ends well."""
    card = run_card()
    pmd = testpmd(card, more=f"mac={MAC}")
    pmd.start("io")
    assert card.stop() == 0
    pmd.wait("the removal", lambda: "Port 0: device removal event" in pmd.command("show port info 0") + pmd.said)
    pmd.wait("the end of the port", lambda: "Invalid port 0" in pmd.command("show port info 0"))
    assert pmd.said.count("the card is gone: the function is not in the machine any more") == 1
    assert "nb forwarding ports=0" in pmd.quit()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("", "socket=PATH says where the card process listens"),
        (",socket=/nowhere", "no card answers at /nowhere"),
        (",socket={card},function=256", "function=256: give a number of 0 to 255"),
        (",socket={card},function=", "function=: give a number of 0 to 255"),
        (",socket={card},colour=red", "give socket=PATH"),
    ],
)
def test_a_wrong_argument_of_the_plug_in_is_refused_in_a_sentence(
    run_card: Any, library: Path, arguments: str, sentence: str
) -> None:
    card = run_card()
    with pytest.raises(TestpmdError, match=re.escape(sentence)):
        Testpmd(library, ["net_meridian_twin0" + arguments.format(card=card.socket)], memory=64)


def test_a_function_is_for_one_process(run_card: Any, testpmd: Start, library: Path) -> None:
    card = run_card()
    pmd = testpmd(card, more=f"mac={MAC}")
    with pytest.raises(TestpmdError, match=f"function 0 is played by DPDK, process {pmd.pid} already"):
        Testpmd(library, [f"net_meridian_twin0,socket={card.socket}"], memory=64)
    pmd.quit()
