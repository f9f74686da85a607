# SPDX-License-Identifier: Apache-2.0
"""Statistics of each queue by netlink, of a PF and of a VF: they are true, sum to the interface's, and never go back."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from driver_function import Function
from driver_machine import NET_LOAD, Link, linked, tool, vfs_apart
from meridian_machine import tools
from meridian_machine.guest import PEER
from netdev_family import RX, TOOL, TX, by_queue, totals
from peer import ARP, IPV4, checksum, ethernet, udp

pytestmark = pytest.mark.qemu
BASIC = ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes")
VF_ADDRESS = "10.44.0.10"
FRAMES = 20
PAGES = 400  # the ring is filled again only when it lacks some


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    folder: Path = tmp_path_factory.mktemp("tools")
    files = {source.stem: tool(folder, source) for source in (TOOL, NET_LOAD)}
    with linked(tools.SUITES[0], files) as it, vfs_apart(it.guest):
        it.guest.run(f"ip netns exec vf0 ip address add {VF_ADDRESS}/24 dev eth1")
        it.guest.run("ip netns exec vf0 ip link set eth1 up")
        it.guest.until("ip netns exec vf0 cat /sys/class/net/eth1/carrier", "^1")
        # Each test finds something counted, also by itself.
        it.guest.ping()
        it.guest.ping(enter="ip netns exec vf0 ")
        yield it


@pytest.fixture(params=[False, True], ids=["PF", "VF"])
def function(link: Link, request: pytest.FixtureRequest) -> Function:
    return Function(link, request.param)


def send(function: Function, frame: bytes, count: int = FRAMES) -> None:
    for _ in range(count):
        function.link.peer.wire.send(frame)


def grown(
    function: Function,
    before: dict[str, int],
    name: str,
    by: int,
    of: Callable[[], dict[str, int]],
) -> int:
    """How much a statistic has grown, when it is so much or after a while."""
    deadline = function.guest.deadline(10)
    while (now := of()[name] - before[name]) < by and time.monotonic() < deadline:
        time.sleep(0.1)
    return now


def by_rtnl(function: Function) -> dict[str, int]:
    told = json.loads(function.run("ip -s -j link show DEV"))[0]["stats64"]
    return {f"{way}_{name}": told[way][name] for way in ("rx", "tx") for name in ("packets", "bytes")}


def test_totals_are_the_interfaces_and_the_sum_of_the_queues(
    function: Function,
) -> None:
    function.run(f"ping -c 5 -i 0.1 -W 10 {PEER}")
    first, told, last = totals(function), by_rtnl(function), totals(function)
    for name in BASIC:
        assert first[name] <= told[name] <= last[name], name
    queues = by_queue(function)
    assert {(queue["type"], queue["id"]) for queue in queues} == {(kind, i) for kind in (RX, TX) for i in range(2)}
    for name in BASIC:
        assert 0 < sum(queue.get(name, 0) for queue in queues) <= totals(function)[name], name


@pytest.mark.parametrize(
    "change",
    [
        "ip link set DEV down",
        "ip link set DEV up",
        "ethtool -L DEV combined 1",
        "ethtool -L DEV combined 2",
    ],
)
def test_totals_do_not_go_back(function: Function, change: str) -> None:
    before = totals(function)
    assert before["rx_packets"] and before["tx_packets"]
    function.run(change)
    after = totals(function)
    assert set(before) == set(after)
    assert [name for name in before if after[name] < before[name] and name != "ifindex"] == []
    by_queue(function)


def test_checksums_are_counted_by_the_cards_verdict(function: Function) -> None:
    function.guest.until(f"{function.enter}cat /sys/class/net/{function.device}/carrier", "^1")
    to, mac = function.address(), function.link.peer.mac
    here = VF_ADDRESS if function.is_vf else "10.44.0.2"
    packet = udp(PEER, here, 1000, 9, bytes(40))
    pseudo = packet[12:20] + bytes([0, 17]) + (48).to_bytes(2, "big") + packet[20:]
    good = packet[:26] + checksum(pseudo).to_bytes(2, "big") + packet[28:]
    bad = packet[:26] + (checksum(pseudo) ^ 0x5555).to_bytes(2, "big") + packet[28:]
    arp = b"\0\1\x08\0\6\4\0\2" + bytes(20)
    for name, frame in (
        ("rx_csum_unnecessary", ethernet(to, mac, IPV4, good)),
        ("rx_csum_bad", ethernet(to, mac, IPV4, bad)),
        ("rx_csum_none", ethernet(to, mac, ARP, arp)),
    ):
        before = totals(function)
        send(function, frame)
        assert FRAMES <= grown(function, before, name, FRAMES, lambda: totals(function)) <= FRAMES + 3, name


def test_frames_whose_checksum_the_card_is_to_make_are_counted(
    function: Function,
) -> None:
    before = totals(function)
    function.run(f"sh -c 'for i in $(seq {FRAMES}); do echo x >/dev/udp/{PEER}/9; done'".replace("sh -c", "bash -c"))
    assert grown(function, before, "tx_needs_csum", FRAMES, lambda: totals(function)) >= FRAMES


def test_each_stop_of_a_full_queue_is_followed_by_its_end(function: Function) -> None:
    """Only the ring limits what is on its way, as Linux's own limit is made a large one."""
    function.run("ethtool -G DEV tx 64")
    function.guest.until(f"{function.enter}cat /sys/class/net/{function.device}/carrier", "^1")
    function.run(
        "sh -c 'for i in /sys/class/net/DEV/queues/tx-*/byte_queue_limits/limit_min; do echo 9999999 >$i; done'"
    )
    before = totals(function)
    function.run(f"/run/twin/net_load send DEV {function.link.peer.mac.hex(':')} 1000 2000 2")
    after = totals(function)
    stops, ends = (after[name] - before[name] for name in ("tx_stop", "tx_wake"))
    assert ends >= stops > 0
    function.run("sh -c 'for i in /sys/class/net/DEV/queues/tx-*/byte_queue_limits/limit_min; do echo 0 >$i; done'")
    function.run("ethtool -G DEV tx 512")


