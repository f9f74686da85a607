# SPDX-License-Identifier: Apache-2.0
"""QEMU's options for a machine with the card in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from .tools import Image

# A busy machine without KVM misses ticks while the kernel looks whether its timer works; missing them is a panic.
KERNEL_LINE = "console=ttyS0 panic=-1 pci=realloc no_timer_check"


def with_card(socket: Path | None, memory: int = 512, device: str = "") -> list[str]:
    """A q35 machine with the card behind a root port, or with the port empty; nothing else is in it.

    memory: MiB. device: more properties of the card, as pfs=2,vfs=16.
    """
    card = ["-device", ",".join(filter(None, ("meridian,bus=root", f"socket={socket}", device)))] if socket else []
    return [
        *("-machine", "q35", "-m", str(memory), "-nodefaults", "-display", "none", "-no-reboot"),
        *("-device", "pcie-root-port,id=root,chassis=1,mem-reserve=32M,addr=1"),
        *card,
    ]


@dataclass(frozen=True)
class Hardware:
    """What a user may choose of a machine.

    memory: MiB; device: more properties of the card; kernel: more of its command line; extra: QEMU's options; iommu:
    an Intel IOMMU, through which each function of the card has addresses of its own.
    """

    serial: ClassVar[str] = "virtio-serial-pci"  # what its serial ports are on

    memory: int = 1024
    cpus: int = 2
    device: str = ""
    kernel: str = ""
    extra: Sequence[str] = ()
    iommu: bool = False

    def options(self, image: Image, initrd: Path, socket: Path | None, kernel_line: str = "") -> list[str]:
        """Of the whole machine but its console and its serial ports."""
        iommu = "intel_iommu=on" if self.iommu else ""
        return [
            # It translates for the devices behind it on the command line.
            *(("-device", "intel-iommu") if self.iommu else ()),
            *with_card(socket, self.memory, self.device),
            *("-accel", "tcg,thread=multi", "-cpu", "max", "-smp", str(self.cpus)),
            *("-kernel", str(image.kernel), "-initrd", str(initrd)),
            *("-append", " ".join(filter(None, (KERNEL_LINE, iommu, self.kernel, kernel_line)))),
            *("-drive", f"if=none,id=disk,file={image.root},format=raw,readonly=on"),
            *("-device", "virtio-blk-pci,drive=disk"),
            *("-object", "rng-random,id=entropy,filename=/dev/urandom", "-device", "virtio-rng-pci,rng=entropy"),
            *self.extra,
        ]
