# SPDX-License-Identifier: Apache-2.0
"""The kernel's messages leave by the port (netconsole), with interrupts off, while frames and timestamps come in. Debian's
kernels have no lock debugging: what is looked for is what is lost, and the warnings that any kernel has."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from driver_machine import Link
from meridian_machine import PsHardware
from meridian_machine.guest import PEER, Guest
from peer import BROADCAST, ethernet
from ps_link import WRITABLE, ps_link, until
from ptp_frames import FOLLOW_UP, parse

pytestmark = pytest.mark.qemu
HERE = "10.44.0.3"
LINES, FRAMES = 3000, 40
MARK = 0x88B5
SERVER = """[global]
network_transport L2
logSyncInterval -4
tx_timestamp_timeout 2000
"""


@pytest.fixture(scope="module")
def ps() -> Iterator[Link]:
    # One processor: what is forgotten while its interrupts are off nobody else has seen.
    with ps_link(PsHardware(kernel=f"{WRITABLE} printk.devkmsg=on", cpus=1)) as link:
        guest, far = link.guest, link.peer.mac.hex(":")
        # Each message finds the queue stopped, and netpoll asks for room.
        guest.run("ethtool -C eth0 tx-usecs 65535 tx-frames 0")
        guest.run("echo 100 >/sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit_max")
        guest.ping()
        guest.run("echo 8 >/proc/sys/kernel/printk")
        guest.run(f"modprobe netconsole netconsole=6665@{HERE}/eth0,6666@{PEER}/{far}")
        yield link
        guest.run("rmmod netconsole")


@contextmanager
def messages(guest: Guest) -> Iterator[None]:
    """Without a pause, until nobody wants them any more."""
    line = "<1>" + "of the tests " * 8
    guest.run(f"( while [ ! -e /tmp/enough ]; do echo '{line}' >/dev/kmsg; done; rm /tmp/enough ) >/dev/null 2>&1 &")
    try:
        yield
    finally:
        guest.run("touch /tmp/enough; while [ -e /tmp/enough ]; do sleep 0.1; done")


def heard(link: Link) -> int:
    return sum(b"of the tests" in frame for frame in link.peer.other)


def test_frames_come_in_while_messages_go_out(ps: Link) -> None:
    """Each of them while messages go out, and not when the last has gone."""

    def received() -> int:
        return int(ps.guest.run("cat /sys/class/net/eth0/statistics/rx_packets"))

    before, late = heard(ps), []
    with messages(ps.guest):
        until(lambda: heard(ps) > before + 20, "messages")
        for number in range(FRAMES):
            had, since = received(), time.monotonic()
            ps.peer.wire.send(ethernet(BROADCAST, ps.peer.mac, MARK, number.to_bytes(4, "big")))
            while received() == had:
                if time.monotonic() > since + 3:
                    late.append(number)
                    break
    print(f"{heard(ps) - before} messages, {len(late)} of {FRAMES} frames not taken in three seconds")
    assert heard(ps) > before + FRAMES
    assert not late
    ps.guest.ping()


def test_timestamps_come_while_messages_go_out(ps: Link) -> None:
    guest = ps.guest
    guest.run(f"cat >/tmp/server.cfg <<'END'\n{SERVER}END")
    guest.run("ptp4l -f /tmp/server.cfg -i eth0 -m >/tmp/ptp4l 2>&1 & echo $! >/tmp/pid")
    try:

        def followers() -> int:
            return sum((it := parse(frame)) is not None and it.kind == FOLLOW_UP for frame in ps.peer.other)

        until(lambda: followers() > 0, "Follow_Up")
        with messages(guest):
            had, before = followers(), heard(ps)
            until(lambda: followers() >= had + 20, "Follow_Up while messages go out")
        assert heard(ps) > before
    finally:
        guest.run("kill $(cat /tmp/pid)")
    statistics = guest.statistics()
    assert [statistics[f"tx_stamps_{name}"] for name in ("late", "unknown", "skipped")] == [0, 0, 0]
    assert not re.search(r"timed out while polling for tx timestamp", guest.run("cat /tmp/ptp4l"))
    guest.check()
