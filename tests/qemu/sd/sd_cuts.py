# SPDX-License-Identifier: Apache-2.0
"""Power cuts without a machine: what QEMU has noted of the writes to an SD card, made again up to any sector."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from card_programs import Programs
from meridian_machine import SdCard
from meridian_machine.sd_card import ROOTS, SECTOR
from preinit_root import PreinitRoot
from sd_power import UPDATE, UPDATE_SECONDS, Rig, noting, running, until_well, writes

MEBI = 1 << 20
FAT, DATA = 1, 4
WORD = "mine"  # in /etc/word, before the update
Record = tuple[int, int | None]


@dataclass(frozen=True)
class Recording:
    """card: as it was before a machine wrote to it; log: what the machine has written."""

    card: SdCard
    log: Path

    def moments(self, count: int, seed: int) -> set[int]:
        """Cuts, in sectors that were written before: behind each sector that is not of the data partition, before each write
        of the card's first sector, which has the record, and behind so many sectors of the data partition at random, or
        all that there are."""
        start, size = self.card.partition(DATA)
        at, cuts, data_cuts = 0, {0}, list[int]()
        for first, data in writes(self.log):
            behind = range(at + 1, at + len(data) // SECTOR + 1)
            if start <= first * SECTOR < start + size:
                data_cuts += behind
            else:
                cuts.update([at] if first == 0 else [], behind)
            at += len(behind)
        return cuts | set(random.Random(seed).sample(data_cuts, min(len(data_cuts), count)))

    def replay(self, cuts: Collection[int], path: Path) -> Iterator[tuple[int, SdCard, set[int]]]:
        """A copy of the card at each of these cuts, in order: how many sectors were written, the card, and the partitions
        that were written since the last cut."""
        card = copy_of(self.card, path)
        places = {number: card.partition(number) for number in range(1, 5)}
        left, at, touched = sorted(cuts, reverse=True), 0, set[int]()
        with card.path.open("r+b", buffering=0) as file:
            for first, data in writes(self.log):
                done = 0
                while done < len(data):
                    if left and left[-1] == at:
                        yield left.pop(), card, touched
                        touched = set()
                    until = min(len(data), done + (left[-1] - at) * SECTOR) if left else len(data)
                    place = first * SECTOR + done
                    touched |= {
                        n
                        for n, (start, size) in places.items()
                        if place < start + size and start < place + until - done
                    }
                    file.seek(place)
                    file.write(data[done:until])
                    at, done = at + (until - done) // SECTOR, until
            if left == [at]:
                yield at, card, touched


def change_etc(rig: Rig) -> None:
    """Somebody works with the root that runs."""
    with rig.up() as machine:
        machine.run(f"echo {WORD} >/etc/word && sync", check=True)
        until_well(machine)
        machine.power_off()


def record_update(rig: Rig, folder: Path) -> dict[str, Recording]:
    """An update in a machine, and the trial behind it in the next one, until the root is well and the machine is off."""
    recordings = {}
    for name in ("update", "trial"):
        place, log = folder / name, folder / f"{name}.writes"
        place.mkdir()
        card = copy_of(rig.card, place / "sd.img")
        with rig.up(noting(rig.card, log)) as machine:
            if name == "update":
                machine.run(UPDATE, UPDATE_SECONDS, check=True)
            else:
                card.start(place)  # The loader's own write, which is counting the trial down, is before the machine's.
                assert running(machine) == 3
                until_well(machine)
            machine.power_off()
        recordings[name] = Recording(card, log)
    return recordings


def copy_of(card: SdCard, path: Path) -> SdCard:
    """With the key that logs in."""
    subprocess.run(["cp", "--sparse=always", "--reflink=auto", str(card.path), str(path)], check=True, timeout=300)
    for name in ("key", "key.pub"):
        if not path.with_name(name).exists():
            shutil.copy(card.path.with_name(name), path.with_name(name))
    return SdCard(path)


@dataclass
class Judge:
    """Whether a card starts, by its content: what is looked at again is only what was written meanwhile.

    image: what a root is, byte by byte; programs: those of the image, with which the root's first program is started.
    """

    folder: Path
    image: Path
    programs: Programs
    _whole: set[int] = field(default_factory=set)
    _chosen: dict[Record, int] = field(default_factory=dict)
    _words: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self._preinit = PreinitRoot.made(self.folder / "root", self.folder / "data", self.programs)

    def started(self, card: SdCard, touched: set[int]) -> tuple[Record, int]:
        """The record, and the root that the boot script starts by it. That root is whole, in a trial the other one, too;
        it finds the changes of /etc, and leaves the data partition in order. The card stays as it was."""
        record = card.record()
        self._whole -= touched
        # Of what is started nothing was written, nor of what would have been started before it.
        if record not in self._chosen or touched & {FAT, record[0], self._chosen[record]}:
            self._chosen[record] = self._choice(card)
        partition = self._chosen[record]
        for number in ROOTS if record[1] is not None else (partition,):
            if number not in self._whole:
                self._compare(card, number)
                self._whole.add(number)
        if DATA in touched:
            self._words.clear()
        if partition not in self._words:
            self._words[partition] = self._etc(card, partition)
        assert self._words[partition] == WORD, f"root {partition} has {self._words[partition]!r} in /etc/word"
        return record, partition

    def _choice(self, card: SdCard) -> int:
        sector = card.first_sector()
        partition = card.start(self.folder).partition
        with card.path.open("r+b") as file:
            file.write(sector)
        return partition

    def _compare(self, card: SdCard, number: int) -> None:
        skip, count = f"{card.partition(number)[0]}:0", str(self.image.stat().st_size)
        command = ["cmp", "-s", "-i", skip, "-n", count, str(card.path), str(self.image)]
        done = subprocess.run(command, timeout=300, check=False)
        assert done.returncode == 0, f"the root in partition {number} is not whole"

    def _etc(self, card: SdCard, partition: int) -> str:
        """/etc/word, by the root's own first program, on a copy of the data partition, which is in order then."""
        data = self._preinit.data
        start, size = card.partition(DATA)
        words = [f"if={card.path}", f"of={data}", "bs=1M", f"skip={start // MEBI}", f"count={size // MEBI}"]
        data.unlink(missing_ok=True)
        subprocess.run(["dd", *words, "conv=sparse", "status=none"], check=True, timeout=120)
        os.truncate(data, size)
        word, lost = self._preinit.start(partition)
        assert lost == "", lost
        done = subprocess.run(
            ["/sbin/e2fsck", "-fn", str(data)], capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stdout
        return word
