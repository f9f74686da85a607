# SPDX-License-Identifier: Apache-2.0
"""The card's interrupt is a level, one for all ports and the clock: whatever raises it is masked by somebody, also while
a port goes down or nobody wants an event of the clock any more. If not, the kernel gives the interrupt up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from driver_machine import Link
from meridian_machine import PsHardware
from meridian_machine.guest import Guest
from meridian_twin.patience import end_of
from peer import BROADCAST, ethernet
from ps_link import EVENT_ENABLE, INTERRUPT_ENABLE, INTERRUPT_STATUS, WRITABLE, interrupts, ps_link, register, until

pytestmark = pytest.mark.qemu
CLOCK = "/sys/class/ptp/ptp0"
SECOND = 1 << 0  # of the clock's events
MARK = 0x88B5
FEW = 20


@pytest.fixture(scope="module")
def ps() -> Iterator[Link]:
    # One processor: a level that stays keeps it from ever masking the cause.
    with ps_link(PsHardware(kernel=WRITABLE, cpus=1)) as link:
        yield link


def is_sane(guest: Guest, before: tuple[int, int], most: int) -> None:
    taken, unwanted = interrupts(guest)
    assert taken - before[0] <= most and unwanted - before[1] <= most, (before, taken, unwanted)
    assert "nobody cared" not in guest.log()


@pytest.mark.quick
def test_a_port_that_is_down_is_masked(ps: Link) -> None:
    """A cause is left over from before, and somebody enables it."""
    guest = ps.guest
    guest.run(f"busybox devmem {INTERRUPT_ENABLE:#x} 32 0")
    ps.peer.wire.send(ethernet(BROADCAST, ps.peer.mac, MARK, b"left over"))
    until(lambda: bool(register(guest, INTERRUPT_STATUS) & 1), "receive cause")
    guest.run("ip link set eth0 down")
    assert register(guest, INTERRUPT_STATUS) & 1
    before = interrupts(guest)
    guest.run(f"busybox devmem {INTERRUPT_ENABLE:#x} 32 0xf")
    until(lambda: register(guest, INTERRUPT_ENABLE) == 0, "port that is masked")
    is_sane(guest, before, FEW)
    guest.run("ip link set eth0 up")
    guest.wait_link()
    guest.ping()


@pytest.mark.quick
def test_an_event_that_nobody_wants_is_masked(ps: Link) -> None:
    guest = ps.guest
    guest.run(f"echo 1 >{CLOCK}/pps_enable")
    before = interrupts(guest)
    guest.until("cat /sys/class/pps/pps0/assert", "#[1-9]")
    guest.run(f"echo 0 >{CLOCK}/pps_enable")
    guest.run(f"sleep 2; busybox devmem {EVENT_ENABLE:#x} 32 {SECOND}")
    until(lambda: register(guest, EVENT_ENABLE) == 0, "event that is masked")
    is_sane(guest, before, FEW)
    guest.ping()


@pytest.mark.quick
def test_a_pulse_is_one_interrupt_while_no_port_is_up(ps: Link) -> None:
    guest = ps.guest
    guest.run("ip link set eth0 down")
    pulse = "cat /sys/class/pps/pps0/assert"
    guest.run(f"echo 1 >{CLOCK}/pps_enable")

    def pulses() -> int:
        return int(guest.run(pulse).split("#")[1])

    first = pulses()
    until(lambda: pulses() > first, "pulse")
    had, before = pulses(), interrupts(guest)
    until(lambda: pulses() >= had + 5, "five pulses")
    after, counted = interrupts(guest), pulses() - had
    guest.run(f"echo 0 >{CLOCK}/pps_enable; ip link set eth0 up; ip address replace 10.44.0.3/24 dev eth0")
    guest.wait_link()
    assert after[1] == before[1] and after[0] - before[0] <= counted, (before, after, counted)


@contextmanager
def flood(link: Link) -> Iterator[None]:
    """Frames to all from the far end, some hundreds a second."""
    end = threading.Event()
    frame = ethernet(BROADCAST, link.peer.mac, MARK, b"flood")

    def run() -> None:
        while not end.wait(0.001):
            link.peer.wire.send(frame)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        end.set()
        end_of(thread)


def down_and_up(link: Link, rounds: int) -> None:
    guest = link.guest
    # Each frame raises an interrupt.
    guest.run("ethtool -C eth0 rx-usecs 0 rx-frames 1")
    counted = "cat /sys/class/net/eth0/statistics/rx_packets"
    received, before = int(guest.run(counted)), interrupts(guest)
    toggle = f"echo 1 >{CLOCK}/pps_enable; ip link set eth0 down; echo 0 >{CLOCK}/pps_enable; ip link set eth0 up"
    with flood(link):
        guest.run(f"for round in $(seq {rounds}); do {toggle}; done", 60 + 2 * rounds)
    frames = int(guest.run(counted)) - received
    taken, unwanted = interrupts(guest)
    print(f"{rounds} rounds, {frames} frames, {taken - before[0]} interrupts, {unwanted - before[1]} of nobody")
    assert frames > rounds
    assert unwanted - before[1] <= 2 * rounds
    is_sane(guest, before, 2 * frames + 10 * rounds)
    guest.run("ip address replace 10.44.0.3/24 dev eth0; ethtool -C eth0 rx-usecs 10 rx-frames 32")
    guest.wait_link()
    guest.ping()


@pytest.mark.quick
def test_a_port_goes_down_and_up_under_a_flood(ps: Link) -> None:
    down_and_up(ps, 20)


@pytest.mark.long
def test_a_port_goes_down_and_up_under_a_flood_a_thousand_times(ps: Link) -> None:
    down_and_up(ps, 1000)
