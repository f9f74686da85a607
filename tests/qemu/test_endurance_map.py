# SPDX-License-Identifier: Apache-2.0
"""QEMU's processors and a memory map that changes: none of them ends in another device than the one it accesses."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from driver_machine import tool
from meridian_machine import Hardware, Image, Machine, tools
from meridian_machine.machine import STALL
from meridian_twin import CardProcess
from qemu_fixtures import qemu

__all__ = ["qemu"]
pytestmark = pytest.mark.qemu
PROGRAM = Path(__file__).with_name("map_race.c")
LEAST_CHANGES = 10  # a second; a machine has some hundred
STUCK = re.compile(rf"{STALL.pattern}|soft lockup|hung task")


@pytest.mark.long
@pytest.mark.parametrize("change", ["toggle", "move"])
def test_a_processor_lives_while_the_other_one_changes_the_map(
    qemu: Path, built_card: Callable[..., Path], tmp_path: Path, endurance: int, change: str
) -> None:
    """One moves a BAR of the card, or takes its memory bit away; the other one's timers run off each 0.3 to 1 ms.

    An access that ends in another device loses the end of an interrupt, and with it the processor's timer; or QEMU
    ends by an assertion.
    """
    program = tool(tmp_path, PROGRAM)
    with (
        CardProcess(built_card(), "--wire", "0=none") as card,
        Machine(
            qemu,
            Image.build(tools.SUITES[0]),
            tmp_path,
            card.socket,
            Hardware(memory=512, cpus=2),
            files={program.name: program},
            watch=card.check,
        ) as machine,
    ):
        machine.wait_ready()
        text = machine.run(f"/run/twin/{program.name} {change} {endurance}", endurance + 120, check=True).text
        log = machine.run("dmesg").text
    changes, timers = (int(number) for number in re.findall(r"(\d+) (?:changes|timers)", text))
    print(text)
    assert changes > LEAST_CHANGES * endurance, text
    assert timers > LEAST_CHANGES * endurance, text
    assert not STUCK.search(log), log
