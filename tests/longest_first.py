# SPDX-License-Identifier: Apache-2.0
"""Of files of tests that run beside each other those begin first that last longest: none goes on alone at the end."""

from __future__ import annotations

from collections import Counter

import pytest

#: Of a test that does not say it, and of one that starts machines.
SECONDS, MACHINE_SECONDS = 1, 8


def seconds_of(item: pytest.Item) -> float:
    said = item.get_closest_marker("seconds")
    return said.args[0] if said else MACHINE_SECONDS if item.get_closest_marker("qemu") else SECONDS


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In the workers of pytest-xdist, which all sort alike and hand out files in this order (--no-loadscope-reorder)."""
    if not hasattr(config, "workerinput"):
        return
    of_file: Counter[str] = Counter()
    for item in items:
        of_file[item.nodeid.partition("::")[0]] += seconds_of(item)  # type: ignore[assignment]
    items.sort(key=lambda item: -of_file[item.nodeid.partition("::")[0]])
