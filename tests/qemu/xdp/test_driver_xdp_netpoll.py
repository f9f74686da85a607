# SPDX-License-Identifier: Apache-2.0
"""Netpoll polls with interrupts off, where no frame of XDP may be freed: it leaves these to NAPI."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from driver_machine import XDP_TOOL, Link, linked, tool
from meridian_machine import tools
from meridian_machine.driver import modules
from meridian_machine.guest import PEER, Guest
from meridian_twin.patience import end_of
from peer import ethernet
from xdp_programs import program

pytestmark = pytest.mark.qemu
POLL_DEV = Path(__file__).parents[1] / "driver" / "poll_dev"
KIND = 0x88B5
INTERVAL, FRAMES = 0.005, 100  # s, and how many there are at least
POLLS, PAUSE = 4000, 500  # us


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    """One queue, whose sent frames stay in the ring until NAPI looks, after 10 ms at most."""
    files = {"xdp_tool": tool(tmp_path_factory.mktemp("tools"), XDP_TOOL)}
    files.update(modules(tools.SUITES[0], POLL_DEV))  # type: ignore[arg-type]
    with linked(tools.SUITES[0], files) as it:
        it.guest.run("ethtool -L eth0 combined 1")
        it.guest.wait_link()
        it.guest.run("ethtool -C eth0 adaptive-tx off tx-usecs 10000 tx-frames 0")
        yield it


def freed(guest: Guest, meanwhile: Callable[[], object]) -> int:
    """Sent frames that netpoll frees, while something is done again and again. No NAPI runs between its looks."""
    number = re.search(r"^ *(\d+):.*eth0-0$", guest.run("cat /proc/interrupts"), re.MULTILINE)
    assert number
    cpu = guest.run(f"cat /proc/irq/{number[1]}/effective_affinity_list").strip()
    load = f"taskset -c {cpu} insmod /run/twin/poll_dev.ko interface=eth0 polls={POLLS} pause={PAUSE}"
    guest.run(f"{load} >/tmp/insmod 2>&1 & echo $! >/tmp/insmod.pid")
    for _ in range(3):
        meanwhile()
    while guest.try_run("[ -e /proc/$(cat /tmp/insmod.pid) ]")[0] == 0:
        meanwhile()
    assert guest.run("cat /tmp/insmod") == ""
    count = int(guest.run("cat /sys/module/poll_dev/parameters/freed"))
    guest.run("rmmod poll_dev")
    return count


@contextmanager
def only_xdp(guest: Guest) -> Iterator[None]:
    """The stack sends nothing; frames for the interface's own address go out by the wire."""
    guest.run("ip link set eth0 arp off && bridge link set dev eth0 hwmode vepa")
    guest.run("sysctl -q -w net.ipv6.conf.eth0.disable_ipv6=1")
    try:
        yield
    finally:
        guest.run("ip link set eth0 arp on && bridge link set dev eth0 hwmode veb")


@contextmanager
def repeated(send: Callable[[], object]) -> Iterator[None]:
    """Each frame comes while the one before waits for its look: later than netpoll's next, sooner than NAPI's."""
    over = threading.Event()

    def run() -> None:
        while not over.wait(INTERVAL):
            send()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        end_of(thread)


def test_frames_of_the_stack_are_freed(link: Link) -> None:
    assert freed(link.guest, lambda: link.guest.run(f"ping -q -f -c 50 -W 10 {PEER}")) > 0


def test_frames_that_xdp_sends_back_are_left(link: Link) -> None:
    guest, peer = link.guest, link.peer
    frame = ethernet(guest.address(), peer.mac, KIND, bytes(186))

    with only_xdp(guest), program(link, "tx"):
        before = guest.statistics()
        with repeated(lambda: peer.wire.send(frame)):
            assert freed(guest, lambda: None) == 0
        sent = guest.statistics()["rx_xdp_tx"] - before["rx_xdp_tx"]
        assert sent >= FRAMES
        # NAPI frees them all.
        guest.until("ethtool -S eth0", rf" tx_xdp: {before['tx_xdp'] + sent}\n")
    guest.ping()
    guest.check()
