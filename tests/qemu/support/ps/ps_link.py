# SPDX-License-Identifier: Apache-2.0
"""The card's PS with its driver, a small host of ours at the other end of its wire, and what tests look at in it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from driver_machine import Link
from machine_report import run_folder
from meridian_machine import PsHardware, Setting, Twin, tools
from meridian_machine.guest import PEER, Guest
from meridian_twin.patience import deadline_in
from meridian_twin.wire import Wire
from peer import Peer

# A test reads and writes registers that the driver has.
WRITABLE = "iomem=relaxed"
CLOCK_REGISTERS, PORT, RING = 0xA000_1000, 0xA000_2000, 0xA000_C000
EVENT_ENABLE = CLOCK_REGISTERS + 0xC
INTERRUPT_STATUS, INTERRUPT_ENABLE = RING + 0x40, RING + 0x44


@contextmanager
def ps_link(
    hardware: PsHardware | None = None, suite: str = tools.SUITES[0], more: str = "",
    card: Sequence[str] = (), files: Mapping[str, Path] | None = None, shell: Sequence[str] = (),
) -> Iterator[Link]:  # fmt: skip
    """It ends with rmmod and a look at the kernel's log. more: shares the wire; card: options of the card;
    files: for the PS, under /run/twin; shell: options of its generator."""
    with run_folder() as folder:
        path = folder / "wire"
        wire = f"0=socket:path={path}{more and '+' + more}"
        machine = hardware or PsHardware(kernel=WRITABLE)
        setting = Setting(suite, hardware=None, ps=machine, wires=[wire], card_options=card, shell=shell)
        with Twin(setting, folder) as twin:
            twin.ps.files.update(files or {})
            with Wire(path) as wire_end, Peer(wire_end, PEER) as peer, twin.ps_machine() as booted:
                guest = Guest(booted)
                guest.wait_link()
                yield Link(twin, guest, peer)
                guest.run("rmmod meridian_ps")
                guest.check()


def until(condition: Callable[[], bool], what: str, seconds: float = 60) -> None:
    deadline = deadline_in(seconds)
    while not condition():
        assert time.monotonic() < deadline, f"no {what} in {seconds} s"
        time.sleep(0.05)


# Rate and burst that a port's limits have at first, by their number: for frames that are not of PTP, and those that are.
POLICERS = {1: (200_000, 200), 2: (16_000, 64)}


def set_policer(guest: Guest, number: int, rate: int, burst: int = 1) -> None:
    guest.run(f"devlink trap policer set platform/a0000000.ethernet policer {number} rate {rate} burst {burst}")


def policers(guest: Guest) -> dict[int, tuple[int, int]]:
    said = json.loads(guest.run("devlink -j trap policer show"))["trap_policer"]["platform/a0000000.ethernet"]
    return {it["policer"]: (it["rate"], it["burst"]) for it in said}


def register(guest: Guest, address: int) -> int:
    return int(guest.run(f"busybox devmem {address:#x}"), 16)


def interrupts(guest: Guest) -> tuple[int, int]:
    """How often the card's interrupt was taken, and how often nobody wanted it."""
    line = re.search(r"^ *(\d+):((?: +\d+)+) .*a0000000\.ethernet$", guest.run("cat /proc/interrupts"), re.MULTILINE)
    assert line, guest.run("cat /proc/interrupts")
    spurious = guest.run(f"cat /proc/irq/{line[1]}/spurious")
    return sum(map(int, line[2].split())), int(re.search(r"unhandled (\d+)", spurious)[1])  # type: ignore[index]
