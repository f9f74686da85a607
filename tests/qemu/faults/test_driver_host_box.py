# SPDX-License-Identifier: Apache-2.0
"""A user's module at the host: frames of the kernel pass it, and devlink's reporter `box` looks at it as well."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver_machine import Link, linked
from meridian_machine import Hardware, tools
from test_driver_box import HANGS, counts, diagnosis

pytestmark = [pytest.mark.qemu, pytest.mark.long]
SHELL = Path(__file__).resolve().parents[2] / "shell" / "box"
BOXES = f"{SHELL / 'hostile_host_box.sv'},{SHELL / 'hostile_box.sv'}"
WINDOW = 0x1C0000


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    # The test writes registers of the module while the driver is bound.
    with linked(tools.SUITES[0], hardware=Hardware(kernel="iomem=relaxed"), shell=("--host-box", BOXES)) as it:
        yield it


def test_a_module_that_is_well_passes_frames_and_has_no_error(link: Link) -> None:
    link.guest.ping()
    assert counts(link) == ("healthy", 0, 0)
    text = diagnosis(link)
    assert "port:" not in text and re.search(r"host: id: 0 version: 0 ready: true rx_hung: false", text), text
    passed = re.search(r"rx_passed: (\d+) rx_dropped: 0 .*tx_passed: (\d+) tx_dropped: 0", text)
    assert passed and min(int(number) for number in passed.groups()) >= 2, text
    assert "rx_denied: 0 rx_no_buffer: 0 tx_invalid: 0" in text
    link.guest.check()


def test_a_module_that_hangs_is_reset(link: Link) -> None:
    guest = link.guest
    _, errors, recovered = counts(link)
    bar2 = guest.bar(2)
    guest.run(f"busybox devmem {bar2 + WINDOW:#x} 32 {HANGS}")
    assert guest.try_run("ping -c 1 -W 1 10.44.0.1")[0] != 0
    guest.until("ping -c 1 -W 1 10.44.0.1", "1 received", 90)
    state, more, again = counts(link)
    assert state == "healthy" and more > errors and again - recovered == more - errors
    assert "hung: true" in diagnosis(link, "dump show")
    assert re.search(r"the box at the host hangs: (receive|transmit)", guest.run("dmesg"))
    guest.run("dmesg -C")
