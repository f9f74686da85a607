# SPDX-License-Identifier: Apache-2.0
"""testpmd on VFs of the card process: processes of their own beside a PF that is played by Python, or by testpmd on a
card that was made with VFs of two PFs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dpdk_fixtures import library, testpmd
from meridian_twin import Host
from pf import MeridianPf, address_of, served
from test_twin_attach import from_wire, udp
from testpmd import Testpmd, TestpmdError
from two_pfs import TWO_PFS

__all__ = ["library", "testpmd"]  # fixtures
FIRST = 4
#: VF 6 is PF 1's.
OF_TWO_PFS = ("--dma", "meridian", *TWO_PFS)
PF, VF = 1, 6


def frames_for(function: int) -> list[bytes]:
    """From a VF's address to its address, so that it may send them as they are."""
    return [2 * address_of(function) + udp(size, size)[12:] for size in (60, 500, 1514)]


def started(testpmd: Callable[..., Testpmd], card: Any, function: int) -> Testpmd:
    pmd = testpmd(card, function=function)
    pmd.start("io")
    return pmd


def test_two_vfs_in_processes_of_their_own_get_their_own_frames(run_card: Any, testpmd: Callable[..., Testpmd]) -> None:
    """Each VF gets its own frames, in memory that the other cannot reach; one is killed, the other goes on."""
    card = run_card()
    with Host.connect(card.socket) as host:
        host.bring_up(queues=2)
        service = MeridianPf(host, range(64, 128))
        with served(host):
            pmds = [started(testpmd, card, function) for function in (FIRST, FIRST + 1)]
            for function, pmd in enumerate(pmds, FIRST):
                frames = frames_for(function)
                for frame in frames:
                    card.wires[0].send(frame)
                assert from_wire(pmd, card.wires[0], len(frames)) == frames
            assert [pmd.statistics()["RX-packets"] for pmd in pmds] == [3, 3]
        assert service.vfs[FIRST].base != service.vfs[FIRST + 1].base
        with served(host):
            pmds[0].kill()
            for frame in frames_for(FIRST + 1):
                card.wires[0].send(frame)
            assert from_wire(pmds[1], card.wires[0], 3) == frames_for(FIRST + 1)
            again = started(testpmd, card, FIRST)
            for frame in frames_for(FIRST):
                card.wires[0].send(frame)
            assert from_wire(again, card.wires[0], 3) == frames_for(FIRST)
            again.quit()
            pmds[1].quit()
        assert host.link.dma["astray"] == 0


def test_a_vf_that_is_not_trusted_is_told(run_card: Any, testpmd: Callable[..., Testpmd]) -> None:
    """testpmd asks to be promiscuous as it starts, and starts without."""
    card = run_card()
    with Host.connect(card.socket) as host:
        host.bring_up(queues=2)
        MeridianPf(host, range(64, 128))
        with served(host):
            pmd = started(testpmd, card, FIRST)
            assert "Operation not permitted - ignore" in pmd.start_text
            assert "ip link set DEVICE vf NUMBER trust on" in pmd.start_text
            assert "Promiscuous mode: disabled" in pmd.command("show port info 0")
            pmd.quit()


@pytest.mark.parametrize("max_frame", [0, 1517, 16001, 0xFFFFFFFF])
def test_a_longest_frame_that_no_card_has_is_not_believed(run_card: Any, library: Path, max_frame: int) -> None:
    card = run_card()
    with Host.connect(card.socket) as host:
        host.bring_up(queues=2)
        MeridianPf(host, range(64, 128)).max_frame = max_frame
        sentence = f"the PF says that the longest frame has {max_frame} bytes, which no card has"
        with served(host), pytest.raises(TestpmdError, match=sentence):
            Testpmd(library, [f"net_meridian_twin0,socket={card.socket},function={FIRST}"], memory=64)


