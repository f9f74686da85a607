# SPDX-License-Identifier: Apache-2.0
"""XDP programs on the Linux driver's frames: each verdict, and what does not go with XDP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from driver_fixtures import PEER, Machine, driver_guest, machine_with_driver, qemu, statistics
from peer import ethernet

__all__ = ["driver_guest", "machine_with_driver", "qemu"]
pytestmark = pytest.mark.qemu
KIND = 0x88B5
COUNT = 20


@contextmanager
def program(machine: Machine, name: str) -> Iterator[None]:
    guest = machine.guest
    guest.run(f"xdp_tool eth0 {name} >/tmp/xdp 2>&1 & echo $! >/tmp/xdp.pid")
    guest.until("cat /tmp/xdp", "attached")
    yield
    guest.run("kill $(cat /tmp/xdp.pid); while [ -e /proc/$(cat /tmp/xdp.pid) ]; do sleep 0.05; done")


def send(machine: Machine, size: int = 200) -> list[bytes]:
    mine = bytes.fromhex(machine.guest.run("cat /sys/class/net/eth0/address").strip().replace(":", ""))
    frames = [ethernet(mine, machine.peer.mac, KIND, bytes([number]) * (size - 14)) for number in range(COUNT)]
    for frame in frames:
        machine.peer.wire.send(frame)
    return frames


def counted(machine: Machine, name: str, before: dict[str, int]) -> int:
    for _ in range(50):
        grown = statistics(machine.guest)[name] - before[name]
        if grown >= COUNT:
            break
    return grown


@pytest.mark.parametrize("name", ["pass", "meta"])
def test_frames_that_pass_go_on_as_without(machine_with_driver: Machine, name: str) -> None:
    machine = machine_with_driver
    with program(machine, name):
        for size in (56, 1472):
            assert "3 packets received" in machine.guest.run(f"ping -c 3 -i 0.1 -w 20 -s {size} {PEER}")


@pytest.mark.parametrize(("name", "counter"), [("drop", "rx_xdp_drop"), ("abort", "rx_xdp_error")])
def test_frames_that_are_dropped_are_counted(machine_with_driver: Machine, name: str, counter: str) -> None:
    machine = machine_with_driver
    with program(machine, name):
        before = statistics(machine.guest)
        send(machine)
        assert counted(machine, counter, before) >= COUNT
    assert "1 packets received" in machine.guest.run(f"ping -c 1 -w 20 {PEER}")


@pytest.mark.parametrize(("name", "counter"), [("tx", "rx_xdp_tx"), ("redirect", "rx_xdp_redirect")])
def test_frames_that_go_back_come_back_unchanged(machine_with_driver: Machine, name: str, counter: str) -> None:
    machine = machine_with_driver
    with program(machine, name):
        before = statistics(machine.guest)
        machine.peer.other.clear()
        frames = send(machine)
        assert counted(machine, counter, before) >= COUNT
        assert counted(machine, "tx_xdp", before) >= COUNT
    assert [frame for frame in machine.peer.other if frame in frames] == frames
    assert "1 packets received" in machine.guest.run(f"ping -c 1 -w 20 {PEER}")


def test_xdp_and_long_frames_exclude_each_other(machine_with_driver: Machine) -> None:
    guest = machine_with_driver.guest
    with program(machine_with_driver, "pass"):
        guest.run("ip link set eth0 mtu 3438")
        assert guest.try_run("ip link set eth0 mtu 3439")[0] != 0
        # What is longer than the MTU is no frame for the program.
        before = statistics(guest)
        send(machine_with_driver, 4000)
        assert counted(machine_with_driver, "rx_xdp_error", before) == COUNT
    guest.run("ip link set eth0 mtu 9000")
    assert guest.try_run("xdp_tool eth0 pass")[0] == 1
    guest.run("ip link set eth0 mtu 1500")


def test_a_program_outlives_down_and_up(machine_with_driver: Machine) -> None:
    guest = machine_with_driver.guest
    with program(machine_with_driver, "drop"):
        guest.run("ip link set eth0 down")
        guest.run("ip link set eth0 up")
        guest.until("cat /sys/class/net/eth0/carrier", "1")
        before = statistics(guest)
        send(machine_with_driver)
        assert counted(machine_with_driver, "rx_xdp_drop", before) >= COUNT
