# SPDX-License-Identifier: Apache-2.0
"""The oldest kernel that the host's driver is for, 5.10: PF and VFs carry frames, and everything can be made anew."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from driver_machine import XDP_TOOL, tool
from host_network import FAR, IPERF_PORT, MEGABYTE, WIRE, Function, Network, network
from meridian_machine import Image, tools
from meridian_machine.guest import PF_DEVICE

pytestmark = [pytest.mark.qemu, pytest.mark.long]
DEVICE = "pci/0000:01:00.0"
LONGEST = 9582  # the card's 9600 bytes, less header and VLAN tag


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    """Its end unloads the driver and looks at the kernel's log."""
    try:
        Image.build(tools.OLDEST)
    except tools.MissingSuiteError as error:
        pytest.skip(str(error))
    files = {XDP_TOOL.stem: tool(tmp_path_factory.mktemp("tools"), XDP_TOOL)}
    with network(vfs=0, suite=tools.OLDEST, files=files) as it:
        yield it


@pytest.fixture(autouse=True)
def quiet(net: Network) -> Iterator[None]:
    """Frames pass after each test, and the kernel has found no fault."""
    yield
    net.pf.up()
    net.pf.ping()
    check(net)


def check(net: Network) -> None:
    """The log has no fault, and nothing of the driver that is a warning."""
    net.guest.check()
    warnings = net.guest.run("dmesg --level=emerg,alert,crit,err,warn")
    ours = [line for line in warnings.splitlines() if "meridian" in line or "devlink" in line]
    # Modules from outside the kernel's tree taint it, and are not signed. On a busy computer a VF puts questions again.
    ours = [line for line in ours if "taint" not in line and "the PF does not answer" not in line]
    assert not ours, warnings


def both_ways(net: Network, function: Function) -> None:
    """The machine asks, then the far end; TCP's data goes out, then in."""
    for size in (0, 56, 1472):
        function.ping(size=size)
    # iperf3 ends when all is sent; what is still in buffers then is not counted as received.
    assert function.iperf("2M") >= MEGABYTE
    digest = net.serve("in", MEGABYTE)
    assert function.download("in") == digest
    # The suite's iperf3, 3.9, waits for ever for a newer one that has sent the bytes of -n: the time ends it.
    text = function.run(f"iperf3 -c {FAR} -p {IPERF_PORT} -t 2 -R -J")
    assert json.loads(text)["end"]["sum_received"]["bytes"] > 0
    function.run("iperf3 -s -1 -D")
    net.guest.until(f"{function.enter}ss -Htln", f":{IPERF_PORT} ")
    text = net.far("iperf3", "-c", function.address, "-n", "2M", "-J")
    assert json.loads(text)["end"]["sum_received"]["bytes"] >= MEGABYTE


def test_the_kernel_is_the_oldest(net: Network) -> None:
    assert re.match(r"5\.10\.", net.guest.run("uname -r"))
    assert "function 0, port 0 of 1" in net.guest.log()


def test_frames_pass_both_ways(net: Network) -> None:
    both_ways(net, net.pf)
    assert re.search(r"[1-9]\d* .*eth0-0", net.guest.run("cat /proc/interrupts"))
    counts = net.guest.run("cat /sys/class/net/eth0/statistics/[rt]x_packets")
    assert all(int(count) > 0 for count in counts.split())
    assert net.guest.statistics()


def test_the_interface_goes_down_and_up_with_other_rings_and_queues(net: Network) -> None:
    net.guest.run("ethtool -G eth0 rx 128 tx 128 && ethtool -L eth0 combined 1")
    net.pf.ping()
    net.guest.run("ip link set eth0 down && ethtool -L eth0 combined 2")
    net.pf.up()
    both_ways(net, net.pf)


def test_frames_as_long_as_the_largest_mtu_pass(net: Network) -> None:
    digest = net.serve("jumbo", MEGABYTE)
    net.far("ip", "link", "set", WIRE, "mtu", str(LONGEST))
    try:
        net.guest.run(f"ip link set eth0 mtu {LONGEST}")
        net.pf.ping(size=LONGEST - 28)
        assert net.pf.download("jumbo") == digest
    finally:
        net.guest.run("ip link set eth0 mtu 1500")
        net.far("ip", "link", "set", WIRE, "mtu", "1500")


def test_devlink_tells_of_the_driver_and_reloads_it(net: Network) -> None:
    assert "driver meridian" in net.guest.run(f"devlink dev info {DEVICE}")
    assert "netdev eth0" in net.guest.run("devlink port show")
    assert "state healthy" in net.guest.run("devlink health show")
    for _ in range(2):
        net.guest.run(f"devlink dev reload {DEVICE}")
        net.pf.up()
        net.pf.ping()


def test_the_self_test_passes(net: Network) -> None:
    assert "PASS" in net.guest.run("ethtool -t eth0 offline", 120)


@pytest.mark.parametrize(("verdict", "answered"), [("pass", True), ("drop", False)])
def test_an_xdp_program_passes_or_drops_frames(net: Network, verdict: str, answered: bool) -> None:
    net.guest.run(f": >/tmp/xdp; /run/twin/{XDP_TOOL.stem} eth0 {verdict} >>/tmp/xdp 2>&1 & echo $! >/tmp/xdp.pid")
    net.guest.until("cat /tmp/xdp", "^attached\n")
    text = net.guest.try_run(f"ping -c 2 -W 5 {FAR}")[1]
    net.guest.run("kill $(cat /tmp/xdp.pid); while [ -e /proc/$(cat /tmp/xdp.pid) ]; do sleep 0.05; done")
    assert (" 2 received" if answered else " 0 received") in text


def test_vfs_carry_frames(net: Network) -> None:
    net.make_vfs(2)
    for function in net.functions():
        both_ways(net, function)
    net.vfs[0].ping(to=net.vfs[1].address)
    # One is reset; its driver makes its queues anew.
    net.guest.run(f"echo 1 >{PF_DEVICE}/virtfn0/reset")
    net.vfs[0].up()
    net.vfs[0].ping()
    net.end_vfs()


def test_a_reset_of_the_pf_makes_everything_anew(net: Network) -> None:
    net.guest.run(f"echo 1 >{PF_DEVICE}/reset")
    net.pf.up()
    net.pf.ping()


def test_the_driver_can_be_removed_and_loaded_again_with_vfs_at_work(net: Network) -> None:
    """The driver of the VFs goes first."""
    for _ in range(2):
        net.make_vfs(1)
        net.vfs[0].ping()
        net.guest.run("ip netns del vf0 && rmmod meridian")
        net.vfs.clear()
        check(net)
        net.guest.load()
        net.pf.ping()
    both_ways(net, net.pf)
