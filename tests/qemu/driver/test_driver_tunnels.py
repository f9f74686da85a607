# SPDX-License-Identifier: Apache-2.0
"""Packets in tunnels of Linux, from a PF to a VF of the same card and back: a card that can cuts them, else Linux does."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from driver_machine import linked, vfs_apart
from meridian_machine import tools
from test_driver_tx_offloads import Sender

pytestmark = [pytest.mark.qemu, pytest.mark.quick]
OUTER = (("10.48.0.1", "fd48::1"), ("10.48.0.2", "fd48::2"))  # the PF's and the VF's
INNER = (("10.49.0.1", "fd49::1"), ("10.49.0.2", "fd49::2"))
BYTES = 200_000
LONGEST = 65535  # frame that the card cuts


@dataclass(frozen=True)
class Tunnel:
    """options: of 'ip link add'. is_v6: of the outer header."""

    options: str
    is_v6: bool = False
    carries: tuple[bool, ...] = (False, True)  # IPv4 and IPv6

    def make(self, here: str, there: str) -> str:
        return f"ip link add tunnel {self.options.format(here=here, there=there)}"


TUNNELS = {
    "VXLAN": Tunnel("type vxlan id 42 local {here} remote {there} dstport 4789 noudpcsum dev DEV"),
    "VXLAN with checksums": Tunnel("type vxlan id 42 local {here} remote {there} dstport 4789 udpcsum dev DEV"),
    "VXLAN over IPv6": Tunnel("type vxlan id 42 local {here} remote {there} dstport 4789 dev DEV", True),
    "GENEVE": Tunnel("type geneve id 42 remote {there} dstport 6081 udpcsum"),
    "GRE": Tunnel("type gre local {here} remote {there} dev DEV"),
    "GRE with checksums": Tunnel("type gre local {here} remote {there} csum dev DEV"),
    "GRE with a key": Tunnel("type gre local {here} remote {there} key 7 dev DEV"),
    "GRE over IPv6": Tunnel("type ip6gre local {here} remote {there} dev DEV", True),
    "IP in IPv6": Tunnel("type ip6tnl mode any local {here} remote {there} dev DEV", True),
    "IP in IP": Tunnel("type ipip local {here} remote {there} dev DEV", carries=(False,)),
    "IPv6 in IPv4": Tunnel("type sit local {here} remote {there} dev DEV", carries=(True,)),
}
FEATURES = (
    "tx-gso-partial",
    "tx-gre-segmentation",
    "tx-gre-csum-segmentation",
    "tx-ipxip4-segmentation",
    "tx-ipxip6-segmentation",
    "tx-udp_tnl-segmentation",
    "tx-udp_tnl-csum-segmentation",
)


@pytest.fixture(scope="module")
def ends() -> Iterator[tuple[Sender, Sender]]:
    with linked(tools.SUITES[0]) as machine, vfs_apart(machine.guest):
        both = Sender(machine, is_vf=False), Sender(machine, is_vf=True)
        for end, addresses in zip(both, OUTER, strict=True):
            end.run(f"ip address add {addresses[0]}/24 dev DEV")
            end.run(f"ip address add {addresses[1]}/64 dev DEV nodad")
            end.run("ip link set DEV up")
            end.run("sysctl -q -w net.ipv4.tcp_min_tso_segs=40")
        yield both


#: One of each kind, and with what most of them have: checksums, a key, IPv6 outside.
QUICK = ("VXLAN with checksums", "GENEVE", "GRE with a key", "IP in IPv6")


@pytest.fixture(params=[pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in TUNNELS])
def tunnel(request: pytest.FixtureRequest, ends: tuple[Sender, Sender]) -> Iterator[Tunnel]:
    it = TUNNELS[request.param]
    for end, (here, there), inner in zip(ends, itertools.permutations(OUTER), INNER, strict=True):
        end.run(it.make(here[it.is_v6], there[it.is_v6]))
        end.run(f"ip address add {inner[0]}/24 dev tunnel")
        if True in it.carries:
            end.run(f"ip address add {inner[1]}/64 dev tunnel nodad")
        end.run("ip link set tunnel up")
    yield it
    for end in ends:
        end.run("ip link del tunnel")


def bad_checksums(end: Sender) -> int:
    """Segments of TCP that Linux has dropped for theirs."""
    names, values = (line.split() for line in end.run("cat /proc/net/snmp").splitlines() if line.startswith("Tcp:"))
    return int(dict(zip(names, values, strict=True))["InCsumErrors"])


def test_segmentation_of_tunnels_is_offered_if_the_card_can_do_it(ends: tuple[Sender, Sender], own_dma: bool) -> None:
    for end in ends:
        assert [end.feature(name) for name in FEATURES] == ["on" if own_dma else "off [fixed]"] * len(FEATURES)


def test_a_stream_through_a_tunnel_is_whole(ends: tuple[Sender, Sender], tunnel: Tunnel, own_dma: bool) -> None:
    guest = ends[0].guest
    guest.run(f"head -c {BYTES} /dev/urandom >/tmp/out")
    for is_v6 in tunnel.carries:
        for (sender, receiver), (_, to) in zip(
            itertools.permutations(ends), itertools.permutations(INNER), strict=True
        ):
            before = sender.statistics()
            guest.run(f"{receiver.enter}timeout 60 nc -l -N {to[is_v6]} 7000 >/tmp/in & echo $! >/tmp/nc.pid")
            guest.until(f"{receiver.enter}ss -Htln", ":7000 ")
            sender.run(f"timeout 60 nc -N {to[is_v6]} 7000 </tmp/out")
            guest.run("while [ -e /proc/$(cat /tmp/nc.pid) ]; do sleep 0.05; done; cmp /tmp/in /tmp/out")
            after = sender.statistics()
            if own_dma:
                assert after["tx_segmented"] - before["tx_segmented"] >= BYTES // LONGEST, after
            assert after["card_tx_error"] == after["card_tx_offload_skipped"] == after["tx_dropped"] == 0
            assert bad_checksums(receiver) == 0
