# SPDX-License-Identifier: Apache-2.0
"""--debug-kernel: hosts boot a kernel that checks itself (KASAN, lockdep and others), in place of Debian's as it is.

Such a kernel is slow, so all waits for its machines are longer. There is one of the newest suite.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from meridian_machine import driver, tools
from meridian_machine.initrd import Content

_build = tools.Image.build
_modules = driver.modules


def _kind(machine: str) -> str:
    return "debug" if machine == "host" else machine


def _build_debug(suite: str, machine: str = "host") -> tools.Image:
    return _build(suite, _kind(machine))


def _debug_modules(suite: str, source: Any, machine: str = "host") -> Mapping[str, Content]:
    return _modules(suite, source, _kind(machine))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--debug-kernel", action="store_true", help="hosts boot a kernel that checks itself")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--debug-kernel"):
        return
    # Before any test takes them by their names.
    tools.Image.build = staticmethod(_build_debug)  # type: ignore[method-assign,assignment]
    driver.modules = _debug_modules  # type: ignore[assignment]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--debug-kernel"):
        return
    older = [item for item in items if any(suite in item.name for suite in tools.SUITES[1:])]
    config.hook.pytest_deselected(items=older)
    items[:] = [item for item in items if item not in older]
