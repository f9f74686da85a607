# SPDX-License-Identifier: Apache-2.0
"""AF_XDP sockets on the Linux driver's queues, with and without copies: frames go to the socket and come back from it."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from driver_machine import NO_MEMORY, XDP_TOOL, Link, linked, stop_transmit, vfs_apart
from meridian_golden.rss import rss_hash
from meridian_machine import Hardware, tools
from meridian_machine.driver import modules
from meridian_machine.guest import unanswered
from peer import ethernet
from xdp_programs import HASH_TYPES, UDP, Found, frame_of, hash_key, look_at, program

pytestmark = [pytest.mark.qemu, pytest.mark.quick]
XSK_TOOL = Path(__file__).with_name("xsk_tool.c")
KIND = 0x88B5
COUNT = 200
BURST = 32  # at once: what the smallest ring has room for in any case


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    files = {}
    for source in (XSK_TOOL, XDP_TOOL):
        name = source.stem
        files[name] = tmp_path_factory.mktemp("xsk") / name
        subprocess.run(
            ["gcc", "-static", "-Wall", "-Werror", "-o", files[name], source],
            check=True,
            timeout=60,
        )
    files.update(modules(tools.SUITES[0], NO_MEMORY))
    with linked(tools.SUITES[0], files, Hardware(kernel="iomem=relaxed")) as it:
        it.guest.run("ethtool -L eth0 combined 1")
        yield it


@contextmanager
def socket(link: Link, mode: str, queue: int = 0, more: str = "") -> Iterator[None]:
    """A socket that sends every frame back. more: words for xsk_tool."""
    guest = link.guest
    guest.run(f": >/tmp/xsk; /run/twin/xsk_tool eth0 {queue} {mode} {more} >/tmp/xsk 2>&1 & echo $! >/tmp/xsk.pid")
    guest.until("cat /tmp/xsk", "ready")
    guest.wait_link()
    try:
        yield
    finally:
        guest.run("kill $(cat /tmp/xsk.pid); while [ -e /proc/$(cat /tmp/xsk.pid) ]; do sleep 0.05; done")


def echoed(link: Link, size: int = 300, count: int = COUNT) -> None:
    """Frames come back in their order, unchanged but for their addresses."""
    mine = link.guest.address()
    payloads = [number.to_bytes(4, "big") + bytes([number & 0xFF]) * (size - 18) for number in range(count)]
    link.peer.other.clear()
    for start in range(0, count, BURST):
        for payload in payloads[start : start + BURST]:
            link.peer.wire.send(ethernet(mine, link.peer.mac, KIND, payload))
        deadline = link.guest.deadline(20)
        while len(came := of_the_tests(link)) < min(count, start + BURST) and time.monotonic() < deadline:
            time.sleep(0.02)
    wanted = [ethernet(link.peer.mac, mine, KIND, payload) for payload in payloads]
    assert came == wanted, f"{len(came)} of {count} frames; {nonzero(link.guest.statistics())}"


def nonzero(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


def of_the_tests(link: Link) -> list[bytes]:
    return [frame for frame in link.peer.other if frame[12:14] == KIND.to_bytes(2, "big")]


@pytest.mark.parametrize("mode", ["copy", "zerocopy"])
def test_frames_go_through_a_socket(link: Link, mode: str) -> None:
    for _ in range(2):
        link.guest.ping()
        with socket(link, mode):
            for size in (60, 300, 1514):
                echoed(link, size)
            for size in (56, 1472):
                link.guest.ping(3, size)  # the stack's frames are copied for it
            counts = link.guest.statistics()
            assert counts["rx_bad_completion"] == counts["rx_xdp_error"] == 0
    link.guest.ping()
    link.guest.check()


@pytest.mark.parametrize("mode", ["copy", "zerocopy"])
def test_a_socket_outlives_down_and_up_and_other_rings(link: Link, mode: str) -> None:
    guest = link.guest
    with socket(link, mode):
        echoed(link)
        guest.run("ethtool -G eth0 rx 64 tx 64")
        guest.wait_link()
        echoed(link)
        guest.run("ethtool -G eth0 rx 512 tx 512")
        guest.wait_link()
        echoed(link)
    guest.ping()
    guest.check()


@pytest.mark.parametrize("mode", ["copy", "zerocopy"])
def test_a_queue_without_the_socket_goes_on_as_before(link: Link, mode: str) -> None:
    guest = link.guest
    guest.run("ethtool -L eth0 combined 2 && ethtool -X eth0 weight 1 0")
    guest.wait_link()
    with socket(link, mode, 1):
        guest.ping(5)
        guest.run("ethtool -X eth0 weight 0 1")
        echoed(link)
    guest.run("ethtool -X eth0 default && ethtool -L eth0 combined 1")
    guest.wait_link()
    guest.ping()


def test_long_frames_are_not_for_a_socket(link: Link) -> None:
    guest, mine = link.guest, link.guest.address()
    with socket(link, "zerocopy"):
        before = guest.statistics()["rx_xdp_error"]
        for _ in range(3):
            link.peer.wire.send(ethernet(mine, link.peer.mac, KIND, bytes(4000)))
        guest.until("ethtool -S eth0", rf"rx_xdp_error: {before + 3}\b")
        echoed(link)
    guest.ping()


@pytest.fixture
def long_frames(link: Link) -> Iterator[None]:
    link.guest.run("ip link set eth0 mtu 9000")
    yield
    link.guest.run("ip link set eth0 mtu 1500")


def test_a_socket_with_copies_takes_frames_in_parts(link: Link, long_frames: None) -> None:
    with socket(link, "copy", 0, "frags sg"):
        for size in (300, 3457, 8000):
            echoed(link, size, BURST)
    link.guest.ping()


REFUSED = {
    "2048": "AF_XDP without copies: frames of",  # smaller than the card's buffers
    "sg": "",  # by Linux
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_socket_that_is_refused_does_not_touch_the_port(link: Link, words: str) -> None:
    refused(link, words, REFUSED[words])


def test_a_socket_without_copies_and_long_frames_exclude_each_other(link: Link, long_frames: None) -> None:
    guest = link.guest
    refused(link, "frags", "")
    # This is what newer kernels leave to the driver.
    guest.run("ip link set eth0 mtu 3450")
    refused(link, "frags", "AF_XDP without copies: an MTU of 3438 at most")
    guest.run("ip link set eth0 mtu 3438")
    with socket(link, "zerocopy", 0, "frags"):
        assert guest.try_run("ip link set eth0 mtu 3439")[0] != 0
        echoed(link, 3452)


def refused(link: Link, words: str, sentence: str) -> None:
    """Frames of others go on meanwhile, each of them."""
    guest = link.guest
    changes = "cat /sys/class/net/eth0/carrier_changes"
    before = guest.run(changes)
    guest.run("ping -i 0.02 -c 200 -w 40 10.44.0.1 >/tmp/ping & sleep 0.2")
    for _ in range(3):
        status, text = guest.try_run(f"timeout 20 /run/twin/xsk_tool eth0 0 zerocopy {words}")
        assert status not in (0, 124), text
        assert "bind" in text
    assert sentence in guest.log()
    assert guest.run(changes) == before
    guest.until("cat /tmp/ping", "packets transmitted", 60)
    assert not unanswered(guest.run("cat /tmp/ping"), 200)


@contextmanager
def no_memory(link: Link) -> Iterator[None]:
    link.guest.run("insmod /run/twin/no_memory.ko device=0000:01:00.0")
    yield
    link.guest.run("rmmod no_memory")


def test_sockets_come_and_go_without_memory_and_the_port_works_on(link: Link) -> None:
    """One that comes is refused, one that goes leaves a queue that has the kernel's pages again."""
    guest = link.guest
    changes = "cat /sys/class/net/eth0/carrier_changes"
    before = guest.run(changes)
    with no_memory(link):
        assert guest.try_run("timeout 20 /run/twin/xsk_tool eth0 0 zerocopy")[0] not in (0, 124)
        guest.ping()
    for _ in range(2):
        with ExitStack() as later:
            with socket(link, "zerocopy"):
                echoed(link)
                later.enter_context(no_memory(link))
            guest.run("sleep 1")
            for size in (56, 1472):
                guest.ping(3, size)
    assert guest.run(changes) == before
    guest.check()


