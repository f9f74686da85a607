# SPDX-License-Identifier: Apache-2.0
"""What goes wrong: a card that is pulled, queues that stand still, a register map the driver does not know."""

from __future__ import annotations

import re

import pytest
from driver_machine import Link, changed, linked, stop_transmit, vfs_apart
from machine_report import run_folder
from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine.guest import MODULE, PF_DEVICE, Guest, unanswered

pytestmark = pytest.mark.qemu
COMPLETION_DOORBELL = 0x18000 + 0xC  # and 16 for each queue


def test_a_queue_that_stands_still_is_started_again() -> None:
    # The test writes registers behind the driver's back.
    with linked(tools.SUITES[0], hardware=Hardware(kernel="iomem=relaxed")) as link:
        stop_and_see(link.guest)


def stop_and_see(guest: Guest) -> None:
    guest.ping()
    stop_transmit(guest)
    status, _ = guest.try_run("ping -c 1 -W 1 10.44.0.1")
    assert status != 0
    guest.until("dmesg", "transmit queue [01] stands still with [0-9]+ frames: resetting", 30)
    guest.until("ping -c 1 -W 1 10.44.0.1", "1 received", 30)
    guest.run("dmesg -C")  # with it goes the watchdog's own warning, which was wanted


def told_after(guest: Guest, queues: int, is_sending: bool) -> float:
    """Seconds of the machine until the driver tells of queues that are stopped, before or while both processors send."""
    # The neighbour is permanent: a stopped queue cannot ask for it, and then neither ping would send anything.
    peer = guest.run("ip -o neigh show 10.44.0.1").split()[4]
    guest.run(f"ip neigh replace 10.44.0.1 lladdr {peer} dev eth0 nud permanent")
    send = "for cpu in 0 1; do taskset -c $cpu ping -i 0.1 -s 1400 10.44.0.1 >/dev/null 2>&1 & done"
    if is_sending:
        guest.run(send)
    stop_transmit(guest, queues)
    guest.run("echo they are stopped >/dev/kmsg")
    if not is_sending:
        guest.run(send)
    guest.until("dmesg", "transmit queue [01] stands still", 120)
    text = guest.run("dmesg; pkill ping")
    stopped, told = (re.search(rf"\[ *([0-9.]+)\] .*{what}", text) for what in ("they are stopped", "stands still"))
    assert stopped and told, text
    guest.until("ping -c 1 -W 1 10.44.0.1", "1 received", 30)
    guest.run("dmesg -C")
    return float(told[1]) - float(stopped[1])


@pytest.mark.parametrize("is_sending", [False, True], ids=["before", "meanwhile"])
def test_a_queue_is_told_of_sooner_if_the_function_sends_nothing(is_sending: bool) -> None:
    with linked(tools.SUITES[0], hardware=Hardware(kernel="iomem=relaxed")) as link:
        link.guest.ping()
        assert 4 < told_after(link.guest, 2, is_sending) < 18


def test_a_queue_beside_another_that_goes_on_is_told_of() -> None:
    """After 20 s, if the other has sent enough meanwhile, which is little without segments.

    It is stopped while nothing of it is on its way: the card grants the function's other queues nothing until that has
    come, or is lost after a millisecond, which takes the twin as long as the driver waits for a function that sends
    nothing.
    """
    with linked(tools.SUITES[0], hardware=Hardware(kernel="iomem=relaxed")) as link:
        guest = link.guest
        guest.ping()
        guest.run("ethtool -K eth0 tso off tx-udp-segmentation off")
        assert 18 < told_after(guest, 1, is_sending=False) < 60


# Every twentieth frame finds the ring full, which has room again at the next look: XDP and AF_XDP use rings, too.
FULL = "if (unlikely(!meridian_tx_room(tx))) {"
FULL_AT_TIMES = "if (unlikely(!meridian_tx_room(tx) || ({ static int looks; ++looks % 20 == 0; }))) {"


def test_a_ring_that_has_room_again_at_the_second_look_is_not_waited_for() -> None:
    with (
        changed("linux/rings/meridian_tx.c", re.escape(FULL), FULL_AT_TIMES) as driver,
        linked(tools.SUITES[0], driver=driver) as link,
    ):
        text = link.guest.run("ping -c 200 -i 0.02 -w 40 10.44.0.1")
        assert not unanswered(text, 200), text


