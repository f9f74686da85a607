# SPDX-License-Identifier: Apache-2.0
"""Each counter of a port of the PS is moved by what it is named after, by as many frames and bytes as there were, and no
other counter is: those of the driver and of the card (ethtool -S), those of any network device, and those that standards
name (ethtool -S --all-groups)."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from driver_machine import Link
from meridian_machine.guest import PEER, Guest
from meridian_twin.control import Control
from meridian_twin.patience import deadline_in
from peer import ethernet, udp
from ps_link import INTERRUPT_ENABLE, POLICERS, RING, ps_link, register, set_policer, until

pytestmark = pytest.mark.qemu
RX_PRODUCER, TX_PRODUCER = RING + 0x10, RING + 0x30
MARK, PTP = 0x88B5, 0x88F7
AHEAD_PS = 500_000_000_000  # time to hand frames to the card before they come
ELSEWHERE = "10.44.0.77"  # a packet to it is dropped by IP, without an answer or a count
FCS = 4
STRANGER = bytes.fromhex("020000000077")
MTU = 9578  # the largest: with two VLAN tags a frame has the 9600 bytes that a descriptor can have
# Each frame that comes or leaves moves several, by a sum that the case knows best.
HISTOGRAM = re.compile(r"rmon-etherStatsPkts|rmon-.x-pktsNto|eth-mac-(Multi|Broad)cast")


def counters(guest: Guest) -> dict[str, int]:
    """All of them; those of any network device as `ip.NAME`."""
    text = guest.run(
        "ethtool -S eth0; ethtool -S eth0 --all-groups; ethtool -I -T eth0 | grep -A9 -i statistics;"
        "cd /sys/class/net/eth0/statistics; for it in *; do echo ip.$it: $(cat $it); done"
    )
    return {name: int(value) for name, value in re.findall(r"^\s*(\S+): (\d+)$", text, re.MULTILINE)}


@pytest.fixture(scope="module")
def ps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Link, Control]]:
    path = tmp_path_factory.mktemp("control") / "socket"
    with ps_link(card=["--control", str(path)]) as link, Control(path) as control:
        guest = link.guest
        # From here on the port sends what a test sends, and nothing else.
        guest.run("for it in all eth0; do echo 1 >/proc/sys/net/ipv6/conf/$it/disable_ipv6; done")
        guest.ping()
        guest.run(f"ip neigh replace {PEER} lladdr {link.peer.mac.hex(':')} dev eth0 nud permanent; sleep 1")
        yield link, control


@contextmanager
def moved(guest: Guest, some: str = "", **exact: int) -> Iterator[dict[str, int]]:
    """By so much, and no others but those that `some` matches; in a name `__` stands for a hyphen or a dot. It yields
    what will be told when it is over: by how much each has grown."""
    before, grown = counters(guest), {}
    wanted = {name: value for name, value in exact.items() if value}

    def named() -> dict[str, int]:
        grown.clear()
        now = counters(guest)
        grown.update(
            {re.sub(r"[-.]", "__", name): now[name] - before[name] for name in now if now[name] != before[name]}
        )
        return {name: value for name, value in grown.items() if not HISTOGRAM.search(name.replace("__", "-"))}

    yield grown
    deadline = deadline_in(30)
    while not named().items() >= wanted.items():
        assert time.monotonic() < deadline, f"no {wanted}, but {grown}"
    rest = {
        name: value for name, value in named().items() if name not in wanted and not re.fullmatch(some or "-", name)
    }
    assert not rest, f"moved as well: {rest}"


def of_port(direction: str, frames: int, length: int) -> Mapping[str, int]:
    """Of good frames of that many bytes without FCS that come by the wire, or leave by it."""
    word = "Received" if direction == "rx" else "Transmitted"
    return {
        f"port_{direction}_frames": frames,
        f"eth__mac__Frames{word}OK": frames,
        f"eth__mac__Octets{word}OK": frames * (length + FCS),
    }


def received(frames: int, length: int) -> Mapping[str, int]:
    """Good frames that the PS takes."""
    ring = {"card_rx_frames": frames, "card_rx_bytes": frames * length}
    return {
        **of_port("rx", frames, length), **ring, "port_rx_to_ps": frames,
        "ip__rx_packets": frames, "ip__rx_bytes": frames * length,
    }  # fmt: skip


def sent(frames: int, length: int) -> Mapping[str, int]:
    ring = {"card_tx_frames": frames, "card_tx_bytes": frames * length}
    return {
        **of_port("tx", frames, length), **ring, "port_tx_from_ps": frames,
        "ip__tx_packets": frames, "ip__tx_bytes": frames * length,
    }  # fmt: skip


def packet(link: Link, length: int) -> bytes:
    """To the PS, which takes it and drops it without a word."""
    head = 14 + 20 + 8
    return ethernet(link.guest.address(), link.peer.mac, 0x0800, udp(PEER, ELSEWHERE, 9, 9, bytes(length - head)))


def test_frames_that_arrive_are_counted_by_number_bytes_and_size(ps: tuple[Link, Control]) -> None:
    link, _ = ps
    frame = packet(link, 333)
    with moved(link.guest, **received(7, 333)) as grown:
        for _ in range(7):
            link.peer.wire.send(frame)
    assert {value for name, value in grown.items() if "256to511" in name} == {7}, grown


def test_frames_that_leave_are_counted_by_number_bytes_and_size(ps: tuple[Link, Control]) -> None:
    guest = ps[0].guest
    length = 14 + 20 + 8 + 1000
    with moved(guest, **sent(5, length)) as grown:
        guest.run(f"dd if=/dev/zero bs=1000 count=5 2>/dev/null >/dev/udp/{PEER}/9")
    assert {value for name, value in grown.items() if "1024to1518" in name} == {5}, grown


def test_frames_that_the_port_drops_are_counted_by_their_reason(ps: tuple[Link, Control]) -> None:
    link, _ = ps
    guest, wire, own = link.guest, link.peer.wire, link.guest.address()
    fcs = {"port_rx_bad_fcs": 3, "eth__mac__FrameCheckSequenceErrors": 3}
    with moved(guest, **fcs, port_rx_frames=3):
        for _ in range(3):
            wire.send(packet(link, 100), bad_fcs=True)
    with moved(guest, port_rx_runt=2, port_rx_frames=2, rmon__etherStatsUndersizePkts=2):
        for _ in range(2):
            wire.send(own + link.peer.mac + MARK.to_bytes(2, "big") + bytes(20))
    large = {"rmon__etherStatsOversizePkts": 4, "eth__mac__FrameTooLongErrors": 4}
    with moved(guest, port_rx_oversize=4, port_rx_frames=4, **large):
        for _ in range(4):
            wire.send(packet(link, 9700))


def test_frames_for_another_address_are_counted_as_the_hosts(ps: tuple[Link, Control]) -> None:
    """The host's side of the card gets them, though there is no host."""
    link, _ = ps
    with moved(link.guest, **of_port("rx", 6, 60), port_rx_to_host=6):
        for _ in range(6):
            link.peer.wire.send(ethernet(STRANGER, link.peer.mac, MARK, b"x"))


