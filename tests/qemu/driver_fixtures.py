# SPDX-License-Identifier: Apache-2.0
"""A guest with the card's Linux driver in it, and a small host at the other end of the card's wire."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from live_guest import Guest, LiveGuest
from meridian_machine import Image, driver, tools
from peer import Peer
from qemu_fixtures import qemu

__all__ = ["driver_guest", "machine_with_driver", "qemu", "statistics"]

HERE = "10.0.0.1"
PEER = "10.0.0.2"


@dataclass
class Machine:
    """The guest, whose interface eth0 is up as 10.0.0.1, and the peer, 10.0.0.2."""

    guest: LiveGuest
    peer: Peer
    card: Any


@pytest.fixture(scope="session", params=tools.SUITES)
def driver_guest(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Guest:
    """Of each suite in turn."""
    tool, source = tmp_path_factory.mktemp("driver-guest") / "xdp_tool", Path(__file__).with_name("xdp_tool.c")
    subprocess.run(["gcc", "-static", "-Wall", "-Werror", "-o", str(tool), str(source)], check=True, timeout=60)
    files = driver.modules(request.param, driver.SOURCE) | {"bin/xdp_tool": tool}
    return Guest(Image.build(request.param), files)


def bring_up(guest: LiveGuest, mtu: int = 1500) -> None:
    guest.run("insmod /meridian.ko")
    guest.run(f"ip link set eth0 mtu {mtu} && ip addr add {HERE}/24 dev eth0 && ip link set eth0 up")
    guest.until("cat /sys/class/net/eth0/carrier", "1")


def take_down(guest: LiveGuest) -> None:
    guest.run("rmmod meridian")
    guest.check()


@pytest.fixture(scope="module")
def machine_with_driver(built_card: Callable[..., Path], qemu: Path, driver_guest: Guest) -> Iterator[Machine]:
    """One for the tests of a module; ends with rmmod and a look at the kernel's log."""
    from conftest import RunningCard

    card = RunningCard(built_card(), "--time", "wall")
    try:
        with LiveGuest(qemu, driver_guest, card.socket) as guest, Peer(card.wires[0], PEER) as peer:
            bring_up(guest)
            yield Machine(guest, peer, card)
            take_down(guest)
        card.check()
    finally:
        card.close()


def statistics(guest: LiveGuest) -> dict[str, int]:
    """Of `ethtool -S`."""
    pairs = (line.split(":") for line in guest.run("ethtool -S eth0").splitlines()[1:])
    return {name.strip(): int(value) for name, value in pairs}
