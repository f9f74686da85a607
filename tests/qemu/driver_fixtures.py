# SPDX-License-Identifier: Apache-2.0
"""A guest with the card's Linux driver in it, and a small host at the other end of the card's wire."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from guest import Guest, script
from live_guest import LiveGuest
from peer import Peer
from qemu_fixtures import qemu

__all__ = ["driver_guest", "machine_with_driver", "qemu"]

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
    module = script("build-driver", minutes=10)
    return Guest.with_files(tmp_path_factory.mktemp("driver-guest"), "driver_init", {"meridian.ko": (module, 0o644)})


@pytest.fixture
def machine_with_driver(run_card: Callable[..., Any], qemu: Path, driver_guest: Guest) -> Iterator[Machine]:
    """Ends with rmmod and a look at the kernel's log."""
    card = run_card("--time", "wall")
    with LiveGuest(qemu, driver_guest, card.socket) as guest, Peer(card.wires[0], PEER) as peer:
        guest.run("insmod /meridian.ko")
        guest.run(f"ip addr add {HERE}/24 dev eth0 && ip link set eth0 up")
        guest.until("cat /sys/class/net/eth0/carrier", "1")
        yield Machine(guest, peer, card)
        guest.run("rmmod meridian")
        guest.check()
