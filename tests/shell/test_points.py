# SPDX-License-Identifier: Apache-2.0
"""More seeds, and shells at random points of the parameter space. Each point is built: minutes."""

from __future__ import annotations

from random import Random

import pytest
import test_changes
import test_random
from conftest import Start
from test_random import DEFAULT
from wide import WIDE

KIB = 1024
#: In beats of 32 bytes; WIDE has it in beats of 64.
SEGMENTS = ("--segmentation", "true")


def point(seed: int) -> tuple[str, ...]:
    """Options of the shell's generator."""
    random = Random(seed)
    functions = random.choice((6, 8, 20, 33))
    frame = random.choice((1518, 2000, 4097, 9600))
    least = 1 << (2 * frame - 1).bit_length()
    sizes = {
        "ports": random.randint(1, 4),
        "line-rate": random.choice((10, 25)),
        "host-bytes": random.choice((32, 64)),
        "functions": functions,
        "queues": random.choice((64, 256, 2048)),
        "mac-entries": random.choice((256, 1024, 4096)),
        "groups": random.choice((8, 64, 256)),
        "ps-addresses": random.randint(1, 16),
        "rx-buffer": max(least, random.choice((4, 32, 128)) * KIB),
        "tx-buffer": max(least, random.choice((4, 32)) * KIB),
        "ps-buffer": max(least, random.choice((16, 32)) * KIB),
        "copy-buffer": max(least, random.choice((4, 32)) * KIB),
        "veb-buffer": max(least, random.choice((4, 32)) * KIB),
        "max-frame": frame,
        "segmentation": random.choice(("true", "false")),
    }
    return tuple(text for name, value in sizes.items() for text in (f"--{name}", str(value)))


@pytest.mark.long
@pytest.mark.parametrize("configuration", [DEFAULT, WIDE, SEGMENTS], ids=["default", "wide", "segments"])
@pytest.mark.parametrize("seed", range(1000, 1030))
def test_more_seeds(start: Start, seed: int, configuration: tuple[str, ...]) -> None:
    test_random.run(start, seed, configuration, rounds=100, lossless=True)
    test_random.run(start, seed, configuration, rounds=60, lossless=False)
    test_random.run(start, seed, configuration, rounds=100, lossless=True, veb=True)
    test_random.run(start, seed, configuration, rounds=60, lossless=False, veb=True)
    test_changes.run(start, seed, configuration, changes=40)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 5))
def test_random_points(start: Start, seed: int) -> None:
    configuration = point(seed)
    for traffic in range(3):
        test_random.run(start, 100 * seed + traffic, configuration, rounds=40, lossless=True)
        test_random.run(start, 100 * seed + traffic, configuration, rounds=30, lossless=False)
        test_random.run(start, 100 * seed + traffic, configuration, rounds=30, lossless=True, veb=True)
        test_changes.run(start, 100 * seed + traffic, configuration, changes=20)
