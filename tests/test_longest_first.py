# SPDX-License-Identifier: Apache-2.0
"""Which files of tests begin first, by stand-ins of pytest's items."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import longest_first
import pytest


def item(name: str, **marks: Any) -> Any:
    return SimpleNamespace(nodeid=name, get_closest_marker=marks.get)


@pytest.mark.parametrize("is_worker", [True, False])
def test_the_files_that_last_longest_begin_first_in_a_worker(is_worker: bool) -> None:
    """Tests of a file stay together and in their order; without workers nothing moves."""
    long = SimpleNamespace(args=(30,))
    items = [
        *(item(f"many.py::{number}") for number in range(20)),
        *(item(f"machine.py::{number}", qemu=True) for number in range(3)),
        *(item(f"one.py::{number}", seconds=long) for number in range(1)),
    ]
    before = [it.nodeid for it in items]
    config: Any = SimpleNamespace(workerinput={}) if is_worker else SimpleNamespace()
    longest_first.pytest_collection_modifyitems(config, items)
    after = [it.nodeid for it in items]
    assert after == ([before[-1], *before[20:23], *before[:20]] if is_worker else before)
