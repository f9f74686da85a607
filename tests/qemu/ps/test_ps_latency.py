# SPDX-License-Identifier: Apache-2.0
"""What a frame takes between the connector and where the MAC stamps it: the device tree has it, files show and change it,
and the card's registers get it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from driver_machine import tool
from meridian_machine import PsHardware
from meridian_machine.guest import Guest
from ptp_run import ps_with
from stamp_latency import FOLDER, latencies, latency_tree

pytestmark = pytest.mark.qemu
RX_PS, TX_PS = 413_000, 127_000
RX_LATENCY, TX_LATENCY = 0xA000_2110, 0xA000_2114
RACE = Path(__file__).with_name("latency_race.c")


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    folder: Path = tmp_path_factory.mktemp("latency")
    race = {RACE.stem: tool(folder, RACE, "aarch64-linux-gnu-gcc")}
    # A test reads registers that the driver has.
    hardware = PsHardware(kernel="iomem=relaxed", tree=latency_tree(folder, RX_PS, TX_PS), cpus=4)
    with ps_with([], folder, hardware=hardware, files=race) as (_, guest):
        yield guest


def registers(guest: Guest) -> list[int]:
    """Signed, in 2^-16 ns."""
    words = [int(guest.run(f"busybox devmem {at:#x}"), 16) for at in (RX_LATENCY, TX_LATENCY)]
    return [word - (word >> 31 << 32) for word in words]


def test_latencies_come_from_the_device_tree_and_from_files(guest: Guest) -> None:
    """They are kept over a restart of the port."""
    assert latencies(guest) == [RX_PS, TX_PS]
    assert registers(guest) == [413 << 16, 127 << 16]
    guest.run(f"echo 1500 >{FOLDER}/rx_ps && echo -250 >{FOLDER}/tx_ps")
    assert registers(guest) == [0x1_8000, -0x4000]
    for wrong in ("32000001", "-32000001", "x", "1.5"):
        assert guest.try_run(f"echo {wrong} >{FOLDER}/rx_ps")[0] != 0, wrong
    assert latencies(guest) == [1500, -250]
    guest.run("ip link set eth0 down && ip link set eth0 up")
    guest.wait_link()
    assert registers(guest) == [0x1_8000, -0x4000]


def test_file_and_register_agree_after_two_writes_at_once(guest: Guest) -> None:
    text = guest.run(f"/run/twin/{RACE.stem} {FOLDER}/rx_ps {RX_LATENCY:#x} 500", 120)
    assert text.startswith("0 of 500 rounds"), text