@pytest.mark.parametrize("number", POLICERS, ids=["others", "PTP"])
def test_frames_over_the_limit_of_a_policer_are_counted(ps: tuple[Link, Control], number: int) -> None:
    link, control = ps
    guest, count, burst = link.guest, 60, 5
    kind, name = {1: (MARK, "port_rx_ps_policed"), 2: (PTP, "port_rx_ps_ptp_policed")}[number]
    frame = ethernet(guest.address(), link.peer.mac, kind, b"x")
    taken = "ip__rx_(packets|bytes|dropped|nohandler)|card_rx_(frames|bytes)|port_rx_to_ps"
    set_policer(guest, number, 1490, burst)
    try:
        with moved(guest, f"{name}|ip__rx_missed_errors|{taken}", **of_port("rx", count, 60)) as grown:
            # At one moment of twin time, so back to back.
            at_ps = control.ask("stats")["t_ps"] + AHEAD_PS
            for _ in range(count):
                link.peer.wire.send(frame, at_ps=at_ps)
    finally:
        set_policer(guest, number, *POLICERS[number])
    assert grown[name] == grown["ip__rx_missed_errors"] == count - grown["card_rx_frames"], grown
    assert grown["card_rx_frames"] == grown["port_rx_to_ps"] == burst, grown


def test_frames_that_find_no_descriptor_are_counted(ps: tuple[Link, Control]) -> None:
    link, _ = ps
    guest, count = link.guest, 100
    guest.run("ethtool -G eth0 rx 64 tx 512")
    guest.wait_link()
    some = r"card_rx_(no_descriptor|frames|bytes)|ip__rx_(missed_errors|packets|bytes)"
    frame = packet(link, 60)
    with moved(guest, some, **of_port("rx", count, 60), port_rx_to_ps=count) as grown:
        had = guest.statistics()["card_rx_no_descriptor"]
        guest.run(f"busybox devmem {INTERRUPT_ENABLE:#x} 32 0")
        try:
            for _ in range(count):
                link.peer.wire.send(frame)
            until(lambda: guest.statistics()["card_rx_no_descriptor"] > had, "frame without descriptor")
        finally:
            guest.run(f"busybox devmem {INTERRUPT_ENABLE:#x} 32 0xf")
    assert grown["card_rx_no_descriptor"] == grown["ip__rx_missed_errors"] == count - grown["card_rx_frames"], grown
    assert grown["ip__rx_packets"] == grown["card_rx_frames"] > 0
    guest.run("ethtool -G eth0 rx 512 tx 512")
    guest.wait_link()


