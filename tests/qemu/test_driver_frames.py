# SPDX-License-Identifier: Apache-2.0
"""Much data through the Linux driver, with Linux at the other end of the wire: nothing is lost or changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from driver_fixtures import PEER, bring_up, driver_guest, qemu, statistics, take_down
from live_guest import Guest, LiveGuest
from meridian_twin import CardProcess
from net_peer import DEVICE, NetPeer, digest, wrapper

__all__ = ["driver_guest", "qemu"]
pytestmark = pytest.mark.qemu
BYTES = 600_000
LONGEST = 9582  # the card's 9600 bytes, less header and VLAN tag


@pytest.fixture(params=[1500, LONGEST], scope="module")
def linked(
    request: pytest.FixtureRequest,
    built_card: Callable[..., Path],
    qemu: Path,
    driver_guest: Guest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[LiveGuest, int]]:
    program = wrapper(built_card(), tmp_path_factory.mktemp("card"))
    with (
        CardProcess(program, "--time", "wall", "--wire", f"0=tap:name={DEVICE}") as card,
        LiveGuest(qemu, driver_guest, card.socket) as guest,
        NetPeer(card.pid, request.param),
    ):
        bring_up(guest, request.param)
        yield guest, request.param
        take_down(guest)


def test_frames_as_long_as_the_mtu(linked: tuple[LiveGuest, int]) -> None:
    guest, mtu = linked
    assert "2 packets received" in guest.run(f"ping -c 2 -i 0.2 -w 20 -s {mtu - 28} {PEER}")


def test_what_is_received_is_what_was_sent(linked: tuple[LiveGuest, int]) -> None:
    guest, _ = linked
    got = guest.run(f"echo {BYTES} 1 | nc {PEER} 5001 | sha256sum", 60)
    assert got.split()[0] == digest(BYTES, 1)
    assert statistics(guest)["card_rx_bytes"] > BYTES


def test_what_is_sent_is_what_is_received(linked: tuple[LiveGuest, int]) -> None:
    guest, _ = linked
    guest.run(f"dd if=/dev/urandom of=/tmp/sent bs={BYTES} count=1")
    expected = guest.run("sha256sum </tmp/sent").split()[0]
    assert guest.run(f"nc {PEER} 5002 </tmp/sent", 60).strip() == expected


def test_both_ways_at_once_on_small_rings(linked: tuple[LiveGuest, int]) -> None:
    """Rings of 64 run full and empty again and again: transmit stops and goes on."""
    guest, _ = linked
    guest.run("ethtool -G eth0 rx 64 tx 64")
    guest.until("cat /sys/class/net/eth0/carrier", "1")
    receive = "; ".join(f"echo {BYTES} {seed} | nc {PEER} 5001 | sha256sum" for seed in (2, 3))
    send = f"nc {PEER} 5002 </tmp/sent >/tmp/answer"
    text = guest.run(f"{send} & {receive}; wait; cat /tmp/answer; sha256sum </tmp/sent", 120).split()
    assert [text[0], text[2]] == [digest(BYTES, 2), digest(BYTES, 3)]
    assert text[4] == text[5]
    counts = statistics(guest)
    assert counts["rx_bad_completion"] == counts["tx_dropped"] == counts["card_tx_error"] == 0
