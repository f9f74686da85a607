# SPDX-License-Identifier: Apache-2.0
"""`tc red` and `dcb` on a port with two PFs and VFs, in resets and when queues do not start: what is taken away is gone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import pytest
from driver_machine import Link, changed, linked, vfs_apart
from meridian_machine import Hardware, tools
from meridian_machine.guest import PF_DEVICE, Guest

pytestmark = pytest.mark.qemu
PARAMETERS = "/sys/module/meridian/parameters"
RATES = 0x122400  # of port 0 in BAR2, 16 bytes a class: max_rate, max_burst, min_rate, min_burst
MARKS = 0x122600  # of port 0, 8 bytes a class: min and max, slope and weight
QUEUES = 0x120000
PACED = 1 << 2  # of a queue, in its switches
LINE = (300 << 16 | 100, int(0.1 * 2**21) // 200)  # of 25,600 and 76,800 bytes in cells of 256
RED = "limit 1000000 min 25600 max 76800 avpkt 200 probability 0.1 ecn nodrop"  # as README.md has it
#: A card that does not take the n-th queue from now on.
EACH = r"(?s)(static int each\(.*?\n\tu32 i;\n)"
FAILING = (
    "#include <linux/moduleparam.h>\\nstatic int refused;\\nmodule_param(refused, int, 0600);\\n\\g<1>"
    "\\n\\tif (op == QDMA_CONTEXT_CLEAR && refused && !--refused)\\n\\t\\treturn -EBUSY;\\n"
)
#: A PF that is slow about coming back from a reset.
SLOW = (r"(\terror = meridian_start_function\(m\);\n)", "\tssleep(3);\n\\g<1>")


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    """PFs 0 and 2 are of port 0, PF 1 of port 1."""
    hardware = Hardware(device="pfs=3", kernel="iomem=relaxed")
    shell = ("--ports", "2", "--egress", "pool")
    with (
        changed("qdma/qdma_queue.c", EACH, FAILING) as failing,
        changed("linux/functions/meridian_recovery.c", *SLOW, source=failing) as driver,
        linked(tools.SUITES[0], hardware=hardware, driver=driver, shell=shell) as it,
    ):
        yield it


@pytest.fixture(autouse=True)
def as_loaded(link: Link) -> Iterator[None]:
    link.guest.run("ip link set eth1 up; ip link set eth2 up")
    yield
    link.guest.run("rmmod meridian")
    link.guest.load()
    link.guest.ping()
    link.guest.check()


def words(guest: Guest, first: int, count: int) -> list[int]:
    base = guest.bar(2) + first
    text = guest.run(f"for i in $(seq 0 4 {4 * count - 1}); do busybox devmem $(({base} + i)); done")
    return [int(line, 16) for line in text.split()]


def lines(guest: Guest) -> set[tuple[int, int]]:
    """The two words by which each class of port 0 marks frames."""
    found = words(guest, MARKS, 16)
    return set(zip(found[::2], found[1::2], strict=True))


def red(guest: Guest, dev: str = "eth0", size: str = RED) -> str:
    return guest.run(f"tc qdisc replace dev {dev} root handle 1: red {size} && tc qdisc show dev {dev}")


def paced_of(guest: Guest, numbers: Iterable[int]) -> set[int]:
    """Those of the queues that are held to the rates of their functions."""
    base = guest.bar(2) + QUEUES
    ordered = sorted(numbers)
    text = guest.run("".join(f"busybox devmem {base + 4 * number};" for number in ordered), 120)
    return {number for number, line in zip(ordered, text.split(), strict=True) if int(line, 16) & PACED}


def test_the_queues_of_all_pfs_of_a_port_start_anew_when_one_of_them_sets_its_classes(link: Link) -> None:
    """Those of the other port stay paced, and those of VFs."""
    guest = link.guest
    with vfs_apart(guest, pfs=3):
        guest.run("ip netns exec vf0 ip link set eth3 up")
        guest.until("ip netns exec vf0 cat /sys/class/net/eth3/carrier", "^1")
        paced = paced_of(guest, range(512))
        of_pfs = {0, 1, 64, 65, 128, 129}
        of_vfs = paced - of_pfs
        assert of_pfs < paced and of_vfs
        guest.run("dcb ets set dev eth0 tc-tsa all:strict")
        for _ in range(20):
            if (now := paced_of(guest, paced)) == {64, 65} | of_vfs:
                break
            guest.run("sleep 0.2")
        assert now == {64, 65} | of_vfs
        guest.ping()


def test_the_card_does_what_one_pf_of_a_port_says_and_leaves_another_to_the_kernel(link: Link) -> None:
    guest = link.guest
    assert "offloaded" in red(guest)
    assert "offloaded" not in red(guest, "eth2", RED.replace("76800", "51200"))
    assert "another PF of the port" in guest.run("dmesg | tail -n 5") and lines(guest) == {LINE}
    guest.run("tc qdisc del dev eth2 root")
    assert lines(guest) == {LINE} and "offloaded" in guest.run("tc qdisc show dev eth0")
    guest.run("tc qdisc del dev eth0 root")
    assert lines(guest) == {(0, 0)}
    assert "offloaded" in red(guest, "eth2") and lines(guest) == {LINE}


def test_the_offload_is_not_switched_off_while_the_card_marks(link: Link) -> None:
    """The kernel would not tell the card any more that the discipline is gone."""
    guest = link.guest
    red(guest)
    status, _ = guest.try_run("ethtool -K eth0 hw-tc-offload off")
    guest.run("tc qdisc del dev eth0 root")
    assert lines(guest) == {(0, 0)}
    assert status, "the offload of a discipline that the card has is switched off"
    assert "hw-tc-offload: off" in guest.run("ethtool -k eth0"), "it is off once the card has ended"
    assert "offloaded" not in red(guest) and lines(guest) == {(0, 0)}
    guest.run("tc qdisc del dev eth0 root; ethtool -K eth0 hw-tc-offload on")
    assert "offloaded" in red(guest)


def test_a_discipline_that_the_card_cannot_begin_leaves_no_marks(link: Link) -> None:
    """The first setting of a port has its queues start anew, and here they do not."""
    guest = link.guest
    guest.run(f"echo 1 >{PARAMETERS}/refused")
    assert "offloaded" not in red(guest)
    assert guest.run(f"cat {PARAMETERS}/refused").strip() == "0"
    guest.run("ip link set eth0 down; ip link set eth0 up")
    guest.wait_link()
    assert lines(guest) == {(0, 0)}
    guest.run("tc qdisc del dev eth0 root")


def test_a_discipline_that_is_shown_and_taken_away_in_a_reset_is_gone_behind_it(link: Link) -> None:
    guest = link.guest
    red(guest)
    away = "! ethtool -g eth0 >/dev/null 2>&1"
    text = guest.run(
        f"echo 1 >{PF_DEVICE}/reset & for i in $(seq 1000); do {away} && break; done\n"
        f"tc -s qdisc show; tc qdisc del dev eth0 root; {away} && echo in the reset; wait"
    )
    assert "in the reset" in text
    assert re.search(r"dev eth0.* offloaded", text) and "dev eth2" in text, text
    guest.wait_link()
    assert lines(guest) == {(0, 0)}
    guest.ping()


def test_a_probability_that_the_card_rounds_to_none_is_left_to_the_kernel(link: Link) -> None:
    guest = link.guest
    size = "limit 6000000 min 25600 max 300000 avpkt 1000 burst 118 probability 0.0005 ecn nodrop"
    assert "offloaded" not in red(guest, size=size) and lines(guest) == {(0, 0)}
    assert "the card takes a probability from 1/2097152 on for each 256 bytes" in guest.run("dmesg | tail -n 5")


def test_rates_that_others_have_set_are_kept_or_taken_away_whole(link: Link) -> None:
    """A setting of dcb keeps highest rates to the step of the card, and leaves no lowest rate, which it does not show."""
    guest = link.guest
    base = guest.bar(2) + RATES
    steps = [1, 2, 1000, 1001, 0, 0, 131071, 12345]
    for number, rate in enumerate(steps):
        for word, value in enumerate((rate, 256, 300, 256)):
            guest.run(f"busybox devmem $(({base} + {16 * number + 4 * word})) 32 {value}")
    guest.run("dcb ets set dev eth0 tc-tsa all:strict")
    found = words(guest, RATES, 32)
    assert found[::4] == steps
    assert found[2::4] == found[3::4] == [0] * 8