def test_a_ring_that_the_card_has_ended_is_started_again() -> None:
    """An index of completions that cannot be, as only a driver's mistake makes it: the card ends the ring."""
    with linked(tools.SUITES[0], hardware=Hardware(kernel="iomem=relaxed")) as link:
        guest = link.guest
        bar0 = guest.bar(0)
        guest.ping()
        for queue in range(2):
            guest.run(f"busybox devmem {bar0 + COMPLETION_DOORBELL + 16 * queue:#x} 32 {1 << 28 | 500:#x}")
        guest.until("dmesg", "QDMA errors .* c2h 0x4000 ")
        guest.until("dmesg", "receive queue [01] has completions that cannot be", 30)
        guest.until("ping -c 1 -W 1 10.44.0.1", "1 received", 30)
        assert guest.statistics()["rx_bad_completion"] >= 1
        guest.ping()


def test_a_pf_that_is_reset_goes_on() -> None:
    """Up and down; then it can make VFs, which talk to it by the mailbox that the reset has taken."""
    with linked(tools.SUITES[0]) as link:
        guest = link.guest
        for _ in range(2):
            guest.run(f"echo 1 >{PF_DEVICE}/reset")
            guest.wait_link()
            guest.ping()
        guest.run(f"ip link set eth0 down; echo 1 >{PF_DEVICE}/reset; ip link set eth0 up")
        guest.wait_link()
        guest.ping()
        with vfs_apart(guest, 1):
            guest.run("ip netns exec vf0 ip link set eth1 up")


# A function that is reset decodes no address. QEMU answers a read of nobody's address with 0, PCIe with ones.
DECODED = "return readl(bar + offset);"
DECODED_OR_ONES = "u32 word = readl(bar + offset);\\n\\treturn word || readl(bar) ? word : ~0u;"


def test_who_looks_at_a_pf_while_it_is_reset_takes_nothing_from_it() -> None:
    """What a reader finds in a reset that others do is no removal, and what was one ends with a reset."""
    with (
        changed("qdma/qdma_os.h", re.escape(DECODED), DECODED_OR_ONES) as driver,
        linked(tools.SUITES[0], driver=driver) as link,
    ):
        guest = link.guest
        guest.run(
            "touch /run/go; while [ -e /run/go ]; do devlink dev info pci/0000:01:00.0; ip -s link; ethtool -S eth0; "
            "done >/dev/null 2>&1 &\n"
            "while [ -e /run/go ]; do devlink health diagnose pci/0000:01:00.0 reporter tx; done >/dev/null 2>&1 &"
        )
        for _ in range(5):
            guest.run(f"echo 1 >{PF_DEVICE}/reset")
            guest.wait_link()
            guest.ping()
        guest.run("rm /run/go; wait")
        assert not re.search("does not answer|does not take", guest.run("dmesg"))


def test_a_card_that_is_pulled_is_told_and_nothing_hangs() -> None:
    with linked(tools.SUITES[0], watched=False) as link:
        pull_and_see(link)


def pull_and_see(link: Link) -> None:
    guest = link.guest
    guest.ping()
    link.twin.card.stop()
    guest.until("dmesg", "the card does not answer any more: every read gives all ones")
    assert "NO-CARRIER" in guest.run("ip link show eth0") or "DOWN" in guest.run("ip link show eth0")
    assert guest.try_run("ping -c 1 -W 1 10.44.0.1")[0] != 0
    guest.try_run("ethtool -S eth0; ethtool -i eth0; ethtool -t eth0")
    guest.run("ip link set eth0 down", 20)
    assert guest.try_run("ip link set eth0 up", 20)[0] != 0
    guest.run("rmmod meridian", 20)
    assert guest.try_run(f"insmod {MODULE}; ls /sys/bus/pci/devices/0000:01:00.0/net", 20)[0] != 0
    guest.until("dmesg", "the card does not answer: every read gives all ones")


def test_a_card_with_another_register_map_is_refused_in_a_sentence() -> None:
    header = "include/meridian_regs.h"
    with (
        changed(header, r"(#define MERIDIAN_MAP_MAJOR +)\d+", r"\g<1>7") as driver,
        run_folder() as folder,
        Twin(Setting(suite=tools.SUITES[0], driver=driver), folder) as twin,
    ):
        twin.host.setup = ""
        with twin.machine() as machine:
            machine.run(f"insmod {MODULE}", check=True)
            log = machine.run("dmesg").text
            assert machine.run("ls /sys/bus/pci/devices/0000:01:00.0/net").status != 0
            machine.run("rmmod meridian", check=True)
    assert re.search(r"the card's register map is version 1\.\d+, this driver knows 7\.\d+: take the driver that", log)


def test_a_pf_works_after_removal_and_rescan_on_the_bus() -> None:
    with linked(tools.SUITES[0]) as link:
        for _ in range(2):
            link.guest.run("echo 1 >/sys/bus/pci/devices/0000:01:00.0/remove")
            link.guest.run("echo 1 >/sys/bus/pci/rescan")
            link.guest.run("ip address add 10.44.0.2/24 dev eth0 && ip link set eth0 up")
            link.guest.wait_link()
            link.guest.ping()
