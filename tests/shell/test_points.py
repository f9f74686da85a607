# SPDX-License-Identifier: Apache-2.0
"""More seeds, and shells at points of the parameter space that meet each pair of values. Each point is built: minutes."""

from __future__ import annotations

from random import Random
from typing import Any

import covering
import pytest
import test_changes
import test_random
from conftest import Start
from test_random import DEFAULT, VEB, Setting
from wide import WIDE

KIB = 1024
#: In beats of 32 bytes; WIDE has it in beats of 64.
SEGMENTS = ("--segmentation", "true")


#: Of the generator's options, and of what is set while the shell runs. At its pins there is no PCIe link: latency is that
#: of the PS's memory, in cycles.
SPACE: dict[str, tuple[Any, ...]] = {
    "ports": (1, 2, 3, 4),
    "functions": (6, 8, 20, 33),
    "max-frame": (1518, 2000, 4097, 9600),
    "host-bytes": (32, 64),
    "line-rate": (25, 10),
    "veb": (False, True),
    "pacing": (False, True),
    "credit": (True, False),
    "latency": (1, 40),
}
RUNNING = ("veb", "pacing", "credit", "latency")


def options(point: dict[str, Any], number: int) -> tuple[str, ...]:
    """Of the shell's generator at a point. Sizes that are not of the space are drawn."""
    random = Random(number)
    least = 1 << (2 * point["max-frame"] - 1).bit_length()
    sizes = {name: value for name, value in point.items() if name not in RUNNING} | {
        "queues": random.choice((64, 256, 2048)),
        "mac-entries": random.choice((256, 1024, 4096)),
        "groups": random.choice((8, 64, 256)),
        "ps-addresses": random.randint(1, 16),
        "rx-buffer": max(least, random.choice((4, 32, 128)) * KIB),
        "tx-buffer": max(least, random.choice((4, 32)) * KIB),
        "ps-buffer": max(least, random.choice((16, 32)) * KIB),
        "copy-buffer": max(least, random.choice((4, 32)) * KIB),
        "veb-buffer": max(least, random.choice((4, 32)) * KIB),
        "segmentation": random.choice(("true", "false")),
    }
    return tuple(text for name, value in sizes.items() for text in (f"--{name}", str(value)))


@pytest.mark.long
@pytest.mark.parametrize("configuration", [DEFAULT, WIDE, SEGMENTS], ids=["default", "wide", "segments"])
@pytest.mark.parametrize("seed", range(1000, 1030))
def test_the_shell_agrees_with_the_model_for_more_seeds(
    start: Start, seed: int, configuration: tuple[str, ...]
) -> None:
    test_random.run(start, seed, configuration, rounds=100, lossless=True)
    test_random.run(start, seed, configuration, rounds=60, lossless=False)
    test_random.run(start, seed, configuration, rounds=100, lossless=True, setting=VEB)
    test_random.run(start, seed, configuration, rounds=60, lossless=False, setting=VEB)
    test_changes.run(start, seed, configuration, changes=40)


@pytest.mark.long
@pytest.mark.parametrize("number", range(covering.POINTS))
def test_the_shell_agrees_with_the_model_at_each_point_of_its_parameters(start: Start, number: int) -> None:
    point = covering.points(SPACE)[number]
    configuration = options(point, number)
    setting = Setting(**{name: point[name] for name in RUNNING})
    print(f"point {number}: {setting}")
    test_random.run(start, 100 * number, configuration, rounds=40, lossless=True, setting=setting)
    test_random.run(start, 100 * number, configuration, rounds=30, lossless=False, setting=setting)
    test_changes.run(start, 100 * number, configuration, changes=20, setting=setting)
