# SPDX-License-Identifier: Apache-2.0
"""The loops of a port while PCIe has an error, while the card does not hear the driver, and while the card goes."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from meridian_machine.guest import PF_DEVICE
from qemu_monitor import Monitor
from selftest_bench import SECONDS, Bench, machine_that_loses_its_card
from test_pattern import PLANTED
from test_port_loops import LANE, LOOPBACK, NEAR, ROUND, in_the_middle, offline, put_back, register, wait_for_end

pytestmark = [pytest.mark.qemu, pytest.mark.long]
#: What Linux takes for a recovery, beside a batch that does not come back.
BOUND = 60
#: One of so many tests is under way when it happens.
TIMES, MANY = 4, 30
TRIES = 5
GONE = "self-test: port loops: the card does not answer"
#: Bit of PCI's command register.
MEMORY = 2


@pytest.fixture(scope="module")
def slot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bench, Monitor]]:
    with machine_that_loses_its_card(tmp_path_factory.mktemp("loops"), PLANTED, ports=2) as it:
        yield it


@pytest.fixture
def bench(slot: tuple[Bench, Monitor]) -> Bench:
    slot[0].guest.run("dmesg -C")
    return slot[0]


def goes_on(bench: Bench) -> None:
    """The port is as before, and the next test is good."""
    for interface in ("eth0", "eth1"):
        bench.guest.until(f"cat /sys/class/net/{interface}/carrier", "^1", BOUND)
    put_back(bench)
    bench.guest.check()
    bench.guest.run("dmesg -C")
    assert re.search(ROUND.format(0, NEAR), offline(bench)[1])


@pytest.mark.parametrize("error", ["COMP_TIME", "MALF_TLP"], ids=["not fatal", "fatal"])
def test_the_loops_end_and_the_port_recovers_after_an_error_of_pcie(
    bench: Bench, slot: tuple[Bench, Monitor], error: str
) -> None:
    """The test ends, whatever it has found; PCIe's recovery waits for that, and brings the port back."""
    started = time.monotonic()
    in_the_middle(bench, "true", TIMES)
    slot[1].inject(error)
    wait_for_end(bench)
    bench.guest.until("dmesg", "AER: device recovery successful", BOUND)
    assert time.monotonic() - started < 2 * BOUND
    goes_on(bench)


def not_heard(bench: Bench) -> None:
    """What the driver writes at the end of a test is lost."""
    setting = f"setpci -s {Path(PF_DEVICE).name} COMMAND"
    in_the_middle(bench, f"{setting}=0:{MEMORY}; wait $!; {setting}={MEMORY}:{MEMORY}")
    assert GONE in bench.guest.run("dmesg")


def test_a_reset_ends_the_loopback_if_the_card_missed_the_tests_end(bench: Bench) -> None:
    not_heard(bench)
    bench.guest.run(f"echo 1 >{PF_DEVICE}/reset")
    assert register(bench, LANE, LOOPBACK) == 0
    goes_on(bench)


def test_the_driver_ends_the_loopback_when_the_card_answers_again(bench: Bench) -> None:
    """The driver puts the port back by itself, unless it has given the card up after a second."""
    for _ in range(TRIES):
        bench.guest.run("dmesg -C")
        not_heard(bench)
        if "does not answer any more" not in bench.guest.run("sleep 1; dmesg"):
            break
        bench.guest.run(f"echo 1 >{PF_DEVICE}/reset")
        goes_on(bench)
    else:
        raise AssertionError("the machine is too slow")
    deadline = bench.guest.deadline(BOUND)
    while register(bench, LANE, LOOPBACK):
        assert time.monotonic() < deadline
    goes_on(bench)


def test_the_loops_end_with_a_failure_if_the_card_goes(bench: Bench) -> None:
    """It is the last test: the card does not come back."""
    in_the_middle(bench, "true", MANY)
    bench.twin.card.stop()
    wait_for_end(bench)
    assert GONE in bench.guest.run("dmesg")
    bench.guest.run("rmmod meridian", SECONDS)
    bench.guest.check()