def test_frames_that_find_too_small_a_buffer_are_counted(ps: tuple[Link, Control]) -> None:
    link, _ = ps
    wrong = {f"ip__rx_{name}": 2 for name in ("errors", "length_errors")}
    with moved(link.guest, **of_port("rx", 2, 1600), port_rx_to_ps=2, card_rx_buffer_small=2, **wrong):
        for _ in range(2):
            link.peer.wire.send(packet(link, 1600))


def test_frames_that_memory_is_too_slow_for_are_counted_as_overflow(ps: tuple[Link, Control]) -> None:
    """They fill the card's buffer before the ring."""
    link, control = ps
    count = 60
    some = r"port_rx_ps_overflow|ip__rx_(fifo_errors|packets|bytes)|port_rx_to_ps|card_rx_(frames|bytes)"
    frame = packet(link, 1500)
    with moved(link.guest, some, **of_port("rx", count, 1500)) as grown:
        had = link.guest.statistics()["port_rx_ps_overflow"]
        control.ask("ps_memory", on=False)
        try:
            for _ in range(count):
                link.peer.wire.send(frame)
            until(lambda: link.guest.statistics()["port_rx_ps_overflow"] > had, "overflow")
        finally:
            control.ask("ps_memory", on=True)
    assert 0 < grown["port_rx_ps_overflow"] == grown["ip__rx_fifo_errors"] == count - grown["card_rx_frames"], grown


def test_frames_that_are_too_long_to_leave_are_dropped_and_counted(ps: tuple[Link, Control]) -> None:
    """Behind a third VLAN tag a frame of the largest MTU is longer than the card takes."""
    guest = ps[0].guest
    guest.run(f"modprobe 8021q; ip link set eth0 mtu {MTU}")
    guest.wait_link()
    below = "eth0"
    for number in (2, 3, 4):
        guest.run(f"ip link add link {below} name {below}.{number} type vlan id {number}")
        below = f"{below}.{number}"
        guest.run(f"echo 1 >/proc/sys/net/ipv6/conf/{below.replace('.', '/')}/disable_ipv6; ip link set {below} up")
    guest.run(f"ip address add 10.99.0.1/24 dev {below}")
    guest.run(f"ip neigh replace 10.99.0.2 lladdr {STRANGER.hex(':')} dev {below} nud permanent")
    with moved(guest, tx_dropped=3, ip__tx_dropped=3):
        for _ in range(3):
            guest.try_run(f"ping -c 1 -W 1 -s {MTU - 28} 10.99.0.2")
    guest.run("ip link del eth0.2; ip link set eth0 mtu 1500")
    guest.wait_link()


def test_restarts_of_a_stuck_queue_and_of_stopped_rings_are_counted(ps: tuple[Link, Control]) -> None:
    """The kernel's watchdog and the driver's service make them anew, and count it."""
    link, _ = ps
    guest = link.guest
    guest.run("ethtool -G eth0 rx 512 tx 64; echo 1000000 >/sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit_min")
    guest.wait_link()
    leaving = "card_tx_(frames|bytes)|port_tx_(frames|from_ps)|ip__tx_.*|eth__mac__.*|tx_dropped"
    with moved(guest, leaving, tx_stopped=1, restarts_tx_timeout=1) as grown:
        guest.run(f"busybox devmem {INTERRUPT_ENABLE:#x} 32 0")
        guest.run(f"dd if=/dev/zero bs=100 count=80 2>/dev/null >/dev/udp/{PEER}/9")
    assert "transmit stands still" in guest.log(), grown
    guest.run("ethtool -G eth0 tx 512")
    guest.wait_link()
    for address, name in ((RX_PRODUCER, "rx"), (TX_PRODUCER, "tx")):
        with moved(guest, **{f"restarts_{name}_error": 1}):
            producer = register(guest, address)
            guest.run(f"busybox devmem {address:#x} 32 {(producer + 5000) & 0xFFFF:#x}")
    guest.wait_link()
    guest.run(f"ping -c 1 -W 10 {PEER}")
