# SPDX-License-Identifier: Apache-2.0
"""The oldest kernel that the host's driver is for, 5.10: it takes the driver, frames are answered, and the log is clean."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from host_network import MEGABYTE, Network, network
from meridian_machine import Image, tools

pytestmark = [pytest.mark.qemu, pytest.mark.long]


@pytest.fixture(scope="module")
def net() -> Iterator[Network]:
    """Its end unloads the driver and looks at the kernel's log."""
    try:
        Image.build(tools.OLDEST)
    except tools.MissingSuiteError as error:
        pytest.skip(str(error))
    with network(vfs=0, suite=tools.OLDEST) as it:
        yield it


def test_the_oldest_kernel_takes_the_driver(net: Network) -> None:
    assert re.match(r"5\.10\.", net.guest.run("uname -r"))
    assert "function 0, port 0 of 1" in net.guest.log()


def test_frames_are_answered_and_tcp_goes_out(net: Network) -> None:
    for size in (0, 56, 1472):
        net.pf.ping(size=size)
    assert net.pf.iperf("2M") >= MEGABYTE
    warnings = net.guest.run("dmesg --level=emerg,alert,crit,err,warn")
    # Modules from outside the kernel's tree taint it.
    assert not [line for line in warnings.splitlines() if "meridian" in line and "taint" not in line], warnings
