# SPDX-License-Identifier: Apache-2.0
"""docs/user-logic.md, steps 1 to 4 as they stand there: the changed example becomes the shell's Verilog, and in a machine
with the simulated card it counts what the page says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import documents
import pytest
from documents import ROOT

pytestmark = [pytest.mark.qemu, pytest.mark.long]
PAGE = ROOT / "docs" / "user-logic.md"
MINUTES = 30


def run(words: str) -> str:
    """What the block with these words prints, in the shell of a reader who stands in the repository."""
    script = documents.block(PAGE, words).text
    done = documents.run(["bash", "-ec", script], MINUTES)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def box() -> Iterator[Path]:
    """The module of steps 1 and 2."""
    made = ROOT / "my_box.v"
    assert not made.exists(), f"{made} is in the way: the page's commands write it"
    try:
        for words in ("sed 's/packet_counter", "sed -i"):
            run(words)
        yield made
    finally:
        made.unlink(missing_ok=True)


def test_the_shells_verilog_is_written_with_the_changed_example(box: Path) -> None:
    begun = time.time()
    run("make rtl BOX=")
    written = ROOT / "build" / "rtl"
    (shell,) = written.glob("Shell.v")
    copies = [file for file in (written / "box").iterdir() if "module my_box" in file.read_text()]
    assert len(copies) == 1 and "16'h88F7: kind = 7;" in copies[0].read_text()
    assert " my_box " in shell.read_text() and min(shell.stat().st_mtime, copies[0].stat().st_mtime) >= begun - 1


def test_the_machine_prints_the_modules_count(box: Path) -> None:
    (promised,) = (text for text in documents.inline(PAGE) if text.startswith("0x0000000"))
    printed = run("make twin-run TWIN_ARGS='--box my_box.v'")
    assert " 3 received" in printed and printed.split()[-1] == promised, printed
