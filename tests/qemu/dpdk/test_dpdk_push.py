# SPDX-License-Identifier: Apache-2.0
"""testpmd on a VF of meridian.ko, on vfio-pci: small frames that two processes write into BAR 4."""

from __future__ import annotations

import re

import pytest
from driver_machine import Link
from meridian_machine.testpmd import MachineTestpmd, vf_name
from test_dpdk_vf import FLOWS, link
from testpmd_checks import address, on_wire, send, to_vf, udp

__all__ = ["link"]  # a fixture
pytestmark = [pytest.mark.qemu, pytest.mark.long]
QUEUES = ("--rxq=2", "--txq=2", "--rss-ip", "--num-procs=2")
LIMIT = 128


@pytest.fixture(autouse=True)
def window(own_dma: bool) -> None:
    if not own_dma:
        pytest.skip("the QDMA IP has no window for pushed frames")


def testpmd(link: Link, *options: str, **named: object) -> MachineTestpmd:
    function = f"{vf_name(link.guest, 0)},push={LIMIT}"
    return MachineTestpmd(link.guest, [function], *options, **named)  # type: ignore[arg-type]


testpmd.__test__ = False  # type: ignore[attr-defined]


def pushed(pmd: MachineTestpmd) -> int:
    found = re.search(r"^tx_pushed: (\d+)$", pmd.command("show port xstats 0"), re.MULTILINE)
    assert found
    return int(found[1])


def one_by_one(link: Link, frames: list[bytes]) -> None:
    for frame in frames:
        send(link, [frame])
        assert on_wire(link, address(0), 1) == [frame]


def test_frames_that_are_alone_are_pushed(link: Link) -> None:
    with testpmd(link) as pmd:
        pmd.start("io")
        one_by_one(link, to_vf(0, (60, 61, 64, 127, 128)))
        assert pushed(pmd) == 5
        one_by_one(link, to_vf(0, (129, 256, 1514)))
        assert pushed(pmd) == 5


def test_a_second_process_pushes_too(link: Link) -> None:
    """Each process forwards a queue; counts of both are in memory that they share."""
    frames = [udp(address(0), address(0), 100, number, number % FLOWS) for number in range(16)]
    with testpmd(link, *QUEUES, "--proc-id=0", name="first") as first:
        first.start("io")
        also = ("-l", "0-1", "--proc-type=secondary", "--file-prefix=first")
        with testpmd(link, *QUEUES, "--proc-id=1", name="second", eal=also) as second:
            second.start("io")
            one_by_one(link, frames)
            assert pushed(first) == len(frames)
            forwarded = [pmd.command("show fwd stats all") for pmd in (first, second)]
            assert not any("TX-packets: 0 " in text for text in forwarded), forwarded
