# SPDX-License-Identifier: Apache-2.0
"""What a VF of the Linux driver receives when its PF does not take all that Linux wants."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from driver_machine import Link, changed, linked, vfs_apart
from meridian_machine import tools
from peer import ethernet

pytestmark = pytest.mark.qemu
KIND = 0x88B5
STRANGER = bytes.fromhex("02cccccccc03")
GROUPS = 40  # more than a PF keeps of a VF


# A PF whose driver lets all messages lie.
HEAR = r"(?s)(static void hear_all\(.*?\n\tu32 source, i;\n)"
DEAF_HEAR = (
    "#include <linux/moduleparam.h>\\nstatic bool deaf;\\nmodule_param(deaf, bool, 0600);\\n\\g<1>"
    "\\n\\tif (deaf)\\n\\t\\treturn;\\n"
)
DEAF = "/sys/module/meridian/parameters/deaf"


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    with (
        changed("qdma/qdma_service.c", HEAR, DEAF_HEAR) as driver,
        linked(tools.SUITES[0], driver=driver) as it,
        vfs_apart(it.guest),
    ):
        run(it, "ip link set eth1 up")
        it.guest.until("ip netns exec vf0 ip link show eth1", "LOWER_UP")
        yield it


def run(link: Link, command: str) -> str:
    return link.guest.run(f"ip netns exec vf0 {command}")


def delivered(link: Link) -> int:
    return link.guest.statistics("eth1", "ip netns exec vf0 ")["card_rx_delivered"]


def receives(link: Link, to: bytes) -> bool:
    """Whether frames to that address come. One to the VF's own address is behind them."""
    own = link.guest.address("eth1", "ip netns exec vf0 ")
    before = delivered(link)
    for address in (to, to, to, own):
        link.peer.wire.send(ethernet(address, link.peer.mac, KIND, bytes(80)))
    deadline = time.monotonic() + 20
    while delivered(link) == before and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    return delivered(link) - before >= 4


def settles(link: Link, to: bytes, wanted: bool) -> bool:
    """The VF may take a moment."""
    return any(receives(link, to) == wanted for _ in range(8))


def test_a_vf_that_was_promiscuous_before_it_was_trusted_is_promiscuous_then(link: Link) -> None:
    guest = link.guest
    run(link, "ip link set eth1 promisc on")
    assert not receives(link, STRANGER)
    for _ in range(2):
        guest.run("ip link set eth0 vf 0 trust on")
        assert settles(link, STRANGER, True)
        guest.run("ip link set eth0 vf 0 trust off")
        assert settles(link, STRANGER, False)
    run(link, "ip link set eth1 down")
    guest.run("ip link set eth0 vf 0 trust on")
    run(link, "ip link set eth1 up")
    guest.until("ip netns exec vf0 ip link show eth1", "LOWER_UP")
    assert settles(link, STRANGER, True)
    run(link, "ip link set eth1 promisc off")
    assert settles(link, STRANGER, False)
    guest.run("ip link set eth0 vf 0 trust off")


def group(number: int) -> bytes:
    return bytes([0x01, 0x00, 0x5E, 0x50, 0x00, number])


def change_groups(link: Link, verb: str, numbers: range) -> None:
    script = "; ".join(f"ip maddress {verb} {group(number).hex(':')} dev eth1" for number in numbers)
    run(link, f"sh -c '{script}'")


def test_a_trusted_vf_with_more_groups_than_its_pf_keeps_receives_all_multicast(link: Link) -> None:
    guest = link.guest
    guest.run("ip link set eth0 vf 0 trust on")
    lines = guest.log().count("\n")
    change_groups(link, "add", range(GROUPS))
    for number in (0, GROUPS - 1):
        assert settles(link, group(number), True), number
    assert receives(link, group(GROUPS + 1)), "it is all multicast"
    log = guest.log().splitlines()[lines:]
    assert len(log) < 5 and any("all multicast" in line for line in log), "\n".join(log)
    change_groups(link, "del", range(20))
    assert settles(link, group(0), False), "the rest has room"
    assert receives(link, group(GROUPS - 1))
    change_groups(link, "del", range(20, GROUPS))
    assert settles(link, group(GROUPS - 1), False)
    guest.run("ip link set eth0 vf 0 trust off")


def test_a_vf_without_trust_and_with_too_many_groups_says_so_once(link: Link) -> None:
    guest = link.guest
    lines = guest.log().count("\n")
    change_groups(link, "add", range(GROUPS))
    assert settles(link, group(0), True)
    log = guest.log().splitlines()[lines:]
    assert sum("does not take" in line for line in log) == 1 and len(log) < 5, "\n".join(log)
    guest.run("ip link set eth0 vf 0 trust on")
    assert settles(link, group(GROUPS - 1), True), "with trust they all come"
    guest.run("ip link set eth0 vf 0 trust off")
    change_groups(link, "del", range(GROUPS))
    assert settles(link, group(0), False)
    assert not re.search("refuses", "\n".join(guest.log().splitlines()[lines:]))


def test_a_pf_that_was_silent_is_told_when_it_answers_again(link: Link) -> None:
    """Of the first address it hears late; the VF has not even asked for the others. Nothing changes afterwards."""
    guest, numbers = link.guest, range(100, 103)
    guest.run(f"dmesg -C; echo 1 >{DEAF}")
    change_groups(link, "add", numbers)
    guest.until("dmesg", "the PF does not answer", 60)
    guest.run(f"sleep 5; echo 0 >{DEAF}")
    deadline = time.monotonic() + 60
    while missing := [number for number in numbers if not receives(link, group(number))]:
        assert time.monotonic() < deadline, f"groups {missing} do not come"
    change_groups(link, "del", numbers)
    assert settles(link, group(numbers[-1]), False)
