# SPDX-License-Identifier: Apache-2.0
"""How many VFs there can be: what PCIe offers may be more than the shell was built with."""

from __future__ import annotations

import pytest
from host_network import network
from meridian_machine.guest import PF_DEVICE

pytestmark = pytest.mark.qemu
VFS = 4  # the default shell has functions for so many


def test_more_vfs_than_the_card_has_functions_are_refused() -> None:
    with network(vfs=0) as net:
        status, _ = net.guest.try_run(f"echo {VFS + 1} >{PF_DEVICE}/sriov_numvfs")
        assert status != 0
        assert "no room for 5 VFs: the card has 8 functions, VFs begin at 4" in net.guest.log()
        assert net.guest.run(f"cat {PF_DEVICE}/sriov_numvfs").strip() == "0"
