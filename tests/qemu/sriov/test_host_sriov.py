# SPDX-License-Identifier: Apache-2.0
"""How many VFs there can be is what sriov_totalvfs says: what PCIe offers, and what the shell was built for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from driver_machine import running
from meridian_machine import Setting, Twin, tools
from meridian_machine.guest import PF_DEVICE

pytestmark = pytest.mark.qemu
VFS = 4  # the default shell has functions for so many


@pytest.mark.parametrize("offered", [VFS, 40], ids=["as many as the shell has", "more than the shell has"])
def test_no_more_vfs_can_be_asked_for_than_the_card_has(tmp_path: Path, offered: int, own_dma: bool) -> None:
    """The DMA engine of our own offers on PCIe what the shell has, whatever is asked of the model."""
    functions = ["--pcie-functions", str(4 + offered)]
    with (
        Twin(Setting(suite=tools.SUITES[0], card_options=functions), tmp_path) as twin,
        running(twin) as guest,
    ):
        assert guest.run(f"cat {PF_DEVICE}/sriov_totalvfs").strip() == str(VFS)
        told = re.search(r"4 VFs at most: the card has 8 functions, VFs begin at 4", guest.log())
        assert bool(told) == (offered > VFS and not own_dma), guest.log()
        status, text = guest.try_run(f"echo {VFS + 1} >{PF_DEVICE}/sriov_numvfs")
        assert status != 0 and "out of range" in text, text
        assert guest.run(f"cat {PF_DEVICE}/sriov_numvfs").strip() == "0"
        guest.run(f"echo {VFS} >{PF_DEVICE}/sriov_numvfs")
        assert guest.run(f"ls -d {PF_DEVICE}/virtfn*/net/* | wc -l").strip() == str(VFS)
        guest.run(f"echo 0 >{PF_DEVICE}/sriov_numvfs")
