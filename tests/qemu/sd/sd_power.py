# SPDX-License-Identifier: Apache-2.0
"""A card's SD card through updates and power cuts. The PL is empty here: what is at stake is what starts."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from meridian_machine import PsHardware, SdCard, SdMachine
from meridian_machine.sd_card import SECTOR
from meridian_twin.patience import deadline_in, stretched

# There is no logic to read registers of.
EMPTY = "modprobe.blacklist=meridian_ps"
UPDATE = "meridian-update --unsigned /dev/vda"
UPDATE_SECONDS = 3600
BEHIND_SECONDS = 30
MEBI = 1 << 20


class Rig:
    """A copy of the image, or a card that is given, started again and again, with an update in a disk beside it."""

    def __init__(self, image: Path, folder: Path, update: Path | None = None, card: SdCard | None = None) -> None:
        self.image, self.root = image, image.with_name("root.ext4")
        self.update, self.folder = update or self.root, folder
        self.card = card or SdCard.copy(image, folder / "sd.img")
        self.starts: list[float] = []

    def machine(self, drive: str = "") -> SdMachine:
        disk = f"if=none,id=update,file={self.update},format=raw,readonly=on"
        extra = ("-drive", disk, "-device", "virtio-blk-device,drive=update")
        return SdMachine(self.card, self.folder, hardware=PsHardware(extra=extra), line=EMPTY, drive=drive)

    def up(self, drive: str = "") -> SdMachine:
        """Started, and somebody may log in."""
        machine = self.machine(drive)
        try:
            self.starts.append(machine.wait_up())
        except BaseException:
            machine.close()
            raise
        return machine

    def is_whole(self, partition: int) -> bool:
        """The root in a partition is the image's or the update's, byte by byte."""
        return any(self.has(partition, image) for image in {self.root, self.update})

    def has(self, partition: int, image: Path) -> bool:
        start, _ = self.card.partition(partition)
        skip, count = str(start), str(image.stat().st_size)
        command = ["cmp", "-s", "-i", f"{skip}:0", "-n", count, str(self.card.path), str(image)]
        return subprocess.run(command, timeout=120, check=False).returncode == 0


def broken(image: Path, folder: Path, *requests: str) -> Path:
    """A root that is changed by debugfs."""
    copy = folder / "broken.ext4"
    shutil.copyfile(image.with_name("root.ext4"), copy)
    for request in requests:
        subprocess.run(["/sbin/debugfs", "-w", "-R", request, str(copy)], check=True, timeout=60, capture_output=True)
    return copy


def running(machine: SdMachine) -> int:
    """The partition that the root is on."""
    return int(machine.run("findmnt -no SOURCE /", check=True).text.strip()[-1])


def until_well(machine: SdMachine, seconds: float = 60) -> None:
    """Until the root that runs is on trial no longer."""
    deadline = deadline_in(seconds)
    while machine.card.trial() is not None:
        assert time.monotonic() < deadline, machine.text()[-2000:]
        time.sleep(0.2)


def written(machine: SdMachine) -> int:
    """Bytes that its QEMU has written, nearly all of them to the card."""
    found = re.search(r"^wchar: (\d+)", Path(f"/proc/{machine.pid}/io").read_text(), re.MULTILINE)
    assert found
    return int(found[1])


@dataclass(frozen=True)
class Cut:
    """When the power goes: so far into the time that a start takes, or into what an update writes."""

    of: str
    part: float

    @staticmethod
    def some(count: int, seed: int) -> list[Cut]:
        """Every second one of an update; spread over all of it and a little behind."""
        random_ = random.Random(seed)
        return [Cut(("update", "start")[i % 2], random_.uniform(0, 1.1)) for i in range(count)]

    def make(self, rig: Rig, machine: SdMachine, update_bytes: int) -> None:
        """In this machine, which has come up well, or in a start behind it."""
        if self.of == "start":
            machine.cut()
            with rig.machine() as another:
                time.sleep(self.part * sum(rig.starts) / len(rig.starts))
                another.cut()
            return
        command, until = [*machine.ssh(), UPDATE], written(machine) + self.part * update_bytes
        deadline = deadline_in(UPDATE_SECONDS)
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as session:
            try:
                while written(machine) < until and session.poll() is None:
                    assert time.monotonic() < deadline, "the update does not come to its end"
                    time.sleep(0.01)
                assert session.poll() in (None, 0), "the update was refused or failed, so there is nothing to cut"
                if self.part > 1:
                    assert session.wait(stretched(UPDATE_SECONDS)) == 0
                    time.sleep(BEHIND_SECONDS * (self.part - 1))
                machine.cut()
            finally:  # the end of the block waits for it
                session.kill()


def noting(card: SdCard, log: Path, until_killed: bool = False) -> str:
    """The card as QEMU's -drive has it, so that each write is noted in a file; see `writes`. until_killed: also those before
    QEMU is killed, for which it waits at each write until the file is on the disk; else it is to end by itself."""
    log.touch()
    interval = 1 if until_killed else 4096
    noted = f"driver=blklogwrites,log-super-update-interval={interval},file.driver=raw,file.file.filename={card.path}"
    return f"{noted},log.driver=raw,log.file.filename={log}"


def writes(log: Path) -> Iterator[tuple[int, bytes]]:
    """What QEMU's blklogwrites has noted, in order: first sector, and bytes."""
    with log.open("rb") as file:
        header = file.read(28)
        if not header:  # there were none
            return
        assert int.from_bytes(header[:8], "little") == 0x6A736677736872
        count, size = int.from_bytes(header[16:24], "little"), int.from_bytes(header[24:28], "little")
        at = size
        for _ in range(count):
            file.seek(at)
            sector, sectors, flags = (int.from_bytes(file.read(8), "little") for _ in range(3))
            at += size
            # A discard has no data.
            if flags & 4 == 0 and sectors:
                file.seek(at)
                yield sector * size // SECTOR, file.read(sectors * size)
                at += sectors * size
