# SPDX-License-Identifier: Apache-2.0
"""The Verilog of a board in a release is made twice with the same bytes: by a user who has made it before, and by another
who has nothing in the cache, another folder, another time zone and another language."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import history
import pytest

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[2]
BOARD = "zcu106"
FILES = ("Shell.v", "Shell.crossings.tcl")
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
#: A locale that is not installed does not reach Java by LC_ALL.
GERMAN = "-Duser.language=de -Duser.country=DE"


def made(folder: Path, **changed: str) -> dict[str, bytes]:
    """By a fresh clone of the last commit, for a user who has these variables, as scripts/build/build-release makes it."""
    history.git(ROOT, "clone", "-q", str(ROOT), str(folder))
    tell = ["tclsh", "vivado/tcl/board.tcl", BOARD, ""]
    options = subprocess.run(tell, cwd=folder, capture_output=True, text=True, timeout=10, check=True).stdout.split()
    command = [str(folder / "scripts" / "build-card"), "--verilog-only", *options]
    done = subprocess.run(
        command, env={**os.environ, **changed}, capture_output=True, text=True, timeout=3600, check=False
    )
    assert done.returncode == 0, done.stderr
    shell = Path(done.stdout.splitlines()[-1])
    return {name: (shell.parent / name).read_bytes() for name in FILES}


def test_the_same_commit_gives_the_same_verilog(tmp_path: Path) -> None:
    empty = tmp_path / "nothing"
    (empty / "meridian").mkdir(parents=True)
    (empty / "meridian" / "sbt").symlink_to(CACHE / "meridian" / "sbt")
    once = made(tmp_path / "clone")
    again = made(
        tmp_path / "another" / "folder",
        XDG_CACHE_HOME=str(empty),
        COURSIER_CACHE=os.environ.get("COURSIER_CACHE", str(CACHE / "coursier" / "v1")),
        TZ="Asia/Tokyo",
        LC_ALL="de_DE.UTF-8",
        JAVA_TOOL_OPTIONS=GERMAN,
    )
    assert list((empty / "meridian" / "rtl").glob("*/Shell.v")), "the second was not made anew"
    for name in FILES:
        assert len(once[name]) > 1000
        assert once[name] == again[name], f"{name} differs"
