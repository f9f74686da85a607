# SPDX-License-Identifier: Apache-2.0
"""The port and its VFs go on after a reset, an error of PCIe or a sleep, with all that was set of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from driver_machine import Link, linked
from machine_report import run_folder
from meridian_machine import Hardware, tools
from meridian_machine.guest import PF_DEVICE, Guest
from meridian_twin import Link as CardLink
from meridian_twin.protocol import Role
from qemu_monitor import NATIVE_HOT_PLUG, Monitor, options

pytestmark = pytest.mark.qemu
VF = "ip netns exec vf0 "
FUNCTION, FUNCTION_STRIDE = 0x200000, 0x1000
HOST_ENABLE, SWITCHING = 0x102004, 0x111008  # of the port
HASH_ORDER = 0x628  # of a function
#: What the driver says when it has found the port closed.
OPENED = "port 0 was closed to the host"
#: What the driver sets of a function in the card: (name, offset, words).
SET = (
    ("flags", 0x4, 1),
    ("rates", 0x10, 2),
    ("vlan", 0x18, 2),
    ("indirection", 0x400, 2),
    ("key", 0x600, 10),
    ("hash order", HASH_ORDER, 1),
)


@dataclass
class Slot:
    """The card in its slot, with a VF at work; and QEMU, which does to it what happens to cards."""

    link: Link
    monitor: Monitor

    @property
    def guest(self) -> Guest:
        return self.link.guest

    def words(self, offset: int, count: int) -> list[int]:
        base = self.guest.bar(2) + offset
        text = self.guest.run(f"for i in $(seq 0 {count - 1}); do busybox devmem $(({base} + 4 * i)); done")
        return [int(line, 16) for line in text.split()]

    def reset_ps(self) -> None:
        """As the start of its machine does, or its watchdog."""
        link = CardLink(self.link.twin.card.socket, Role.AXI)
        link.reset()
        link.close()

    def port_register(self) -> int:
        """Where the machine has the register that opens the port for the host."""
        return self.guest.bar(2) + HOST_ENABLE

    def settings(self) -> dict[str, object]:
        """As Linux has them, and as the card has them."""
        commands = ("ip -d link show eth0", "ethtool -g eth0", "ethtool -l eth0", "ethtool -x eth0", "ethtool -k eth0")
        found: dict[str, object] = {it: re.sub(r"state \w+", "", self.guest.run(it)) for it in commands}
        found |= {f"{it} of the VF": self.guest.run(VF + it.replace("eth0", "eth1")) for it in commands[1:]}
        found |= {"port": self.words(HOST_ENABLE, 1), "switching": self.words(SWITCHING, 1)}
        for function in (0, 4):
            base = FUNCTION + FUNCTION_STRIDE * function
            found |= {f"{name} of function {function}": self.words(base + at, count) for name, at, count in SET}
        return found

    def works(self) -> None:
        self.guest.until("cat /sys/class/net/eth0/carrier", "^1", 60)
        self.guest.ping()
        self.guest.until(f"{VF}cat /sys/class/net/eth1/carrier", "^1", 60)
        self.guest.until(f"{VF}ping -c 2 -i 0.1 -W 2 10.45.0.1", " 2 received", 30)

    def goes_on_after(self, event: Callable[[], object], said: str = "") -> str:
        """All is as it was; what the kernel's log has of it."""
        self.works()
        before = self.settings()
        self.guest.run("dmesg -C")
        event()
        if said:
            self.guest.until("dmesg", said, 60)
        self.works()
        after = self.settings()
        assert after == before, {name: (before[name], after[name]) for name in before if before[name] != after[name]}
        self.guest.check()
        return self.guest.run("dmesg")


@pytest.fixture(scope="module")
def slot() -> Iterator[Slot]:
    """The VF is in a VLAN of the administrator's, in which the PF has an interface of its own."""
    with run_folder() as folder:
        path = folder / "monitor"
        hardware = Hardware(device="id=card", kernel="iomem=relaxed", extra=[*options(path), *NATIVE_HOT_PLUG])
        with linked(tools.SUITES[0], hardware=hardware) as link, Monitor(path) as monitor:
            guest = link.guest
            guest.run(
                "ethtool -L eth0 combined 1; ethtool -G eth0 rx 256 tx 128\n"
                "ethtool -N eth0 rx-flow-hash udp4 sd\n"
                f"ethtool -X eth0 hkey {':'.join(['6d'] * 40)}; ip maddress add 01:00:5e:00:02:01 dev eth0\n"
                "ip link add link eth0 name eth0.5 type vlan id 5; ip address add 10.45.0.1/24 dev eth0.5\n"
                f"ip link set eth0.5 up; echo 2 >{PF_DEVICE}/sriov_numvfs; ip netns add vf0; ip link set eth1 netns vf0\n"
                "ip link set eth0 vf 0 vlan 5 trust on spoofchk on max_tx_rate 500\n"
                "ip link set eth0 vf 1 mac 02:00:00:00:00:77 vlan 7 state disable\n"
                f"{VF}ip address add 10.45.0.2/24 dev eth1; {VF}ip link set eth1 up",
                240,
            )
            slot = Slot(link, monitor)
            slot.works()
            assert slot.words(FUNCTION + HASH_ORDER, 1)[0] >> 16, "no field is left out"
            yield slot
            guest.run(f"ip netns del vf0; ip link del eth0.5; echo 0 >{PF_DEVICE}/sriov_numvfs")


