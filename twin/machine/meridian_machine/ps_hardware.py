# SPDX-License-Identifier: Apache-2.0
"""QEMU's options for the machine that a card's PS is."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from meridian_twin.patience import stretched

from . import modules
from .sd_card import Start
from .tools import ROOT, BuildError, Image

IMAGES = ROOT / "twin" / "images"
TREE = IMAGES / "ps.dts"
BOOT_TREE = IMAGES / "sd" / "u-boot.dts"
# Nodes that the card's own image has, too.
LAYER = ROOT / "meta-layer" / "meta-meridian-bsp" / "recipes-bsp" / "device-tree" / "files"
KERNEL_LINE = "console=ttyPS0 panic=-1 TWIN_NAME=ps"
# Where U-Boot looks for the device tree of its own.
BOOT_TREE_AT = 0x100000
SECONDS = 20


def with_card(socket: Path | None, memory: int = 512) -> list[str]:
    """The machine with the card in its PL, or with the PL empty; nothing else is in it. memory: MiB."""
    card = f",card={socket}" if socket else ""
    return ["-machine", f"meridian-ps{card}", "-m", str(memory), "-nodefaults", "-display", "none", "-no-reboot"]


def device_tree(target: Path, source: Path = TREE) -> Path:
    """The machine's, compiled. Raises BuildError."""
    folders = [word for folder in (LAYER, IMAGES) for word in ("-i", str(folder))]
    return _made(["dtc", "-q", "-I", "dts", "-O", "dtb", *folders, "-o", str(target), str(source)], target)


def boot_tree(target: Path, memory: int) -> Path:
    """U-Boot's own, for a machine with so many MiB. Raises BuildError."""
    device_tree(target, BOOT_TREE)
    return _made(["fdtput", "-t", "x", str(target), "/memory@0", "reg", "0", "0", "0", f"{memory << 20:x}"], target)


def _made(command: Sequence[str], target: Path) -> Path:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=stretched(SECONDS), check=False)
    except FileNotFoundError:
        raise BuildError(f"there is no {command[0]}: scripts/setup --images installs it") from None
    except subprocess.TimeoutExpired:
        raise BuildError(f"{target}: {command[0]} is not done after {stretched(SECONDS):.0f} s") from None
    if done.returncode != 0:
        raise BuildError(f"{target}: {done.stderr.strip()}")
    return target


@dataclass(frozen=True)
class PsHardware:
    """What a user may choose of it.

    memory: MiB, 2048 at most; cpus: 4 at most; kernel: more of its command line; extra: QEMU's options; tree: source of
    the device tree, which may include ps.dts; modules: how many cages have one, from the first on.
    """

    serial: ClassVar[str] = "virtio-serial-device"

    memory: int = 1024
    cpus: int = 2
    kernel: str = ""
    extra: Sequence[str] = ()
    tree: Path = TREE
    modules: int = modules.CAGES

    def options(self, image: Image, initrd: Path, socket: Path | None, kernel_line: str = "") -> list[str]:
        """Of the whole machine but its console and its serial ports. Device tree and modules' memories are put beside the
        RAM disk."""
        return [
            *self._processors(socket),
            *("-kernel", str(image.kernel), "-initrd", str(initrd)),
            *("-dtb", str(device_tree(initrd.with_name("ps.dtb"), self.tree))),
            *("-append", self._line(KERNEL_LINE, self.kernel, kernel_line)),
            *("-drive", f"if=none,id=disk,file={image.root},format=raw,readonly=on"),
            *("-device", "virtio-blk-device,drive=disk"),
            *("-object", "rng-random,id=entropy,filename=/dev/urandom", "-device", "virtio-rng-device,rng=entropy"),
            *modules.options(initrd.parent, self.modules),
            *self.extra,
        ]

    def from_sd(self, start: Start, drive: str, socket: Path | None, kernel_line: str = "") -> list[str]:
        """The same of a machine that starts from an SD card, which it writes to; it has nothing that a card has not.

        drive: the SD card as QEMU's -drive has it.
        """
        ramdisk = ("-initrd", str(start.ramdisk)) if start.ramdisk else ()
        return [
            *self._processors(socket),
            *("-kernel", str(start.kernel), *ramdisk, "-dtb", str(start.tree)),
            *("-append", self._line(start.line, self.kernel, kernel_line)),
            *("-drive", f"if=sd,index=1,{drive}"),
            *self.extra,
        ]

    def by_firmware(self, firmware: Path, tree: Path, drive: str, socket: Path | None) -> list[str]:
        """As from_sd, but it is TF-A and U-Boot that start it, from power-on.

        firmware: the folder of scripts/build/build-boot; tree: where U-Boot's device tree is put. The kernel's command line
        is the boot script's.
        """
        boot_tree(tree, self.memory)
        return [
            *self._processors(socket),
            *("-machine", "secure=on,virtualization=on"),
            *("-device", f"loader,file={firmware}/bl31.elf,cpu-num=0"),
            *("-device", f"loader,file={firmware}/u-boot.elf"),
            *("-device", f"loader,file={tree},addr={BOOT_TREE_AT:#x},force-raw=on"),
            *("-drive", f"if=sd,index=1,{drive}"),
            *self.extra,
        ]

    def _line(self, *words: str) -> str:
        # The tree has four processors.
        return " ".join(filter(None, (*words, f"nr_cpus={self.cpus}")))

    def _processors(self, socket: Path | None) -> list[str]:
        return [
            *with_card(socket, self.memory),
            # A file that the card maps.
            *("-object", f"memory-backend-memfd,id=ddr,size={self.memory}M,share=on", "-M", "memory-backend=ddr"),
            *("-accel", "tcg,thread=multi", "-smp", str(self.cpus)),
        ]
