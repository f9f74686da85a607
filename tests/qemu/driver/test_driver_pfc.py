# SPDX-License-Identifier: Apache-2.0
"""Flow control that a card with a pool of cells sends: PFC by `dcb`, PAUSE by `ethtool`, and what the card is told of either."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from driver_machine import Link, linked
from meridian_machine import Hardware, tools
from meridian_machine.guest import Guest

pytestmark = pytest.mark.qemu
FLOW_CONTROL = (0x102800, 0x103800)  # of each port, in BAR2
RECEIVE, SEND, QUANTA, WATCHDOG, LOW, HIGH, REFUSAL = range(7)  # words from there on
SEND_LIMIT, THRESHOLD, LOSSY, SIZE = range(9, 13)
OFF = 0
FRAME = 9600 // 64  # fills are in 64 bytes
#: What comes while a partner with 100 m of fibre stops, as host-driver/README.md has it.
AFTER = 30_000 // 64


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    hardware = Hardware(device="pfs=2", kernel="iomem=relaxed")
    with linked(tools.SUITES[0], hardware=hardware, shell=("--ports", "2", "--egress", "pool")) as it:
        yield it


@pytest.fixture(autouse=True)
def as_loaded(link: Link) -> Iterator[None]:
    yield
    link.guest.run("rmmod meridian")
    assert all(words(link.guest, port)[kind] == OFF for port in range(2) for kind in (RECEIVE, SEND))
    link.guest.load()
    link.guest.ping()
    link.guest.check()


def words(guest: Guest, port: int = 0) -> list[int]:
    base = guest.bar(2) + FLOW_CONTROL[port]
    text = guest.run(f"for i in $(seq 0 4 {4 * SIZE}); do busybox devmem $(({base} + i)); done")
    return [int(line, 16) for line in text.split()]


def set_word(guest: Guest, word: int, value: int) -> None:
    guest.run(f"busybox devmem {guest.bar(2) + FLOW_CONTROL[0] + 4 * word:#x} 32 {value:#x}")


def pfc(guest: Guest) -> dict[str, Any]:
    return json.loads(guest.run("dcb -j pfc show dev eth0"))


def pause(guest: Guest) -> dict[str, Any]:
    return json.loads(guest.run("ethtool --json -I -a eth0"))[0]


def on(guest: Guest) -> list[int]:
    return [priority for priority, is_on in enumerate(pfc(guest)["prio_pfc"]) if is_on]


def test_neither_pause_nor_pfc_is_on_at_first(link: Link) -> None:
    assert pfc(link.guest)["pfc_cap"] == 8 and on(link.guest) == []
    assert not pause(link.guest)["rx"] and not pause(link.guest)["tx"]
    found = words(link.guest)
    assert (found[RECEIVE], found[SEND]) == (OFF, OFF)


def test_pfc_is_sent_and_obeyed_with_room_for_what_comes_until_the_partner_stops(link: Link) -> None:
    guest = link.guest
    guest.run("dcb pfc set dev eth0 prio-pfc 3:on 5:on")
    assert on(guest) == [3, 5]
    found = words(guest)
    assert found[RECEIVE] == found[SEND] == 0x2800 and found[REFUSAL] == 0
    assert found[QUANTA] == 0xFFFF and found[WATCHDOG] == found[SEND_LIMIT] > 0
    address = found[LOW].to_bytes(4, "little") + found[HIGH].to_bytes(2, "little")
    assert address.hex(":") == guest.run("cat /sys/class/net/eth0/address").strip()
    xoff, xon = found[THRESHOLD] & 0xFFFF, found[THRESHOLD] >> 16
    assert 0 < xon < xoff and found[LOSSY] >= FRAME
    assert xoff + found[LOSSY] + FRAME + AFTER <= found[SIZE]
    assert words(guest, 1)[SEND] == OFF
    guest.ping()
    guest.run("dcb pfc set dev eth0 prio-pfc all:off")
    found = words(guest)
    assert on(guest) == [] and (found[RECEIVE], found[SEND]) == (OFF, OFF)


def test_a_longer_cable_gets_more_room(link: Link) -> None:
    guest = link.guest
    guest.run("dcb pfc set dev eth0 delay 1000 prio-pfc 3:on")
    short = words(guest)
    guest.run("dcb pfc set dev eth0 delay 65000")
    far = words(guest)
    assert pfc(guest)["delay"] == 65000 and on(guest) == [3]
    assert far[THRESHOLD] & 0xFFFF < short[THRESHOLD] & 0xFFFF and far[LOSSY] <= short[LOSSY]
    less = short[LOSSY] + (short[THRESHOLD] & 0xFFFF) - far[LOSSY] - (far[THRESHOLD] & 0xFFFF)
    assert less >= 64000 // 8 // 64


def test_pause_is_sent_without_being_obeyed_and_is_counted(link: Link) -> None:
    guest = link.guest
    guest.run("ethtool -A eth0 tx on")
    assert pause(guest)["tx"] and not pause(guest)["rx"]
    assert words(guest)[SEND] == 1 and words(guest)[RECEIVE] == OFF
    assert pause(guest)["statistics"]["tx_pause_frames"] == 0
    # Each frame is too much now, and the partner may go on when it has left the buffer.
    set_word(guest, SEND, OFF)
    set_word(guest, THRESHOLD, 1)
    set_word(guest, SEND, 1)
    guest.ping()
    statistics = guest.statistics()
    assert statistics["port_tx_pause_xoff"] >= 1 and statistics["port_tx_pfc_xoff"] == 0
    told = statistics["port_tx_pause_xoff"] + statistics["port_tx_pause_xon"]
    assert pause(guest)["statistics"]["tx_pause_frames"] >= told
    assert statistics["port_rx_stopped_ns_0"] > 0


def test_pause_and_pfc_exclude_each_other(link: Link) -> None:
    guest = link.guest
    guest.run("ethtool -A eth0 tx on")
    status, _ = guest.try_run("dcb pfc set dev eth0 prio-pfc 3:on")
    assert status and on(guest) == [] and words(guest)[SEND] == 1
    guest.until("dmesg", "port 0: PAUSE and PFC exclude each other; switch PAUSE off first", 10)
    guest.run("ethtool -A eth0 tx off; dcb pfc set dev eth0 prio-pfc 3:on")
    for wish in ("rx on", "tx on", "rx on tx on"):
        status, text = guest.try_run(f"ethtool -A eth0 {wish}")
        assert status and "busy" in text, wish
    assert words(guest)[SEND] == words(guest)[RECEIVE] == 0x800
    guest.run("dmesg -C")


def test_pfc_outlives_that_the_interface_is_down(link: Link) -> None:
    guest = link.guest
    guest.run("dcb pfc set dev eth0 prio-pfc 3:on")
    before = words(guest)
    guest.run("ip link set eth0 down")
    assert on(guest) == [3]
    guest.run("ip link set eth0 up")
    guest.ping()
    assert words(guest) == before