def test_a_pf_that_is_silent_is_waited_for_once(run_card: Any, testpmd: Callable[..., Testpmd]) -> None:
    """
    Ten seconds for the first question of a stop; then the VF is kept from memory, for its queues go on, and nobody
    else's memory is written. When the PF answers again, all is well.
    """
    card = run_card()
    with Host.connect(card.socket) as host:
        host.bring_up(queues=2)
        MeridianPf(host, range(64, 128))
        with served(host):
            pmd = started(testpmd, card, FIRST)
            pmd.command("stop")
        began = time.monotonic()
        said = pmd.command("port stop 0", 120)
        took = time.monotonic() - began
        assert said.count("the PF does not answer operation") == 1
        assert "it may not access memory until it does" in said
        assert 10 <= took < 20, f"{took:.1f} s"
        # The port is stopped, as testpmd hears when it tries again.
        assert "rte_eth_dev_stop failed" not in pmd.command("port stop 0")
        assert "the card still does not end the queues of before" in pmd.command("port start 0", 120)
        with served(host):
            pmd.start("io")
            for frame in frames_for(FIRST):
                card.wires[0].send(frame)
            assert from_wire(pmd, card.wires[0], 3) == frames_for(FIRST)
            pmd.quit()


def test_a_vf_is_told_that_its_host_has_left(run_card: Any, testpmd: Callable[..., Testpmd]) -> None:
    """The processes of the VFs end as they should."""
    card = run_card()
    with Host.connect(card.socket) as host:
        host.bring_up(queues=2)
        MeridianPf(host, range(64, 128))
        with served(host):
            pmd = started(testpmd, card, FIRST)
    assert "the host has left" in pmd.command("show port stats 0") + pmd.quit()


def has_capabilities(vf: Testpmd) -> bool:
    """Whether its PF has told of what the card can do to received frames, and sets the VF's RSS."""
    has_table = "Redirection table size: 128" in vf.command("show port info 0")
    has_offloads = "CKSUM" in vf.command("show port 0 rx_offload capabilities")
    assert has_table == has_offloads
    return has_table


def test_a_pf_of_the_first_messages_sets_no_rss(run_card: Any, testpmd: Callable[..., Testpmd]) -> None:
    card = run_card()
    with Host.connect(card.socket) as host:
        host.bring_up(queues=2)
        MeridianPf(host, range(64, 128))
        with served(host):
            vf = testpmd(card, "--rxq=2", "--txq=2", "--rss-ip", "--nb-cores=1", function=FIRST)
            vf.start("io")
            assert not has_capabilities(vf)
            assert "Redirection table size is 0" in vf.command("port config 0 rss reta (0,1)")
            assert "Operation not supported" in vf.command("port config all rss none")
            for frame in frames_for(FIRST):
                card.wires[0].send(frame)
            assert sorted(from_wire(vf, card.wires[0], 3)) == sorted(frames_for(FIRST))
            vf.quit()


def comes_back(card: Any, vf: Testpmd) -> None:
    frame = frames_for(VF)[0]
    card.wires[0].send(frame)
    assert from_wire(vf, card.wires[0], 1) == [frame]


def pf_of_two(testpmd: Callable[..., Testpmd], card: Any) -> Testpmd:
    pmd = testpmd(card, function=PF, more=f"mac=02:aa:bb:cc:dd:01,vfs=2,vf_mac={address_of(VF).hex(':')}")
    pmd.command("set promisc 0 off")
    pmd.start("io")
    return pmd


@pytest.mark.long
def test_a_vf_has_the_pf_that_the_card_was_made_with(run_card: Any, testpmd: Callable[..., Testpmd]) -> None:
    """Nobody has said which."""
    card = run_card(configuration=OF_TWO_PFS)
    pf = pf_of_two(testpmd, card)
    vf = started(testpmd, card, VF)
    comes_back(card, vf)
    vf.quit()
    assert "plays one function alone" not in pf.quit()


@pytest.mark.long
def test_another_pf_is_refused_in_a_sentence(run_card: Any, testpmd: Callable[..., Testpmd]) -> None:
    card = run_card(configuration=OF_TWO_PFS)
    pf_of_two(testpmd, card)
    pmd = testpmd(card, function=VF, more="pf=0")
    assert "function 6 is a VF of PF 1 in this card, not of PF 0" in pmd.start_text
    assert "No probed ethernet devices" in pmd.start_text


@pytest.mark.long
def test_a_pf_does_not_serve_another_ones_vfs(run_card: Any, testpmd: Callable[..., Testpmd]) -> None:
    """They go on as before."""
    card = run_card(configuration=OF_TWO_PFS)
    pf_of_two(testpmd, card)
    vf = started(testpmd, card, VF)
    for function, vfs, has in ((0, 4, 2), (2, 1, 0)):
        pmd = testpmd(card, function=function, more=f"vfs={vfs}")
        assert f"PF {function} has {has} VFs in this card, not {vfs}" in pmd.start_text
        assert "No probed ethernet devices" in pmd.start_text
    comes_back(card, vf)
