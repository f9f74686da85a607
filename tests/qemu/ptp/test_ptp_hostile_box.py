# SPDX-License-Identifier: Apache-2.0
"""The card keeps time beside a user's module that takes no frames, or that answers no access to its registers, and beside
one, at the wire or at the host, that sends without a pause and interrupts without end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from meridian_machine import PsHardware, tools
from meridian_machine.guest import Guest
from ps_link import WRITABLE, register
from ptp_run import Running, Samples, ps_with, running
from ptp_under_load import BUSY, CLOCKS, GIVEN, SERVO

pytestmark = [pytest.mark.qemu, pytest.mark.long]
AT_WIRE, AT_HOST = (
    str(tools.ROOT / "tests" / "shell" / "box" / name) for name in ("hostile_box.sv", "hostile_host_box.sv")
)
BOX = ("--box", AT_WIRE)
HOST_BOX = ("--host-box", f"{AT_HOST},{AT_WIRE}")
HANGS, FLOODS, SILENT = 1, 2, 3
#: In the map of the PS: the module's own register, its page, and whether the host gets received frames, too.
WINDOW, HOST_ENABLE = 0xA008_0000, 0xA000_2004
CONTROL, STATUS = 0xA001_8008, 0xA001_800C
REFUSED = 0xA001_8058, 0xA001_8078
#: From the module of port 0 to that at the host.
HOST_WINDOW, HOST_PAGE = 0x4_0000, 0x4000
#: Its interrupts, for a program on the card.
FILES = "/sys/bus/platform/devices/a0000000.ethernet/box"
READY, RX_HUNG, REGISTERS_HUNG = 1 << 0, 1 << 1, 1 << 3
SAMPLES = 60
FOR_THE_HOST = "traffic:size=300,rate=500pps,dmac=02:00:00:00:00:77"
UNHARMED = ("card_rx_no_descriptor", "card_rx_errors", "tx_stamps_late", "tx_stamps_unknown", "tx_stamps_skipped",
            "port_rx_ps_overflow", "port_rx_ps_policed", "port_rx_ps_ptp_policed", "rx_no_memory", "rx_no_buffer",
            "tx_dropped", "card_tx_aborted", "card_timestamps_lost")  # fmt: skip


def write(guest: Guest, address: int, value: int) -> None:
    guest.run(f"busybox devmem {address:#x} 32 {value:#x}")


@pytest.fixture(scope="module")
def ps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Guest, Running, Samples]]:
    """ptp4l follows, and what it says beside a module that passes frames on.

    It asks for the delay once a second, as under load. The card skips no time within 4096 cycles of a frame of the module,
    and on a busy computer so many would take longer than the pause between eight requests a second.
    """
    folder, hardware = tmp_path_factory.mktemp("box"), PsHardware(kernel=WRITABLE)
    with ps_with([BUSY], folder, CLOCKS, more=FOR_THE_HOST, hardware=hardware, shell=BOX) as (_, guest):
        write(guest, HOST_ENABLE, 3)
        with running(guest, f"{BUSY.found()} {SERVO} {GIVEN}") as ptp4l:
            ptp4l.settle(300)
            yield guest, ptp4l, ptp4l.next(SAMPLES, 300)


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


@pytest.mark.parametrize(("mood", "hung"), [(HANGS, RX_HUNG), (SILENT, REGISTERS_HUNG)], ids=["hangs", "silent"])
def test_a_module_that_hangs_costs_the_clock_nothing(ps: tuple[Guest, Running, Samples], mood: int, hung: int) -> None:
    guest, ptp4l, alone = ps
    write(guest, WINDOW, mood)
    if mood == SILENT:
        write(guest, WINDOW, mood)
    guest.until(f"echo $(( $(busybox devmem {STATUS:#x} 32) & {hung} ))", f"^{hung}", 120)
    keeps_time(guest, ptp4l, alone)
    for reset in (1, 0):
        write(guest, CONTROL, reset)
    assert register(guest, STATUS) & (hung | READY) == READY
    keeps_time(guest, ptp4l, alone)


@pytest.mark.parametrize(
    ("shell", "window", "page", "file"),
    [(BOX, 0, 0, "port0"), (HOST_BOX, HOST_WINDOW, HOST_PAGE, "host")],
    ids=["at the wire", "at the host"],
)
def test_a_module_that_floods_and_babbles_costs_the_clock_nothing(
    ps: tuple[Guest, Running, Samples], shell: tuple[str, str], window: int, page: int, file: str, tmp_path: Path
) -> None:
    """Both directions of the module are full, so twin time is slow as in test_ptp_load.py. A program takes each interrupt."""
    _, _, alone = ps
    hardware = PsHardware(kernel=WRITABLE)
    with ps_with([BUSY], tmp_path, CLOCKS, more=FOR_THE_HOST, hardware=hardware, shell=shell) as (_, guest):
        write(guest, HOST_ENABLE, 3)
        with running(guest, f"{BUSY.found()} {SERVO} {GIVEN}") as ptp4l:
            ptp4l.settle(300)
            write(guest, WINDOW + window, FLOODS)
            guest.run(f"(while echo 1 >{FILES}/{file}; do sleep 0.1; done) & echo $! >/tmp/listener")
            before = [register(guest, page + counter) for counter in REFUSED]
            told = int(guest.run(f"cat {FILES}/{file}"))
            keeps_time(guest, ptp4l, alone, 900)
            after = [register(guest, page + counter) for counter in REFUSED]
            assert all(more - had > 1000 for had, more in zip(before, after, strict=True)), (before, after)
            assert int(guest.run(f"cat {FILES}/{file}")) - told > 1
        assert register(guest, page + STATUS) & (RX_HUNG | REGISTERS_HUNG) == 0
        for reset in (1, 0):
            write(guest, page + CONTROL, reset)
        assert register(guest, page + STATUS) & READY == READY
        guest.run("kill $(cat /tmp/listener)")
        now = [register(guest, page + counter) for counter in REFUSED]
        guest.run("sleep 1")
        assert [register(guest, page + counter) for counter in REFUSED] == now
