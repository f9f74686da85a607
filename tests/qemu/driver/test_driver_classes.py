# SPDX-License-Identifier: Apache-2.0
"""Traffic classes of a port by `dcb`, on a card with a pool of cells: set, refused, counted, and as after reset behind it."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from driver_machine import Link, linked, tool, vfs_apart
from meridian_machine import Hardware, tools
from meridian_machine.guest import PEER, Guest

pytestmark = pytest.mark.qemu
CLASSES = 0x122040  # of port 0, 16 bytes a port, in BAR2: classes, strict, two words of weights
RATE_UNIT = 0x122010
RATES = 0x122400  # of port 0: max_rate, max_burst, min_rate, min_burst of each class
MARKS = 0x122600  # of port 0, 8 bytes a class: min and max, slope and weight
PACED = 1 << 2  # of a queue, in its switches
QUEUES = 0x120000
AFTER_RESET = [0x76543210, 0xFF, 0x01010101, 0x01010101]
SHARED = "tc-tsa all:strict 0:ets 1:ets tc-bw all:0 0:70 1:30 prio-tc all:0 4:1 5:2 6:6 7:7"
WRITTEN = [0x76210000, 0xFC, 0x01011E46, 0x01010101]
VID, PRIORITY = 9, 5


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    hardware = Hardware(device="pfs=2", kernel="iomem=relaxed")
    files = {"dcb_tool": tool(tmp_path_factory.mktemp("dcb"), Path(__file__).with_name("dcb_tool.c"))}
    with linked(tools.SUITES[0], files, hardware, shell=("--ports", "2", "--egress", "pool")) as it:
        yield it


@pytest.fixture(autouse=True)
def as_loaded(link: Link) -> Iterator[None]:
    yield
    link.guest.run("rmmod meridian")
    link.guest.load()
    link.guest.ping()
    link.guest.check()


def ets(guest: Guest) -> dict[str, Any]:
    return json.loads(guest.run("dcb -j ets show dev eth0"))


def words(guest: Guest, port: int = 0) -> list[int]:
    base = guest.bar(2) + CLASSES + 16 * port
    text = guest.run(f"for i in 0 4 8 12; do busybox devmem $(({base} + i)); done")
    return [int(line, 16) for line in text.split()]


def rates(guest: Guest) -> list[list[int]]:
    """The words of each class."""
    base = guest.bar(2) + RATES
    text = guest.run(f"for i in $(seq 0 4 124); do busybox devmem $(({base} + i)); done")
    found = [int(line, 16) for line in text.split()]
    return [found[i : i + 4] for i in range(0, 32, 4)]


def paced_queues(guest: Guest) -> list[int]:
    """Those of the first four of each of two PFs that are held to the rates of their functions."""
    base = guest.bar(2) + QUEUES
    numbers = [64 * pf + k for pf in range(2) for k in range(4)]
    text = guest.run("".join(f"busybox devmem {base + 4 * number};" for number in numbers))
    return [number for number, line in zip(numbers, text.split(), strict=True) if int(line, 16) & PACED]


def test_all_traffic_classes_are_strict_at_first(link: Link) -> None:
    found = ets(link.guest)
    assert found["ets_cap"] == 8
    assert found["tc_tsa"] == ["strict"] * 8 and found["tc_bw"] == [0] * 8
    assert found["prio_tc"] == list(range(8))
    assert words(link.guest) == AFTER_RESET


def test_weights_and_priorities_that_dcb_sets_are_shown_and_written(link: Link) -> None:
    link.guest.run(f"dcb ets set dev eth0 {SHARED}")
    found = ets(link.guest)
    assert found["tc_tsa"] == ["ets", "ets", *["strict"] * 6] and found["tc_bw"] == [70, 30, *[0] * 6]
    assert found["prio_tc"] == [0, 0, 0, 0, 1, 2, 6, 7]
    assert words(link.guest) == WRITTEN and words(link.guest, 1) == AFTER_RESET


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("tc-tsa all:ets tc-bw all:12", "sum to 96%"),
        ("tc-tsa all:ets tc-bw all:0 0:60 1:60", "sum to 120%"),
        ("tc-tsa all:strict 3:cbs", "not supported"),
    ],
)
def test_a_setting_of_classes_that_the_card_cannot_have_is_refused(link: Link, wish: str, said: str) -> None:
    link.guest.run(f"dcb ets set dev eth0 {SHARED}")
    status, text = link.guest.try_run(f"dcb ets set dev eth0 {wish}")
    assert status and said in text
    assert words(link.guest) == WRITTEN


def test_weights_that_others_have_set_are_shown_in_percent_and_stay(link: Link) -> None:
    """Until somebody sets them by dcb."""
    guest = link.guest
    base = guest.bar(2) + CLASSES
    guest.run(f"busybox devmem $(({base} + 4)) 32 0xf8; busybox devmem $(({base} + 8)) 32 0x00020202")
    found = ets(guest)
    assert found["tc_bw"] == [34, 33, 33, *[0] * 5] and found["tc_tsa"] == [*["ets"] * 3, *["strict"] * 5]
    guest.run(f"busybox devmem $(({base} + 8)) 32 0x000001c8")
    assert ets(guest)["tc_bw"] == [99, 1, *[0] * 6], "a class with a share of less than one percent has one"
    guest.run(f"busybox devmem $(({base} + 8)) 32 0x00020202")
    guest.run("ip link set eth0 down; ip link set eth0 up")
    assert words(guest) == [0x76543210, 0xF8, 0x00020202, 0x01010101]
    guest.run(f"dcb ets set dev eth0 {SHARED}")


def test_each_class_counts_its_frames(link: Link) -> None:
    """The priority of a frame is that of its tag."""
    guest = link.guest
    guest.run(f"dcb ets set dev eth0 {SHARED}")
    guest.run(f"ip link add link eth0 name tagged type vlan id {VID} egress-qos-map 0:{PRIORITY}")
    try:
        before = guest.statistics()
        guest.run("ip link set tagged up; ip address add 10.45.0.2/24 dev tagged")
        guest.try_run("arping -c 5 -w 3 -I tagged 10.45.0.1 || ping -c 3 -W 1 10.45.0.1")
        guest.ping(3)
        after = guest.statistics()
    finally:
        guest.run("ip link del tagged")
    grown = [after[f"port_tx_class{n}_frames"] - before[f"port_tx_class{n}_frames"] for n in range(8)]
    assert grown[0] >= 3 and grown[2] >= 1, grown
    assert [grown[n] for n in (1, 3, 4, 5, 6, 7)] == [0] * 6, grown
    for n in (0, 2):
        assert after[f"port_tx_class{n}_bytes"] - before[f"port_tx_class{n}_bytes"] >= 42 * grown[n]
        assert after[f"port_tx_class{n}_lost"] == before[f"port_tx_class{n}_lost"]


def of_dcb(kbits: int) -> str:
    """A rate as the dcb of Debian 12 and 13 takes it, which hands bytes a second to the kernel as kbit/s."""
    return f"{8 * kbits}bit"


def test_a_highest_rate_that_dcb_sets_is_shown_and_written(link: Link) -> None:
    """Also beside weights, which it leaves as they are; and each of them leaves the other."""
    guest = link.guest
    unit = int(guest.run(f"busybox devmem $(({guest.bar(2)} + {RATE_UNIT}))"), 16)
    wishes = [0, 0, 5_000_000, 0, 0, 0, 0, 600]
    assert rates(guest) == [[0] * 4] * 8
    guest.run(f"dcb maxrate set dev eth0 tc-maxrate all:0 2:{of_dcb(wishes[2])} 7:{of_dcb(wishes[7])}")
    guest.run(f"dcb ets set dev eth0 {SHARED}")
    found = rates(guest)
    assert found == [[kbits * 1000 // unit, 256 * bool(kbits), 0, 0] for kbits in wishes] and words(guest) == WRITTEN
    shown = json.loads(guest.run("dcb -j maxrate show dev eth0"))["tc_maxrate"]
    for wish, kbits in zip(wishes, shown, strict=True):
        assert wish - unit / 1000 - 1 < kbits <= wish and bool(kbits) == bool(wish), shown
    guest.run("dcb maxrate set dev eth0 tc-maxrate 2:0")
    assert rates(guest)[2] == [0] * 4 and rates(guest)[7] == found[7]
    guest.run("ip link set eth0 down; ip link set eth0 up")
    assert rates(guest)[7] == found[7]
    guest.run("rmmod meridian")
    guest.load()
    assert rates(guest) == [[0] * 4] * 8


@pytest.mark.parametrize("kbits", [488, 64_000_000, 2**60])
def test_a_highest_rate_that_the_card_cannot_hold_is_refused(link: Link, kbits: int) -> None:
    guest = link.guest
    guest.run(f"dcb maxrate set dev eth0 tc-maxrate all:{of_dcb(63_999_000)} 3:{of_dcb(489)}")
    before = rates(guest)
    status, text = guest.try_run(f"dcb maxrate set dev eth0 tc-maxrate all:0 3:{of_dcb(kbits)}")
    assert status and "Invalid argument" in text
    said = f"traffic class 3: the card holds a class to 489 to 63999478 kbit/s, and not to {kbits}"
    assert said in guest.run("dmesg | tail -n 5")
    assert rates(guest) == before


def test_queues_of_a_pf_whose_port_has_classes_are_not_paced(link: Link) -> None:
    """Those of the other port are, and those of the first again with the next driver."""
    guest = link.guest
    guest.run("ip link set eth1 up")
    assert paced_queues(guest) == [0, 1, 64, 65]
    guest.run(f"dcb ets set dev eth0 {SHARED}")
    guest.ping(3)
    assert paced_queues(guest) == [64, 65] and words(guest, 1) == AFTER_RESET
    guest.run("ip link set eth0 down; ip link set eth0 up")
    guest.wait_link()
    guest.ping(3)
    assert paced_queues(guest) == [64, 65]
    guest.run("dcb ets set dev eth0 tc-tsa all:strict")
    guest.ping(3)
    assert paced_queues(guest) == [64, 65]
    guest.run("rmmod meridian")
    guest.load()
    guest.run("ip link set eth1 up")
    assert paced_queues(guest) == [0, 1, 64, 65]


def test_a_reset_keeps_the_classes_and_the_removal_of_the_driver_does_not(link: Link) -> None:
    guest = link.guest
    guest.run(f"dcb ets set dev eth0 {SHARED}")
    guest.run("echo 1 >/sys/bus/pci/devices/0000:01:00.0/reset; sleep 1")
    guest.wait_link()
    guest.ping()
    assert words(guest) == WRITTEN
    guest.run("ip link set eth0 down; ip link set eth0 up")
    assert words(guest) == WRITTEN
    guest.run("rmmod meridian")
    guest.load()
    assert words(guest) == AFTER_RESET and ets(guest)["prio_tc"] == list(range(8))


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("pfc 8", 0),
        ("pfc 0", 0),
        ("ets 12 2 0", errno.EINVAL),  # 96 percent
        ("ets 101 2 0", errno.EINVAL),
        ("ets 0 0 8", errno.EINVAL),  # no such class
        ("ets 0 1 0", errno.EOPNOTSUPP),  # a credit-based shaper
        ("ets 0 255 0", errno.EOPNOTSUPP),  # a vendor's own
    ],
)
def test_a_program_that_checks_less_than_dcb_is_refused(link: Link, message: str, error: int) -> None:
    assert int(link.guest.run(f"/run/twin/dcb_tool eth0 {message}")) == error
    assert words(link.guest) == AFTER_RESET


def test_all_priorities_may_be_in_one_strict_class(link: Link) -> None:
    assert link.guest.run("/run/twin/dcb_tool eth0 ets 0 0 3").strip() == "0"
    assert words(link.guest) == [0x33333333, *AFTER_RESET[1:]]


def test_a_vf_cannot_see_or_set_the_classes(link: Link) -> None:
    guest = link.guest
    with vfs_apart(guest, pfs=2):
        for question in ("ets show dev eth2", "maxrate show dev eth2", "maxrate set dev eth2 tc-maxrate 0:1gbit"):
            status, text = guest.try_run(f"ip netns exec vf0 dcb {question}")
            assert status and "not supported" in text
        assert "port_tx_class0_frames" not in guest.statistics("eth2", "ip netns exec vf0 ")


def lines(guest: Guest, port: int = 0) -> set[tuple[int, int]]:
    """The two words by which each class of a port marks frames."""
    base = guest.bar(2) + MARKS + 64 * port
    text = guest.run(f"for i in $(seq 0 4 60); do busybox devmem $(({base} + i)); done")
    found = [int(line, 16) for line in text.split()]
    return set(zip(found[::2], found[1::2], strict=True))


def red(guest: Guest, more: str = "ecn nodrop", dev: str = "eth0", least: int = 25600, most: int = 76800) -> str:
    average = max(50, least // 128)
    size = f"limit 1000000 min {least} max {most} avpkt {average} burst {2 * least // average + 4} probability 0.1"
    return guest.run(f"tc qdisc replace dev {dev} root handle 1: red {size} {more} && tc qdisc show dev {dev}")


LINE = (300 << 16 | 100, int(0.1 * 2**21) // 200)  # of 25,600 and 76,800 bytes in cells of 256


def test_random_early_detection_is_done_by_the_card(link: Link) -> None:
    guest = link.guest
    assert lines(guest) == {(0, 0)}
    assert "offloaded" in red(guest)
    assert lines(guest) == {LINE} and lines(guest, 1) == {(0, 0)}
    guest.ping(3)
    guest.run(f"dcb ets set dev eth0 {SHARED}; dcb maxrate set dev eth0 tc-maxrate 3:{of_dcb(1_000_000)}")
    assert lines(guest) == {LINE} and words(guest) == WRITTEN
    guest.run("ip link set eth0 down; ip link set eth0 up")
    guest.wait_link()
    assert lines(guest) == {LINE}
    assert "offloaded" in red(guest, least=51200, most=51200)
    assert lines(guest) == {(200 << 16 | 200, 0)}
    assert '"offloaded": true' in guest.run("tc -j -p qdisc show dev eth0")
    guest.run("tc qdisc del dev eth0 root")
    assert lines(guest) == {(0, 0)} and words(guest) == WRITTEN
    guest.ping(3)


@pytest.mark.parametrize(
    ("more", "least", "most", "said"),
    [
        ("ecn", 25600, 76800, "the card marks and drops nothing"),
        ("", 25600, 76800, "the card marks and drops nothing"),
        ("ecn nodrop harddrop", 25600, 76800, ""),  # the kernel itself refuses it, or the card does
        ("ecn nodrop", 25600, 17_000_000, "the card takes a max from 1 to 16776960 bytes"),
        ("ecn nodrop", 25600, 25856, "the card takes a probability up to 1/16 for each 256 bytes"),
    ],
)
def test_random_early_detection_that_the_card_cannot_do_is_left_to_the_kernel(
    link: Link, more: str, least: int, most: int, said: str
) -> None:
    """And what the card did before for it ends."""
    guest = link.guest
    red(guest)
    assert lines(guest) == {LINE}
    average = max(200, most // 2000)
    size = f"limit 60000000 min {least} max {most} avpkt {average} burst {2 * least // average + 4} probability 0.1"
    status, _ = guest.try_run(f"tc qdisc replace dev eth0 root handle 1: red {size} {more}")
    if status:
        assert "harddrop" in more and lines(guest) == {LINE}
        return
    assert "offloaded" not in guest.run("tc qdisc show dev eth0")
    assert said in guest.run("dmesg | tail -n 5")
    assert lines(guest) == {(0, 0)}
    guest.ping(3)


def test_a_discipline_that_is_no_root_or_of_a_vf_is_left_to_the_kernel(link: Link) -> None:
    guest = link.guest
    inner = "red limit 1000000 min 25600 max 76800 avpkt 200 probability 0.1 ecn nodrop"
    guest.run(
        f"tc qdisc replace dev eth0 root handle 1: prio && tc qdisc replace dev eth0 parent 1:1 handle 10: {inner}"
    )
    assert "offloaded" not in guest.run("tc qdisc show dev eth0") and lines(guest) == {(0, 0)}
    with vfs_apart(guest, pfs=2):
        guest.run(f"ip netns exec vf0 tc qdisc replace dev eth2 root handle 1: {inner}")
        assert "offloaded" not in guest.run("ip netns exec vf0 tc qdisc show dev eth2")
        assert lines(guest) == {(0, 0)}
    guest.run("tc qdisc del dev eth0 root")


def test_packets_that_the_card_marks_are_counted_by_tc(link: Link) -> None:
    """A class that is held to a rate fills, and each packet that finds something in it is marked."""
    guest = link.guest
    guest.run(f"dcb maxrate set dev eth0 tc-maxrate 0:{of_dcb(200_000)}")
    assert "offloaded" in red(guest, least=256, most=256)
    before = guest.statistics()["port_tx_class0_marked"]
    for tos, marks in ((0, False), (2, True)):
        guest.try_run(f"ping -l 50 -c 60 -i 0.01 -w 20 -s 1000 -Q {tos} {PEER}")
        marked = guest.statistics()["port_tx_class0_marked"] - before
        assert (marked > 5) == marks and (marked > 0) == marks
    shown = guest.run("tc -s qdisc show dev eth0")
    assert f"marked {marked} " in shown and f"overlimits {marked} " in shown
    assert f"marked {marked} " in guest.run("tc -s qdisc show dev eth0"), "marks are counted twice"
