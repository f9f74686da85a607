# SPDX-License-Identifier: Apache-2.0
"""Runs the Vivado build under its stand-in (vivado/check/stub.tcl)."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).resolve().parent / "data"
BOARDS = ["t1-rfsoc", "zcu106", "fb4xxvg-z21d"]
RELEASES = ["2023.2", "2024.1", "2024.2", "2025.1", "2025.2"]
#: The one whose log is kept whole; of the others, the differences from it.
REFERENCE = "2024.2"
SECONDS = 60


@dataclass
class Run:
    status: int
    said: str
    log: str
    output: Path


def copy_of_tree(to: Path) -> Path:
    """A copy of what the build is made of, to be changed by a test."""
    shutil.copytree(ROOT / "vivado", to / "vivado")
    shutil.copytree(DATA, to / "tests/vivado/data")
    return to


def plant(tmp_path: Path, name: str, old: str, new: str) -> Path:
    """A copy of the tree with a mistake: in a file under vivado/ there is `new` in the place of `old`."""
    root = copy_of_tree(tmp_path / "tree")
    path = root / "vivado" / name
    text = path.read_text()
    assert old in text, f"{name} has no '{old}' any more"
    path.write_text(text.replace(old, new))
    return root


def build(
    out: Path,
    board: str = "t1-rfsoc",
    release: str = REFERENCE,
    *,
    root: Path = ROOT,
    reports: str = "clean",
    rtl: Path | None = None,
    cells: Path | None = None,
    settings: Path | None = None,
    arguments: tuple[str, ...] = (),
    refuse: str = "",
    licence: str = "Purchased",
    constant: str = "",
) -> Run:
    """Builds a board with the stand-in for a release; `refuse` is a property that it does not take, `licence` the state
    of the Ethernet IP's, `constant` a net that holds one.
    """
    out.mkdir(parents=True, exist_ok=True)
    data = root / "tests/vivado/data"
    if board == "fb4xxvg-z21d" and settings is None:
        settings = data / "fb4xxvg.settings"
    given = [
        f"board={board}", f"rtl={rtl or data}", f"output={out / 'output'}", f"cache={out / 'cache'}",
        "hash=0123abcd", "date=1700000000", f"file={settings or ''}", *arguments,
    ]  # fmt: skip
    log = out / "log"
    command = ["tclsh", str(root / "vivado/check/stub.tcl"), release, str(log), str(cells or data / "cells.txt")]
    command += [str(data / "reports" / reports), str(root / "vivado/build.tcl"), *given]
    environment = {**os.environ, "MERIDIAN_STUB_REFUSE": refuse, "MERIDIAN_STUB_LICENCE": licence}
    environment["MERIDIAN_STUB_CONSTANT"] = constant
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment, cwd=out
    )
    text = log.read_text() if log.exists() else ""
    return Run(done.returncode, done.stdout + done.stderr, text, out / "output")


def program(bit: Path | str, log: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Loads a bitstream into the stand-in's card, by the server far:3121."""
    command = ["tclsh", ROOT / "vivado/check/stub.tcl", REFERENCE, log, DATA / "cells.txt", DATA]
    words = [str(word) for word in (*command, ROOT / "vivado/program.tcl", bit, "far:3121")]
    given = {**os.environ, **environment}
    return subprocess.run(words, capture_output=True, text=True, timeout=20, check=False, env=given)
