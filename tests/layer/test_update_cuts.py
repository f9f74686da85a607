# SPDX-License-Identifier: Apache-2.0
"""The power goes at any moment of an update, of the end of its trial, or of the way back: what the card starts is whole."""

from __future__ import annotations

from pathlib import Path

from card_programs import Programs
from disk_cuts import Recorder, cuts
from layer_fixtures import image_programs, programs
from update_disk import MAGIC, MEBI, NO_TRIAL, PARTS, RECORD, new_disk, root_image, system_with_key

__all__ = ["image_programs", "programs"]

ROOT = Path(__file__).resolve().parents[2]
UPDATE = ROOT / "meta-layer/meta-meridian-bsp/recipes-bsp/meridian-update/files/meridian-update"
EACH, SEED = 40, 20261122
EXT4 = 1080
Record = tuple[int, int | None]


def record_of(disk: bytearray) -> Record:
    record = disk[RECORD : RECORD + 4]
    if record[:2] != MAGIC:
        return 2, None
    return record[2], None if record[3] == NO_TRIAL else record[3]


def check(disk: bytearray, whole: dict[int, list[bytes]], at: str) -> Record:
    """The root of the record is whole, so is the one to fall back to in a trial, and what looks like a root.
    whole: what a partition is then."""
    record = record_of(disk)
    starts = {record[0]} if record[1] is None else {2, 3}
    for number, (start, _) in PARTS.items():
        head = start * MEBI
        if number in starts or (number in whole and disk[head + EXT4 : head + EXT4 + 2] == b"\x53\xef"):
            assert any(disk[head : head + len(root)] == root for root in whole[number]), f"{at}: {number}, {record}"
    return record


def cut_all(recorder: Recorder, whole: dict[int, list[bytes]], written: set[int]) -> tuple[int, set[Record]]:
    """How many cuts, and the records that they left. written: of the partitions; the disk's first sector always."""
    for step in recorder.steps():
        for at in step or ():
            inside = {n for n, (start, size) in PARTS.items() if start <= at // MEBI < start + size}
            assert inside <= written and (inside or at == 0), f"{recorder.folder.name} writes at {at}"
    records = [check(disk, whole, at) for at, disk in cuts(recorder, EACH, SEED)]
    return len(records), set(records)


def test_an_update_and_its_trial_leave_a_root_whenever_the_power_goes(tmp_path: Path, programs: Programs) -> None:
    """Two updates one after the other, so that each partition is once what runs and once what is written, with a root in
    it before; each with the end of its trial, and the way back of the second."""
    disk, system = new_disk(tmp_path / "disk"), system_with_key(tmp_path / "system")
    disk.put(3, old := root_image(tmp_path / "old", 2))
    running = {2: (tmp_path / "running").read_bytes(), 3: old}
    total, at_first = 0, {(2, None)}
    for turn, target in enumerate((3, 2)):
        image = root_image(tmp_path / "root", 10 + turn)
        before, words = (5 - target, ["--unsigned", "--disk", disk.path, "--root", system])
        whole = {target: [image, running[target]], before: [running[before]]}
        for action, written, records in (
            (tmp_path / "root", {target}, {*at_first, (target, 3)}),
            ("--good", set(), {(target, 3), (target, None)}),
        ):
            recorder = Recorder(tmp_path / f"{turn}-{len(written)}", disk.path)
            done = recorder.over(programs).run(UPDATE, *words, action)
            assert done.returncode == 0, done
            count, seen = cut_all(recorder, whole, written)
            assert seen == records
            total += count
        running[target], at_first = image, {(target, None)}
    recorder = Recorder(tmp_path / "back", disk.path)
    assert recorder.over(programs).run(UPDATE, *words, "--back").returncode == 0
    count, seen = cut_all(recorder, {number: [root] for number, root in running.items()}, set())
    assert seen == {(2, None), (3, 3)}
    assert total + count >= 500
    print(f"{total + count} power cuts")
