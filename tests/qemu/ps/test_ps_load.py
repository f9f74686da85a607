# SPDX-License-Identifier: Apache-2.0
"""TCP of the PS, both ways, while the host fills the wire both ways without a pause."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_load import LENGTH, MAC, host_load
from host_network import IPERF_PORT, Function, server
from meridian_machine import PsHardware, Setting, Twin
from meridian_machine import driver as drivers
from meridian_machine import peer as far_end
from meridian_machine.guest import Guest

pytestmark = [pytest.mark.qemu, pytest.mark.quick]
BYTES = 100_000
# Between two trains of frames for the host is room for one of the PS.
TRAFFIC = f"traffic:size={LENGTH},burst=20,rate=1900000pps,dmac={MAC.hex(':')}"


def test_iperf3_of_the_ps_passes_both_ways_beside_a_host_that_fills_the_wire(tmp_path: Path) -> None:
    wire = f"0=tap:name={far_end.interface(0)}+{TRAFFIC}"
    setting = Setting(hardware=None, ps=PsHardware(), wires=[wire])
    with Twin(setting, tmp_path) as twin:
        twin.peer.set_up([0])
        with (
            server(twin, "iperf3", "-s", "-p", str(IPERF_PORT), port=IPERF_PORT),
            twin.ps_machine() as machine,
            host_load(twin.card.socket, receives=True) as load,
        ):
            guest = Guest(machine)
            guest.wait_link()
            function = Function(guest, "eth0", far_end.address(0, drivers.PS))
            before = guest.statistics()
            for way in ((), ("-R",)):
                assert function.iperf(str(BYTES), *way, seconds=400) >= BYTES // 2
            load.check()
            assert load.received > 1000
            now = guest.statistics()
            lost = ("card_rx_no_descriptor", "card_rx_errors")
            assert [now[name] - before[name] for name in lost] == [0, 0]
            guest.check()
            machine.power_off()
