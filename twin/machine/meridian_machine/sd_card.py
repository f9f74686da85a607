# SPDX-License-Identifier: Apache-2.0
"""The SD card of a card's PS as a file: its two roots, and what the boot loader does with them."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from meridian_twin.patience import stretched

SECTOR = 512
ROOTS = (2, 3)
ENTRIES, ENTRY = 446, 16
# The record of meta-layer's meridian-update and boot.cmd.meridian: magic number, root, starts left.
RECORD, RECORD_MAGIC, NO_TRIAL = 436, b"MR", 0xFF
LEGACY_HEADER = 64 + 8  # of U-Boot's image with one script in it
SECONDS = 60


class SdError(Exception):
    """The card has nothing to start: a sentence."""


def done(*command: str) -> None:
    """Raises SdError with the command's own words."""
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=stretched(SECONDS), check=False
        )
    except subprocess.TimeoutExpired:
        raise SdError(f"{command[0]} is not done after {stretched(SECONDS):.0f} s") from None
    if ended.returncode != 0:
        raise SdError(ended.stderr.strip() or f"{command[0]} ended with status {ended.returncode}")


@dataclass(frozen=True)
class Start:
    """What a boot loader hands the machine to. ramdisk: if the root has one."""

    partition: int
    kernel: Path
    tree: Path
    ramdisk: Path | None
    line: str


class SdCard:
    """A card in a file, which is written to. Raises SdError if the card has not what is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @staticmethod
    def copy(image: Path, target: Path) -> SdCard:
        """A card of its own with the image's content, as large as QEMU has SD cards: a power of two."""
        done("cp", "--sparse=always", "--reflink=auto", str(image), str(target))
        target.chmod(0o600)
        os.truncate(target, 1 << (target.stat().st_size - 1).bit_length())
        return SdCard(target)

    def first_sector(self) -> bytearray:
        with self.path.open("rb") as file:
            sector = bytearray(file.read(SECTOR))
        if len(sector) < SECTOR or sector[-2:] != b"\x55\xaa":
            raise SdError(f"{self.path} has no partition table")
        return sector

    def partition(self, number: int) -> tuple[int, int]:
        """Its first byte and its bytes."""
        at = ENTRIES + ENTRY * (number - 1) + 8
        sector = self.first_sector()
        start, size = (int.from_bytes(sector[at + 4 * i : at + 4 * i + 4], "little") for i in range(2))
        return start * SECTOR, size * SECTOR

    def record(self) -> tuple[int, int | None]:
        """The root that is to start, and how many starts its trial has left; None: it is not on trial."""
        record = self.first_sector()[RECORD : RECORD + 4]
        if record[:2] != RECORD_MAGIC:
            return ROOTS[0], None
        return record[2] if record[2] in ROOTS else ROOTS[0], None if record[3] == NO_TRIAL else record[3]

    def marked(self) -> int:
        """The root that is to start."""
        return self.record()[0]

    def trial(self) -> int | None:
        """How many starts the root that is to start has left; None: it is not on trial."""
        return self.record()[1]

    def mark(self, partition: int, tries: int | None = None) -> None:
        """The root that is to start, and how many starts it has if it is on trial."""
        sector = self.first_sector()
        sector[RECORD : RECORD + 4] = RECORD_MAGIC + bytes([partition, NO_TRIAL if tries is None else tries])
        with self.path.open("r+b") as file:
            file.write(sector)

    def add_key(self, public: Path) -> None:
        """Who has it may log in: a file on the FAT partition, as a user puts it there."""
        start, _ = self.partition(1)
        done("mcopy", "-o", "-i", f"{self.path}@@{start}", str(public), "::authorized_keys")

    def file(self, partition: int, name: str, target: Path) -> Path | None:
        """A copy of a file of an ext4 partition; None: there is none."""
        target.unlink(missing_ok=True)
        where = f"{self.path}?offset={self.partition(partition)[0]}"
        command = ["/sbin/debugfs", "-R", f"dump {name} {target}", where]
        try:
            subprocess.run(command, check=False, timeout=stretched(SECONDS), capture_output=True)
        except subprocess.TimeoutExpired:
            raise SdError(
                f"{self.path}: reading {name} of partition {partition} takes more than {stretched(SECONDS):.0f} s"
            ) from None
        return target if target.exists() and target.stat().st_size else None

    def boot_script(self, target: Path) -> Path:
        """A copy of the FAT partition's boot script. Raises SdError."""
        target.unlink(missing_ok=True)
        done("mcopy", "-i", f"{self.path}@@{self.partition(1)[0]}", "::boot.scr", str(target))
        return target

    def start(self, folder: Path) -> Start:
        """What U-Boot and boot.cmd.meridian do: counts a trial down, goes back when none is left or the root does not
        load. The files are put into the folder. Raises SdError."""
        script = self.boot_script(folder / "boot.scr")
        partition, tries = self.record()
        if tries == 0:
            partition, tries = 5 - partition, None
            self.mark(partition)
        if tries is not None:
            tries -= 1
            self.mark(partition, tries)
        for number in (partition, 5 - partition):
            kernel, tree, ramdisk = (
                self.file(number, f"/boot/{name}", folder / f"boot-{name}")
                for name in ("Image", "system.dtb", "initrd")
            )
            if kernel and tree:
                return Start(number, kernel, tree, ramdisk, self._line(script, number))
            if tries is not None and number == partition:
                self.mark(5 - partition)
        raise SdError(f"{self.path}: no root has both Image and system.dtb in /boot")

    def _line(self, script: Path, partition: int) -> str:
        """The kernel's command line, by the boot script's own words."""
        text = script.read_bytes()[LEGACY_HEADER:].decode(errors="replace")
        found = re.search(r'^\s*setenv bootargs "(.*)"$', text, re.MULTILINE)
        if not found:
            raise SdError(f"{self.path}: the boot script sets no bootargs")
        disk = int.from_bytes(self.first_sector()[440:444], "little")
        return found[1].replace("${meridian_uuid}", f"{disk:08x}-{partition:02d}")
