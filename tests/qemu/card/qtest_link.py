# SPDX-License-Identifier: Apache-2.0
"""The card on QEMU's PCIe bus as a link: drivers of meridian_twin run on it, through QEMU's own device.

Configuration space and BARs are reached as a processor would. A vector of the MSI-X table writes into guest memory, so
an interrupt can be seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from meridian_machine.hardware import with_card
from meridian_twin import LinkError, Role
from qtest import MEGABYTE, Qtest

ROOT_PORT, CARD = 1 << 11, 1 << 16  # bus 0 slot 1; bus 1
WINDOW = 0xE000_0000, 0xE1FF_FFFF
FIRST_VF = 4
# Of the first PF and the first VF; the others' follow.
PF_BARS = {0: (0xE100_0000, 256 << 10), 2: (0xE000_0000, 4 * MEGABYTE)}
VF_BARS = {0: (0xE120_0000, 32 << 10), 2: (0xE1A0_0000, 4 << 10)}
MSIX_TABLE = {False: 0x30000, True: 0x4000}  # of a PF, of a VF
EXPRESS, MSIX, SRIOV = 0x70, 0x60, 0x160
EXPRESS_ID, CONTROL_2, ARI_FORWARDING = 0x10, 0x28, 1 << 5
CONFIG_ADDRESS, CONFIG_DATA = 0xCF8, 0xCFC
PCIEXBAR, CONFIG = 0x60, 0xB000_0000  # of q35: where all configuration space is in memory
MEMORY_AND_MASTER, MEMORY_ONLY = 6, 2


class QtestLink(Qtest):
    """The card's functions in a QEMU of its own, enumerated. Offers what `meridian_twin.Host` and `Vf` ask of a link.

    vfs: to enable, of each PF. more: options of QEMU.
    """

    role = Role.PCIE
    lockstep = False

    def __init__(
        self, qemu: Path, card: Path, pfs: int = 1, vfs: int = 0, patience: float = 60, more: Sequence[str] = ()
    ) -> None:
        self.pfs = pfs
        self.vfs = vfs
        self._words: dict[int, list[int]] = {}  # by function: where its vectors write
        self.interrupts: Counter[tuple[int, int]] = Counter()
        super().__init__(qemu, [*with_card(card, device=f"pfs={pfs}"), *more], patience)

    def _begin(self) -> None:
        self.memory.allocate(MEGABYTE)  # holes and firmware of a PC
        self._enumerate()

    def config_read(self, device: int, register: int) -> int:
        return self._do(f"readl {CONFIG + (device << 4) + register:#x}")

    def config_write(self, device: int, register: int, value: int) -> None:
        self._do(f"writel {CONFIG + (device << 4) + register:#x} {value:#x}")

    def _device(self, function: int) -> int:
        """Its number in the card is its place on the bus."""
        return CARD | function << 8

    def _enumerate(self) -> None:
        self._do(f"outl {CONFIG_ADDRESS:#x} {1 << 31 | PCIEXBAR:#x}")
        self._do(f"outl {CONFIG_DATA:#x} {CONFIG | 1:#x}")
        self.config_write(ROOT_PORT, 0x18, 0x010100)  # secondary and subordinate bus
        self.config_write(ROOT_PORT, 0x20, WINDOW[0] >> 16 | WINDOW[1] & 0xFFF00000)
        self.config_write(ROOT_PORT, 0x04, MEMORY_AND_MASTER)
        at = self.config_read(ROOT_PORT, 0x34) & 0xFF
        while (capability := self.config_read(ROOT_PORT, at) & 0xFFFF) & 0xFF != EXPRESS_ID:
            at = capability >> 8
        self.config_write(ROOT_PORT, at + CONTROL_2, ARI_FORWARDING)
        for pf in range(self.pfs):
            self._set_up(pf)

    def _set_up(self, pf: int) -> None:
        device = self._device(pf)
        identity = self.config_read(device, 0)
        if identity & 0xFFFF != 0x10EE:
            raise LinkError(f"there is no card on the bus, but {identity:#010x}")
        for bar, (base, size) in PF_BARS.items():
            self.config_write(device, 0x10 + 4 * bar, base + pf * size)
            self.config_write(device, 0x14 + 4 * bar, 0)
        self.config_write(device, 0x04, MEMORY_ONLY)
        if self.vfs:
            for bar, (base, size) in VF_BARS.items():
                self.config_write(device, SRIOV + 0x24 + 4 * bar, base + (self.first_vf(pf) - FIRST_VF) * size)
                self.config_write(device, SRIOV + 0x28 + 4 * bar, 0)
            self.config_write(device, SRIOV + 0x10, self.vfs)
            self.config_write(device, SRIOV + 0x08, 1 | 1 << 3)  # they exist, with memory
            for vf in range(self.vfs):  # QEMU asks for this bit in a VF, too; Linux sets it
                self.config_write(self._device(self.first_vf(pf) + vf), 0x04, MEMORY_ONLY)

    def offered_vfs(self, pf: int) -> int:
        return self.config_read(self._device(pf), SRIOV + 0x0C) >> 16

    def first_vf(self, pf: int) -> int:
        """The number in the card of the PF's first VF."""
        return pf + (self.config_read(self._device(pf), SRIOV + 0x14) & 0xFFFF)

    def reset_function(self, function: int) -> None:
        """Function level reset, and the BARs are where they were."""
        device = self._device(function)
        control = self.config_read(device, EXPRESS + 8)
        self.config_write(device, EXPRESS + 8, control | 1 << 15)
        if function < FIRST_VF:
            self._set_up(function)

    # What a driver asks of a link

    def _address(self, function: int, bar: int, offset: int) -> int:
        if function < FIRST_VF:
            base, size = PF_BARS[bar]
            return base + function * size + offset
        base, size = VF_BARS[bar]
        return base + (function - FIRST_VF) * size + offset

    def enable(self, function: int, enabled: bool = True, parent: int | None = None) -> None:
        self.config_write(self._device(function), 0x04, MEMORY_AND_MASTER if enabled else MEMORY_ONLY)

    def enable_interrupts(self, vectors: int, function: int = 0) -> None:
        """Every vector writes into a word of memory; MSI-X is on."""
        self._words[function] = [self.memory.allocate(64) for _ in range(vectors)]
        table = MSIX_TABLE[function >= FIRST_VF]
        for vector, word in enumerate(self._words[function]):
            for register, value in enumerate((word, 0, 1, 0)):
                self.write(function, 0, table + 16 * vector + 4 * register, value)
        self.config_write(self._device(function), MSIX, 1 << 31)

    def take_interrupt(self, vector: int, function: int = 0) -> bool:
        """Whether one came since the last call."""
        word = self._words[function][vector]
        came = self.memory.word(word) != 0
        self.memory.set_word(word, 0)
        return came
