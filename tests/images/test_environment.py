# SPDX-License-Identifier: Apache-2.0
"""What all scripts source first refuses a path that the builds behind it would take apart."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("scripts/lib/env.sh", "scripts/requirements/tests.txt", "spinal/project/build.properties")


@pytest.mark.parametrize(("tree", "cache"), [("tree", "cache"), ("a tree", "cache"), ("tree", "a\tcache")])
def test_a_blank_in_a_path_is_refused_in_a_sentence(tree: str, cache: str, tmp_path: Path) -> None:
    for part in PARTS:
        target = tmp_path / tree / part
        target.parent.mkdir(parents=True)
        shutil.copy(ROOT / part, target)
    done = subprocess.run(
        ["bash", "-c", 'source "$0" && echo "$MERIDIAN_CACHE"', str(tmp_path / tree / PARTS[0])],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / cache)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if (tree, cache) == ("tree", "cache"):
        assert (done.returncode, done.stdout) == (0, f"{tmp_path}/cache/meridian\n"), done.stderr
    else:
        assert done.returncode == 2 and not done.stdout
        assert (
            "meridian: there is a blank in" in done.stderr and "move the sources, or set XDG_CACHE_HOME" in done.stderr
        )
