# SPDX-License-Identifier: Apache-2.0
"""The loops of a port while PCIe has an error, while the card does not hear the driver, and while the card goes."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from driver_machine import changed, running
from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine.guest import PF_DEVICE
from meridian_twin.control import Control
from qemu_monitor import NATIVE_HOT_PLUG, Monitor, options
from selftest_bench import SECONDS, Bench
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


@contextmanager
def machine(folder: Path) -> Iterator[tuple[Bench, Monitor]]:
    control, monitor = folder / "control", folder / "monitor"
    with ExitStack() as stack:
        setting = Setting(
            suite=tools.SUITES[0],
            hardware=Hardware(
                device="id=card,pfs=2", kernel="iomem=relaxed", extra=[*options(monitor), *NATIVE_HOT_PLUG]
            ),
            ports=2,
            shell=("--self-test", "true"),
            card_options=("--control", str(control)),
            # One module for all tests of the self-test block.
            driver=stack.enter_context(changed(*PLANTED)),
        )
        twin = stack.enter_context(Twin(setting, folder))
        guest = stack.enter_context(running(twin, watched=False))
        guest.run("ip link set eth1 up")
        bench = Bench(twin, guest, stack.enter_context(Control(control)))
        yield bench, stack.enter_context(Monitor(monitor))


@pytest.fixture(scope="module")
def slot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bench, Monitor]]:
    with machine(tmp_path_factory.mktemp("loops")) as it:
        yield it


@pytest.fixture
def bench(slot: tuple[Bench, Monitor]) -> Bench:
    slot[0].guest.run("dmesg -C")
    return slot[0]


def goes_on(bench: Bench) -> None:
    """The port is as before, and the next test is good."""
    for interface in ("eth0", "eth1"):
        bench.guest.until(f"cat /sys/class/net/{interface}/carrier", "1", BOUND)
    put_back(bench)
    bench.guest.check()
    bench.guest.run("dmesg -C")
    assert re.search(ROUND.format(0, NEAR), offline(bench)[1])


@pytest.mark.parametrize("error", ["COMP_TIME", "MALF_TLP"], ids=["not fatal", "fatal"])
def test_an_error_of_pcie_in_the_middle(bench: Bench, slot: tuple[Bench, Monitor], error: str) -> None:
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


def test_a_reset_behind_an_end_that_the_card_has_not_heard(bench: Bench) -> None:
    not_heard(bench)
    bench.guest.run(f"echo 1 >{PF_DEVICE}/reset")
    assert register(bench, LANE, LOOPBACK) == 0
    goes_on(bench)


def test_a_card_that_has_not_heard_the_end_answers_again(bench: Bench) -> None:
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


def test_the_card_goes_in_the_middle(bench: Bench) -> None:
    """It is the last test: the card does not come back."""
    in_the_middle(bench, "true", MANY)
    bench.twin.card.stop()
    wait_for_end(bench)
    assert GONE in bench.guest.run("dmesg")
    bench.guest.run("rmmod meridian", SECONDS)
    bench.guest.check()
