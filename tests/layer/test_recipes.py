# SPDX-License-Identifier: Apache-2.0
"""What recipes name is there, and what is there is named."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ROOT / "meta-layer"
RECIPES = [recipe for recipe in sorted(LAYERS.rglob("*.bb")) if "file://" in recipe.read_text()]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.stem)
def test_files(recipe: Path) -> None:
    sources = re.search(r'^SRC_URI = "(.*?)"$', recipe.read_text(), re.DOTALL | re.MULTILINE)
    assert sources
    named = set(re.findall(r"file://([^\s%]+)", sources[1]))
    if recipe.stem.startswith("meridian-ps_"):
        shared = {file.name for file in (ROOT / "host-driver/include").iterdir()}
        assert shared <= named
        named -= shared
    folder = recipe.parent / "files"
    if recipe.stem.startswith("meridian-bitstream"):
        assert not named
    else:
        assert named == {file.name for file in folder.iterdir() if file.suffix not in {".o", ".ko", ".mod", ".cmd"}}


def test_the_driver_tells_its_register_map() -> None:
    """By the recipe's own sed, on the generated header."""
    recipe = (LAYERS / "meta-meridian/recipes-kernel/meridian-ps/meridian-ps_0.1.bb").read_text()
    expression = re.search(r"sed -n -e '([^']*)'", recipe)
    assert expression
    command = ["sed", "-n", "-e", expression[1], str(ROOT / "host-driver/include/meridian_regs.h")]
    told = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout
    assert re.fullmatch(r"MAJOR=[0-9]+\nMINOR=[0-9]+\n", told)
