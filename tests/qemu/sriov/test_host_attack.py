# SPDX-License-Identifier: Apache-2.0
"""Two VFs in hostile hands: they cost the PF and another VF nothing, their PF tells of it, and drivers may have them again.

The machine has an IOMMU: a VF that may read and write all memory needs no mailbox to do harm.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from host_leaks import CHECKED
from host_network import Network, network
from meridian_machine import Hardware
from meridian_machine.guest import PF_DEVICE
from vf_attacks import Administrator, Victims, attack_from, build_attack, counters, faults, slow_mail, told_of, worked

pytestmark = pytest.mark.qemu
ATTACKERS = 2  # VFs 0 and 1; the victim is VF 2
FIRST_VF = 4  # function of VF 0
RATE, AHEAD = 10, 64  # messages of a VF a second that are answered, and before it is slowed
MESSAGE_SECONDS = 0.1  # of the PF's threads for a message, at most
DRIVER = "/sys/bus/pci/drivers/meridian"
MILLION = int(os.environ.get("MERIDIAN_ATTACK", "1000000"))


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    program = build_attack(tmp_path_factory.mktemp("attack"))
    hardware = Hardware(iommu=True, kernel=CHECKED.kernel)
    with network(vfs=0, hardware=hardware, files={program.name: program}) as it:
        slow_mail(it, RATE)
        it.make_vfs(ATTACKERS + 1)
        yield it
        it.end_vfs()


def bind(net: Network, number: int, name: str) -> None:
    net.guest.run(f"echo {name} >{DRIVER}/bind")
    interface = net.guest.run(f"ls {PF_DEVICE}/virtfn{number}/net").strip()
    vf = net.vfs[number]
    net.guest.run(f"ip link set {interface} netns {vf.namespace} name {vf.interface}")
    vf.up()
    vf.ping()


@pytest.mark.parametrize("operations", [10_000, pytest.param(MILLION, marks=pytest.mark.long)])
def test_vfs_that_write_nonsense_harm_nobody(net: Network, operations: int) -> None:
    guest, victims = net.guest, Victims(net, net.vfs[ATTACKERS])
    devices = [guest.run(f"readlink -f {PF_DEVICE}/virtfn{number}").strip() for number in range(ATTACKERS)]
    names = [device.rsplit("/", 1)[1] for device in devices]
    administrator = Administrator(guest, ATTACKERS)
    with victims.usual():
        for name in names:
            guest.run(f"echo {name} >{DRIVER}/unbind; sleep 3")
        with administrator.at_work():
            victims.download()
        for number, name in enumerate(names):
            bind(net, number, name)

    for name, device in zip(names, devices, strict=True):
        guest.run(f"echo {name} >{DRIVER}/unbind; echo 1 >{device}/enable")
    before, heard, start = worked(guest), counters(net.pf)["vf_messages"], time.monotonic()
    with victims.attacked(operations) as totals, administrator.at_work():
        attack_from(guest, devices, operations, totals)
    seconds = time.monotonic() - start
    share = (worked(guest) - before) / seconds
    heard = counters(net.pf)["vf_messages"] - heard
    lines = [told_of(guest, FIRST_VF + number) for number in range(ATTACKERS)]
    print(f"kernel threads worked for {100 * share:.1f} % of {seconds:.0f} s; lines of the log: {lines}")
    # The PF hears no more than it may answer, twice.
    assert heard <= ATTACKERS * (AHEAD + 2 * RATE * seconds)
    # For a message its threads work as long as some hundred accesses to the simulated card take. 30 ms were measured on a
    # quiet computer, with all else that kernel threads did; so attackers cannot make one message dearer than another.
    assert share * seconds <= MESSAGE_SECONDS * guest.machine.patience * heard
    assert all(0 < count <= 3 * (seconds / 60 + 1) for count in lines)
    assert faults(guest) <= {name.removeprefix("0000:") for name in names}, "nobody else's memory is read or written"

    for number, (name, device) in enumerate(zip(names, devices, strict=True)):
        guest.run(f"echo 0 >{device}/enable")
        bind(net, number, name)
    for function in net.functions():
        function.ping()
    victims.check_kept()
