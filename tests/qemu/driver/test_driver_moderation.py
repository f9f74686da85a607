# SPDX-License-Identifier: Apache-2.0
"""Moderation of interrupts, of a PF and of a VF: as ethtool says, for both directions, for all queues and for one.

What the card does with received frames is read from the queue's context (PG302, "Completion Context Structure"): how many
interrupts come of it depends on how fast card and machine are simulated.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from driver_function import Function
from driver_machine import NET_LOAD, Link, changed, linked, tool, vfs_apart
from meridian_machine import Hardware, tools
from meridian_machine.guest import PEER

pytestmark = [pytest.mark.qemu, pytest.mark.pcie_link("fast")]
VF_ADDRESS = "10.44.0.10"
FRAMES = 2000
VF_QUEUE = 256  # the first of the first VF
COMMAND, DATA, READ_COMPLETION = 0x844, 0x804, 2 << 5 | 6 << 1
EVERY, TIMER, TIMER_OR_COUNT = 1, 4, 5
FIELDS = ("rx-usecs", "rx-frames", "tx-usecs", "tx-frames")
#: Where the card's tables of 16 values begin.
TIMERS, COUNTERS = 0xA00, 0xA40
#: The card's value for the 256 frames of each of Linux's profiles.
MOST_FRAMES = 192


@contextmanager
def with_vf(link: Link) -> Iterator[None]:
    """A VF is up and has its address."""
    with vfs_apart(link.guest):
        link.guest.run(f"ip netns exec vf0 ip address add {VF_ADDRESS}/24 dev eth1")
        link.guest.run("ip netns exec vf0 ip link set eth1 up")
        link.guest.until("ip netns exec vf0 cat /sys/class/net/eth1/carrier", "^1")
        yield


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    files = {"net_load": tool(tmp_path_factory.mktemp("tools"), NET_LOAD)}
    with linked(tools.SUITES[0], files, Hardware(kernel="iomem=relaxed")) as it, with_vf(it):
        yield it


@pytest.fixture(scope="module", autouse=True)
def at_first(link: Link) -> dict[bool, str]:
    """What ethtool tells before a test has changed it, of the PF and of the VF."""
    return {is_vf: Function(link, is_vf).run("ethtool -c DEV") for is_vf in (False, True)}


@pytest.fixture(params=[False, True], ids=["PF", "VF"])
def function(link: Link, request: pytest.FixtureRequest) -> Iterator[Function]:
    it = Function(link, request.param)
    yield it
    it.run("ethtool -C DEV adaptive-rx on adaptive-tx on rx-usecs 5 rx-frames 64 tx-usecs 16 tx-frames 32")


def shown(text: str) -> list[int]:
    return [int(re.search(rf"\n{name}:\s+(\d+)", text)[1]) for name in FIELDS]


def interrupts(function: Function) -> int:
    """Of its queue pairs."""
    lines = re.findall(
        rf"^ *\d+:((?: +\d+)+) .*{function.device}-\d+$",
        function.guest.run("cat /proc/interrupts"),
        re.MULTILINE,
    )
    assert lines
    return sum(int(number) for line in lines for number in line.split())


@dataclass(frozen=True)
class Mode:
    """When the card interrupts for frames of a queue. usecs and frames: of its tables."""

    trigger: int
    usecs: int
    frames: int


def mode(function: Function) -> Mode:
    """Of the function's first queue."""
    guest, queue = function.guest, VF_QUEUE if function.is_vf else 0
    base = guest.bar(0)

    def read(offset: int) -> int:
        return int(guest.run(f"busybox devmem {base + offset:#x}"), 16)

    guest.run(f"busybox devmem {base + COMMAND:#x} 32 {queue << 7 | READ_COMPLETION:#x}")
    word = read(DATA)
    return Mode(word >> 2 & 7, read(TIMERS + 4 * (word >> 21 & 15)), read(COUNTERS + 4 * (word >> 17 & 15)))


@contextmanager
def one_queue(function: Function) -> Iterator[None]:
    """All that is received comes to the first queue."""

    def have(count: int) -> None:
        function.run(f"ethtool -L DEV combined {count}")
        function.guest.until(f"{function.enter}cat /sys/class/net/{function.device}/carrier", "^1")

    have(1)
    try:
        yield
    finally:
        have(2)


def test_moderation_follows_the_load_at_first_and_until_it_is_told_not_to(
    function: Function, at_first: dict[bool, str]
) -> None:
    assert re.search(r"Adaptive RX: on +TX: on", at_first[function.is_vf])
    assert shown(at_first[function.is_vf]) == [5, 64, 16, 32]
    with one_queue(function):
        deadline = function.guest.deadline(60)
        while (found := mode(function)).frames != MOST_FRAMES:
            assert time.monotonic() < deadline, found
            function.run(f"ping -q -f -c 100 -W 10 {PEER}")
        function.run("ethtool -C DEV adaptive-rx off")
        function.run(f"ping -q -f -c 200 -W 10 {PEER}")
        assert mode(function) == Mode(TIMER_OR_COUNT, 5, 64)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("rx-usecs 50 rx-frames 32", TIMER_OR_COUNT),
        ("rx-usecs 50 rx-frames 0", TIMER),
        ("rx-usecs 50 rx-frames 1", EVERY),
        # Fewer frames than are counted would wait for ever.
        ("rx-usecs 0 rx-frames 32", EVERY),
        ("rx-usecs 0 rx-frames 0", EVERY),
    ],
)
def test_the_receive_queue_has_the_trigger_mode_that_ethtool_sets(
    function: Function, words: str, expected: int
) -> None:
    with one_queue(function):
        function.run(f"ethtool -C DEV adaptive-rx off {words}")
        wanted = [int(word) for word in words.split()[1::2]]
        assert shown(function.run("ethtool -c DEV"))[:2] == wanted
        function.run(f"ping -c 3 -i 0.1 -W 10 {PEER}")
        assert mode(function).trigger == expected


