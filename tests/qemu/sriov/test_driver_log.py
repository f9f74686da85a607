# SPDX-License-Identifier: Apache-2.0
"""What a VF makes the host's log say of it is bounded, however often it does it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from driver_machine import Link, linked, vfs_apart
from meridian_machine import Hardware, tools
from meridian_machine.guest import PF_DEVICE
from vf_frames import VfFrames

pytestmark = pytest.mark.qemu
DOORBELLS = 0x3000  # of a VF
BEYOND = 8  # the first queue that no VF has
LINE = r"QDMA errors .*\((\d+) left out before\)"


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    """A VF that has queues."""
    with linked(tools.SUITES[0], hardware=Hardware(kernel="iomem=relaxed")) as it, vfs_apart(it.guest):
        VfFrames(it).up()
        yield it


def test_doorbells_beyond_its_queues_cost_a_line_a_minute(link: Link) -> None:
    """The next line tells how many were left out."""
    guest = link.guest
    bar0 = int(guest.run(f"head -n 1 {PF_DEVICE}/virtfn0/resource").split()[0], 16)
    ring = f"busybox devmem {bar0 + DOORBELLS + 16 * BEYOND + 8:#x} 32 1"
    guest.run(f"for i in $(seq 20); do {ring}; sleep 0.5; done", 120)
    assert guest.log().count("QDMA errors") == 1
    text = guest.until(f"{ring}; sleep 5; dmesg", r"\([1-9]\d* left out before\)", 120)
    first, more = map(int, re.findall(LINE, text))
    assert first == 0 and more > 5
    link.guest.ping()
    guest.check()
