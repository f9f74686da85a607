# SPDX-License-Identifier: Apache-2.0
"""What the Linux driver leaves of its settings on the card when it goes: none."""

from __future__ import annotations

import pytest
from driver_machine import vfs_apart
from faulty_driver import faulty
from machine_report import run_folder
from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine.guest import HERE, MODULE, PF_DEVICE, Guest
from test_driver_stops import (
    FLAGS,
    FUNCTION,
    FUNCTION_STRIDE,
    VF_FUNCTION,
    VF_QUEUE,
    write,
)

pytestmark = pytest.mark.qemu
QUEUE_SWITCHES = 0x120000
CREDIT = 0x110030
HASH_ORDER = 0x628
DRIVER = "/sys/bus/pci/drivers/meridian"


def words(guest: Guest, offset: int, count: int) -> list[int]:
    base = guest.bar(2) + offset
    text = guest.run(f"for i in $(seq 0 {count - 1}); do busybox devmem $(({base} + 4 * i)); done")
    return [int(line, 16) for line in text.split()]


def settings(guest: Guest) -> dict[str, list[int]]:
    """Of the card's first PF and its first VF: what they may send and receive, and how."""
    guest.run(f"echo 1 >{PF_DEVICE}/enable; sleep 0.2")
    found = {
        "switches": words(guest, QUEUE_SWITCHES, 8),
        "VF's switches": words(guest, QUEUE_SWITCHES + 4 * VF_QUEUE, 8),
        "credit": words(guest, CREDIT, 1),
    }
    for function in (0, VF_FUNCTION):
        base = FUNCTION + FUNCTION_STRIDE * function
        for name, offset, count in (
            ("queues", 0x0, 1),
            ("flags", FLAGS, 1),
            ("rates", 0x10, 2),
            ("vlan", 0x18, 2),
            ("indirection", 0x400, 128),
            ("key", 0x600, 10),
            ("order", HASH_ORDER, 1),
        ):
            found[f"{name} of {function}"] = words(guest, base + offset, count)
    guest.run(f"echo 0 >{PF_DEVICE}/enable")
    return found


def test_a_driver_that_goes_leaves_the_card_as_after_reset() -> None:
    """It is compared with a card that no driver has touched. The debug kernel counts the memory that stays mapped."""
    with faulty() as driver, run_folder() as folder:
        setting = Setting(suite=tools.SUITES[0], hardware=Hardware(kernel="iomem=relaxed"), driver=driver)
        with Twin(setting, folder) as twin:
            twin.host.setup = ""
            with twin.machine() as machine:
                see_card(Guest(machine))


def test_frames_without_buffers_are_dropped_as_long_as_any_function_has_queues() -> None:
    """The second PF has another driver, for which its registers stand: the two share nothing but the card."""
    with run_folder() as folder:
        hardware = Hardware(device="pfs=2", kernel="iomem=relaxed")
        with Twin(Setting(suite=tools.SUITES[0], hardware=hardware), folder) as twin, twin.machine() as machine:
            guest = Guest(machine)
            guest.wait_link()
            guest.run(f"ip link set eth0 down; echo 0000:01:00.1 >{DRIVER}/unbind")
            assert credit(guest)
            write(guest, CREDIT, 0)
            guest.run("ip link set eth0 up")
            assert credit(guest), "the other driver, which had no queues, was the last then"
            write(guest, FUNCTION + FUNCTION_STRIDE, 64 << 16 | 1)
            leave(guest)
            assert credit(guest)
            write(guest, FUNCTION + FUNCTION_STRIDE, 0)
            guest.run(f"insmod {MODULE}; echo 0000:01:00.1 >{DRIVER}/unbind")
            leave(guest)
            assert not credit(guest)
            guest.check()


def credit(guest: Guest) -> int:
    return words(guest, CREDIT, 1)[0]


def leave(guest: Guest) -> None:
    guest.run(f"rmmod meridian; echo 1 >{PF_DEVICE}/enable; sleep 0.2")


def see_card(guest: Guest) -> None:
    before = settings(guest)
    change_and_compare(guest, before)
    spread_as_no_driver_does(guest)
    change_and_compare(guest, before)


def spread_as_no_driver_does(guest: Guest) -> None:
    """As one leaves it that crashes."""
    guest.run(f"echo 1 >{PF_DEVICE}/enable; sleep 0.2")
    for function in (0, VF_FUNCTION):
        base = FUNCTION + FUNCTION_STRIDE * function
        for offset, value in (
            (0x400, 1),
            (0x5FC, 1),
            (0x600, 0x12345678),
            (0x624, 0x9ABCDEF0),
            (HASH_ORDER, 1),
        ):
            write(guest, base + offset, value)
    guest.run(f"echo 0 >{PF_DEVICE}/enable")


def change_and_compare(guest: Guest, before: dict[str, list[int]]) -> None:
    """before: of the card after its reset."""
    guest.run(f"insmod {MODULE} && ip address add {HERE}/24 dev eth0 && ip link set eth0 up")
    guest.wait_link()
    guest.run(
        "ethtool -K eth0 rx-vlan-offload on; ethtool --set-priv-flags eth0 microsoft-hash on\n"
        f"ethtool -X eth0 weight 1 3 hkey {':'.join(['6d'] * 40)}\n"
        "ip link set eth0 promisc on; ip link add link eth0 name eth0.7 type vlan id 7; ip link set eth0.7 up"
    )
    with vfs_apart(guest):
        guest.run("ip link set eth0 vf 0 vlan 9 trust on spoofchk off max_tx_rate 100 state enable")
        guest.run("ip netns exec vf0 ip link set eth1 up; sleep 1")
    guest.run("ip link del eth0.7; rmmod meridian")
    after = settings(guest)
    changed_ones = {name for name in before if before[name] != after[name]}
    assert not changed_ones, {name: (before[name], after[name]) for name in changed_ones}
    guest.check()
