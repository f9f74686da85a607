# SPDX-License-Identifier: Apache-2.0
"""A card's disk in a file, small, with roots that have what meridian-update and the boot script look at."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

MEBI = 1 << 20
MACHINE = "meridian-test"
# Starts and sizes of the four partitions, in MiB, smaller than those of the SD layout.
PARTS = {1: (4, 4), 2: (8, 12), 3: (20, 12), 4: (32, 4)}
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG somebody\n"
RECORD, MAGIC, NO_TRIAL = 436, b"MR", 0xFF


def tool(*command: str, text: str | None = None) -> str:
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=60, check=True, env={**os.environ, "PATH": path}
    )
    return done.stdout


def root_image(
    path: Path,
    seed: int,
    size: int = 5 * MEBI,
    machine: str = MACHINE,
    lacking: tuple[str, ...] = (),
    wrong: tuple[str, ...] = (),
    version: str | None = None,
) -> bytes:
    """A root in an ext4 file system. lacking: files of /boot that it has not; wrong: files other than in the manifest;
    version: None: the manifest names none."""
    boot = path.with_suffix(".root") / "boot"
    boot.mkdir(parents=True)
    numbers = random.Random(seed)
    lines = [f"machine={machine}\n"] + ([] if version is None else [f"version={version}\n"])
    for name in ("Image", "system.dtb"):
        data = numbers.randbytes(100_000)
        (boot / name).write_bytes(data)
        lines.append(f"{hashlib.sha256(data).hexdigest()}  /boot/{name}\n")
        if name in wrong:
            (boot / name).write_bytes(data[:-1])
    (boot / "meridian.manifest").write_text("".join(lines))
    (boot / "more").write_bytes(numbers.randbytes(size // 2))
    for name in lacking:
        (boot / name).unlink()
    path.unlink(missing_ok=True)
    tool("mke2fs", "-q", "-t", "ext4", "-b", "1024", "-d", str(boot.parent), str(path), f"{size // 1024}k")
    shutil.rmtree(boot.parent)
    return path.read_bytes()


def system_with_key(folder: Path) -> Path:
    """What --good looks at: somebody may log in."""
    (folder / "etc").mkdir(parents=True)
    (folder / "etc/passwd").write_text("daemon:x:1:1::/:/bin/false\nroot:x:0:0:root:/home/root:/bin/sh\n")
    (folder / "home/root/.ssh").mkdir(parents=True)
    (folder / "home/root/.ssh/authorized_keys").write_text(KEY)
    return folder


@dataclass
class Disk:
    path: Path

    def partition(self, number: int, size: int | None = None) -> bytes:
        start, length = PARTS[number]
        with self.path.open("rb") as file:
            file.seek(start * MEBI)
            return file.read(length * MEBI if size is None else size)

    def put(self, number: int, content: bytes) -> None:
        with self.path.open("r+b") as file:
            file.seek(PARTS[number][0] * MEBI)
            file.write(content)

    def sector(self) -> bytes:
        with self.path.open("rb") as file:
            return file.read(512)

    def record(self) -> tuple[int, int | None]:
        """The root that is started next, and how many starts its trial has left."""
        record = self.sector()[RECORD : RECORD + 4]
        if record[:2] != MAGIC:
            return 2, None
        return record[2], None if record[3] == NO_TRIAL else record[3]


def new_disk(path: Path, types: str = "c 83 83 83") -> Disk:
    """Partition 2 has a root; the others have bytes."""
    disk = Disk(path)
    with path.open("wb") as file:
        file.truncate(36 * MEBI)
    for number, (_, size) in PARTS.items():
        disk.put(number, random.Random(number).randbytes(size * MEBI))
    disk.put(2, root_image(path.with_name("running"), 1))
    kinds = zip(PARTS.items(), types.split(), strict=True)
    lines = [
        f"{number} : start={start * 2048}, size={size * 2048}, type={kind}" for (number, (start, size)), kind in kinds
    ]
    lines[0] += ", bootable"
    tool("sfdisk", "-q", str(path), text="label: dos\n" + "\n".join(lines) + "\n")
    return disk
