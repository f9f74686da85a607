# SPDX-License-Identifier: Apache-2.0
"""A card whose user's module misbehaves, and what its clock must not notice of it."""

from __future__ import annotations

from meridian_machine import tools
from meridian_machine.guest import Guest
from ptp_run import Running, Samples

BOXES = tools.ROOT / "tests" / "shell" / "box"
BOX = ("--box", str(BOXES / "hostile_box.sv"))
HOST_BOX = ("--host-box", f"{BOXES / 'hostile_host_box.sv'},{BOXES / 'hostile_box.sv'}")
HANGS, FLOODS, SILENT = 1, 2, 3
#: In the map of the PS: the module's own register, its page, and whether the host gets received frames, too.
WINDOW, HOST_ENABLE = 0xA008_0000, 0xA000_2004
CONTROL, STATUS = 0xA001_8008, 0xA001_800C
READY, RX_HUNG, REGISTERS_HUNG = 1 << 0, 1 << 1, 1 << 3
SAMPLES = 60
FOR_THE_HOST = "traffic:size=300,rate=500pps,dmac=02:00:00:00:00:77"
UNHARMED = ("card_rx_no_descriptor", "card_rx_errors", "tx_stamps_late", "tx_stamps_unknown", "tx_stamps_skipped",
            "port_rx_ps_overflow", "port_rx_ps_policed", "port_rx_ps_ptp_policed", "rx_no_memory", "rx_no_buffer",
            "tx_dropped", "card_tx_aborted", "card_timestamps_lost")  # fmt: skip


def write(guest: Guest, address: int, value: int) -> None:
    guest.run(f"busybox devmem {address:#x} 32 {value:#x}")


def keeps_time(guest: Guest, ptp4l: Running, alone: Samples, seconds: float = 300) -> None:
    counted = guest.statistics()
    samples = ptp4l.next(SAMPLES, seconds)
    now = guest.statistics()
    print(
        f"offset {samples.rms():.2f} ns r.m.s. ({alone.rms():.2f} alone), peak {samples.peak()}, {set(samples.delays)}"
    )
    assert {name: now[name] - counted[name] for name in UNHARMED} == dict.fromkeys(UNHARMED, 0)
    assert set(samples.states) == {"s2"}
    assert samples.rms() < alone.rms() + 0.5
    assert samples.peak() <= 2
    assert max(samples.delays) - min(samples.delays) <= 2
