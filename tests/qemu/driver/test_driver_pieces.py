# SPDX-License-Identifier: Apache-2.0
"""Frames whose bytes lie in pieces of memory, of a PF and of a VF: a card that can joins the pieces, else the driver does."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from driver_machine import Link, linked, tool, vfs_apart
from meridian_machine import tools
from test_driver_tx_offloads import UDP, Sender, is_good, is_of, segment, sender_of

pytestmark = [pytest.mark.qemu, pytest.mark.quick]
TOOL = Path(__file__).with_name("pieces_tool.c")
FAR = "10.46.0.99"
TWINS = ("10.48.0.1", "10.48.0.2")  # the PF's and the VF's
PORT = 9
BYTES = 1 << 21
MTU = 9000
MOST = 4  # pieces of a frame that the card joins, headers and all


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    files = {TOOL.stem: tool(tmp_path_factory.mktemp("tools"), TOOL)}
    with linked(tools.SUITES[0], files) as it, vfs_apart(it.guest):
        yield it


@pytest.fixture(params=["PF", "VF"], scope="module")
def sender(request: pytest.FixtureRequest, machine: Link) -> Sender:
    it = sender_of(machine, request.param)
    it.run(f"ip link set DEV mtu {MTU}")
    it.run("ethtool -G DEV tx 64")  # frames go round the ring, which may be full
    return it


def layout(random: Random, pieces: int) -> list[tuple[int, int]]:
    """Length and offset in its page of each piece; most are of the smallest and the largest kind."""
    longest = min(4096, (MTU - 28) // pieces)
    found = []
    for _ in range(pieces):
        length = random.choice((1, random.randint(2, 33), random.randint(34, longest), longest))
        found.append((length, random.choice((0, 1, random.randint(0, 4096 - length), 4096 - length)) % (4097 - length)))
    return found


def payload(number: int, length: int) -> bytes:
    return bytes((37 * number + 7 * i + i // 256) % 256 for i in range(length))


def sent_since(sender: Sender, start: int, count: int) -> list[bytes]:
    """Datagrams on the wire; waits for so many, as those that the driver copies leave behind the end of the program."""
    deadline = sender.guest.deadline(20)
    while True:
        frames = [frame for frame in sender.link.peer.other[start:] if is_of(UDP, 4)(frame)]
        if len(frames) >= count or time.monotonic() > deadline:
            return frames
        time.sleep(0.05)


def test_frames_of_any_pieces_arrive_whole(sender: Sender, own_dma: bool) -> None:
    random = Random(3)
    layouts = [layout(random, 1 + number % 6) for number in range(100)]
    before, start = sender.statistics(), len(sender.link.peer.other)
    texts = [",".join(f"{length}@{offset}" for length, offset in each) for each in layouts]
    sender.run(f"/run/twin/{TOOL.stem} {FAR} {PORT} {' '.join(texts)}")
    wanted = [payload(number, sum(length for length, _ in each)) for number, each in enumerate(layouts)]
    frames = sent_since(sender, start, len(wanted))
    places = {text: number for number, text in enumerate(wanted)}
    after = sender.statistics()
    changed = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    came = [places.get(segment(frame)[2][8:], "broken") for frame in frames]
    assert came == list(range(len(wanted))), f"of the statistics have changed: {changed}"
    assert all(is_good(frame) for frame in frames)
    joined = sum(1 + len(each) <= MOST for each in layouts) if own_dma else 0
    assert after["tx_gathered"] - before["tx_gathered"] == joined
    assert after["tx_linearized"] - before["tx_linearized"] == len(layouts) - joined
    assert after["card_tx_error"] == before["card_tx_error"] == 0


def test_segments_of_tcp_are_whole(machine: Link, own_dma: bool) -> None:
    """Linux writes headers and leaves a program's bytes where they are. Through the card, from PF to VF and back."""
    functions = [Sender(machine, is_vf) for is_vf in (False, True)]
    for function, address in zip(functions, TWINS, strict=True):
        function.run(f"ip address add {address}/24 dev DEV")
        function.run("ip link set DEV up")
        assert function.feature("scatter-gather") == function.feature("generic-segmentation-offload") == "on"
    machine.guest.run(f"head -c {BYTES} /dev/urandom >/tmp/out")
    for (sender, receiver), to in zip(itertools.permutations(functions), reversed(TWINS), strict=True):
        before = sender.statistics()
        machine.guest.run(f"{receiver.enter}timeout 60 nc -l -N 7000 >/tmp/in & echo $! >/tmp/nc.pid")
        machine.guest.until(f"{receiver.enter}ss -Htln", ":7000 ")
        sender.run(f"timeout 60 nc -N {to} 7000 </tmp/out")
        machine.guest.run("while [ -e /proc/$(cat /tmp/nc.pid) ]; do sleep 0.05; done; cmp /tmp/in /tmp/out")
        after = sender.statistics()
        name = "tx_gathered" if own_dma else "tx_linearized"
        assert after[name] - before[name] > BYTES // (2 * MTU), after
        assert after["card_tx_error"] == 0
