# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/library.md run as they stand there."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import documents
import pytest
from conftest import LIBRARY, ROOT, Program

PAGE = ROOT / "docs" / "library.md"
EXAMPLE = ROOT / "examples/boxes/host_memory.sv"


@pytest.fixture
def card(run_card: Any, own_dma: bool) -> str:
    if not own_dma:
        pytest.skip("the library needs the DMA engine of our own")
    return f"twin:{run_card(configuration=('--host-box', str(EXAMPLE))).socket}"


def test_the_program_in_c(card: str, built: Path, program: Program) -> None:
    source = documents.block(PAGE, "int main").text
    command = [
        "cc",
        "-Wall",
        "-Werror",
        f"-I{LIBRARY}",
        "-x",
        "c",
        "-",
        "-o",
        str(built / "page"),
        f"-L{built}",
        "-lmeridian",
    ]
    subprocess.run(command, input=source, text=True, check=True, timeout=60)
    assert program("page", card).stdout == "0 failed, the first word less its address is 0\n"
    assert "name a card" in program("page", status=1).stderr


def test_the_program_in_python(card: str, program: Program, tmp_path: Path) -> None:
    script = documents.block(PAGE, "import Card").text
    said = program(script=f"import sys; sys.argv = ['page', {card!r}]\n{script}").stdout
    assert said == "0 failed, the first word is 0x100000000\n"


def test_the_manual_page_has_each_function() -> None:
    page, header = ((LIBRARY / name).read_text() for name in ("libmeridian.3", "meridian.h"))
    names = {
        line.partition("meridian_")[2].partition("(")[0]
        for line in header.splitlines()
        if line.startswith(("int meri", "void meri", "const char *meri"))
    }
    assert len(names) == 14
    assert all(f"meridian_{name}" in page for name in names), names


def test_the_header_is_one_of_cpp_too() -> None:
    command = [
        "c++",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic",
        "-std=c++17",
        "-fsyntax-only",
        "-x",
        "c++",
        str(LIBRARY / "meridian.h"),
    ]
    subprocess.run(command, check=True, timeout=60)
