# SPDX-License-Identifier: Apache-2.0
"""A command of the documents that takes too long leaves no process behind."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import documents
import pytest

#: A child in the background, as QEMU is one of make's, and one that is waited for.
CHILDREN = "sleep 1000 & echo $! >PID; bash -c 'sleep 1000; true'; true"


def run(folder: Path, script: str) -> int:
    """The number of the script's child."""
    note, child = folder / "note", folder / "pid"
    with pytest.raises(subprocess.TimeoutExpired):
        documents.run(["bash", "-c", script.replace("NOTE", str(note)).replace("PID", str(child))], 1 / 60)
    return int(child.read_text())


def is_alive(number: int) -> bool:
    """A process that has ended and that nobody has waited for is not alive."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_command_past_its_minutes_is_asked_to_end_with_its_children(tmp_path: Path) -> None:
    child = run(tmp_path, f"trap 'echo asked >NOTE; exit' TERM; {CHILDREN}")
    assert (tmp_path / "note").read_text() == "asked\n"
    assert not is_alive(child)


def test_a_command_that_ignores_sigterm_is_killed_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "END_SECONDS", 1)
    begun = time.monotonic()
    child = run(tmp_path, f"trap '' TERM; {CHILDREN}")
    assert 2 <= time.monotonic() - begun < 20
    assert not is_alive(child)


def test_a_command_that_ends_in_time_gives_its_output_and_status() -> None:
    done = documents.run(["bash", "-c", "pwd; echo warned >&2; exit 3"], 1)
    assert (done.stdout, done.stderr, done.returncode) == (f"{documents.ROOT}\n", "warned\n", 3)
