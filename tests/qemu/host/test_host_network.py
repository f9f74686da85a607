# SPDX-License-Identifier: Apache-2.0
"""What a user does with the card's interfaces, on the PF and on a VF that is in a network namespace of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from host_network import MEGABYTE, WIRE, Function, Network, network
from meridian_machine.guest import PF_DEVICE, Guest

pytestmark = pytest.mark.qemu
LONGEST = 9582  # the card's 9600 bytes, less header and VLAN tag


@pytest.fixture(scope="module")
def net() -> Iterator[Network]:
    with network() as it:
        yield it


@pytest.fixture(params=["pf", "vf"])
def function(net: Network, request: pytest.FixtureRequest) -> Iterator[Function]:
    it = net.pf if request.param == "pf" else net.vfs[0]
    yield it
    it.ping()
    net.guest.check()


def test_iperf3_passes_both_ways(function: Function) -> None:
    # iperf3 ends when all is sent; what is still in buffers then is not counted as received.
    assert function.iperf("2M") >= MEGABYTE
    assert function.iperf("2M", "-R") >= MEGABYTE
    assert function.iperf("200K", "--udp", "--bitrate", "1M", "--length", "1000") >= 190_000


@pytest.mark.parametrize("size", [2 * MEGABYTE, pytest.param(100_000_000, marks=pytest.mark.long)])
def test_a_download_is_intact(net: Network, function: Function, size: int) -> None:
    digest = net.serve("file", size)
    assert function.download("file", 60 + size // 50_000) == digest


@pytest.mark.parametrize("mtu", [9000, LONGEST])
def test_jumbo_frames_pass_and_longer_ones_are_refused(net: Network, function: Function, mtu: int) -> None:
    digest = net.serve("jumbo", MEGABYTE)
    net.far("ip", "link", "set", WIRE, "mtu", str(mtu))
    try:
        function.run(f"ip link set {function.interface} mtu {mtu}")
        function.ping(size=mtu - 28)
        assert function.download("jumbo") == digest
        assert function.guest.try_run(f"{function.enter}ip link set {function.interface} mtu {LONGEST + 1}")[0] != 0
    finally:
        function.run(f"ip link set {function.interface} mtu 1500")
        net.far("ip", "link", "set", WIRE, "mtu", "1500")


def test_an_address_comes_by_dhcp(net: Network, function: Function) -> None:
    function.run(f"ip address flush dev {function.interface}")
    net.twin.peer.serve_dhcp(0, net.twin.folder)
    try:
        function.run(f"dhclient -1 -v -sf /bin/true -pf /run/dhclient.pid -lf /run/leases {function.interface}")
        lease = re.search(r"fixed-address (10\.44\.0\.1\d\d);", net.guest.run("cat /run/leases"))
        assert lease
        function.run(f"ip address add {lease[1]}/24 dev {function.interface}")
        function.ping()
        function.run(f"ip address del {lease[1]}/24 dev {function.interface}")
    finally:
        net.twin.peer.close()
        net.guest.run("kill $(cat /run/dhclient.pid) && rm /run/leases")
        function.up()


def capability(text: str, name: str) -> str:
    """Of lspci -vvv: from its name to the next capability."""
    found = re.search(rf"Capabilities: \[[^]]*\] {name}(.*?)(?=\n\tCapabilities:|\n\tKernel|\Z)", text, re.DOTALL)
    assert found, f"no {name} in {text}"
    return found[1]


def checked(guest: Guest, device: str) -> str:
    """What lspci says of a function, after what PF and VF have in common."""
    text = guest.run(f"lspci -vvv -s {device}")
    assert "unreadable" not in text
    express = capability(text, r"Express \(v2\) Endpoint")
    assert "FLReset+" in express
    assert re.search(r"MaxPayload \d+ bytes", express)
    assert "ExtTag+" in express
    assert "Kernel driver in use: meridian" in text
    assert "BusMaster+" in text
    return text


def test_lspci_shows_a_pf(net: Network) -> None:
    text = checked(net.guest, "01:00.0")
    assert "Ethernet controller" in text
    assert re.search(r"Region 0: Memory at .*\[size=256K\]", text)
    assert re.search(r"Enable\+ Count=10 Masked-", capability(text, "MSI-X"))
    assert "ARIFwd" not in capability(text, r"Alternative Routing-ID Interpretation \(ARI\)").split("ARICtl")[0]
    iov = capability(text, r"Single Root I/O Virtualization \(SR-IOV\)")
    assert re.search(r"IOVCtl:\s+Enable\+ .*MSE\+ ARIHierarchy\+", iov)
    assert "Initial VFs: 4, Total VFs: 4, Number of VFs: 1" in iov, "the default shell has functions for 4 VFs"
    assert "Device ID: a03f" in iov
    errors = capability(text, "Advanced Error Reporting")
    assert re.search(r"UESta:\s+DLP- SDES- TLP- FCP- CmpltTO- CmpltAbrt- UnxCmplt-", errors)
    assert re.search(r"HeaderLog: 00000000 00000000 00000000 00000000", errors)


def test_lspci_shows_a_vf(net: Network) -> None:
    device = net.guest.run(f"basename $(readlink {PF_DEVICE}/virtfn0)").strip()
    text = checked(net.guest, device)
    assert re.search(r"Enable\+ Count=8 Masked-", capability(text, "MSI-X"))
    capability(text, r"Alternative Routing-ID Interpretation \(ARI\)")
    assert "Region 0: Memory at" in text and "[virtual]" in text
    assert "SR-IOV" not in text


def test_the_self_test_passes_with_vfs_at_work(net: Network) -> None:
    assert "PASS" in net.guest.run("ethtool -t eth0 online")
    net.vfs[0].ping()
