# SPDX-License-Identifier: Apache-2.0
"""A VF in hostile hands: it costs the PF and other VFs nothing, its PF tells of it, and a driver may have it again.

The machine has an IOMMU: a VF that may read and write all memory needs no mailbox to do harm.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from host_leaks import CHECKED
from host_network import Network, network
from meridian_machine import Hardware
from meridian_machine.guest import PF_DEVICE
from vf_attacks import Victims, attack_from, build_attack, slow_mail

pytestmark = pytest.mark.qemu
ATTACKER = f"{PF_DEVICE}/virtfn0"
DRIVER = "/sys/bus/pci/drivers/meridian"
MILLION = int(os.environ.get("MERIDIAN_ATTACK", "1000000"))


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    program = build_attack(tmp_path_factory.mktemp("attack"))
    hardware = Hardware(iommu=True, kernel=CHECKED.kernel)
    with network(vfs=0, hardware=hardware, files={program.name: program}) as it:
        slow_mail(it, 10)
        it.make_vfs(2)
        yield it
        it.end_vfs()


def bind(net: Network, name: str) -> None:
    net.guest.run(f"echo {name} >{DRIVER}/bind")
    interface = net.guest.run(f"ls {ATTACKER}/net").strip()
    net.guest.run(f"ip link set {interface} netns vf0 name {net.vfs[0].interface}")
    net.vfs[0].up()
    net.vfs[0].ping()


@pytest.mark.parametrize("operations", [10_000, pytest.param(MILLION, marks=pytest.mark.long)])
def test_a_vf_that_writes_nonsense_harms_nobody(net: Network, operations: int) -> None:
    guest, victims = net.guest, Victims(net, net.vfs[1])
    device = guest.run(f"readlink -f {ATTACKER}").strip()
    name = device.rsplit("/", 1)[1]
    with victims.usual():
        guest.run(f"echo {name} >{DRIVER}/unbind; sleep 3")
        victims.download()
        bind(net, name)

    guest.run(f"echo {name} >{DRIVER}/unbind; echo 1 >{device}/enable")
    with victims.attacked(operations) as totals:
        attack_from(guest, device, operations, totals)

    guest.run(f"echo 0 >{device}/enable")
    bind(net, name)
    for function in net.functions():
        function.ping()
    victims.check_kept()
