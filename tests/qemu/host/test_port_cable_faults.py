# SPDX-License-Identifier: Apache-2.0
"""A cable between two ports while PCIe has an error, and while the card does not hear the driver."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from meridian_machine.guest import PF_DEVICE
from qemu_monitor import Monitor
from selftest_bench import Bench, machine_that_loses_its_card
from test_pattern import PLANTED
from test_port_cable import CABLE, external, in_the_cable
from test_port_loops import ROUND, rests, wait_for_end
from test_port_loops_faults import BOUND, GONE, MEMORY

pytestmark = [pytest.mark.qemu, pytest.mark.long]


@pytest.fixture(scope="module")
def slot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bench, Monitor]]:
    with machine_that_loses_its_card(tmp_path_factory.mktemp("cable"), PLANTED, 2, [(0, 1)]) as it:
        yield it


@pytest.fixture
def bench(slot: tuple[Bench, Monitor]) -> Bench:
    slot[0].guest.run("dmesg -C")
    return slot[0]


def goes_on(bench: Bench) -> None:
    """Both ports are as before, and the next test is good."""
    for interface in ("eth0", "eth1"):
        bench.guest.until(f"cat /sys/class/net/{interface}/carrier", "^1", BOUND)
    rests(bench)
    bench.guest.check()
    bench.guest.run("dmesg -C")
    assert re.search(ROUND.format(0, CABLE.format(1)), external(bench)[1])


@pytest.mark.parametrize("error", ["COMP_TIME", "MALF_TLP"], ids=["not fatal", "fatal"])
def test_the_test_ends_and_both_ports_recover_after_an_error_of_pcie(
    bench: Bench, slot: tuple[Bench, Monitor], error: str
) -> None:
    """The test ends, whatever it has found; PCIe's recovery waits for that, and brings both ports back."""
    in_the_cable(bench, "true")
    slot[1].inject(error)
    wait_for_end(bench)
    bench.guest.until("dmesg", "AER: device recovery successful", BOUND)
    goes_on(bench)


def test_a_reset_brings_back_both_ends_if_the_card_missed_the_tests_end(bench: Bench) -> None:
    """The one PF of the two that is reset brings back both ends."""
    setting = f"setpci -s {Path(PF_DEVICE).name} COMMAND"
    # The driver looks each second, so the reset follows at once.
    in_the_cable(bench, f"{setting}=0:{MEMORY}; wait $!; {setting}={MEMORY}:{MEMORY}; echo 1 >{PF_DEVICE}/reset")
    assert GONE in bench.guest.run("dmesg")
    goes_on(bench)
