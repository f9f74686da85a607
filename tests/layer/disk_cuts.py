# SPDX-License-Identifier: Apache-2.0
"""Power cuts of a script that writes a disk: what the disk may have when the power goes at any moment.

The script meets a dd and a sync that note what the disk has behind them. Between two syncs the kernel writes pages in
whatever order it likes, so a cut leaves any of the pages that were written since the last sync, each whole.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from card_programs import Programs

PAGE = 4096
# A copy of the disk for each dd that writes it.
NOTE_DD = """#!/bin/sh
{real} "$@"
status=$?
[ /dev/stdout -ef {disk} ] || exit $status
number=$(($(cat {folder}/count) + 1))
echo $number >{folder}/count
{cp} --sparse=always {disk} {folder}/$number
echo write >>{folder}/events
exit $status
"""
NOTE_SYNC = """#!/bin/sh
echo sync >>{folder}/events
exec {real} "$@"
"""


@dataclass
class Recorder:
    """Programs that note in a folder what a script does to a disk."""

    folder: Path
    disk: Path

    def over(self, programs: Programs) -> Programs:
        """These programs, with what is noted in front."""
        found = self.folder / "programs"
        found.mkdir(parents=True)
        words = {"folder": self.folder, "disk": self.disk, "cp": shutil.which("cp")}
        for name, text in (("dd", NOTE_DD), ("sync", NOTE_SYNC)):
            real = shutil.which(name, path=programs.path)
            assert real, f"there is no {name}"
            (found / name).write_text(text.format(real=real, **words))
            (found / name).chmod(0o755)
        shutil.copyfile(self.disk, self.folder / "0")
        (self.folder / "count").write_text("0\n")
        (self.folder / "events").touch()
        return Programs(f"{found}:{programs.path}", programs.shell)

    def steps(self) -> list[dict[int, bytes] | None]:
        """In order: the pages that a program has written, and where; None: a sync."""
        steps: list[dict[int, bytes] | None] = []
        before, number = (self.folder / "0").read_bytes(), 0
        for event in (self.folder / "events").read_text().split():
            if event == "sync":
                steps.append(None)
                continue
            number += 1
            after = (self.folder / str(number)).read_bytes()
            pages = range(0, len(after), PAGE)
            steps.append({at: after[at : at + PAGE] for at in pages if after[at : at + PAGE] != before[at : at + PAGE]})
            before = after
        return steps


def cuts(recorder: Recorder, each: int, seed: int) -> Iterator[tuple[str, bytearray]]:
    """What the disk may have, until the next one is asked for, with words for when: behind each write all, the first page
    of the disk alone, all but that, and `each` times some of the pages that no sync has seen."""
    chosen = random.Random(seed)
    disk = bytearray((recorder.folder / "0").read_bytes())
    unsynced: list[tuple[int, bytes]] = []

    def cut(reached: Callable[[int], bool]) -> Iterator[bytearray]:
        pages = [(at, page) for at, page in unsynced if reached(at)]
        before = {at: bytes(disk[at : at + PAGE]) for at, _ in pages}
        for at, page in pages:
            disk[at : at + PAGE] = page
        yield disk
        for at, page in before.items():
            disk[at : at + PAGE] = page

    yield "before the first write", disk
    for number, step in enumerate(recorder.steps()):
        if step is None:
            for at, page in unsynced:
                disk[at : at + PAGE] = page
            unsynced = []
            continue
        unsynced += step.items()
        for state in cut(lambda at: True):
            yield f"behind step {number}", state
        for state in cut(lambda at: at == 0):
            yield f"in step {number}, of its pages only the disk's first", state
        for state in cut(lambda at: at != 0):
            yield f"in step {number}, all but the disk's first page", state
        for part in (chosen.random() for _ in range(each)):
            for state in cut(lambda at, part=part: chosen.random() < part):
                yield f"in step {number}, {part:.0%} of its pages", state