def test_pf_and_vfs_go_on_after_a_reset_of_the_pf(slot: Slot) -> None:
    slot.goes_on_after(lambda: slot.guest.run(f"echo 1 >{PF_DEVICE}/reset"))


def test_pf_and_vfs_go_on_after_a_reset_of_the_pf_that_is_down(slot: Slot) -> None:
    """Its VFs go on without it, and it has its address and its VLANs when it is up again."""

    def reset() -> None:
        slot.guest.run(f"ip link set eth0 down; echo 1 >{PF_DEVICE}/reset; ip link set eth0 up")

    slot.goes_on_after(reset)


def test_the_port_is_opened_again_after_a_reset_of_the_cards_arm(slot: Slot) -> None:
    """The reset takes what the PF has set on that side of the card: its port is open for it again, and for its VFs."""
    log = slot.goes_on_after(slot.reset_ps, OPENED)
    assert len(re.findall(OPENED, log)) == 1, log


def test_the_port_is_opened_again_for_the_vfs_of_a_pf_that_is_down(slot: Slot) -> None:
    """The port is its VFs', too."""
    slot.guest.run("ip link set eth0 down; dmesg -C")
    slot.reset_ps()
    slot.guest.until("dmesg", OPENED)
    assert slot.words(HOST_ENABLE, 1) == [3]
    slot.guest.run("ip link set eth0 up")
    slot.works()


def test_a_pf_that_goes_up_opens_its_port(slot: Slot) -> None:
    """At once, not when it looks next."""
    said = [
        slot.guest.run(
            f"dmesg -C; ip link set eth0 down; busybox devmem {slot.port_register():#x} 32 0; ip link set eth0 up; "
            f"busybox devmem {slot.port_register():#x}; dmesg | grep -c '{OPENED}'; true"
        ).split()
        for _ in range(5)
    ]
    assert all(int(enabled, 16) == 3 for enabled, _ in said), said
    assert sum(int(lines) for _, lines in said) < 5, "it was the look of each second"
    slot.works()


def test_a_correctable_error_disturbs_nothing(slot: Slot) -> None:
    log = slot.goes_on_after(lambda: slot.monitor.inject("BAD_TLP"), "BadTLP")
    assert "PCIe has told of an error" not in log


def test_an_error_that_is_not_fatal_costs_no_reset_of_the_slot(slot: Slot) -> None:
    log = slot.goes_on_after(lambda: slot.monitor.inject("COMP_TIME"), "AER: device recovery successful")
    assert "Root Port link has been reset" not in log


def test_a_fatal_error_costs_a_reset_of_the_slot(slot: Slot) -> None:
    """Which takes from the card all that it knew."""
    log = slot.goes_on_after(lambda: slot.monitor.inject("MALF_TLP"), "AER: device recovery successful")
    assert "has been reset" in log


def test_a_second_fatal_error_is_survived_like_the_first(slot: Slot) -> None:
    slot.goes_on_after(lambda: slot.monitor.inject("MALF_TLP"), "AER: device recovery successful")


@pytest.mark.parametrize(("error", "is_reset"), [("BAD_TLP", None), ("COMP_TIME", False), ("MALF_TLP", True)], ids=str)
def test_an_error_of_a_vf_is_survived_like_one_of_its_pf(slot: Slot, error: str, is_reset: bool | None) -> None:
    """It has the VF's own number; what PCIe does about it is done to all functions of the slot."""
    vf = slot.guest.run(f"basename $(readlink {PF_DEVICE}/virtfn0)").strip()
    said = "BadTLP" if is_reset is None else "AER: device recovery successful"
    log = slot.goes_on_after(lambda: slot.monitor.inject(error, "card.vf0"), said)
    assert re.search(rf"meridian {vf}: .*(PCIe Bus Error|AER)", log), log
    assert ("PCIe has told of an error" in log) == (is_reset is not None)
    assert ("has been reset" in log) == bool(is_reset)


def test_the_devices_sleep_and_wake(slot: Slot) -> None:
    def sleep() -> None:
        slot.guest.run(
            "echo devices >/sys/power/pm_test; echo mem >/sys/power/state; echo none >/sys/power/pm_test", 120
        )

    slot.goes_on_after(sleep)


def test_a_machine_without_vfs_sleeps_and_wakes(slot: Slot) -> None:
    """The card loses its power, and all that it knew. VFs would not come back."""
    guest = slot.guest
    guest.run(f"echo 0 >{PF_DEVICE}/sriov_numvfs; dmesg -C; (sleep 1; echo mem >/sys/power/state) >/dev/null 2>&1 &")
    slot.monitor.wait_status("suspended")
    slot.monitor.do("system_wakeup")
    guest.until("dmesg", "PM: suspend exit", 60)
    guest.wait_link()
    guest.ping()
    guest.check()
