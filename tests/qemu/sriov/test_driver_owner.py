# SPDX-License-Identifier: Apache-2.0
"""An address has one owner: nobody takes another function's, whatever VLANs it is received in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driver_machine import Link, linked, running
from machine_report import run_folder
from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine.guest import PF_DEVICE, Guest
from meridian_twin import Ps
from peer import ethernet

pytestmark = pytest.mark.qemu
KIND = 0x88B5
VF, FURTHER, LATE, OF_PS = (f"02:aa:00:00:00:0{number}" for number in (1, 2, 3, 4))


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    """VF 0 has the address VF, and is up in a network namespace."""
    with linked(tools.SUITES[0]) as it:
        guest = it.guest
        guest.run(f"echo 2 >{PF_DEVICE}/sriov_numvfs")
        guest.run(f"for i in 0 1; do ip netns add vf$i; ip link set eth$((i + 1)) netns vf$i; done; {inside(TAKE)}")
        guest.until(inside("ip link show eth1"), "LOWER_UP")
        yield it
        guest.run(f"ip netns del vf0; ip netns del vf1; echo 0 >{PF_DEVICE}/sriov_numvfs")


TAKE = f"ip link set eth1 address {VF} up"


def inside(command: str, vf: int = 0) -> str:
    return f"ip netns exec vf{vf} {command}"


def gets(link: Link, to: str, vid: int = 0) -> str:
    """Who is delivered frames to that address: vf, pf, or nobody."""
    names = {"pf": ("eth0", ""), "vf": ("eth1", inside(""))}
    before = {name: link.guest.statistics(*where)["card_rx_delivered"] for name, where in names.items()}
    lost = link.guest.statistics()["port_rx_no_match"]
    tag = b"\x81\0" + vid.to_bytes(2, "big") if vid else b""
    frame = ethernet(bytes.fromhex(to.replace(":", "")), link.peer.mac, KIND, bytes(80))
    for _ in range(5):
        link.peer.wire.send(frame[:12] + tag + frame[12:])
    for _ in range(50):
        for name, where in names.items():
            if link.guest.statistics(*where)["card_rx_delivered"] >= before[name] + 5:
                return name
        if link.guest.statistics()["port_rx_no_match"] >= lost + 5:
            return "nobody"
    raise AssertionError(f"frames to {to} went nowhere")


@pytest.mark.parametrize("vlans", ["off", "on"])
def test_a_pf_does_not_get_the_address_of_its_vf(link: Link, vlans: str) -> None:
    """vlans: whether the PF receives its addresses in single VLANs, which go before a VF's in any."""
    guest, mine = link.guest, link.guest.address().hex(":")
    guest.run(f"ethtool -K eth0 rx-vlan-filter {vlans}")
    assert gets(link, VF) == "vf"
    status, text = guest.try_run(f"ip link set eth0 address {VF}")
    assert status != 0 and "Address already in use" in text, text
    assert f"{VF} is another function's" in guest.log()
    assert guest.address().hex(":") == mine
    assert gets(link, VF) == "vf" and gets(link, mine) == "pf"


@pytest.mark.parametrize("vlans", ["off", "on"])
def test_a_pf_does_not_get_a_vfs_address_as_a_further_one(link: Link, vlans: str) -> None:
    guest = link.guest
    guest.run(f"ethtool -K eth0 rx-vlan-filter {vlans}")
    guest.run(f"ip link add link eth0 name mac0 address {VF} type macvlan && ip link set mac0 up")
    guest.until("dmesg", f"does not take {VF} .*another function has it")
    assert gets(link, VF) == "vf"
    guest.run("ip link add link eth0 name eth0.7 type vlan id 7 && ip link set eth0.7 up")
    assert gets(link, VF, vid=7) == "vf"
    assert gets(link, guest.address().hex(":"), vid=7) == "pf"
    guest.run("ip link del eth0.7 && ip link del mac0")
    assert gets(link, VF) == "vf"


def test_a_pf_does_not_get_a_vfs_address_while_either_is_down(link: Link) -> None:
    guest, mine = link.guest, link.guest.address().hex(":")
    guest.run(inside("ip link set eth1 down"))
    assert guest.try_run(f"ip link set eth0 address {VF}")[0] != 0, "the VF's own address is kept for it"
    guest.run("ip link set eth0 down")
    assert guest.try_run(f"ip link set eth0 address {VF}")[0] != 0
    guest.run(f"ip link set eth0 vf 1 mac {LATE}")
    assert guest.try_run(f"ip link set eth0 address {LATE}")[0] != 0, "it is kept for VF 1"
    guest.run("ip link set eth0 up && ip link set eth0 vf 1 mac 00:00:00:00:00:00")
    guest.wait_link()
    guest.run(inside("ip link set eth1 up"))
    guest.until(inside("ip link show eth1"), "LOWER_UP")
    assert gets(link, VF) == "vf" and gets(link, mine) == "pf"


def test_a_vf_gets_an_address_that_a_pf_gave_up_while_it_was_down(link: Link) -> None:
    guest, mine = link.guest, link.guest.address().hex(":")
    guest.run(f"ip link set eth0 address {FURTHER}")
    guest.run(f"ip link set eth0 down && ip link set eth0 address {mine}")
    guest.run(inside(f"ip link set eth1 address {FURTHER}"))
    guest.run(inside(f"ip link set eth1 address {VF}"))
    guest.run("ip link set eth0 up")
    guest.wait_link()
    assert gets(link, VF) == "vf" and gets(link, mine) == "pf"


