# SPDX-License-Identifier: Apache-2.0
"""Whose an address is: PFs of one process, their VFs and the card's PS share a port of the card process."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from dpdk_fixtures import library, testpmd
from meridian_twin import Link, Ps
from meridian_twin.mailbox import Code
from meridian_twin.protocol import Role
from test_twin_attach import MAC, MINE, udp
from test_twin_pf import ALIEN, SERVING, Start, pf_of, python_vf, receive, text_of, there_and_back
from test_twin_vf import FIRST, started
from testpmd import Testpmd, TestpmdError

__all__ = ["library", "testpmd"]  # fixtures


def test_two_pfs_of_a_port_have_addresses_of_their_own(run_card: Any, testpmd: Start) -> None:
    """The second is refused that of the first, in whatever way, and the first goes on receiving."""
    card = run_card()
    second = f"net_meridian_twin1,socket={card.socket},function=1"
    pmd = testpmd(card, more=f"mac={MAC}", vdevs=[second])
    pmd.command("set promisc all off")
    pmd.start("io")
    for command in (f"mac_addr set 1 {MAC}", f"mac_addr add 1 {MAC}"):
        assert "Address already in use" in pmd.command(command)
    pmd.command(f"mac_addr remove 1 {MAC}")
    for size in (60, 1514):
        card.wires[0].send(udp(size, size))
    pmd.wait("frames of the first", lambda: pmd.statistics(0)["RX-packets"] == 2)
    assert pmd.statistics(1)["RX-packets"] == 0
    pmd.quit()


def test_a_pf_that_is_stopped_keeps_its_address(run_card: Any, testpmd: Start) -> None:
    """Neither another PF of the port nor that PF's VF has it, whichever of its addresses it is."""
    card = run_card()
    first, further = text_of(bytes.fromhex("020909090908")), text_of(ALIEN)
    second = f"net_meridian_twin1,socket={card.socket},function=1,mac={first}"
    pmd = testpmd(card, more=SERVING + ",trusted=0x1", vdevs=[second])
    pmd.command("set promisc all off")
    pmd.command(f"mac_addr add 1 {further}")
    pmd.command("port start 0")
    with python_vf(card) as vf:
        vf.bring_up(queues=1)
        for address in (first, further):
            for command in (f"mac_addr set 0 {address}", f"mac_addr add 0 {address}"):
                assert "Address already in use" in pmd.command(command), command
            for own in (False, True):
                assert receive(vf, bytes.fromhex(address.replace(":", "")), own) == -Code.BAD_PARAMETER
        # What it has given up is free, and what the VF has then is not the PF's any more.
        pmd.command(f"mac_addr remove 1 {further}")
        assert receive(vf, ALIEN) == 0
        assert "Address already in use" in pmd.command(f"mac_addr add 1 {further}")
    pmd.quit()


@pytest.mark.parametrize("vfs", ["", ",vfs=2,vf_mac=02:aa:bb:cc:dd:00"])
def test_two_pfs_of_a_port_do_not_begin_with_one_address(
    run_card: Any, testpmd: Start, library: Path, vfs: str
) -> None:
    """Nor with that of the other's VF."""
    card = run_card()
    devices = [
        f"net_meridian_twin0,socket={card.socket},mac={'02:aa:bb:cc:dd:09' if vfs else MAC}{vfs}",
        f"net_meridian_twin1,socket={card.socket},function=1,mac={MAC}",
    ]
    with pytest.raises(TestpmdError, match=f"mac={MAC.upper()}: another function of the port has that address"):
        Testpmd(library, devices, memory=64)


def test_a_pf_starts_without_what_the_ps_has_taken_meanwhile(run_card: Any, testpmd: Start) -> None:
    card = run_card()
    pmd = testpmd(card, more=f"mac={MAC}")
    pmd.command("set promisc all off")
    with Ps(Link(card.socket, Role.AXI)) as ps:
        ps.card.set_ps_address(0, 3, MINE)
        pmd.start("io")
        assert "another function has it, or the card's PS" in pmd.said
    pmd.quit()


def test_an_address_in_a_vlan_is_no_other_pfs(run_card: Any, testpmd: Start) -> None:
    """Who has an address in one VLAN has it in all; nor does a PF take what the card's PS listens to."""
    card = run_card()
    second = f"net_meridian_twin1,socket={card.socket},function=1"
    pmd = testpmd(card, more=f"mac={MAC}", vdevs=[second])
    pmd.command("vlan set filter on 0")
    pmd.command("rx_vlan add 5 0")
    pmd.start("io")
    with Ps(Link(card.socket, Role.AXI)) as ps:
        ps.card.set_ps_address(0, 3, ALIEN)
        for address in (MAC, text_of(ALIEN)):
            for command in (f"mac_addr set 1 {address}", f"mac_addr add 1 {address}"):
                assert "Address already in use" in pmd.command(command), command
    pmd.quit()


def test_addresses_of_the_ps_are_no_vfs(run_card: Any, testpmd: Start) -> None:
    card = run_card()
    pf_of(testpmd, card, ",trusted=0x1")
    with Ps(Link(card.socket, Role.AXI)) as ps, python_vf(card) as vf:
        ps.card.set_ps_address(0, 3, ALIEN)
        vf.bring_up(queues=1)
        for own in (False, True):
            assert receive(vf, ALIEN, own) == -Code.BAD_PARAMETER
        assert receive(vf, bytes([*ALIEN[:5], ALIEN[5] + 1])) == 0


def address_in(pmd: Testpmd) -> bytes:
    found = re.search(r"MAC address: ([0-9A-F:]+)", pmd.command("show port info 0"))
    assert found
    return bytes.fromhex(found[1].replace(":", ""))


@pytest.mark.parametrize("random", [True, False])
def test_the_first_address_of_a_vf_is_kept_for_it(run_card: Any, testpmd: Start, random: bool) -> None:
    """While it has another, neither its PF nor another PF of the port may take it: its next driver has it again."""
    card = run_card()
    second = f"net_meridian_twin1,socket={card.socket},function=1"
    pf = testpmd(card, more=f"mac={MAC},vfs=1" if random else SERVING + ",trusted=0x1", vdevs=[second])
    pf.command("set promisc all off")
    pf.start("io")
    vf = started(testpmd, card, FIRST)
    first = address_in(vf)
    assert "refuses" not in vf.command(f"mac_addr set 0 {text_of(ALIEN)}")
    assert address_in(vf) == ALIEN
    for port in (0, 1):
        for command in ("add", "set"):
            said = pf.command(f"mac_addr {command} {port} {text_of(first)}")
            assert "Address already in use" in said, (command, port)
    vf.quit()
    again = started(testpmd, card, FIRST)
    assert address_in(again) == first
    there_and_back(card, again, [2 * first + udp(size, size)[12:] for size in (60, 1514)])
