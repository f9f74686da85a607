# SPDX-License-Identifier: Apache-2.0
"""A PF whose driver answers a VF otherwise than the one before, or falls silent: the VF refuses it, or waits so long and no longer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driver_machine import linked, vfs_apart
from faulty_driver import faulty, parameter
from meridian_machine import Hardware, tools
from meridian_machine.guest import PF_DEVICE
from meridian_twin.registers import Registers
from vf_frames import VfFrames

pytestmark = pytest.mark.qemu
RSS = 0x44
VLAN = 0x200000 + 4 * 0x1000 + 0x18  # of the first VF
#: A VF waits ten seconds for the first answer that does not come, then one; the machine needs some more.
FIRST, LATER, MORE = 10, 1, 5
SOON = 60


@pytest.fixture(scope="module")
def vf() -> Iterator[VfFrames]:
    with (
        faulty() as driver,
        linked(tools.SUITES[0], hardware=Hardware(kernel="iomem=relaxed"), driver=driver) as link,
        vfs_apart(link.guest),
    ):
        it = VfFrames(link)
        it.up()
        yield it


@pytest.fixture(autouse=True)
def all_is_well_afterwards(vf: VfFrames) -> Iterator[None]:
    yield
    vf.link.guest.check()
    assert vf.settles(vf.own(), True, SOON)


def have(vf: VfFrames, **parameters: int) -> None:
    vf.link.guest.run("; ".join(f"echo {value} >{parameter(name)}" for name, value in parameters.items()))


def took(vf: VfFrames, command: str) -> float:
    """Seconds."""
    script = f"begin=$(date +%s%N); {command}; echo $((($(date +%s%N) - begin) / 1000000))"
    return int(vf.link.guest.run(script, SOON).split()[-1]) / 1000


def more(vf: VfFrames) -> int:
    """Seconds that all takes beside the wait for answers."""
    return MORE * vf.link.guest.machine.patience


def test_a_vf_does_not_come_up_with_rings_that_the_next_pf_has_no_size_for(
    vf: VfFrames,
) -> None:
    """It hears of the sizes as it says hello again, once when its rings are there, then before."""
    guest = vf.link.guest
    vf.run("ip link set eth1 down")
    have(vf, other_rings=1, forgetful=1)
    status, text = guest.try_run(f"{vf.enter}ip link set eth1 up")
    assert status != 0 and "out of range" in text, guest.log()
    # The next try asks for the sizes first.
    guest.run("dmesg -C")
    status, text = guest.try_run(f"{vf.enter}ip link set eth1 up")
    assert status != 0 and "out of range" in text, guest.log()
    assert "does not take the queues" not in guest.run("dmesg")
    guest.check()
    have(vf, other_rings=0, forgetful=1)
    vf.up()


def test_a_vf_whose_pf_grants_no_queues_does_not_come_up(vf: VfFrames) -> None:
    guest = vf.link.guest
    name = guest.run(f"basename $(readlink {PF_DEVICE}/virtfn0)").strip()
    driver = "/sys/bus/pci/drivers/meridian"
    vf.run("ip link set eth1 down")
    have(vf, stingy=1, forgetful=1)
    status, text = guest.try_run(f"{vf.enter}ip link set eth1 up")
    assert status != 0 and "Protocol error" in text, guest.log()
    # A driver that is new there does not take it.
    assert guest.try_run(f"dmesg -C; echo {name} >{driver}/unbind; echo {name} >{driver}/bind")[0] != 0
    assert "the PF does not answer as it should" in guest.run("dmesg")
    guest.check()
    have(vf, stingy=0)
    guest.run(f"echo {name} >{driver}/bind && ip link set eth1 netns vf0")
    vf.up()


def test_a_deaf_pf_costs_down_and_up_a_bounded_time(vf: VfFrames) -> None:
    have(vf, deaf=1)
    down = took(vf, f"{vf.enter}ip link set eth1 down")
    ups = [took(vf, f"! {vf.enter}ip link set eth1 up") for _ in range(2)]
    have(vf, deaf=0)
    assert down < FIRST + more(vf), f"down: {down} s"
    assert max(ups) < LATER + more(vf), f"up: {ups} s"
    # The PF's late answer to an earlier question may cost a try.
    vf.link.guest.until(f"{vf.enter}ip link set eth1 up && echo is up", "is up", SOON)
    vf.up()


def test_a_pf_that_falls_silent_as_its_vf_comes_up_is_waited_for_once(
    vf: VfFrames,
) -> None:
    """What the VF did not ask it for then, it asks for when the PF answers again."""
    guest = vf.link.guest
    vf.run("ip link set eth1 down")
    have(vf, deaf_at=RSS, forgetful=1)
    up = took(vf, f"{vf.enter}ip link set eth1 up")
    assert FIRST - 1 < up < FIRST + more(vf), f"{up} s"
    bar2 = guest.bar(2)
    strip = Registers()["FUNCTION_VLAN_STRIP_MASK"]
    look = f"echo $(($(busybox devmem {bar2 + VLAN:#x}) & {strip}))"
    assert guest.run(look).strip() == "0"
    have(vf, deaf_at=-1, deaf=0)
    guest.until(look, f"^{strip}$", SOON)
