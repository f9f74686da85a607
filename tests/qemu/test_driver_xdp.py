# SPDX-License-Identifier: Apache-2.0
"""XDP programs on the Linux driver's frames: each verdict, and what does not go with XDP."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from driver_machine import XDP_TOOL, Link, linked, stop_transmit, tool
from meridian_machine import Hardware, tools
from meridian_machine.guest import Guest
from peer import ethernet

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


@contextmanager
def program(link: Link, name: str) -> Iterator[None]:
    guest = link.guest
    guest.run(f"/run/twin/xdp_tool eth0 {name} >/tmp/xdp 2>&1 & echo $! >/tmp/xdp.pid")
    guest.until("cat /tmp/xdp", "attached")
    yield
    guest.run("kill $(cat /tmp/xdp.pid); while [ -e /proc/$(cat /tmp/xdp.pid) ]; do sleep 0.05; done")


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


@pytest.mark.parametrize("name", ["pass", "meta"])
def test_frames_that_pass_go_on_as_without(link: Link, name: str) -> None:
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
        before = link.guest.statistics()
        link.peer.other.clear()
        frames = send(link)
        assert counted(link, counter, before) >= COUNT
        assert counted(link, "tx_xdp", before) >= COUNT
    link.guest.run("bridge link set dev eth0 hwmode veb")
    assert [frame for frame in link.peer.other if frame in frames] == frames
    link.guest.ping()


def test_xdp_and_long_frames_exclude_each_other(link: Link) -> None:
    guest = link.guest
    with program(link, "pass"):
        guest.run("ip link set eth0 mtu 3438")
        assert guest.try_run("ip link set eth0 mtu 3439")[0] != 0
        # What is longer than the MTU is no frame for the program.
        before = guest.statistics()
        send(link, 4000)
        assert counted(link, "rx_xdp_error", before) == COUNT
    guest.run("ip link set eth0 mtu 9000")
    assert guest.try_run("/run/twin/xdp_tool eth0 pass")[0] == 1
    guest.run("ip link set eth0 mtu 1500")


@contextmanager
def only_xdp(guest: Guest) -> Iterator[None]:
    """The stack sends nothing, so that its watchdog has nothing to see; who sends to itself gets it from the wire."""
    guest.run("ip link set eth0 arp off && ip address flush dev eth0 && bridge link set dev eth0 hwmode vepa")
    guest.run("sysctl -q -w net.ipv6.conf.eth0.disable_ipv6=1")
    yield
    guest.run("ip link set eth0 arp on && ip address add 10.44.0.2/24 dev eth0 && bridge link set dev eth0 hwmode veb")


def send_until_told(link: Link) -> None:
    """Frames all the time, more than a ring takes."""
    link.guest.run("dmesg -C")
    deadline = time.monotonic() + 40
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
