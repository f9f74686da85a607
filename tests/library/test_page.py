# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/library.md run as they stand there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import documents
import pytest
from library_fixtures import EXAMPLE, LIBRARY, ROOT, Program, built, program

__all__ = ["built", "program"]  # fixtures

PAGE = ROOT / "docs" / "library.md"


@pytest.fixture
def card(run_card: Any, own_dma: bool) -> str:
    if not own_dma:
        pytest.skip("the library needs the DMA engine of our own")
    return f"twin:{run_card(configuration=('--host-box', str(EXAMPLE))).socket}"


def test_the_pages_program_in_c_runs(card: str, built: Path, program: Program) -> None:
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


def test_the_pages_program_in_python_runs(card: str, program: Program, tmp_path: Path) -> None:
    script = documents.block(PAGE, "import Card").text
    said = program(script=f"import sys; sys.argv = ['page', {card!r}]\n{script}").stdout
    assert said == "0 failed, the first word is 0x100000000\n"


def functions() -> set[str]:
    """Of the header."""
    found = re.findall(
        r"^(?:int|void|const char) \*?(meridian_\w+)\(", (LIBRARY / "meridian.h").read_text(), re.MULTILINE
    )
    assert len(set(found)) == len(found) == 14
    return set(found)


def test_the_manual_page_has_each_function() -> None:
    page = (LIBRARY / "libmeridian.3").read_text()
    assert all(f"{name} ()" in page and f"{name}(" in page for name in functions())


def test_the_manual_page_has_no_mistakes() -> None:
    if not shutil.which("man"):
        pytest.skip("this system has no man")
    command = ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(LIBRARY / "libmeridian.3")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_the_library_gives_away_its_functions_alone(built: Path) -> None:
    command = ["nm", "-D", "--defined-only", "--format=posix", str(built / "libmeridian.so.1")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert {line.split()[0] for line in done.stdout.splitlines()} == functions() | {
        "meridian_attach",
        "meridian_no_card",
    }


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
