# SPDX-License-Identifier: Apache-2.0
"""The card behind an IOMMU: each function's DMA goes through addresses of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from host_network import MEGABYTE, Network, network
from meridian_machine import Hardware
from meridian_machine.guest import PF_DEVICE

pytestmark = pytest.mark.qemu
MEMORY = 1024


@pytest.fixture(scope="module")
def net() -> Iterator[Network]:
    with network(vfs=2, hardware=Hardware(memory=MEMORY, iommu=True)) as it:
        yield it


def group(net: Network, device: str) -> str:
    return net.guest.run(f"readlink -f {device}/iommu_group").strip()


def test_each_function_is_translated_by_itself(net: Network) -> None:
    devices = [PF_DEVICE, *(f"{PF_DEVICE}/virtfn{number}" for number in (0, 1))]
    groups = [group(net, device) for device in devices]
    assert len(set(groups)) == 3, groups
    for one in groups:
        assert net.guest.run(f"cat {one}/type").strip().startswith("DMA"), "no identity"


def test_frames_pass_on_pf_and_vfs(net: Network) -> None:
    digest = net.serve("file", MEGABYTE)
    for function in net.functions():
        function.ping(5, 1472)
        assert function.download("file") == digest
    assert "DMAR: [DMA" not in net.guest.run("dmesg")


def test_a_vf_that_leaves_its_driver_and_returns_disturbs_no_other(net: Network) -> None:
    """Its addresses go with its driver; a DMA to one of them later would be a fault in the log."""
    name = net.guest.run(f"basename $(readlink {PF_DEVICE}/virtfn1)").strip()
    net.guest.run(f"echo {name} >/sys/bus/pci/drivers/meridian/unbind")
    for function in net.functions()[:2]:
        function.ping()
    net.guest.run(f"echo {name} >/sys/bus/pci/drivers/meridian/bind")
    interface = net.guest.run(f"ls {PF_DEVICE}/virtfn1/net").strip()
    net.guest.run(f"ip link set {interface} netns vf1 name {net.vfs[1].interface}")
    net.vfs[1].up()
    net.vfs[1].ping()
    assert not re.search(r"DMAR: \[DMA", net.guest.run("dmesg"))
