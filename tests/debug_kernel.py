# SPDX-License-Identifier: Apache-2.0
"""--debug-kernel: hosts boot a kernel that checks itself (KASAN, lockdep and others), in place of Debian's as it is.

Such a kernel is slow, so all waits for its machines are longer. There is one of the newest suite. Wherever
a test has the kernel checked, all counts that it has found since its start: some tests clear its log. Behind a report
KASAN and lockdep look no more, so a machine that has found something before the driver is loaded would prove nothing: it
is started anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from meridian_machine import driver, tools
from meridian_machine.guest import Guest, GuestError
from meridian_machine.initrd import Content
from meridian_machine.machine import EmulatorFault, Machine

#: The watchdog's own warning is what tests of it want. Linux's own is the order of locks when a slot is opened: pciehp
#: lets go of its reset_lock around the removal of a device, and takes it again under the lock of a rescan. It is lockdep's
#: first report then, and its only one.
FOUND = """
log() { dd if=/dev/kmsg bs=64k iflag=nonblock 2>/dev/null; }
known=dev_watchdog
if [ "$(log | grep -ac 'reset_lock.*, at: pciehp_unconfigure_device')" = 0 ]; then
  grep -q 'debug_locks: *1$' /proc/lockdep_stats || echo 'lockdep is off'
else
  known="$known|possible circular locking dependency"
fi
[ "$(cat /sys/kernel/debug/dma-api/disabled)" = N ] || echo 'the check of DMA is off'
[ "$(cat /sys/kernel/debug/dma-api/error_count)" = 0 ] || echo 'there are faults of DMA'
log | grep -aE 'WARNING:|BUG:|ODEBUG:' | grep -avE "$known"
true
"""
_build = tools.Image.build
_modules = driver.modules
_check = Guest.check
_wait_ready = Machine.wait_ready


def _kind(machine: str) -> str:
    return "debug" if machine == "host" else machine


def _build_debug(suite: str, machine: str = "host") -> tools.Image:
    return _build(suite, _kind(machine))


def _debug_modules(suite: str, source: Any, machine: str = "host") -> Mapping[str, Content]:
    return _modules(suite, source, _kind(machine))


def _wait_clean(machine: Machine, seconds: float = 300) -> str:
    release = _wait_ready(machine, seconds)
    if release.endswith("-debug") and (found := machine.run(FOUND, check=True).text):
        raise EmulatorFault(f"the kernel has found before any driver was loaded: {found.strip()}")
    return release


def _check_all(guest: Guest) -> None:
    _check(guest)
    is_checked = guest.try_run("[ -e /proc/lockdep_stats ]")[0] == 0
    if is_checked and (found := guest.run(FOUND)):
        raise GuestError(f"the kernel has found: {found}\n{guest.log()}")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--debug-kernel", action="store_true", help="hosts boot a kernel that checks itself")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--debug-kernel"):
        return
    # Before any test takes them by their names.
    tools.Image.build = staticmethod(_build_debug)  # type: ignore[method-assign,assignment]
    driver.modules = _debug_modules  # type: ignore[assignment]
    Machine.wait_ready = _wait_clean  # type: ignore[method-assign]
    Guest.check = _check_all  # type: ignore[method-assign]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--debug-kernel"):
        return
    left_out = [
        item
        for item in items
        if item.get_closest_marker("leaks") or any(suite in item.name for suite in tools.SUITES[1:])
    ]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
