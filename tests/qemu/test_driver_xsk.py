# SPDX-License-Identifier: Apache-2.0
"""AF_XDP sockets on the Linux driver's queues, with and without copies: frames go to the socket and come back from it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from driver_machine import Link, linked
from meridian_machine import tools
from peer import ethernet

pytestmark = [pytest.mark.qemu, pytest.mark.quick]
KIND = 0x88B5
COUNT = 200
BURST = 32  # at once: what the smallest ring has room for in any case


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    files = {}
    for name in ("xsk_tool", "xdp_tool"):
        files[name] = tmp_path_factory.mktemp("xsk") / name
        source = Path(__file__).with_name(f"{name}.c")
        subprocess.run(["gcc", "-static", "-Wall", "-Werror", "-o", files[name], source], check=True, timeout=60)
    with linked(tools.SUITES[0], files) as it:
        it.guest.run("ethtool -L eth0 combined 1")
        yield it


@contextmanager
def socket(link: Link, mode: str, queue: int = 0) -> Iterator[None]:
    """A socket that sends every frame back."""
    guest = link.guest
    guest.run(f"/run/twin/xsk_tool eth0 {queue} {mode} >/tmp/xsk 2>&1 & echo $! >/tmp/xsk.pid")
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
        deadline = time.monotonic() + 20
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


def test_a_socket_that_is_refused_does_not_touch_the_port(link: Link) -> None:
    """Its frames are smaller than the card's buffers."""
    guest = link.guest
    before = guest.run("cat /sys/class/net/eth0/carrier_changes")
    status, text = guest.try_run("timeout 20 /run/twin/xsk_tool eth0 0 zerocopy 2048")
    assert status not in (0, 124), text
    assert "AF_XDP without copies: frames of" in guest.log()
    assert guest.run("cat /sys/class/net/eth0/carrier_changes") == before
    guest.ping()
