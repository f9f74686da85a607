# SPDX-License-Identifier: Apache-2.0
"""QEMU's options for the machine that a card's PS is."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from .sd_card import Start
from .tools import ROOT, BuildError, Image

TREE = ROOT / "twin" / "images" / "ps.dts"
# Nodes that the card's own image has, too.
LAYER = ROOT / "meta-layer" / "meta-meridian-bsp" / "recipes-bsp" / "device-tree" / "files"
KERNEL_LINE = "console=ttyPS0 panic=-1 TWIN_NAME=ps"
# systemd gives up a device after a minute and a half, which a busy computer may take; programs for the kernel's BPF
# hooks take it many seconds to load.
PATIENT = "systemd.default_device_timeout_sec=900 systemd.default_timeout_start_sec=900 lsm=capability"
SECONDS = 20


def with_card(socket: Path | None, memory: int = 512) -> list[str]:
    """The machine with the card in its PL, or with the PL empty; nothing else is in it. memory: MiB."""
    card = f",card={socket}" if socket else ""
    return ["-machine", f"meridian-ps{card}", "-m", str(memory), "-nodefaults", "-display", "none", "-no-reboot"]


def device_tree(target: Path) -> Path:
    """The machine's, compiled. Raises BuildError."""
    command = ["dtc", "-q", "-I", "dts", "-O", "dtb", "-i", str(LAYER), "-o", str(target), str(TREE)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except FileNotFoundError:
        raise BuildError("there is no dtc: scripts/setup --images installs it") from None
    if done.returncode != 0:
        raise BuildError(f"{TREE}: {done.stderr.strip()}")
    return target


@dataclass(frozen=True)
class PsHardware:
    """What a user may choose of it.

    memory: MiB, 2048 at most; cpus: 4 at most; kernel: more of its command line; extra: QEMU's options.
    """

    serial: ClassVar[str] = "virtio-serial-device"

    memory: int = 1024
    cpus: int = 2
    kernel: str = ""
    extra: Sequence[str] = ()

    def options(self, image: Image, initrd: Path, socket: Path | None, kernel_line: str = "") -> list[str]:
        """Of the whole machine but its console and its serial ports. The device tree is put beside the RAM disk."""
        return [
            *self._processors(socket),
            *("-kernel", str(image.kernel), "-initrd", str(initrd)),
            *("-dtb", str(device_tree(initrd.with_name("ps.dtb")))),
            *("-append", self._line(KERNEL_LINE, self.kernel, kernel_line)),
            *("-drive", f"if=none,id=disk,file={image.root},format=raw,readonly=on"),
            *("-device", "virtio-blk-device,drive=disk"),
            *("-object", "rng-random,id=entropy,filename=/dev/urandom", "-device", "virtio-rng-device,rng=entropy"),
            *self.extra,
        ]

    def from_sd(self, start: Start, drive: str, socket: Path | None, kernel_line: str = "") -> list[str]:
        """The same of a machine that starts from an SD card, which it writes to; it has nothing that a card has not.

        drive: the SD card as QEMU's -drive has it.
        """
        return [
            *self._processors(socket),
            *("-kernel", str(start.kernel), "-initrd", str(start.ramdisk), "-dtb", str(start.tree)),
            *("-append", self._line(start.line, PATIENT, self.kernel, kernel_line)),
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
