# SPDX-License-Identifier: Apache-2.0
"""An ARM machine with the card on its PCIe bus: the kernel and the processors of a PS, with what a PS has not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from meridian_machine.tools import Image

# Linux itself places BARs here; it is told to leave room in the bridge's window.
KERNEL_LINE = "console=ttyAMA0 panic=-1 pci=hpmmiosize=32M,hpmmioprefsize=32M"


@dataclass(frozen=True)
class ArmHost:
    """Takes the image of a PS. memory: MiB; extra: QEMU's options."""

    serial: ClassVar[str] = "virtio-serial-device"

    memory: int = 512
    cpus: int = 2
    extra: Sequence[str] = ()

    def options(self, image: Image, initrd: Path, socket: Path | None, kernel_line: str = "") -> list[str]:
        """Of the whole machine but its console and its serial ports."""
        return [
            # Interrupts and timers as a PS has them.
            *("-machine", "virt,gic-version=2", "-cpu", "cortex-a53", "-smp", str(self.cpus), "-m", str(self.memory)),
            *("-accel", "tcg,thread=multi", "-nodefaults", "-display", "none", "-no-reboot"),
            *("-device", "pcie-root-port,id=root,chassis=1,addr=1,hotplug=on"),
            *(("-device", f"meridian,bus=root,socket={socket}") if socket else ()),
            *("-kernel", str(image.kernel), "-initrd", str(initrd), "-append", f"{KERNEL_LINE} {kernel_line}"),
            *("-drive", f"if=none,id=disk,file={image.root},format=raw,readonly=on"),
            *("-device", "virtio-blk-device,drive=disk"),
            *("-object", "rng-random,id=entropy,filename=/dev/urandom", "-device", "virtio-rng-device,rng=entropy"),
            *self.extra,
        ]
