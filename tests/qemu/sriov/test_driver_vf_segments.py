# SPDX-License-Identifier: Apache-2.0
"""A VF whose PF has another driver from now on, which gives it no descriptors for frames in pieces: Linux cuts its frames then."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driver_machine import Link, linked, vfs_apart
from faulty_driver import faulty, parameter
from meridian_machine import tools

pytestmark = pytest.mark.qemu
PF, VF = "10.48.0.1", "10.48.0.2"
ENTER = "ip netns exec vf0 "


@pytest.fixture(scope="module")
def link(own_dma: bool) -> Iterator[Link]:
    if not own_dma:
        pytest.skip("this card cuts nothing")
    with faulty() as driver, linked(tools.SUITES[0], driver=driver) as it, vfs_apart(it.guest):
        it.guest.run(f"ip address add {PF}/24 dev eth0")
        it.guest.run(f"{ENTER}ip address add {VF}/24 dev eth1")
        it.guest.run(f"{ENTER}ip link set eth1 up")
        it.guest.run("head -c 400000 /dev/urandom >/tmp/out")
        yield it


def start_anew(link: Link, apart: int) -> None:
    """The VF comes up with a PF that has forgotten it, as one whose driver is new."""
    link.guest.run(f"{ENTER}ip link set eth1 down")
    link.guest.run(f"echo {apart} >{parameter('apart')}; echo 1 >{parameter('forgetful')}")
    link.guest.run(f"{ENTER}ip link set eth1 up")
    link.guest.until(f"{ENTER}cat /sys/class/net/eth1/carrier", "^1")


def stream(link: Link) -> int:
    """From the VF to the PF; how many frames the card has cut for it."""
    before = link.guest.statistics("eth1", ENTER)
    link.guest.run("timeout 60 nc -l -N 7000 >/tmp/in & echo $! >/tmp/nc.pid")
    link.guest.until("ss -Htln", ":7000 ")
    link.guest.run(f"{ENTER}timeout 60 nc -N {PF} 7000 </tmp/out")
    link.guest.run("while [ -e /proc/$(cat /tmp/nc.pid) ]; do sleep 0.05; done; cmp /tmp/in /tmp/out")
    after = link.guest.statistics("eth1", ENTER)
    for name in ("tx_dropped", "card_tx_error", "card_tx_oversize"):
        assert after[name] == before[name], name
    return after["tx_segmented"] - before["tx_segmented"]


def test_the_card_cuts_only_while_the_pf_grants_pieces(link: Link) -> None:
    names = ("tx-tcp-segmentation", "tx-tcp6-segmentation", "tx-udp-segmentation")

    def has(word: str) -> bool:
        features = link.guest.run(f"{ENTER}ethtool -k eth1")
        return all(f"{name}: {word}\n" in features for name in names)

    assert has("on") and stream(link) > 0
    start_anew(link, apart=1)
    assert has("off [requested on]") and stream(link) == 0
    # Rings that were made for no pieces hold none when the PF would give them.
    start_anew(link, apart=0)
    assert has("off [requested on]") and stream(link) == 0
    link.guest.run(f"{ENTER}ethtool -G eth1 tx 256")
    assert has("on") and stream(link) > 0
