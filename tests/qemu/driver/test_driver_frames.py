# SPDX-License-Identifier: Apache-2.0
"""Much data through the Linux driver, with Linux at the other end of the wire: nothing is lost or changed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from data_server import DataServer, digest
from driver_machine import Link, link, running
from machine_report import run_folder
from meridian_machine import Setting, Twin, peer, tools
from meridian_machine.guest import PEER, Guest

__all__ = ["link"]
pytestmark = pytest.mark.qemu
BYTES = 600_000
LONGEST = 9582  # the card's 9600 bytes, less header and VLAN tag

CASES = [pytest.param((suite, mtu), id=f"{suite}-{mtu}") for suite in tools.SUITES for mtu in (1500, LONGEST)]


@pytest.fixture(params=CASES, scope="module")
def linked(request: pytest.FixtureRequest) -> Iterator[tuple[Guest, int]]:
    suite, mtu = request.param
    with run_folder() as folder, Twin(Setting(suite=suite), folder) as twin:
        twin.peer.do("ip", "link", "set", peer.interface(0), "mtu", str(mtu))
        with DataServer(twin.peer.enter, PEER), running(twin) as guest:
            guest.run(f"ip link set eth0 mtu {mtu}")
            yield guest, mtu


def test_the_card_tells_of_every_frame_it_has_sent(link: Link) -> None:
    """Though nothing is received, and no later frame asks."""
    for _ in range(8):
        told = link.guest.run("/run/twin/net_load send eth0 02:99:00:00:00:99 64 200 1", 60)
        assert told.startswith("200 ")


def test_frames_as_long_as_the_mtu_pass(linked: tuple[Guest, int]) -> None:
    guest, mtu = linked
    guest.ping(size=mtu - 28)


def test_what_is_received_is_what_was_sent(linked: tuple[Guest, int]) -> None:
    guest, _ = linked
    got = guest.run(f"echo {BYTES} 1 | nc -N {PEER} 5001 | sha256sum", 60)
    assert got.split()[0] == digest(BYTES, 1)
    assert guest.statistics()["card_rx_bytes"] > BYTES


def test_what_is_sent_is_what_is_received(linked: tuple[Guest, int]) -> None:
    guest, _ = linked
    guest.run(f"dd if=/dev/urandom of=/tmp/sent bs={BYTES} count=1")
    expected = guest.run("sha256sum </tmp/sent").split()[0]
    assert guest.run(f"nc -N {PEER} 5002 </tmp/sent", 60).strip() == expected


def test_data_is_whole_both_ways_at_once_on_small_rings(linked: tuple[Guest, int]) -> None:
    """Rings of 64 run full and empty again and again: transmit stops and goes on."""
    guest, _ = linked
    guest.run("ethtool -G eth0 rx 64 tx 64")
    guest.wait_link()
    receive = "; ".join(f"echo {BYTES} {seed} | nc -N {PEER} 5001 | sha256sum" for seed in (2, 3))
    send = f"nc -N {PEER} 5002 </tmp/sent >/tmp/answer"
    text = guest.run(f"{send} & {receive}; wait; cat /tmp/answer; sha256sum </tmp/sent", 120).split()
    assert [text[0], text[2]] == [digest(BYTES, 2), digest(BYTES, 3)]
    assert text[4] == text[5]
    counts = guest.statistics()
    assert counts["rx_bad_completion"] == counts["tx_dropped"] == counts["card_tx_error"] == 0
