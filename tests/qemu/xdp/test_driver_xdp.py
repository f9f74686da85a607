# SPDX-License-Identifier: Apache-2.0
"""XDP programs on the Linux driver's frames: each verdict, and what does not go with XDP."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from driver_machine import XDP_TOOL, Link, linked, stop_transmit, tool
from meridian_golden.rss import rss_hash
from meridian_machine import Hardware, tools
from meridian_machine.guest import Guest
from peer import ethernet, udp
from xdp_programs import HASH_TYPES, Found, frame_of, hash_key, look_at, program

pytestmark = pytest.mark.qemu
KIND = 0x88B5
COUNT = 20
STANDS_STILL = r"transmit queue \d+ stands still with \d+ frames: resetting"


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    """Tests write registers behind the driver's back."""
    files = {"xdp_tool": tool(tmp_path_factory.mktemp("tools"), XDP_TOOL)}
    with linked(tools.SUITES[0], files, Hardware(kernel="iomem=relaxed")) as it:
        yield it


def send(link: Link, size: int = 200) -> list[bytes]:
    mine = link.guest.address()
    frames = [ethernet(mine, link.peer.mac, KIND, bytes([number]) * (size - 14)) for number in range(COUNT)]
    for frame in frames:
        link.peer.wire.send(frame)
    return frames


def counted(link: Link, name: str, before: dict[str, int]) -> int:
    for _ in range(50):
        grown = link.guest.statistics()[name] - before[name]
        if grown >= COUNT:
            break
    return grown


def sent_in_all(link: Link) -> list[int]:
    """Frames and bytes, as for `ip -s link`."""
    text = link.guest.run("cd /sys/class/net/eth0/statistics && cat tx_packets tx_bytes")
    return [int(number) for number in text.split()]


@pytest.mark.parametrize("name", ["pass", "meta"])
def test_frames_that_a_program_passes_go_to_the_stack(link: Link, name: str) -> None:
    with program(link, name):
        for size in (56, 1472):
            link.guest.ping(3, size)


@pytest.mark.parametrize(("name", "counter"), [("drop", "rx_xdp_drop"), ("abort", "rx_xdp_error")])
def test_frames_that_are_dropped_are_counted(link: Link, name: str, counter: str) -> None:
    with program(link, name):
        before = link.guest.statistics()
        send(link)
        assert counted(link, counter, before) >= COUNT
    link.guest.ping()


@pytest.mark.parametrize(("name", "counter"), [("tx", "rx_xdp_tx"), ("redirect", "rx_xdp_redirect")])
def test_frames_that_go_back_come_back_unchanged(link: Link, name: str, counter: str) -> None:
    # They are for the interface's own address, which the card's switch sends to nobody else.
    link.guest.run("bridge link set dev eth0 hwmode vepa")
    with program(link, name):
        sent_before = sent_in_all(link)
        before = link.guest.statistics()
        link.peer.other.clear()
        frames = send(link)
        assert counted(link, counter, before) >= COUNT
        assert counted(link, "tx_xdp", before) >= COUNT
        # XDP's frames are the interface's: sent, as they are received.
        sent = [number - old for number, old in zip(sent_in_all(link), sent_before, strict=True)]
        assert sent[0] >= COUNT
        assert sent[1] >= sum(map(len, frames))
    link.guest.run("bridge link set dev eth0 hwmode veb")
    assert [frame for frame in link.peer.other if frame in frames] == frames
    link.guest.ping()


@contextmanager
def mtu(guest: Guest, bytes: int) -> Iterator[None]:
    guest.run(f"ip link set eth0 mtu {bytes}")
    try:
        yield
    finally:
        guest.run("ip link set eth0 mtu 1500")


