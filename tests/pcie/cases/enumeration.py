# SPDX-License-Identifier: Apache-2.0
"""What a host finds on the bus, and the registers that tell a driver what it has got."""

from __future__ import annotations

from typing import Any

import cocotb
from bench import Bench
from block import BAR0_BYTES, BAR2_BYTES, DEVICE, VECTORS, VENDOR
from driver import PFS
from link import drive

FUNCTION = 0x12C
#: Offsets, and values that a driver of the QDMA IP looks for (PG302; host-driver/qdma/qdma_regs.h).
CONSTANTS = {
    0x000: 0x1FD30000,  # a QDMA
    0x104: 0x00041041,  # BAR0 has its registers, of each of four PFs
    0x10C: 0x00104104,  # BAR2 is the user's
    0x118: 0x00030000,  # streams in both directions
    0x120: 128,  # queues
    0x134: 0x02200003,  # EQDMA 5.0 with mailbox and function level resets
    0xBE0: 64,
    0xBE4: 32,
}


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def the_host_finds_four_functions_that_identify_themselves(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    devices = bench.devices()
    assert [(each.vendor_id, each.device_id) for each in devices] == [
        (VENDOR, DEVICE + 0x100 * pf) for pf in range(PFS)
    ]
    for device in devices:
        assert (device.bar_size[0], device.bar_size[2]) == (BAR0_BYTES, BAR2_BYTES)
        assert await device.msix_vec_count() == VECTORS

    def identify() -> list[tuple[int, dict[int, int]]]:
        return [
            (bench.link.read(pf, 0, FUNCTION) & 0xFF, {at: bench.link.read(pf, 0, at) for at in CONSTANTS})
            for pf in range(PFS)
        ]

    assert await drive(identify) == [(pf, CONSTANTS) for pf in range(PFS)]
    bench.check()
