# SPDX-License-Identifier: Apache-2.0
"""The Linux driver, PF and VF, gets other rings, queues, programs and MTUs: the link stays up, and who fails goes back."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from driver_function import Function
from driver_machine import NO_MEMORY, XDP_TOOL, Link, changed, linked, tool, vfs_apart
from meridian_machine import tools
from meridian_machine.driver import modules
from meridian_machine.guest import PEER, PF_DEVICE

pytestmark = pytest.mark.qemu
RESTART_RX = Path(__file__).with_name("restart_rx")
PARAMETERS = "/sys/module/meridian/parameters"
# A card that does not take the n-th queue from now on, and one that leaves the next n queues running.
EACH = r"(?s)(static int each\(.*?\n\tu32 i;\n)"
FAILING = (
    "#include <linux/moduleparam.h>\\nstatic int refused;\\nmodule_param(refused, int, 0600);\\n"
    "static int unstopped;\\nmodule_param(unstopped, int, 0600);\\n\\g<1>"
    "\\n\\tif (op == QDMA_CONTEXT_CLEAR && refused && !--refused)\\n\\t\\treturn -EBUSY;\\n"
    "\\tif (op == QDMA_CONTEXT_INVALIDATE && unstopped) {\\n\\t\\tunstopped--;\\n\\t\\treturn -EBUSY;\\n\\t}\\n"
)
CHANGES = [
    "ethtool -G DEV rx 64 tx 64",
    "ethtool -G DEV rx 4096",
    "ethtool -G DEV rx 512 tx 512",
    "ethtool -L DEV combined 1",
    "ethtool -L DEV combined 2",
    "ip link set DEV mtu 9000",
    "ip link set DEV mtu 1500",
    "ethtool -K DEV rx off rxhash off",
    "ethtool -K DEV rx on rxhash on",
]


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    suite = tools.SUITES[0]
    files = {"xdp_tool": tool(tmp_path_factory.mktemp("tools"), XDP_TOOL)}
    for folder in (NO_MEMORY, RESTART_RX):
        files.update(modules(suite, folder))
    with (
        changed("qdma/qdma_queue.c", EACH, FAILING) as driver,
        linked(suite, files, driver=driver) as it,
        vfs_apart(it.guest),
    ):
        it.guest.run("ip netns exec vf0 ip address add 10.44.0.3/24 dev eth1; ip netns exec vf0 ip link set eth1 up")
        yield it


@pytest.fixture(params=[False, True], ids=["PF", "VF"])
def function(link: Link, request: pytest.FixtureRequest) -> Iterator[Function]:
    it = Function(link, request.param)
    # A PF that takes its function from the card takes its VFs' queues, too, whose interfaces may go down with that.
    it.run("ip link set DEV up")
    wait_carrier(it)
    yield it
    wait_carrier(it)
    ping(it)
    link.guest.check()


def wait_carrier(function: Function) -> None:
    function.guest.until(f"{function.enter}cat /sys/class/net/{function.device}/carrier", "^1")


def ping(function: Function) -> None:
    function.guest.ping(3, enter=function.enter)


def links(function: Function) -> tuple[str, int]:
    """How often the carrier has changed, and how often the log spoke of a link."""
    changes = function.run("cat /sys/class/net/DEV/carrier_changes").strip()
    return changes, len(re.findall(r"link (?:up|down)", function.guest.run("dmesg")))


def packets(function: Function) -> list[int]:
    """Of the interface, and of its first queue pair."""
    folder = "/sys/class/net/DEV/statistics"
    counts = [int(function.run(f"cat {folder}/{name}")) for name in ("rx_packets", "tx_packets", "rx_bytes")]
    statistics = function.statistics()
    return [*counts, statistics["rx0_packets"], statistics["tx0_packets"]]


def answers(function: Function) -> int:
    """Of the ping under way, which tells by this signal what it has."""
    text = function.guest.run("kill -QUIT $(cat /tmp/ping.pid); sleep 0.1; cat /tmp/pings")
    return int(re.findall(r"(\d+)/\d+ packets", text)[-1])


def more_answers(function: Function) -> None:
    """Where a change and the answer before it meet, some are lost; then they come again."""
    wanted, deadline = answers(function) + 5, function.guest.deadline(30)
    while (now := answers(function)) < wanted:
        assert time.monotonic() < deadline, f"{now} of {wanted} answers"


@contextmanager
def traffic(function: Function) -> Iterator[None]:
    """A ping that goes on, with answers before and after."""
    guest = function.guest
    guest.run(f"{function.enter}ping -q -i 0.05 {PEER} >/tmp/pings 2>&1 & echo $! >/tmp/ping.pid; sleep 0.3")
    more_answers(function)
    yield
    more_answers(function)
    guest.run("kill -INT $(cat /tmp/ping.pid); while [ -e /proc/$(cat /tmp/ping.pid) ]; do sleep 0.05; done")


def test_the_link_stays_up_and_counters_go_on(function: Function) -> None:
    before, counted = links(function), packets(function)
    for change in CHANGES:
        with traffic(function):
            function.run(change)
        now = packets(function)
        assert all(after > then for after, then in zip(now[:3], counted[:3], strict=True)), (change, counted, now)
        assert all(after >= then for after, then in zip(now, counted, strict=True)), (change, counted, now)
        counted = now
        assert links(function) == before, change


def test_programs_come_and_go_with_the_link_up(function: Function) -> None:
    before = links(function)
    with traffic(function):
        for _ in range(3):
            function.guest.run(
                f"{function.enter}/run/twin/xdp_tool {function.device} pass >/tmp/xdp & echo $! >/tmp/xdp.pid"
            )
            function.guest.until("cat /tmp/xdp", "attached")
            function.run("ethtool -G DEV rx 256")
            function.guest.run("kill $(cat /tmp/xdp.pid); while [ -e /proc/$(cat /tmp/xdp.pid) ]; do sleep 0.05; done")
            function.run("ethtool -G DEV rx 512")
    assert links(function) == before


def test_a_flood_goes_on_through_many_changes(function: Function) -> None:
    before = links(function)
    function.guest.run(f"{function.enter}timeout -s INT 20 ping -q -f -s 1400 {PEER} >/tmp/flood 2>&1 &")
    for change in (*CHANGES, *CHANGES):
        function.run(change)
    text = function.guest.until("cat /tmp/flood", r"\d+ received", 40)
    found = re.search(r"(\d+) packets transmitted, (\d+) received", text)
    assert found and int(found[2]) > 0, text
    assert links(function) == before
    assert function.statistics()["rx_bad_completion"] == 0


def device_of(function: Function) -> str:
    return function.guest.run(f"basename $(readlink -f {PF_DEVICE}{'/virtfn0' if function.is_vf else ''})").strip()


@pytest.mark.parametrize("change", ["ethtool -G DEV rx 1024", "ethtool -L DEV combined 2"])
def test_without_memory_the_old_rings_go_on(function: Function, change: str) -> None:
    function.run("ethtool -L DEV combined 1")
    before = links(function)
    with traffic(function):
        function.guest.run(f"insmod /run/twin/no_memory.ko device={device_of(function)}")
        status, _ = function.guest.try_run(f"{function.enter}{change.replace('DEV', function.device)}")
        function.guest.run("rmmod no_memory")
        assert status != 0
    assert re.search(r"RX:\s+512", function.run("ethtool -g DEV").split("Current")[1])
    assert re.search(r"Combined:\s+1", function.run("ethtool -l DEV").split("Current")[1])
    assert links(function) == before
    function.run("ethtool -L DEV combined 2")
    assert links(function) == before


@pytest.mark.parametrize("which", [1, 2, 3, 4], ids=["tx0", "rx0", "tx1", "rx1"])
def test_a_card_that_refuses_other_rings_keeps_the_old_ones(function: Function, which: int) -> None:
    before = links(function)
    with traffic(function):
        function.guest.run(f"echo {which} >{PARAMETERS}/refused")
        status, _ = function.guest.try_run(f"{function.enter}ethtool -G {function.device} rx 1024 tx 64")
        assert status != 0
    assert function.guest.run(f"cat {PARAMETERS}/refused").strip() == "0"
    current = function.run("ethtool -g DEV").split("Current")[1]
    assert re.search(r"RX:\s+512", current) and re.search(r"TX:\s+512", current)
    assert links(function) == before


def test_a_card_that_refuses_a_further_queue_keeps_those_that_run(
    function: Function,
) -> None:
    function.run("ethtool -L DEV combined 1")
    before = links(function)
    with traffic(function):
        function.guest.run(f"echo 3 >{PARAMETERS}/refused")
        status, _ = function.guest.try_run(f"{function.enter}ethtool -L {function.device} combined 2")
        assert status != 0
    assert "1 RX ring" in function.run("ethtool -x DEV")
    assert links(function) == before
    function.run("ethtool -L DEV combined 2")
    assert links(function) == before


def test_a_queue_that_ends_when_it_is_told_again_costs_no_link(
    function: Function,
) -> None:
    before = links(function)
    with traffic(function):
        function.guest.run(f"echo 1 >{PARAMETERS}/unstopped")
        function.run("ethtool -G DEV rx 1024")
    function.run("ethtool -G DEV rx 512")
    if not function.is_vf:
        # The PF took its function from the card, and its VF's queues with that: the VF comes back.
        function.guest.until("dmesg", "(?s)eth1: the VF has lost its queues by a reset.*eth1: link up")
        before = before[0], before[1] + 1
    assert links(function) == before
    # A VF whose PF does not end one queue asks it to end all.
    told = "the PF refuses operation" if function.is_vf else "does not end the queues"
    assert told in function.guest.run("dmesg")
    function.guest.run("dmesg -C")


def test_a_card_that_lets_go_of_nothing_takes_the_interface_down(
    function: Function,
) -> None:
    function.guest.run(f"echo 1000 >{PARAMETERS}/unstopped")
    status, _ = function.guest.try_run(f"{function.enter}ethtool -G {function.device} rx 1024")
    assert status != 0
    assert "state DOWN" in function.run("ip link show DEV")
    assert function.guest.try_run(f"{function.enter}ip link set {function.device} up")[0] != 0
    function.guest.run(f"echo 0 >{PARAMETERS}/unstopped")
    function.run("ip link set DEV up")
    wait_carrier(function)
    assert re.search(r"RX:\s+512", function.run("ethtool -g DEV").split("Current")[1])
    function.guest.run("dmesg -C")


def restart_rx(function: Function, queue: int) -> int:
    """By the driver's queue management; the status."""
    load = f"insmod /run/twin/restart_rx.ko interface={function.device} queue={queue}"
    status, _ = function.guest.try_run(f"{function.enter}{load}")
    function.guest.try_run("rmmod restart_rx")
    return status