def test_long_frames_are_not_for_a_program_that_takes_one_buffer(link: Link) -> None:
    guest = link.guest
    with program(link, "pass"):
        guest.run("ip link set eth0 mtu 3438")
        assert guest.try_run("ip link set eth0 mtu 3439")[0] != 0
        # What is longer than the MTU is no frame for the program.
        before = guest.statistics()
        send(link, 4000)
        assert counted(link, "rx_xdp_error", before) == COUNT
    with mtu(guest, 9000):
        assert guest.try_run("/run/twin/xdp_tool eth0 pass")[0] == 1
        guest.run("mount -t bpf none /sys/fs/bpf && /run/twin/xdp_tool eth0 pass pin")
        status, text = guest.try_run("ip link set eth0 xdpdrv pinned /sys/fs/bpf/xdp_tool")
        assert status != 0
        assert "without frags the MTU is 3438 at most" in text
        guest.run("rm /sys/fs/bpf/xdp_tool && umount /sys/fs/bpf")


# Of one buffer, with a byte in the next, of two full ones, with a byte in the third, the longest.
ONE_BUFFER = 3456
LENGTHS = (60, ONE_BUFFER, 3457, 6912, 6913, 9014)


@pytest.mark.parametrize("name", ["pass", "meta"])
def test_frames_in_parts_that_a_program_passes_go_to_the_stack(link: Link, name: str) -> None:
    with mtu(link.guest, 9000), program(link, f"{name} frags"):
        for length in LENGTHS:
            link.guest.ping(2, max(length - 42, 18))


