# SPDX-License-Identifier: Apache-2.0
"""SD cards that only a boot loader looks at: the layout in small, and roots that have /boot alone."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from meridian_machine import SdCard, SdError, SdMachine
from meridian_machine.sd_card import ENTRIES, ENTRY, NO_TRIAL, RECORD, RECORD_MAGIC, SECTOR
from sd_power import noting

MEBI = 1 << 20
FAT, ROOT_A, ROOT_B, TOTAL = 4, 64, 96, 128
ROOT_HAS = ("Image", "initrd", "system.dtb")
KERNEL = re.compile(r"Starting kernel \.\.\.")
# Its EFI looks for a device tree behind the first GiB, which this machine has not got.
NOTHING = re.compile(r"Meridian: no root starts|JTAG: Trying|Please RESET the board")
EITHER = re.compile(f"{KERNEL.pattern}|{NOTHING.pattern}")
CHOSEN = re.compile(r"Meridian: partition (\d) of mmc 0\n")
SECONDS = 300


def run(*command: str) -> None:
    subprocess.run(command, check=True, timeout=60, capture_output=True)


def idle_kernel() -> bytes:
    """An image that booti starts: a branch to itself."""
    image = bytearray(4096)
    image[:4] = (0x14000000).to_bytes(4, "little")
    image[16:24] = len(image).to_bytes(8, "little")
    image[24] = 8 | 2  # anywhere in memory, pages of 4 KiB
    image[0x38:0x3C] = b"ARM\x64"
    return bytes(image)


@dataclass(frozen=True)
class State:
    """marked: the partition of the record, None: there is no record; trial: starts left; lacking: files that its root has
    not; empty: partitions without a file system; script: the FAT partition has the boot script."""

    marked: int | None
    trial: int | None = None
    lacking: tuple[str, ...] = ()
    empty: tuple[int, ...] = ()
    script: bool = True

    def sector(self) -> bytes:
        """The first of the card."""
        sector = bytearray(SECTOR)
        for number, (start, end, kind) in enumerate(
            ((FAT, ROOT_A, 0xC), (ROOT_A, ROOT_B, 0x83), (ROOT_B, TOTAL, 0x83))
        ):
            at = ENTRIES + ENTRY * number
            sector[at] = 0x80 if number == 0 else 0
            sector[at + 4] = kind
            sector[at + 8 : at + 12] = (start * MEBI // SECTOR).to_bytes(4, "little")
            sector[at + 12 : at + 16] = ((end - start) * MEBI // SECTOR).to_bytes(4, "little")
        sector[440:444] = b"MRDN"
        sector[510:] = b"\x55\xaa"
        if self.marked is not None:
            left = NO_TRIAL if self.trial is None else self.trial
            sector[RECORD : RECORD + 4] = RECORD_MAGIC + bytes([self.marked, left])
        return bytes(sector)

    def card(self, path: Path, boot: Path) -> SdCard:
        """boot: a folder with the boot script and the files of /boot."""
        path.unlink(missing_ok=True)
        with path.open("wb") as file:
            file.truncate(TOTAL * MEBI)
            file.write(self.sector())
        run("mformat", "-i", f"{path}@@{FAT * MEBI}", "-T", str((ROOT_A - FAT) * MEBI // SECTOR), "-F", "::")
        if self.script:
            run("mcopy", "-i", f"{path}@@{FAT * MEBI}", str(boot / "boot.scr"), "::")
        card = SdCard(path)
        for partition in {2, 3} - set(self.empty):
            _put_root(card, partition, boot, self.lacking if partition == self.marked else ())
        return card


def put(card: SdCard, partition: int, image: Path) -> None:
    """Into a partition that is empty."""
    seek = card.partition(partition)[0] // MEBI
    run("dd", f"if={image}", f"of={card.path}", "bs=1M", f"seek={seek}", "conv=notrunc,sparse", "status=none")


def _put_root(card: SdCard, partition: int, boot: Path, lacking: Collection[str]) -> None:
    root, image = card.path.with_suffix(".root"), card.path.with_suffix(".ext4")
    (root / "boot").mkdir(parents=True)
    for name in set(ROOT_HAS) - set(lacking):
        shutil.copyfile(boot / name, root / "boot" / name)
    run("/sbin/mke2fs", "-q", "-t", "ext4", "-d", str(root), str(image), "24M")
    put(card, partition, image)
    image.unlink()
    shutil.rmtree(root)


def by_stand_in(card: SdCard, folder: Path) -> int | None:
    """The partition that QEMU would start; None: nothing."""
    folder.mkdir(exist_ok=True)
    try:
        return card.start(folder).partition
    except SdError:
        return None


def by_uboot(card: SdCard, folder: Path, firmware: Path) -> int | None:
    """The partition that U-Boot starts; None: nothing. `folder`/writes: its writes."""
    folder.mkdir(exist_ok=True)
    drive = noting(card, folder / "writes", until_killed=True)
    with SdMachine(card, folder, firmware=firmware, drive=drive) as machine:
        machine.wait_for(EITHER, SECONDS)
        text = machine.text()
        return int(CHOSEN.findall(text)[-1]) if KERNEL.search(text) else None
