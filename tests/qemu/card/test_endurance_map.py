# SPDX-License-Identifier: Apache-2.0
"""QEMU's processors and a memory map that changes: none of them ends in another device than the one it accesses."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from arm_host import ArmHost
from driver_machine import tool
from meridian_machine import Hardware, Image, Machine, tools
from meridian_machine.machine import STALL
from meridian_twin import CardProcess
from qemu_fixtures import qemu

__all__ = ["qemu"]
pytestmark = pytest.mark.qemu
PROGRAM = Path(__file__).with_name("map_race.c")
LEAST_CHANGES = 10  # a second; a machine has some hundred
NEIGHBOUR = "0000:00:1e.0"  # behind the card in the order in which Linux and the firmware place BARs
LEAVE_DRIVER = (
    f"d=/sys/bus/pci/devices/{NEIGHBOUR}; [ ! -e $d/driver ] || echo {NEIGHBOUR} >$d/driver/unbind; echo 1 >$d/enable"
)
STUCK = re.compile(rf"{STALL.pattern}|soft lockup|hung task")


@pytest.mark.long
@pytest.mark.parametrize("processor", ["x86", "arm"])
@pytest.mark.parametrize("change", ["toggle", "move"])
def test_a_processor_lives_while_the_other_one_changes_the_map(
    qemu: Path, built_card: Callable[..., Path], tmp_path: Path, endurance: int, change: str, processor: str
) -> None:
    """One moves a BAR of the card, or takes its memory bit away; the other one's timers run off each 0.3 to 1 ms, and it
    reads a register of a neighbour.

    An access that ends in another device reads something else, or loses the end of an interrupt, and with it the
    processor's timer; or QEMU ends by an assertion.
    """
    extra = ("-device", f"virtio-rng-pci,rng=entropy,addr={NEIGHBOUR[8:10]}")
    if processor == "x86":
        emulator, image, hardware = qemu, Image.build(tools.SUITES[0]), Hardware(memory=512, cpus=2, extra=extra)
        program = tool(tmp_path, PROGRAM)
    else:
        emulator, image, hardware = tools.qemu_ps(), Image.build(tools.SUITES[0], "ps"), ArmHost(extra=extra)
        program = tool(tmp_path, PROGRAM, "aarch64-linux-gnu-gcc")
    with (
        CardProcess(built_card(), "--wire", "0=none") as card,
        Machine(
            emulator,
            image,
            tmp_path,
            card.socket,
            hardware,
            files={program.name: program},
            watch=card.check,
        ) as machine,
    ):
        machine.wait_ready()
        machine.run(LEAVE_DRIVER, check=True)
        race = f"/run/twin/{program.name} {change} {endurance} {NEIGHBOUR}"
        text = machine.run(race, endurance + 120, check=True).text
        print(text)
        log = machine.run("dmesg").text
    changes, timers, reads, wrong = (
        int(number) for number in re.findall(r"(\d+) (?:changes|timers|reads|wrong)", text)
    )
    for count in (changes, timers, reads):
        assert count > LEAST_CHANGES * endurance, text
    assert wrong == 0, text
    assert not STUCK.search(log), log