def distinct(link: Link, length: int) -> bytes:
    """A frame that shows where each of its bytes belongs."""
    words = b"".join(number.to_bytes(2, "big") for number in range(length // 2))
    return ethernet(link.guest.address(), link.peer.mac, KIND, words)[:length]


def came_back(link: Link, sent: list[bytes], wanted: list[bytes]) -> None:
    link.peer.other.clear()
    for frame in sent:
        link.peer.wire.send(frame)
    deadline = link.guest.deadline(20)
    while len(came := [frame for frame in link.peer.other if frame[12:14] == KIND.to_bytes(2, "big")]) < len(wanted):
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    assert [len(frame) for frame in came] == [len(frame) for frame in wanted], link.guest.statistics()
    assert came == wanted


@pytest.mark.parametrize("name", ["tx", "redirect"])
def test_frames_in_parts_go_back_whole(link: Link, own_dma: bool, name: str) -> None:
    guest = link.guest
    frames = [distinct(link, length) for length in (*LENGTHS, *reversed(LENGTHS))]
    guest.run("bridge link set dev eth0 hwmode vepa")
    with mtu(guest, 9000), program(link, f"{name} frags"):
        before = guest.statistics()
        came_back(link, frames, frames)
        after = guest.statistics()
        assert after["rx_xdp_error"] == before["rx_xdp_error"]
        grown = {name: after[f"tx_{name}"] - before[f"tx_{name}"] for name in ("gathered", "linearized")}
        in_parts = sum(len(frame) > ONE_BUFFER for frame in frames)
        assert grown == {"gathered": in_parts if own_dma else 0, "linearized": 0 if own_dma else in_parts}
        # Their memory goes back, too: three rings full of it, and the frames between.
        for _ in range(60):
            link.peer.other.clear()
            came_back(link, frames, frames)
        assert guest.statistics()["rx_no_memory"] == before["rx_no_memory"]
    guest.run("bridge link set dev eth0 hwmode veb")
    guest.ping()


@pytest.mark.parametrize(("name", "change"), [("shrink", -2000), ("grow", 100)])
def test_frames_in_parts_are_made_shorter_and_longer(link: Link, name: str, change: int) -> None:
    """Two thousand bytes fewer are one part fewer, or two, or the last is shorter."""
    guest = link.guest
    frames = [distinct(link, length) for length in (3000, 3457, 5500, 6913, 8000, 9000)]
    wanted = [frame[:change] if change < 0 else frame + bytes(change) for frame in frames]
    guest.run("bridge link set dev eth0 hwmode vepa")
    with mtu(guest, 9000), program(link, f"{name} frags then tx"):
        came_back(link, frames, wanted)
    guest.run("bridge link set dev eth0 hwmode veb")


def test_a_frame_made_shorter_goes_up_as_it_is(link: Link) -> None:
    """The program takes off what is behind the datagram, with one of the frame's parts."""
    guest, body = link.guest, bytes(range(251)) * 23
    content = udp("10.44.0.1", "10.44.0.2", 9, 9, body) + bytes(2000)
    with mtu(guest, 9000), program(link, "shrink frags"):
        guest.run("nc -u -l 10.44.0.2 9 >/tmp/got & echo $! >/tmp/nc")
        guest.until("grep -c ':0009 ' /proc/net/udp", "^1")
        link.peer.wire.send(ethernet(guest.address(), link.peer.mac, 0x800, content))
        guest.until("wc -c </tmp/got", str(len(body)))
        guest.run("kill $(cat /tmp/nc)")
    assert guest.run_for_bytes("cat /tmp/got") == body


@pytest.mark.parametrize("spare", [0, 8000])
def test_a_program_reads_the_cards_hash_and_vlan_tag(link: Link, spare: int) -> None:
    """Its hash with its type, and the tag that it has taken out. spare: the frame is in parts."""
    guest = link.guest
    key = hash_key(link)
    guest.run("ethtool -K eth0 rx-vlan-filter off")
    with mtu(guest, 9000), program(link, "look frags"):
        for (protocol, version), kind in HASH_TYPES.items():
            spare += 1
            frame = frame_of(link, protocol, version, None, spare)
            assert look_at(link, frame, len(frame)) == Found((rss_hash(frame, key, True), kind), None)
            tagged = frame_of(link, protocol, version, 0x6005, spare)
            assert look_at(link, tagged, len(frame)).tag == (0x8100, 0x6005)
        other = ethernet(guest.address(), link.peer.mac, KIND, bytes(300))
        assert look_at(link, other, 314) == Found(None, None)
        guest.run("ethtool -K eth0 rxhash off rxvlan off")
        assert look_at(link, tagged, len(tagged)) == Found(None, None)
    guest.run("ethtool -K eth0 rx-vlan-filter on rxhash on rxvlan on")


@contextmanager
def only_xdp(guest: Guest) -> Iterator[None]:
    """The stack sends nothing, so that its watchdog has nothing to see; who sends to itself gets it from the wire."""
    guest.run("ip link set eth0 arp off && ip address flush dev eth0 && bridge link set dev eth0 hwmode vepa")
    guest.run("sysctl -q -w net.ipv6.conf.eth0.disable_ipv6=1")
    try:
        yield
    finally:
        guest.run("ip link set eth0 arp on && ip address add 10.44.0.2/24 dev eth0")
        guest.run("bridge link set dev eth0 hwmode veb")


def send_until_told(link: Link) -> None:
    """Frames all the time, more than a ring takes."""
    link.guest.run("dmesg -C")
    deadline = link.guest.deadline(40)
    while not re.search(STANDS_STILL, link.guest.run("dmesg")):
        assert time.monotonic() < deadline, f"nothing was told: {link.guest.statistics()}"
        for _ in range(5):
            send(link)


@pytest.mark.parametrize("name", ["tx", "redirect"])
def test_a_transmit_queue_that_stands_still_with_frames_of_xdp_alone_is_started_again(link: Link, name: str) -> None:
    guest = link.guest
    with only_xdp(guest), program(link, name):
        stop_transmit(guest)
        send_until_told(link)
        time.sleep(1)
        guest.wait_link()
        link.peer.other.clear()
        before = guest.statistics()
        frames = send(link)
        assert counted(link, "tx_xdp", before) >= COUNT
    assert [frame for frame in link.peer.other if frame in frames] == frames
    guest.ping()


def test_a_program_outlives_down_and_up(link: Link) -> None:
    guest = link.guest
    with program(link, "drop"):
        guest.run("ip link set eth0 down")
        guest.run("ip link set eth0 up")
        guest.wait_link()
        before = guest.statistics()
        send(link)
        assert counted(link, "rx_xdp_drop", before) >= COUNT
