# SPDX-License-Identifier: Apache-2.0
"""The PS sleeps and wakes: as far as its devices with Linux's own test of that (pm_test), as QEMU's machine has no way to
be woken. The clock goes on meanwhile, and what was set is set again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver_machine import NO_MEMORY, Link
from meridian_machine import tools
from meridian_machine.driver import modules
from ps_link import ps_link

pytestmark = [pytest.mark.qemu, pytest.mark.quick]
SECONDS = 1  # that Linux's test waits
HOLD_RTNL = Path(__file__).with_name("hold_rtnl")
BACK = "the port is back"


@pytest.fixture(scope="module")
def ps() -> Iterator[Link]:
    files = {
        name: file for folder in (NO_MEMORY, HOLD_RTNL) for name, file in modules(tools.SUITES[0], folder, "ps").items()
    }
    with ps_link(files=files) as link:  # type: ignore[arg-type]
        # It waits busily, which the kernel takes for a lock-up where the machine is slow.
        link.guest.run(f"echo {SECONDS} >/sys/module/suspend/parameters/pm_test_delay")
        yield link


def sleep(link: Link) -> None:
    link.guest.run("echo devices >/sys/power/pm_test && echo freeze >/sys/power/state", 90)
    assert re.search("suspend debug: Waiting for", link.guest.log())


def time_of(link: Link) -> float:
    return float(re.search(r"clock time is ([\d.]+)", link.guest.run("phc_ctl eth0 get"))[1])  # type: ignore[index]


def test_a_port_sleeps_and_wakes(ps: Link) -> None:
    guest = ps.guest
    guest.run(
        "ethtool -G eth0 rx 128 tx 128; ethtool -C eth0 rx-usecs 77; phc_ctl eth0 set 1000; phc_ctl eth0 freq 5000"
    )
    guest.wait_link()
    guest.ping()
    for _ in range(2):
        before = time_of(ps)
        sleep(ps)
        guest.wait_link()
        guest.ping()
        assert time_of(ps) >= before + SECONDS
    assert "rx-usecs:\t77" in guest.run("ethtool -c eth0")
    assert guest.statistics()["restarts_failed"] == 0
    assert "the clock was reset" not in guest.log()


def test_a_port_that_wakes_without_memory_says_so_and_comes_back(ps: Link) -> None:
    guest = ps.guest
    guest.run("insmod /run/twin/no_memory.ko device=a0000000.ethernet")
    sleep(ps)
    log = guest.log()
    assert "no memory for the rings: the port is detached until there is some" in log
    assert "the card does not end the rings" not in log
    guest.run("rmmod no_memory")
    guest.until("dmesg", BACK, 90)
    guest.wait_link()
    guest.ping()
    assert guest.statistics()["restarts_failed"] == 1


@pytest.mark.long
def test_a_port_that_looks_for_memory_does_not_come_back_while_the_system_sleeps(ps: Link) -> None:
    """It looks 8 s and 16 s behind its wake-up, the second time while suspend waits for the network's lock before it."""
    guest = ps.guest
    guest.run("insmod /run/twin/no_memory.ko device=a0000000.ethernet")
    sleep(ps)
    times = guest.log().count(BACK)
    guest.run("sleep 11; insmod /run/twin/hold_rtnl.ko seconds=9; rmmod no_memory")
    sleep(ps)
    before, _, behind = guest.log().rpartition("suspend debug: Waiting for")
    assert before.count(BACK) == times and behind.count(BACK) <= 1
    guest.until("dmesg", f"(?s)({BACK}.*){{{times + 1}}}", 90)
    guest.run("rmmod hold_rtnl")
    guest.wait_link()
    guest.ping()


def test_a_port_that_is_closed_stays_closed(ps: Link) -> None:
    guest = ps.guest
    guest.run("ip link set eth0 down")
    sleep(ps)
    assert "state DOWN" in guest.run("ip link show eth0")
    guest.run("ip link set eth0 up && ip address replace 10.44.0.3/24 dev eth0")
    guest.wait_link()
    guest.ping()
