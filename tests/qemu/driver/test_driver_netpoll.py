# SPDX-License-Identifier: Apache-2.0
"""Netpoll polls the Linux driver's queues, scheduled or not: it takes nothing of what they are there for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver_machine import Link, linked
from meridian_machine import tools
from meridian_machine.driver import modules
from meridian_machine.guest import HERE, PEER
from peer import IPV4, ethernet, udp

pytestmark = pytest.mark.qemu
POLL_DEV = Path(__file__).with_name("poll_dev")
QUEUES, DATAGRAMS, DISCARD = 2, 32, 9
# What the machine sends by itself may give a queue its interrupt again, and hide that a poll has taken it.
TURNS = 12


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    suite = tools.SUITES[0]
    with linked(suite, dict(modules(suite, POLL_DEV))) as it:  # type: ignore[arg-type]
        yield it


def received(link: Link) -> list[int]:
    """Frames of each receive queue."""
    statistics = link.guest.statistics()
    return [statistics[f"rx{queue}_packets"] for queue in range(QUEUES)]


def test_a_poll_of_idle_queues_leaves_them_their_interrupts(link: Link) -> None:
    """The next frame of each queue comes in, though nothing is sent that would look for it."""
    guest, peer = link.guest, link.peer
    guest.ping()
    here = guest.address()
    for _ in range(TURNS):
        guest.run("insmod /run/twin/poll_dev.ko interface=eth0")
        before = received(link)
        for port in range(DATAGRAMS):
            packet = udp(PEER, HERE, 1024 + port, DISCARD, b"after a poll")
            peer.wire.send(ethernet(here, peer.mac, IPV4, packet))
        deadline = guest.deadline(5)
        while sum(received(link)) < sum(before) + DATAGRAMS and time.monotonic() < deadline:
            time.sleep(0.1)
        grown = [now - then for now, then in zip(received(link), before, strict=True)]
        assert sum(grown) >= DATAGRAMS and all(grown), f"the queues have received {grown} of {DATAGRAMS} datagrams"
        guest.run("rmmod poll_dev")
    guest.ping()
