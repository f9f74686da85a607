# SPDX-License-Identifier: Apache-2.0
"""The card is taken out of its slot while it works, and put in again; or it has gone before its slot is opened."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from driver_machine import Link, linked
from host_leaks import CHECKED, held, leaked
from machine_report import run_folder
from meridian_machine import tools
from meridian_machine.guest import HERE, PEER, PF_DEVICE
from qemu_monitor import NATIVE_HOT_PLUG, Monitor, options

pytestmark = pytest.mark.qemu
#: From the moment that a slot's button is pressed Linux waits so long for it to be pressed again.
BUTTON = 5
#: What the driver takes then, with room for a busy host. Its own waits are 10 s long.
AT_ONCE = 5


@contextmanager
def slot(watched: bool = True) -> Iterator[tuple[Link, Monitor]]:
    with run_folder() as folder:
        path = folder / "monitor"
        hardware = replace(CHECKED, device="id=card", extra=[*options(path), *NATIVE_HOT_PLUG])
        with linked(tools.SUITES[0], hardware=hardware, watched=watched) as link, Monitor(path) as monitor:
            yield link, monitor


def work(link: Link) -> None:
    """Frames of the PF under way, and a VF that is up."""
    link.guest.run(f"echo 2 >{PF_DEVICE}/sriov_numvfs; ip link set eth1 up")
    link.guest.until("cat /sys/class/net/eth1/carrier", "^1")
    link.guest.run(f"ping -q -f -s 1400 {PEER} >/dev/null 2>&1 & echo $! >/tmp/ping.pid; sleep 0.5")


def take_out(link: Link, monitor: Monitor) -> float:
    """How many seconds pass from the end of the button's wait until there is no interface."""
    guest = link.guest
    guest.run("dmesg -C")
    guest.run(
        "(while ls /sys/class/net | grep -q eth; do sleep 0.02; done; echo no interface >/dev/kmsg) >/dev/null 2>&1 &"
    )
    monitor.do("device_del", id="card")
    log = guest.until("dmesg", "no interface", 120)
    guest.run("kill $(cat /tmp/ping.pid)")
    monitor.wait_gone("card")
    moments = [re.search(rf"\[ *([\d.]+)\] .*{what}", log) for what in ("Button press", "no interface")]
    assert all(moments), log
    begin, end = (float(moment[1]) for moment in moments if moment)
    return end - begin - BUTTON


def put_in(link: Link, monitor: Monitor) -> None:
    guest = link.guest
    monitor.do("device_add", driver="meridian", bus="root", id="card", socket=str(link.twin.card.socket))
    guest.until("ls /sys/class/net", "eth0", 60)
    guest.run(f"ip address add {HERE}/24 dev eth0 && ip link set eth0 up")
    guest.wait_link()
    guest.ping()


def test_a_card_that_is_taken_out_under_traffic_leaves_nothing_behind() -> None:
    rounds = 2
    with slot() as (link, monitor):
        work(link)
        assert take_out(link, monitor) < AT_ONCE * link.guest.machine.patience
        before = held(link.guest)
        for _ in range(rounds):
            put_in(link, monitor)
            work(link)
            assert take_out(link, monitor) < AT_ONCE * link.guest.machine.patience
        after = held(link.guest)
        print({kind: after.memory[kind] - pages for kind, pages in before.memory.items()})
        assert not leaked(before, after, rounds)
        put_in(link, monitor)
        link.guest.check()


def test_a_card_that_has_gone_before_it_is_taken_out_ends_at_once() -> None:
    with slot(watched=False) as (link, monitor):
        work(link)
        link.twin.card.stop()
        deadline = link.guest.deadline(60)
        assert take_out(link, monitor) < AT_ONCE * link.guest.machine.patience
        assert time.monotonic() < deadline
        link.guest.check()
