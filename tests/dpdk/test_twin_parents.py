# SPDX-License-Identifier: Apache-2.0
"""testpmd on a card that was made with VFs of two PFs: the plug-in takes their numbers and parents from the card."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dpdk_fixtures import library, testpmd
from test_twin_attach import MAC
from test_twin_pf import there_and_back
from testpmd import Testpmd

__all__ = ["library", "testpmd"]  # fixtures
pytestmark = pytest.mark.long
CARD = ("--dma", "meridian", "--functions", "8", "--vfs", "2,2,0,0")
PF, VF = 1, 6
VF_MAC = "02:aa:bb:cc:dd:06"
VF_FRAME = 2 * bytes.fromhex(VF_MAC.replace(":", "")) + b"\x88\xb5" + bytes(50)


def pf_of(testpmd: Callable[..., Testpmd], card: Any) -> Testpmd:
    pmd = testpmd(card, function=PF, more=f"mac={MAC},vfs=2,vf_mac={VF_MAC}")
    pmd.command("set promisc 0 off")
    pmd.start("io")
    return pmd


def test_a_vf_belongs_to_the_pf_that_the_card_was_made_with(run_card: Any, testpmd: Callable[..., Testpmd]) -> None:
    card = run_card(configuration=CARD)
    pf = pf_of(testpmd, card)
    vf = testpmd(card, function=VF)
    vf.start("io")
    there_and_back(card, vf, [VF_FRAME])
    vf.quit()
    assert "plays one function alone" not in pf.quit()


def test_another_parent_is_refused_in_a_sentence(run_card: Any, testpmd: Callable[..., Testpmd]) -> None:
    card = run_card(configuration=CARD)
    pf_of(testpmd, card)
    pmd = testpmd(card, function=VF, more="pf=0")
    assert "function 6 is a VF of PF 1 in this card, not of PF 0" in pmd.start_text
    assert "No probed ethernet devices" in pmd.start_text


def test_a_pf_does_not_serve_another_ones_vfs(run_card: Any, testpmd: Callable[..., Testpmd]) -> None:
    """They go on as before."""
    card = run_card(configuration=CARD)
    pf_of(testpmd, card)
    vf = testpmd(card, function=VF)
    vf.start("io")
    for function, vfs, has in ((0, 4, 2), (2, 1, 0)):
        pmd = testpmd(card, function=function, more=f"vfs={vfs}")
        assert f"PF {function} has {has} VFs in this card, not {vfs}" in pmd.start_text
        assert "No probed ethernet devices" in pmd.start_text
    there_and_back(card, vf, [VF_FRAME])
