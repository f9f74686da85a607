# SPDX-License-Identifier: Apache-2.0
"""A guest with the card's Linux driver in it, and a small host at the other end of the card's wire."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from guest import Guest, modules, program, script
from live_guest import LiveGuest
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


@pytest.fixture(scope="session")
def driver_guest(tmp_path_factory: pytest.TempPathFactory) -> Guest:
    files = {"meridian.ko": (script("build-driver", minutes=10), 0o644)}
    files |= program("ethtool", "sbin/ethtool", "libmnl0") | modules("llc", "stp", "garp", "mrp", "8021q")
    folder = tmp_path_factory.mktemp("driver-guest")
    source = Path(__file__).with_name("xdp_tool.c")
    command = ["gcc", "-static", "-Wall", "-Werror", "-o", str(folder / "xdp_tool"), str(source)]
    subprocess.run(command, check=True, timeout=60)
    files["bin/xdp_tool"] = (folder / "xdp_tool", 0o755)
    return Guest.with_files(folder, "driver_init", files)


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
