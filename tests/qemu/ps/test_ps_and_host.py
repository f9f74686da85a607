# SPDX-License-Identifier: Apache-2.0
"""A host and the card's own PS, both Linux, at one card: they talk inside it, and one's end is not the other's."""

from __future__ import annotations

from pathlib import Path

import pytest
from meridian_machine import Hardware, PsHardware, Setting, Twin, tools
from meridian_machine import driver as drivers
from meridian_machine import peer as far_end
from meridian_machine.guest import Guest

pytestmark = pytest.mark.qemu
HOST, PS = far_end.address(0, drivers.HOST), far_end.address(0, drivers.PS)


@pytest.mark.skipif(not drivers.PS_SOURCE.is_dir(), reason="the tree has no driver for the PS")
def test_host_and_ps_talk_inside_the_card(tmp_path: Path) -> None:
    setting = Setting(tools.SUITES[0], hardware=Hardware(cpus=1), ps=PsHardware(cpus=1))
    with Twin(setting, tmp_path) as twin, twin.ps_machine() as ps_machine:
        ps = Guest(ps_machine)
        with twin.machine() as host_machine:
            host = Guest(host_machine)
            host.wait_link()
            # The PS knows the board, and has told the card what the host's PFs are called.
            assert "by chance" not in host.log()
            names = [int.from_bytes(guest.address(), "big") for guest in (ps, host)]
            assert names[1] - names[0] == 4, "there are four ports of the PS before it"
            for guest, far in ((host, PS), (ps, HOST), (host, far_end.address(0, 1)), (ps, far_end.address(0, 1))):
                guest.ping(3, 1400, far)
            host.check()
            host_machine.power_off()
        # The host is off, its side of the card reset.
        ps.ping()
        ps.check()
        ps_machine.power_off()
