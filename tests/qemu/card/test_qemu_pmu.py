# SPDX-License-Identifier: Apache-2.0
"""The PS's management unit as its processors see it: a message, an interrupt, and the answer is there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from meridian_machine import tools
from meridian_machine.ps_hardware import with_card
from meridian_twin import LinkError
from qtest import RAM, Qtest

pytestmark = pytest.mark.qemu

REQUEST, ANSWER = 0xFF99_05C0, 0xFF99_05E0
TRIGGER, OBSERVED, PMU = 0xFF30_0000, 0xFF30_0004, 1 << 16
SUCCESS, NO_FEATURE, BAD_ARGUMENT, NO_ACCESS, INVALID_NODE = 0, 19, 15, 2002, 2003
VERSION, NODE_STATUS, SELF_SUSPEND, WAKEUP, SHUTDOWN, MMIO_WRITE, MMIO_READ, CHIP = 1, 3, 7, 10, 12, 19, 20, 24
IOCTL, CLOCK_ENABLE, FEATURE_CHECK = 34, 36, 63
BOOT_MODE, STORAGE, IDCODE, COUNTER, UART = 0xFF5E_0200, 0xFFD8_0030, 0xFFCA_0040, 0xFF26_0020, 0xFF00_0000
RVBAR_1, RESETS = 0xFD5C_0048, 0xFD1A_0104
APU_1, APU_2 = 3, 4


class Machine(Qtest):
    """With two processors, none of which runs."""

    def __init__(self) -> None:
        options = [*with_card(None, RAM >> 20), "-machine", "secure=on,virtualization=on", "-smp", "2"]
        super().__init__(tools.qemu_ps(), options)

    def write(self, address: int, value: int) -> None:
        self._ask(f"writel {address:#x} {value:#x}")

    def read(self, address: int) -> int:
        return int(self._ask(f"readl {address:#x}")[0], 16)

    def send(self, name: int, *arguments: int) -> None:
        words = (name, *arguments)
        for i in range(6):
            self.write(REQUEST + 4 * i, words[i] if i < len(words) else 0)
        self.write(ANSWER, 0xBAD)
        self.write(TRIGGER, PMU)

    def call(self, name: int, *arguments: int) -> tuple[int, int]:
        """Status and first word of the answer."""
        self.send(name, *arguments)
        assert self.read(OBSERVED) == 0
        return self.read(ANSWER), self.read(ANSWER + 4)


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    made = Machine()
    yield made
    made.close()


def test_the_unit_reports_version_chip_and_boot_mode(machine: Machine) -> None:
    assert machine.call(VERSION) == (SUCCESS, 0x10001)
    assert machine.call(CHIP) == (SUCCESS, machine.read(IDCODE))
    assert machine.call(MMIO_READ, BOOT_MODE) == (SUCCESS, 5)
    assert machine.read(COUNTER) in (62_500_000, 1_000_000_000)


def test_calls_that_the_unit_lacks_are_reported_as_no_feature(machine: Machine) -> None:
    for name in (0, IOCTL, CLOCK_ENABLE, 62, 64, 0xFFFF_FFFF):
        assert machine.call(name) == (NO_FEATURE, 0)
        assert machine.call(FEATURE_CHECK, name) == (NO_FEATURE, 0)
    assert machine.call(FEATURE_CHECK, WAKEUP) == (SUCCESS, 1)
    assert machine.call(FEATURE_CHECK, FEATURE_CHECK) == (SUCCESS, 2)


def test_the_unit_accesses_its_registers_and_no_others(machine: Machine) -> None:
    assert machine.call(MMIO_WRITE, STORAGE, 0xFF00, 0x1234_5678) == (SUCCESS, 0)
    assert machine.call(MMIO_READ, STORAGE) == (SUCCESS, 0x5600)
    assert machine.read(STORAGE) == 0x5600
    for address in (UART, 0, STORAGE + 2, STORAGE + 0x1000, 0xFFFF_FFFC):
        assert machine.call(MMIO_READ, address) == (NO_ACCESS, 0)
        assert machine.call(MMIO_WRITE, address, 0xFFFF_FFFF, 1) == (NO_ACCESS, 0)
    before = machine.read(IDCODE)
    assert machine.call(MMIO_WRITE, IDCODE, 0xFFFF_FFFF, 1) == (NO_ACCESS, 0)
    machine.write(IDCODE, 1)
    assert machine.read(IDCODE) == before


def test_a_processor_is_started_where_it_is_told(machine: Machine) -> None:
    assert machine.call(NODE_STATUS, APU_1) == (SUCCESS, 0)
    assert machine.read(RESETS) & 2
    assert machine.call(WAKEUP, APU_1, 0x1234_5000 | 1, 0) == (SUCCESS, 0)
    assert machine.read(RVBAR_1) == 0x1234_5000
    assert not machine.read(RESETS) & 2
    assert machine.call(NODE_STATUS, APU_1) == (SUCCESS, 1)


def test_a_processor_that_is_not_there_cannot_be_started(machine: Machine) -> None:
    before = machine.read(RESETS)
    for node in (APU_2, 5, 6, 0, 0xFFFF_FFFF):
        assert machine.call(WAKEUP, node, 1, 0) == (INVALID_NODE, 0)
        assert machine.call(SELF_SUSPEND, node) == (INVALID_NODE, 0)
    assert machine.call(NODE_STATUS, APU_2) == (INVALID_NODE, 0)
    assert machine.call(NODE_STATUS, 1000) == (INVALID_NODE, 0)
    assert machine.read(RESETS) == before


def test_an_unknown_kind_of_shutdown_is_refused(machine: Machine) -> None:
    assert machine.call(SHUTDOWN, 7) == (BAD_ARGUMENT, 0)
    assert machine.call(VERSION) == (SUCCESS, 0x10001)


def test_a_shutdown_call_ends_the_machine() -> None:
    for kind in (0, 1):
        made = Machine()
        try:
            with contextlib.suppress(OSError, LinkError):
                made.send(SHUTDOWN, kind)
            assert made.ended(20) == 0
        finally:
            made.close()
