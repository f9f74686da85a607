# SPDX-License-Identifier: Apache-2.0
"""The address that a PF begins with: the card keeps it, whoever has said it, for any driver that comes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driver_machine import running
from machine_report import run_folder
from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine.guest import MODULE, Guest

pytestmark = pytest.mark.qemu
LOW, HIGH = 0x102010, 0x102014  # of PF 0 on port 0, in BAR2
PORT_STRIDE, PF_STRIDE = 0x1000, 8
VALID = 1 << 31
CHANCE = "by chance, until the card's power goes"


@pytest.fixture(scope="module", params=[1, 2], ids=["one port", "a port each"])
def guest(request: pytest.FixtureRequest) -> Iterator[Guest]:
    """Two PFs, eth0 and eth1: of one port, or each of a port of its own."""
    hardware = Hardware(device="pfs=2", kernel="iomem=relaxed")
    setting = Setting(suite=tools.SUITES[0], hardware=hardware, ports=request.param)
    with (
        run_folder() as folder,
        Twin(setting, folder) as twin,
        running(twin) as guest,
    ):
        yield guest


def reloaded(guest: Guest) -> tuple[bytes, bytes]:
    """What both PFs have after the driver has come again."""
    guest.run(f"rmmod meridian && insmod {MODULE}")
    return guest.address("eth0"), guest.address("eth1")


def write(guest: Guest, pf: int, address: bytes, flags: int = VALID) -> None:
    """As the PS does: the valid bit comes last."""
    bar2 = guest.bar(2)
    port = int(guest.run(f"cat /sys/class/net/eth{pf}/dev_port"))
    high = int.from_bytes(address[4:], "little") | flags
    for at, value in ((LOW, int.from_bytes(address[:4], "little")), (HIGH, high)):
        guest.run(f"busybox devmem {bar2 + at + PORT_STRIDE * port + PF_STRIDE * pf:#x} 32 {value:#x}")


def test_an_address_by_chance_is_told_and_stays(guest: Guest) -> None:
    before = guest.address("eth0"), guest.address("eth1")
    assert before[0] != before[1] and all(one[0] & 3 == 2 for one in before)
    log = guest.log()
    assert all(f"{one.hex(':')} {CHANCE}" in log for one in before)
    guest.run("ip link set eth0 address 02:00:00:00:00:55")
    assert reloaded(guest) == before, "what Linux has chosen meanwhile goes with the driver"
    assert guest.log().count(CHANCE) == 2, "it is by chance no longer"


def test_an_address_of_the_board_is_taken(guest: Guest) -> None:
    first, second = guest.address("eth0"), bytes.fromhex("025060708090")
    write(guest, 1, second)
    assert reloaded(guest) == (first, second)
    assert guest.run("cat /sys/class/net/eth1/addr_assign_type").strip() == "0", "it is no random one"
    assert guest.log().count(CHANCE) == 2


@pytest.mark.parametrize(("address", "flags"), [("035060708090", VALID), ("000000000000", VALID), ("025060708090", 0)])
def test_what_is_no_address_is_not_taken(guest: Guest, address: str, flags: int) -> None:
    """A group, nothing, and one that does not count."""
    times = guest.log().count(CHANCE)
    write(guest, 0, bytes.fromhex(address), flags)
    first = reloaded(guest)[0]
    assert first != bytes.fromhex(address) and first[0] & 3 == 2
    assert guest.log().count(CHANCE) == times + 1
    assert reloaded(guest)[0] == first