def test_a_vf_gets_no_further_address_of_the_pf(link: Link) -> None:
    guest = link.guest
    guest.run("ethtool -K eth0 rx-vlan-filter on")
    guest.run(f"ip link add link eth0 name mac0 address {FURTHER} type macvlan && ip link set mac0 up")
    assert any(gets(link, FURTHER) == "pf" for _ in range(10))
    assert guest.try_run(inside(f"ip link set eth1 address {FURTHER}"))[0] != 0
    assert guest.try_run(f"ip link set eth0 vf 1 mac {FURTHER}")[0] != 0
    guest.run("ip link del mac0")
    assert any(gets(link, FURTHER) == "nobody" for _ in range(10))
    guest.run(inside(f"ip link set eth1 address {FURTHER}"))
    assert gets(link, FURTHER) == "vf", "what nobody has is to be had"
    guest.run(inside(f"ip link set eth1 address {VF}"))


def test_a_pf_changes_its_address_without_a_moment_of_deafness(link: Link) -> None:
    guest, mine = link.guest, link.guest.address().hex(":")
    guest.run(f"ip link set eth0 address {FURTHER}")
    assert gets(link, FURTHER) == "pf" and gets(link, mine) == "nobody"
    guest.run(f"ip link set eth0 address {mine}")
    assert gets(link, FURTHER) == "nobody" and gets(link, mine) == "pf"


def test_an_address_of_the_ps_is_no_functions(link: Link) -> None:
    """The PS listens to it in its fourth place; what it has left is to be had."""
    guest, mine = link.guest, link.guest.address().hex(":")
    ways = [
        f"ip link set eth0 address {OF_PS}",
        inside(f"ip link set eth1 address {OF_PS}"),
        f"ip link set eth0 vf 1 mac {OF_PS}",
    ]
    with Ps.connect(link.twin.card.socket) as ps:
        ps.card.set_ps_address(0, 3, bytes.fromhex(OF_PS.replace(":", "")))
        ps.card.access(0, None, "ps")  # behind the writes, which are posted
        for way in ways:
            assert guest.try_run(way)[0] != 0, way
        assert f"{OF_PS} is another function's of the port, or the card's PS listens to it" in guest.log()
        guest.run(f"ip link add link eth0 name mac0 address {OF_PS} type macvlan && ip link set mac0 up")
        guest.until("dmesg", f"does not take {OF_PS} .*another function has it, or the card's PS")
        guest.run("ip link del mac0")
        assert (guest.address().hex(":"), guest.address("eth1", inside("")).hex(":")) == (mine, VF)
        assert gets(link, VF) == "vf" and gets(link, mine) == "pf"
        ps.card.set_ps_address(0, 3, None)
        ps.card.access(0, None, "ps")
    guest.run(inside(f"ip link set eth1 address {OF_PS}"))
    assert gets(link, OF_PS) == "vf"
    guest.run(inside(f"ip link set eth1 address {VF}"))


@pytest.fixture(scope="module")
def two() -> Iterator[Guest]:
    """Two PFs of a port: eth0, with a VF as eth2; eth1 in a network namespace."""
    setting = Setting(suite=tools.SUITES[0], hardware=Hardware(device="pfs=2"))
    with (
        run_folder() as folder,
        Twin(setting, folder) as twin,
        running(twin) as guest,
    ):
        guest.run("ip netns add two && ip link set eth1 netns two && ip netns exec two ip link set eth1 up")
        guest.run(f"echo 1 >{PF_DEVICE}/sriov_numvfs && ip link set eth0 vf 0 trust on")
        yield guest
        guest.run(f"ip netns del two; echo 0 >{PF_DEVICE}/sriov_numvfs")


@pytest.mark.parametrize("vlans", ["off", "on"])
def test_neither_another_pf_nor_its_vfs_get_a_pfs_address(two: Guest, vlans: str) -> None:
    enter = "ip netns exec two"
    two.run(f"ethtool -K eth0 rx-vlan-filter {vlans} && {enter} ethtool -K eth1 rx-vlan-filter {vlans}")
    first, second = (two.address(name, space).hex(":") for name, space in (("eth0", ""), ("eth1", f"{enter} ")))
    assert two.try_run(f"{enter} ip link set eth1 address {first}")[0] != 0
    assert two.try_run(f"ip link set eth0 vf 0 mac {second}")[0] != 0
    two.run(f"{enter} ip link add link eth1 name mac0 address {FURTHER} type macvlan && {enter} ip link set mac0 up")
    two.run("ip link add link eth0 name mac1 type macvlan && ip link set mac1 up", 60)
    two.run("sleep 1")
    assert two.try_run(f"ip link set eth0 address {FURTHER}")[0] != 0
    assert two.try_run(f"ip link set eth0 vf 0 mac {FURTHER}")[0] != 0
    two.run(f"ip link set eth0 vf 0 mac {VF}")
    assert two.try_run(f"{enter} ip link set eth1 address {VF}")[0] != 0, "VFs of other PFs count, too"
    two.run(f"{enter} ip link del mac0; ip link del mac1; ip link set eth0 vf 0 mac 00:00:00:00:00:00")
    assert (two.address("eth0").hex(":"), two.address("eth1", f"{enter} ").hex(":")) == (first, second)
