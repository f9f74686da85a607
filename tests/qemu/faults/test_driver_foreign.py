# SPDX-License-Identifier: Apache-2.0
"""Other designs around the QDMA IP, which have the card's ids: the driver says why it does not take them, and resets nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fake_card import WELCOME, FakeCard
from meridian_machine import Hardware, tools
from meridian_machine.computer import host
from meridian_machine.driver import SOURCE
from meridian_machine.guest import MODULE
from meridian_twin.protocol import Type, Welcome

pytestmark = pytest.mark.qemu
KIB = 1 << 10
REFUSED = r"0000:01:00\.0: this is no Meridian card: "


@pytest.mark.parametrize(
    ("welcome", "said"),
    [
        (replace(WELCOME, bar2_bytes=64 * KIB), r"its BAR 2 has no memory of 4194304 bytes"),
        (WELCOME, r"its magic is 0x00000000, not 0x4d52444e"),
    ],
    ids=["with a small BAR 2", "with other registers"],
)
def test_a_foreign_design_is_left_alone(tmp_path: Path, welcome: Welcome, said: str) -> None:
    computer = host(tools.SUITES[0], Hardware(), SOURCE, dhcp=False)
    computer.setup = ""
    nobody: Callable[[], object] = lambda: None
    with FakeCard(tmp_path / "card", welcome=welcome) as card, computer.boot(tmp_path, tmp_path / "card", nobody) as it:
        before = card.seen[Type.RESET_FUNCTION], card.seen[Type.BAR_READ], card.seen[Type.BAR_WRITE]
        it.run(f"insmod {MODULE}", check=True)
        log = it.run("dmesg").text
        assert it.run("ls /sys/bus/pci/devices/0000:01:00.0/driver").status != 0
        assert re.search(REFUSED + said, log), log
        after = card.seen[Type.RESET_FUNCTION], card.seen[Type.BAR_READ], card.seen[Type.BAR_WRITE]
        looks = 0 if "BAR" in said else 1
        assert after == (before[0], before[1] + looks, before[2])
        aliases = it.run(f"modinfo -F alias {MODULE}").text.split()
        pfs = [alias for alias in aliases if alias.startswith("pci:v000010EEd00009")]
        assert len(pfs) == 4 and all("sv000010EEsd00004D52bc" in alias for alias in pfs)
        it.run("rmmod meridian", check=True)
