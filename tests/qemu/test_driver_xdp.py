# SPDX-License-Identifier: Apache-2.0
"""XDP programs on the Linux driver's frames: each verdict, and what does not go with XDP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from driver_machine import Link, link
from peer import ethernet

__all__ = ["link"]
pytestmark = pytest.mark.qemu
KIND = 0x88B5
COUNT = 20


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


def test_a_program_outlives_down_and_up(link: Link) -> None:
    guest = link.guest
    with program(link, "drop"):
        guest.run("ip link set eth0 down")
        guest.run("ip link set eth0 up")
        guest.wait_link()
        before = guest.statistics()
        send(link)
        assert counted(link, "rx_xdp_drop", before) >= COUNT