def test_sent_frames_interrupt_less_often(function: Function) -> None:
    taken = {}
    to = function.link.peer.mac.hex(":")
    for usecs in (0, 10000):
        function.run(f"ethtool -C DEV adaptive-tx off tx-usecs {usecs} tx-frames 0")
        before, had = interrupts(function), function.statistics()
        function.run(f"/run/twin/net_load send DEV {to} 100 {FRAMES} 2")
        time.sleep(0.5)
        now = function.statistics()
        sent = sum(now[f"tx{i}_packets"] - had[f"tx{i}_packets"] for i in range(2))
        taken[usecs] = (interrupts(function) - before) / sent
    print(f"interrupts a frame: {taken}")
    assert taken[10000] < taken[0] / 2


def test_every_frame_that_waits_for_the_timer_is_done(function: Function) -> None:
    """The socket's memory comes back, and statistics are whole, though nothing is received meanwhile."""
    function.run("ethtool -C DEV adaptive-tx off tx-usecs 10000 tx-frames 0")
    for _ in range(20):
        had = function.statistics()
        function.run(f"bash -c 'for i in 1 2 3 4 5 6 7; do echo x >/dev/udp/{PEER}/9; done'")
        time.sleep(0.1)
        now = function.statistics()
        assert sum(now[f"tx{i}_packets"] - had[f"tx{i}_packets"] for i in range(2)) >= 7


def test_one_queue_is_moderated_by_itself(function: Function) -> None:
    before = function.run("ethtool --per-queue DEV queue_mask 0x1 --show-coalesce")
    function.run("ethtool -C DEV adaptive-rx off adaptive-tx off")
    function.run("ethtool --per-queue DEV queue_mask 0x2 --coalesce rx-usecs 52 rx-frames 30 tx-usecs 77 tx-frames 9")
    assert shown(function.run("ethtool --per-queue DEV queue_mask 0x2 --show-coalesce")) == [50, 32, 77, 9]
    assert shown(function.run("ethtool --per-queue DEV queue_mask 0x1 --show-coalesce")) == shown(before)
    function.run("ip link set DEV down && ip link set DEV up".replace("&& ip", f"&& {function.enter}ip"))
    assert shown(function.run("ethtool --per-queue DEV queue_mask 0x2 --show-coalesce")) == [50, 32, 77, 9]
    assert function.guest.try_run(
        f"{function.enter}ethtool --per-queue {function.device} queue_mask 0x8 --show-coalesce"
    )[0]
    function.run("ethtool -C DEV rx-usecs 20")
    assert shown(function.run("ethtool --per-queue DEV queue_mask 0x2 --show-coalesce"))[0] == 20


def test_values_of_moderation_beyond_the_limits_are_refused(function: Function) -> None:
    for words in ("rx-usecs 201", "rx-frames 193", "tx-usecs 10001", "tx-frames 4097"):
        assert function.guest.try_run(f"{function.enter}ethtool -C {function.device} {words}")[0], words


# A card that gets times of 3, 6, 9 us and so on, and counts of 5, 10, 15 frames and so on.
KEPT = "qdma->tables = *tables;"
OTHERS = (
    f"{KEPT}\n\tfor (i = 0; i < QDMA_TABLE_ENTRIES; i++) {{\n\t\tqdma->tables.timers[i] = 3 * (i + 1);\n"
    "\t\tqdma->tables.counters[i] = 5 * (i + 1);\n\t}\n\ttables = &qdma->tables;"
)


def test_a_card_with_other_tables_does_the_nearest_of_its_own() -> None:
    """A VF knows them from its PF. The usual tables have 20 us and 24 frames."""
    with (
        changed("qdma/qdma_device.c", re.escape(KEPT), OTHERS) as driver,
        linked(tools.SUITES[0], hardware=Hardware(kernel="iomem=relaxed"), driver=driver) as link,
        with_vf(link),
    ):
        for function in (Function(link, False), Function(link, True)):
            with one_queue(function):
                function.run("ethtool -C DEV adaptive-rx off rx-usecs 20 rx-frames 22")
                assert shown(function.run("ethtool -c DEV"))[:2] == [21, 20]
                function.run(f"ping -c 3 -i 0.1 -W 10 {PEER}")
                assert mode(function) == Mode(TIMER_OR_COUNT, 21, 20)
            for words in ("rx-usecs 49", "rx-frames 81"):
                assert link.guest.try_run(f"{function.enter}ethtool -C {function.device} {words}")[0], words
            function.run("ethtool -C DEV rx-usecs 48 rx-frames 80")
