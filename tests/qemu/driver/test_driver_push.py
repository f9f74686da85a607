# SPDX-License-Identifier: Apache-2.0
"""Small frames that the driver writes into the card, of a PF and of a VF."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from driver_machine import Link, linked, tool, vfs_apart
from meridian_machine import tools
from meridian_twin.control import Control
from test_driver_pieces import FAR, PORT, payload, sent_since
from test_driver_tx_offloads import NOBODY, Sender, segment, sender_of

pytestmark = [pytest.mark.qemu, pytest.mark.quick]
TOOL = Path(__file__).with_name("pieces_tool.c")
HEADERS = 42  # of Ethernet, IPv4 and UDP
COUNT = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("push")


@pytest.fixture(scope="module")
def machine(folder: Path) -> Iterator[Link]:
    files = {TOOL.stem: tool(folder, TOOL)}
    with linked(tools.SUITES[0], files, card_options=("--control", str(folder / "control"))) as it, vfs_apart(it.guest):
        yield it


@pytest.fixture(scope="module")
def control(machine: Link, folder: Path) -> Iterator[Control]:
    with Control(folder / "control") as it:
        yield it


@pytest.fixture(params=["PF", "VF"], scope="module")
def sender(request: pytest.FixtureRequest, machine: Link) -> Sender:
    return sender_of(machine, request.param)


def limit(sender: Sender) -> int:
    return int(sender.run("ethtool --get-tunable DEV tx-copybreak").split()[-1])


def reads_of(sender: Sender, control: Control, lengths: list[int]) -> tuple[int, int]:
    """Sends datagrams one by one. How often the card has read the host's memory, and how many frames were pushed."""
    before, start = sender.statistics(), len(sender.link.peer.other)
    reads = control.ask("stats")["link"]["dma_reads"]
    for length in lengths:
        sender.run(f"/run/twin/{TOOL.stem} {FAR} {PORT} {length}@0")
    frames = sent_since(sender, start, len(lengths))
    assert [segment(frame)[2][8:] for frame in frames] == [payload(0, length) for length in lengths]
    reads = control.ask("stats")["link"]["dma_reads"] - reads
    return reads, sender.statistics()["tx_pushed"] - before["tx_pushed"]


def test_a_card_without_the_window_refuses(sender: Sender, control: Control, own_dma: bool) -> None:
    if own_dma:
        assert limit(sender) == 128
        return
    status, text = sender.guest.try_run(f"{sender.enter}ethtool --set-tunable {sender.device} tx-copybreak 64")
    assert status != 0 and "not supported" in text
    assert reads_of(sender, control, [20])[1] == limit(sender) == 0


def test_small_frames_are_pushed_and_not_read(sender: Sender, control: Control, own_dma: bool) -> None:
    """Each that is read takes two reads, of its descriptor and of the frame. The machine itself may send some more."""
    if not own_dma:
        pytest.skip("the QDMA IP has no window for pushed frames")
    small = [1 + (number * 37) % (128 - HEADERS) for number in range(COUNT)]
    reads, pushed = reads_of(sender, control, small)
    assert pushed >= COUNT and reads < COUNT, f"{reads} reads for {pushed} frames that were pushed"
    reads, pushed = reads_of(sender, control, [128 - HEADERS + 1 + number for number in range(COUNT)])
    assert pushed < COUNT // 2 and reads >= 2 * COUNT, f"{reads} reads"
    sender.run("ethtool --set-tunable DEV tx-copybreak 256")
    reads, pushed = reads_of(sender, control, [256 - HEADERS - number for number in range(COUNT)])
    assert pushed >= COUNT and reads < COUNT, f"{reads} reads for {pushed} frames that were pushed"
    status, text = sender.guest.try_run(f"{sender.enter}ethtool --set-tunable {sender.device} tx-copybreak 257")
    assert status != 0 and limit(sender) == 256, text
    sender.run("ethtool --set-tunable DEV tx-copybreak 0")
    reads, pushed = reads_of(sender, control, small)
    assert pushed == 0 and reads >= 2 * COUNT, f"{reads} reads"
    sender.run("ethtool --set-tunable DEV tx-copybreak 128")


def test_the_setting_stays_over_a_restart_and_frames_keep_their_order(sender: Sender, own_dma: bool) -> None:
    """Bursts of which some frames are pushed and others are read."""
    if own_dma:
        sender.run("ethtool --set-tunable DEV tx-copybreak 200")
    sender.run("ip link set DEV down")
    sender.run("ip link set DEV up")
    sender.guest.until(f"{sender.enter}ip link show {sender.device}", "LOWER_UP")
    sender.run(f"ip neigh replace {FAR} lladdr {NOBODY} dev DEV")
    assert limit(sender) == (200 if own_dma else 0)
    start, before = len(sender.link.peer.other), sender.statistics()
    lengths = [(1, 18, 100, 150, 159, 400)[number % 6] for number in range(60)]
    for burst in (lengths[:20], lengths[20:40], lengths[40:]):
        sender.run(f"taskset -c 0 /run/twin/{TOOL.stem} {FAR} {PORT} {' '.join(f'{length}@0' for length in burst)}")
    found = [segment(frame)[2][8:] for frame in sent_since(sender, start, len(lengths))]
    assert found == [payload(number % 20, length) for number, length in enumerate(lengths)]
    after = sender.statistics()
    assert after["card_tx_error"] == before["card_tx_error"] == 0
    if own_dma:
        assert after["tx_pushed"] > before["tx_pushed"]
        sender.run("ethtool --set-tunable DEV tx-copybreak 128")
