# SPDX-License-Identifier: Apache-2.0
"""Optical modules in the cages of the card's PS machine: files that QEMU's EEPROMs keep, with what an SFP28 tells of itself
(SFF-8472) as long as nobody writes to them."""

from __future__ import annotations

import struct
from pathlib import Path

#: Of the machine meridian-ps.
CAGES = 4
#: Addresses on a cage's bus.
IDENTITY, DIAGNOSIS = 0x50, 0x51
BYTES = 256
#: QEMU's files have whole sectors, so the memory is there twice: QEMU reads in the second half if its pointer was odd before.
SECTOR = 512
VENDOR, PART = "Twin", "SR-28"


def identity() -> bytes:
    """An SFP28 for a multimode fibre, which measures and tells of its transmitter and receiver."""
    memory = bytearray(BYTES)
    memory[0:3] = 3, 4, 7  # SFP, by its identity, LC connector
    memory[20:36] = VENDOR.encode().ljust(16)
    memory[36] = 2  # 25GBASE-SR
    memory[40:56] = PART.encode().ljust(16)
    memory[92:95] = 0x68, 0x30, 8  # measures, calibrated; tells of fault and loss; SFF-8472
    memory[63] = sum(memory[:63]) & 0xFF
    memory[95] = sum(memory[64:95]) & 0xFF
    return bytes(memory)


def diagnosis(celsius: float = 41.5, microwatts: float = 500, status: int = 0) -> bytes:
    """What it measures, and its bounds: 75 C, and 30 uW of light. status: bit 1 says no signal, bit 2 a fault."""
    memory = bytearray(BYTES)
    struct.pack_into(">hh", memory, 0, 75 * 256, -5 * 256)
    struct.pack_into(">HH", memory, 32, 20000, 300)
    struct.pack_into(">hHHHH", memory, 96, int(celsius * 256), 33000, 3000, 5000, int(microwatts * 10))
    memory[110] = status
    memory[95] = sum(memory[:95]) & 0xFF
    return bytes(memory)


def options(folder: Path, cages: int) -> list[str]:
    """QEMU's, for a module in each of the first cages; its files are made in the folder."""
    words = []
    for cage in range(cages):
        for address, memory in ((IDENTITY, identity()), (DIAGNOSIS, diagnosis())):
            name = f"module{cage}-{address:x}"
            path = folder / f"{name}.bin"
            path.write_bytes(memory * (SECTOR // BYTES))
            words += ["-drive", f"if=none,id={name},file={path},format=raw"]
            place = f"bus=/module{cage}/i2c,address={address:#x}"
            words += ["-device", f"at24c-eeprom,{place},rom-size={SECTOR},address-size=1,drive={name}"]
    return words
