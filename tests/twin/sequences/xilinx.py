# SPDX-License-Identifier: Apache-2.0
"""What Xilinx's kernel driver and its DPDK driver have in common on a PF."""

from __future__ import annotations

from meridian_twin.contexts import Operation, Select
from meridian_twin.qdma import (
    DEFAULT_BUFFERS,
    DEFAULT_COUNTERS,
    DEFAULT_RINGS,
    DEFAULT_TIMERS,
)

from .device import Device

MISC_CAP = {"eqdma5": 0x02200003, "eqdma4": 0x01100003}
ERROR_MASKS = {
    0x258: 0x01F9037E,
    0x268: 0xB3,
    0xAF4: 0x3F6DF,
    0xAFC: 0x1FDF1B,
    0xE04: 0x3F,
    0xE0: 0xFFFFFFFF,
    0xE8: 0xFFFFFFFF,
    0xF0: 0xFFFFFFFF,
    0xF8: 0xFFFFFFFF,
}
ALL = tuple(select for select in Select if select <= Select.PREFETCH)
H2C = (Select.SW_H2C, Select.HW_H2C, Select.CREDIT_H2C)
C2H = (Select.SW_C2H, Select.HW_C2H, Select.CREDIT_C2H, Select.PREFETCH, Select.COMPLETION)


def identify(device: Device, version: str, pfs: int = 4) -> int:
    """Checks what the drivers check; the number of queues."""
    assert device.read(0) >> 16 == 0x1FD3
    misc = device.read(0x134)
    assert misc == MISC_CAP[version]
    bars = device.read(0x104)
    assert sum(1 for pf in range(4) if bars >> 6 * pf & 0x3F) == pfs
    assert device.read(0x10C) >> 6 * device.function & 0x3F == 1 << 2
    assert device.read(0x118) >> 16 & 3 == 3, "no streams"
    assert device.read(0x12C) & 0xFF == device.function
    queues = device.read(0x120) & 0xFFF
    assert queues in (512, 2048)
    return queues


def scrub(device: Device, queues: int) -> None:
    """Every context of every queue, then the queue ranges."""
    for queue in range(queues):
        device.clear(queue, *ALL)
    for function in range(4):
        device.command(Operation.CLEAR, Select.FMAP, function)


def set_defaults(device: Device, version: str) -> None:
    device.table(0x204, DEFAULT_RINGS)
    device.table(0xA00, DEFAULT_TIMERS)
    device.table(0xA40, DEFAULT_COUNTERS)
    device.table(0xAB0, DEFAULT_BUFFERS)
    device.write(0xB0C, 25)
    if version == "eqdma4":
        device.write(0x250, 6 << 3 | 5)
    else:
        depth = device.read(0xBE0)
        assert depth == 64, "drivers subtract from the whole word"
        for register, value in {
            0x250: 5 << 20 | 8 << 10 | 2 << 3 | 5,
            0x4C: 256 << 8 | 9,
            0xB08: 0x100 << 16 | 0x100,
            0xA80: (depth - 4) << 16 | (depth - 4),
            0xA84: 1 << 31 | 1024 << 12 | 15 << 6 | 8,
            0x147C: 0,
            0x1484: 0,
            0x1400: 16 << 10 | 16,
            0x1404: (depth - 8) << 16 | 96,
            0x15C: 192 << 19 | 20480,
            0x160: 0,
            0xE24: 192 << 19 | 24576,
            0xE2C: 64 << 19 | 16384,
        }.items():
            device.write(register, value)
            assert device.read(register) == value
    for register in (0x1004, 0x1204):  # memory-mapped engines run
        device.write(register, 1)
    assert tuple(device.read(0x204 + 4 * i) for i in range(16)) == DEFAULT_RINGS
    assert tuple(device.read(0xAB0 + 4 * i) for i in range(16)) == DEFAULT_BUFFERS


def enable_errors(device: Device, vector: int | None) -> None:
    for register, value in ERROR_MASKS.items():
        device.write(register, value)
    device.write(0x24C, 0x3FFFF)
    if vector is not None:
        device.write(0xB04, 1 << 24 | vector << 12 | device.function)
    assert device.read(0x248) == 0, "an error where none was"
