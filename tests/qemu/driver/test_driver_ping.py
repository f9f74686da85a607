# SPDX-License-Identifier: Apache-2.0
"""The Linux driver in machines of both suites: probe, frames both ways, link, removal."""

from __future__ import annotations

import re

import pytest
from driver_machine import linked
from meridian_machine import tools

pytestmark = [pytest.mark.qemu, pytest.mark.quick]


@pytest.mark.parametrize("suite", tools.SUITES)
def test_ping_crosses_card_and_wire(suite: str) -> None:
    with linked(suite) as link:
        guest = link.guest
        assert "function 0, port 0 of 1" in guest.log()
        assert "link up" in guest.log()
        for size in (0, 56, 1472):  # 60 bytes on the wire, and the longest that an MTU of 1500 lets through
            guest.ping(size=size)
        assert re.search(r"[1-9]\d* .*eth0-0", guest.run("cat /proc/interrupts"))
        # Down and up again: rings are made anew.
        guest.run("ip link set eth0 down && ip link set eth0 up")
        guest.wait_link()
        guest.ping()
        # And so is everything when the module comes again.
        guest.run("rmmod meridian")
        guest.load()
        guest.ping()
