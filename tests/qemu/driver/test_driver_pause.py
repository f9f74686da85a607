# SPDX-License-Identifier: Apache-2.0
"""Flow control by ethtool: the port stops for PAUSE frames of its partner, not for ever, and after a reset as before."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from driver_machine import Link, linked, vfs_apart
from meridian_machine import Hardware, tools
from meridian_machine.guest import Guest
from meridian_twin.patience import end_of

pytestmark = pytest.mark.qemu
#: A PAUSE frame (IEEE 802.3, annex 31B) that stops the port for 1.3 ms of the card's time, a second and more for the machine.
LONGEST = bytes.fromhex("0180c2000001 02bbbbbbbb02 8808 0001 ffff").ljust(60, b"\0")
GO_ON = LONGEST[:16].ljust(60, b"\0")
CLASSES = range(8)
RECEIVE = 0x102800  # of port 0, in BAR2
PFC = 0x3000  # of priorities 4 and 5


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    hardware = Hardware(kernel="iomem=relaxed")
    with linked(tools.SUITES[0], hardware=hardware, shell=("--ports", "2", "--egress", "true")) as it:
        yield it


@pytest.fixture(autouse=True)
def as_loaded(link: Link) -> Iterator[None]:
    yield
    link.guest.run("ethtool -A eth0 rx off; ethtool --set-tunable eth0 pfc-prevention-tout 65535")
    link.guest.ping()
    link.guest.check()


def param(guest: Guest, enter: str = "", device: str = "eth0") -> dict[str, Any]:
    return json.loads(guest.run(f"{enter}ethtool --json -I -a {device}"))[0]


def limit(guest: Guest) -> int:
    return int(guest.run("ethtool --get-tunable eth0 pfc-prevention-tout").split()[-1])


@contextmanager
def paused(link: Link) -> Iterator[None]:
    """The partner asks for a pause again and again, and at the end for none."""
    over = threading.Event()

    def ask() -> None:
        while not over.wait(0.2):
            link.peer.wire.send(LONGEST)

    link.peer.wire.send(LONGEST)
    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        over.set()
        end_of(thread)
        link.peer.wire.send(GO_ON)


def goes(guest: Guest) -> bool:
    return guest.try_run("ping -c 1 -W 3 10.44.0.1")[0] == 0


def test_pause_is_off_at_first(link: Link) -> None:
    before = link.guest.statistics()
    assert not param(link.guest)["rx"] and not param(link.guest)["tx"]
    with paused(link):
        link.guest.ping()
    after = link.guest.statistics()
    assert after["port_rx_pause"] == before["port_rx_pause"]
    assert all(after[f"port_tx_paused_ns_{n}"] == before[f"port_tx_paused_ns_{n}"] for n in CLASSES)


def test_frames_wait_while_the_partner_asks(link: Link) -> None:
    guest = link.guest
    guest.run("ethtool --set-tunable eth0 pfc-prevention-tout 0; ethtool -A eth0 rx on")
    assert param(guest)["rx"]
    before = guest.statistics()
    with paused(link):
        assert not goes(guest)
    guest.ping()
    after = guest.statistics()
    frames = param(guest)["statistics"]["rx_pause_frames"]
    assert frames == after["port_rx_pause"] > before["port_rx_pause"] + 2
    for n in CLASSES:
        assert after[f"port_tx_paused_ns_{n}"] > before[f"port_tx_paused_ns_{n}"]
        assert after[f"port_tx_pause_storms_{n}"] == before[f"port_tx_pause_storms_{n}"]


def test_a_partner_without_end_is_told_and_ends(link: Link) -> None:
    guest = link.guest
    guest.run("dmesg -C; ethtool --set-tunable eth0 pfc-prevention-tout 1; ethtool -A eth0 rx on")
    before = guest.statistics()["port_tx_pause_storms_0"]
    with paused(link):
        guest.until("ping -c 1 -W 3 10.44.0.1", "1 received", 60)
        guest.until("dmesg", "port 0: its partner sends PAUSE without end", 30)
    assert guest.statistics()["port_tx_pause_storms_0"] > before


def test_limits_are_told_and_refused(link: Link) -> None:
    guest = link.guest
    assert limit(guest) == 100
    guest.run("ethtool --set-tunable eth0 pfc-prevention-tout 2000")
    assert limit(guest) == 2000
    status, text = guest.try_run("ethtool --set-tunable eth0 pfc-prevention-tout 3000")
    assert status and "out of range" in text and limit(guest) == 2000
    guest.run("ethtool --set-tunable eth0 pfc-prevention-tout 65535")
    assert limit(guest) == 100


@pytest.mark.parametrize("wish", ["tx on", "autoneg on", "rx on tx on"])
def test_sending_pause_and_negotiating_it_are_refused(link: Link, wish: str) -> None:
    before = param(link.guest)
    status, text = link.guest.try_run(f"ethtool -A eth0 {wish}")
    assert status and "Invalid argument" in text
    assert param(link.guest)["rx"] == before["rx"]


def test_pfc_that_others_have_switched_on_stays(link: Link) -> None:
    """Only the registers switch it on. The card obeys one kind at a time."""
    guest = link.guest
    receive = guest.bar(2) + RECEIVE
    guest.run(f"busybox devmem {receive:#x} 32 {PFC:#x}")
    status, text = guest.try_run("ethtool -A eth0 rx on")
    assert status and "busy" in text
    guest.run("ethtool --set-tunable eth0 pfc-prevention-tout 50; ip link set eth0 down; ip link set eth0 up")
    guest.run("rmmod meridian")
    guest.load()
    assert int(guest.run(f"busybox devmem {receive:#x} 32"), 16) == PFC
    guest.run(f"busybox devmem {receive:#x} 32 0")


def test_a_vf_cannot_see_or_set_flow_control(link: Link) -> None:
    guest = link.guest
    guest.run("ethtool -A eth0 rx on")
    with vfs_apart(guest):
        vf = "ip netns exec vf0 "
        for wish in ("-a eth1", "-A eth1 rx on"):
            status, text = guest.try_run(f"{vf}ethtool {wish}")
            assert status and "not supported" in text
        assert "port_rx_pause" not in guest.statistics("eth1", vf)
    assert param(guest)["rx"]


def test_pause_is_obeyed_after_a_reset_and_no_more_after_the_driver_has_gone(link: Link) -> None:
    guest = link.guest
    guest.run("ethtool -A eth0 rx on; ethtool --set-tunable eth0 pfc-prevention-tout 0")
    guest.run("echo 1 >/sys/bus/pci/devices/0000:01:00.0/reset; sleep 1")
    guest.until("cat /sys/class/net/eth0/carrier", "^1")
    guest.ping()
    assert param(guest)["rx"]
    with paused(link):
        assert not goes(guest)
    guest.ping()
    guest.run("rmmod meridian")
    guest.load()
    assert not param(guest)["rx"]
    with paused(link):
        guest.ping()