def test_what_the_card_drops_is_counted(function: Function) -> None:
    """Frames for an interface whose queues are away; they were never in a queue, so the interface tells of them."""
    to = function.address()
    before = totals(function)
    function.run("ip link set DEV down")
    send(
        function,
        ethernet(to, function.link.peer.mac, IPV4, udp(PEER, VF_ADDRESS, 1000, 9, bytes(40))),
    )
    if function.is_vf:
        assert grown(function, before, "rx_hw_drops", FRAMES, lambda: totals(function)) >= FRAMES
    function.run("ip link set DEV up")
    after = totals(function)
    assert after["rx_hw_drops"] >= after["rx_hw_drop_overruns"] >= before["rx_hw_drop_overruns"]
    assert after["tx_hw_drops"] >= after["tx_hw_drop_errors"]
    assert all("rx_hw_drops" not in queue and "tx_hw_drops" not in queue for queue in by_queue(function))


def test_what_page_pools_do_is_counted(function: Function) -> None:
    """Each frame that is received takes a page's place in the ring, and the page comes back."""
    if not function.guest.run("uname -r").strip().endswith("-debug"):
        pytest.skip("Debian's kernels do not count it (CONFIG_PAGE_POOL_STATS): see --debug-kernel")
    function.run("ethtool -L DEV combined 1")
    function.guest.until(f"{function.enter}cat /sys/class/net/{function.device}/carrier", "^1")

    def pages() -> dict[str, int]:
        told = function.statistics()
        given = sum(told[f"rx_pp_alloc_{name}"] for name in ("fast", "slow"))
        return {"given": given, "back": told["rx_pp_recycle_cached"] + told["rx_pp_recycle_ring"]}

    before = pages()
    assert before["given"] >= 511, "a ring of buffers"
    packet = udp(PEER, VF_ADDRESS if function.is_vf else "10.44.0.2", 1000, 9, bytes(40))
    send(function, ethernet(function.address(), function.link.peer.mac, IPV4, packet), PAGES)
    for name in before:
        assert grown(function, before, name, PAGES // 2, pages) >= PAGES // 2, name
    function.run("ethtool -L DEV combined 2")
