# SPDX-License-Identifier: Apache-2.0
"""The offline self-test on a card with two PFs: at the same time, while PCIe has an error, and while the card goes."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from qemu_monitor import Monitor
from selftest_bench import SECONDS, Bench, machine_that_loses_its_card
from test_pattern import GOOD, PLANTED, good, in_the_middle, offline

pytestmark = [pytest.mark.qemu, pytest.mark.long]
#: A batch that does not come back adds this, and Linux what it takes for a recovery.
BOUND = 60
#: One of so many tests is under way when it happens.
TIMES, MANY = 4, 30


@pytest.fixture(scope="module")
def slot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bench, Monitor]]:
    with machine_that_loses_its_card(tmp_path_factory.mktemp("pattern"), PLANTED, ports=1) as it:
        yield it


def health(bench: Bench) -> str:
    return bench.guest.run("devlink health show pci/0000:01:00.0 reporter selftest")


def goes_on(bench: Bench) -> None:
    """The interface works, and the next test is good."""
    bench.guest.until("cat /sys/class/net/eth0/carrier", "^1", BOUND)
    bench.guest.ping()
    bench.guest.run("dmesg -C")
    good(offline(bench)[1])
    assert "state healthy" in health(bench)


def test_patterns_of_two_pfs_at_the_same_time_are_both_good(slot: tuple[Bench, Monitor]) -> None:
    """One waits for the other, and both are good."""
    bench, _ = slot
    bench.guest.run("dmesg -C")
    text = bench.guest.run(
        "ethtool -t eth0 offline >/run/first 2>&1 & ethtool -t eth1 offline; echo status $?; wait $!; echo status $?; "
        "cat /run/first",
        SECONDS,
    )
    assert re.findall(r"status (\d+)", text) == ["0", "0"], text
    assert len(re.findall(GOOD, bench.guest.run("dmesg"))) == 2
    goes_on(bench)


@pytest.mark.parametrize("error", ["COMP_TIME", "MALF_TLP"], ids=["not fatal", "fatal"])
def test_the_pattern_ends_and_both_pfs_recover_after_an_error_of_pcie(slot: tuple[Bench, Monitor], error: str) -> None:
    """The test ends, whatever it has found; PCIe's recovery waits for that, and brings both PFs back."""
    bench, monitor = slot
    bench.guest.run("dmesg -C")
    started = time.monotonic()
    with in_the_middle(bench, TIMES):
        monitor.inject(error)
    bench.guest.until("dmesg", "AER: device recovery successful", BOUND)
    assert time.monotonic() - started < 2 * BOUND
    bench.guest.until("cat /sys/class/net/eth1/carrier", "^1", BOUND)
    goes_on(bench)
    bench.guest.check()


def test_the_pattern_ends_with_a_failure_if_the_card_goes(slot: tuple[Bench, Monitor]) -> None:
    """It is the last test: the card does not come back."""
    bench, _ = slot
    with in_the_middle(bench, MANY):
        started = time.monotonic()
        bench.twin.card.stop()
    assert time.monotonic() - started < BOUND
    assert "FAIL" in bench.guest.run("cat /run/offline")
    said = bench.guest.run("dmesg")
    assert "self-test: the card does not answer" in said, said
    assert re.search(r"state error error \d+", health(bench))
    started = time.monotonic()
    bench.guest.run("rmmod meridian", SECONDS)
    assert time.monotonic() - started < BOUND
    bench.guest.check()