def completions(function: Function) -> list[int]:
    """How far each receive queue has read its ring, which begins with 0."""
    name = device_of(function)
    text = function.guest.run(f"devlink health diagnose pci/{name} reporter rx")
    return [int(value) for value in re.findall(r"completion: (\d+)", text)]


def test_one_receive_queue_gets_other_memory_while_the_others_run_on(
    function: Function,
) -> None:
    function.run("ethtool -G DEV rx 1024")
    function.run("ethtool -X DEV weight 1 0")
    before = links(function)
    with traffic(function):
        function.run(f"ping -q -i 0.02 -c 100 {PEER}")
        for _ in range(3):
            then = completions(function)
            assert restart_rx(function, 1) == 0
            now = completions(function)
            assert now[0] >= then[0] > 0 and now[1] == 0, (then, now)
        assert restart_rx(function, 0) == 0
        assert completions(function)[0] < then[0]
    function.run("ethtool -X DEV default")
    function.run("ethtool -G DEV rx 512")
    assert links(function) == before


def test_a_receive_queue_that_gets_nothing_new_goes_on(function: Function) -> None:
    before = links(function)
    with traffic(function):
        function.guest.run(f"insmod /run/twin/no_memory.ko device={device_of(function)}")
        assert restart_rx(function, 0) != 0
        function.guest.run(f"rmmod no_memory; echo 1 >{PARAMETERS}/refused")
        assert restart_rx(function, 0) != 0
        function.guest.run("sleep 1")
        function.guest.run(f"echo 1 >{PARAMETERS}/unstopped")
        assert restart_rx(function, 0) != 0
    assert function.guest.run(f"cat {PARAMETERS}/refused {PARAMETERS}/unstopped").split() == ["0", "0"]
    assert links(function) == before