def test_a_program_reads_hash_and_vlan_tag_of_frames_for_a_socket_without_copies(
    link: Link,
) -> None:
    guest = link.guest
    guest.run("ethtool -K eth0 rx-vlan-filter off")
    with socket(link, "zerocopy", 0, "alone"), program(link, "look"):
        key = hash_key(link)
        for number, version in enumerate((4, 6)):
            frame = frame_of(link, UDP, version, 0x6005, number)
            hash = (rss_hash(frame, key, True), HASH_TYPES[UDP, version])
            assert look_at(link, frame, len(frame) - 4) == Found(hash, (0x8100, 0x6005))
    guest.run("ethtool -K eth0 rx-vlan-filter on")
    guest.ping()


def test_a_transmit_queue_that_stands_still_with_frames_of_a_socket_alone_is_started_again(
    link: Link,
) -> None:
    guest, mine = link.guest, link.guest.address()
    with socket(link, "zerocopy"):
        guest.run("dmesg -C")
        stop_transmit(guest, 1)
        deadline = link.guest.deadline(40)
        while not re.search(
            r"transmit queue 0 stands still with \d+ frames: resetting",
            guest.run("dmesg"),
        ):
            assert time.monotonic() < deadline, "nothing was told"
            link.peer.wire.send(ethernet(mine, link.peer.mac, KIND, bytes(300)))
            time.sleep(0.1)
        time.sleep(1)
        guest.wait_link()
        echoed(link)
    guest.ping()


def test_what_a_socket_sends_without_a_link_goes_out_with_it(link: Link) -> None:
    """Of a VF, whose link its PF takes and gives. Nothing but the socket's one wish has the driver look."""
    guest = link.guest
    tool = "/run/twin/xsk_tool eth1 0 zerocopy alone once"
    with vfs_apart(guest):
        guest.run("ip netns exec vf0 sysctl -qw net.ipv6.conf.eth1.disable_ipv6=1 && ip link set eth0 vf 0 trust on")
        guest.run("ip netns exec vf0 ip link set eth1 up && ip link set eth0 vf 0 spoofchk off")
        guest.until("ip netns exec vf0 cat /sys/class/net/eth1/carrier", "^1")
        guest.run("ip link set eth0 vf 0 state disable")
        guest.until("ip netns exec vf0 cat /sys/class/net/eth1/carrier", "^0")
        guest.run(f": >/tmp/xsk; ip netns exec vf0 {tool} >/tmp/xsk 2>&1 & echo $! >/tmp/xsk.pid")
        guest.until("cat /tmp/xsk", "ready")
        link.peer.other.clear()
        time.sleep(1)
        assert not of_the_tests(link)
        guest.run("ip link set eth0 vf 0 state enable")
        guest.until("ip netns exec vf0 cat /sys/class/net/eth1/carrier", "^1")
        deadline = link.guest.deadline(5)
        while not of_the_tests(link):
            assert time.monotonic() < deadline, "nothing was sent"
            time.sleep(0.1)
        guest.run("kill $(cat /tmp/xsk.pid); while [ -e /proc/$(cat /tmp/xsk.pid) ]; do sleep 0.05; done")
    guest.ping()
