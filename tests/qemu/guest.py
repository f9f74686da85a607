# SPDX-License-Identifier: Apache-2.0
"""A Linux guest of Debian's kernel and busybox, and the QEMU that runs it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from meridian_machine.hardware import with_card

ROOT = Path(__file__).resolve().parents[2]
KERNEL_PACKAGE = "linux-image-cloud-amd64"


def script(name: str, *arguments: str, minutes: int) -> Path:
    """The path that one of our scripts prints."""
    command = [str(ROOT / "scripts" / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60 * minutes, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return Path(done.stdout.split()[-1])


def initramfs(files: dict[str, tuple[Path, int]]) -> bytes:
    """A cpio archive ("newc") of files by name, each with its permissions."""
    archive = bytearray()

    def add(name: str, mode: int, data: bytes) -> None:
        number = len(archive) + 1
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        archive.extend(b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0")
        archive.extend(bytes(-len(archive) % 4))
        archive.extend(data + bytes(-len(data) % 4))

    for folder in sorted({str(parent) for name in files for parent in Path(name).parents if str(parent) != "."}):
        add(folder, 0o040755, b"")
    for name, (path, permissions) in files.items():
        add(name, 0o100000 | permissions, path.read_bytes())
    add("TRAILER!!!", 0, b"")
    return bytes(archive)


@dataclass(frozen=True)
class Guest:
    """What QEMU boots."""

    kernel: Path
    initrd: Path

    @classmethod
    def build(cls, folder: Path) -> Guest:
        """Says what it sees of the card, and ends."""
        module = next(kernel_package().rglob("pci-pf-stub.ko"))
        return cls.with_files(folder, "init", {"pci-pf-stub.ko": (module, 0o644)})

    @classmethod
    def with_files(cls, folder: Path, init: str, files: dict[str, tuple[Path, int]]) -> Guest:
        """busybox, one of the init scripts here, and files by name, each with its permissions."""
        busybox = script("fetch-source", "--binary", "busybox-static", minutes=5) / "bin" / "busybox"
        own = {"init": Path(__file__).with_name(init), "bin/busybox": busybox, "bin/sh": busybox}
        initrd = folder / "initrd"
        initrd.write_bytes(initramfs({name: (path, 0o755) for name, path in own.items()} | files))
        return cls(next((kernel_package() / "boot").glob("vmlinuz-*")), initrd)


def kernel_package() -> Path:
    """Debian's kernel, unpacked."""
    return script("fetch-source", "--binary", KERNEL_PACKAGE, minutes=5)


def machine(socket: Path, *options: str, device: str = "") -> list[str]:
    """QEMU's options for a q35 machine with the card behind a root port."""
    return [*with_card(socket, device=device), *options]
