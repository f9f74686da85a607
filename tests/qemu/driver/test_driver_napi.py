# SPDX-License-Identifier: Apache-2.0
"""What Linux knows of the queues' NAPI, interrupts and page pools, of a PF and of a VF."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from driver_function import Function
from driver_machine import Link, linked, tool, vfs_apart
from meridian_machine import tools
from meridian_machine.guest import PEER
from netdev_family import (
    NAPI,
    NAPI_GET,
    PAGE_POOL_GET,
    POOL,
    QUEUE,
    QUEUE_GET,
    RX,
    TOOL,
    TX,
    ask,
)

pytestmark = pytest.mark.qemu
PAIRS = 2


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    folder = tmp_path_factory.mktemp("tools")
    with (
        linked(tools.SUITES[0], {TOOL.stem: tool(folder, TOOL)}) as it,
        vfs_apart(it.guest),
    ):
        it.guest.run("ip netns exec vf0 ip address add 10.44.0.10/24 dev eth1")
        it.guest.run("ip netns exec vf0 ip link set eth1 up")
        it.guest.until("ip netns exec vf0 cat /sys/class/net/eth1/carrier", "^1")
        yield it


@pytest.fixture(params=[False, True], ids=["PF", "VF"])
def function(link: Link, request: pytest.FixtureRequest) -> Function:
    return Function(link, request.param)


def interrupts(function: Function) -> list[int]:
    """Linux's number of each pair's."""
    text = function.guest.run("cat /proc/interrupts")
    found = re.findall(rf"^ *(\d+):.* {function.device}-(\d+)$", text, re.MULTILINE)
    return [int(number) for number, _ in sorted(found, key=lambda one: int(one[1]))]


def napis(function: Function) -> dict[tuple[int, int], int]:
    """The NAPI of each queue, by kind and index."""
    return {(queue["type"], queue["id"]): queue.get("napi", 0) for queue in ask(function, QUEUE_GET, QUEUE)}


def test_each_queue_has_its_napi_and_each_napi_its_interrupt(
    function: Function,
) -> None:
    polled = napis(function)
    assert set(polled) == {(kind, index) for kind in (RX, TX) for index in range(PAIRS)}
    assert all(polled[RX, index] == polled[TX, index] != 0 for index in range(PAIRS))
    known = {napi["id"]: napi.get("irq") for napi in ask(function, NAPI_GET, NAPI)}
    assert [known[polled[RX, index]] for index in range(PAIRS)] == interrupts(function)


def test_queues_and_napis_go_and_come_with_the_channels(function: Function) -> None:
    function.run("ethtool -L DEV combined 1")
    assert set(napis(function)) == {(RX, 0), (TX, 0)}
    function.run("ip link set DEV down")
    assert ask(function, QUEUE_GET, QUEUE) == [] and ask(function, NAPI_GET, NAPI) == []
    function.run("ip link set DEV up")
    function.run(f"ethtool -L DEV combined {PAIRS}")
    assert len(napis(function)) == 2 * PAIRS and all(napis(function).values())
    function.guest.until(f"{function.enter}cat /sys/class/net/{function.device}/carrier", "^1")
    function.run(f"ping -c 2 -i 0.1 -W 10 {PEER}")


def test_each_page_pool_belongs_to_the_napi_of_its_queue(function: Function) -> None:
    there = [pool for pool in ask(function, PAGE_POOL_GET, POOL) if "detached" not in pool]
    assert {pool.get("napi") for pool in there} == {napis(function)[RX, index] for index in range(PAIRS)}


def test_each_pair_has_a_processor(function: Function) -> None:
    spread = [function.run(f"cat /proc/irq/{number}/smp_affinity_list").strip() for number in interrupts(function)]
    assert sorted(spread) == ["0", "1"]
    masks = [int(function.run(f"cat /sys/class/net/DEV/queues/tx-{index}/xps_cpus"), 16) for index in range(PAIRS)]
    assert [mask == 1 << int(cpu) for mask, cpu in zip(masks, spread, strict=True)] == [True] * PAIRS


def test_the_processor_that_a_user_gives_an_interrupt_stays(function: Function) -> None:
    """With older kernels it is the driver that remembers it."""

    def say(processors: tuple[str, ...]) -> None:
        for number, processor in zip(interrupts(function), processors, strict=True):
            function.guest.run(f"echo {processor} >/proc/irq/{number}/smp_affinity_list")
        function.guest.run("sleep 0.5")

    def said() -> tuple[str, ...]:
        numbers = interrupts(function)
        return tuple(function.guest.run(f"cat /proc/irq/{number}/smp_affinity_list").strip() for number in numbers)

    say(("1", "0"))
    for change in (
        "ip link set DEV down; ip link set DEV up",
        "ethtool -G DEV rx 256",
        f"ethtool -L DEV combined 1; ethtool -L DEV combined {PAIRS}",
        "ip link set DEV down; ethtool -G DEV rx 512; ip link set DEV up",
    ):
        function.run(f"sh -c '{change}'")
        assert said() == ("1", "0"), change
    say(("0-1", "0"))
    function.run("sh -c 'ip link set DEV down; ip link set DEV up'")
    assert said() == ("0-1", "0")
    say(("0", "1"))
    function.run("sh -c 'ip link set DEV down; ip link set DEV up'")
    assert said() == ("0", "1")
    function.guest.until(f"{function.enter}cat /sys/class/net/{function.device}/carrier", "^1")


def test_processors_that_a_user_gives_a_transmit_queue_stay(function: Function) -> None:
    """An interface that goes down and up does not spread its queues anew."""
    path = "/sys/class/net/DEV/queues/tx-0/xps_cpus"
    before = function.run(f"cat {path}").strip()
    function.run(f"sh -c 'echo 3 >{path}'")
    function.run("ip link set DEV down")
    function.run("ip link set DEV up")
    assert int(function.run(f"cat {path}"), 16) == 3
    function.run(f"sh -c 'echo {before} >{path}'")
    function.guest.until(f"{function.enter}cat /sys/class/net/{function.device}/carrier", "^1")


def test_a_vf_has_no_vector_that_serves_nothing(function: Function) -> None:
    """A PF has one for errors and messages."""
    vectors = function.run("sh -c 'ls /sys/class/net/DEV/device/msi_irqs'").split()
    assert len(vectors) == PAIRS + (0 if function.is_vf else 1)
