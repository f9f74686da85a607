# SPDX-License-Identifier: Apache-2.0
"""Interrupts of users' modules, in a program on the host: it is woken once, and again when it has asked for more.
A module that interrupts without end costs the host nothing while no program asks for the next interrupt."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import documents
import pytest
from driver_machine import Link, linked
from meridian_machine import Hardware, tools
from meridian_machine.guest import PF_DEVICE
from peer import ethernet

pytestmark = [pytest.mark.qemu, pytest.mark.long]
ROOT = Path(__file__).resolve().parents[3]
BOXES = (
    *("--box", str(ROOT / "examples/boxes/frame_alarm.v")),
    *("--host-box", str(ROOT / "tests/shell/box/holding_host_box.sv")),
)
PAGE = ROOT / "docs" / "user-logic.md"
KIND = 0x88B6
FILE = "/sys/class/net/eth0/box/port0"
AT_HOST = "/sys/class/net/eth0/box/host"
HOLD = 0x1C0000  # register of the module at the host, in BAR2


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    program = tmp_path_factory.mktemp("box") / "wait"
    source = documents.block(PAGE, "POLLPRI").text
    command = ["cc", "-static", "-O2", "-Wall", "-Werror", "-o", str(program), "-x", "c", "-"]
    subprocess.run(command, input=source, text=True, check=True, timeout=60)
    # The test writes a register of the module at the host while the driver is bound.
    hardware = Hardware(kernel="iomem=relaxed")
    with linked(tools.SUITES[0], {program.name: program}, hardware, shell=BOXES) as it:
        it.guest.ping()
        yield it


def alarm(link: Link, endless: bool = False) -> None:
    body = bytes([0xFF if endless else 0]) + bytes(60)
    link.peer.wire.send(ethernet(link.guest.address(), link.peer.mac, KIND, body))


def count(link: Link, file: str = FILE) -> int:
    return int(link.guest.run(f"cat {file}"))


def interrupts(link: Link) -> int:
    """Of the vector that is not for queues."""
    found = re.search(r"^ *\d+:((?: +\d+)+).* meridian$", link.guest.run("cat /proc/interrupts"), re.MULTILINE)
    assert found
    return sum(int(number) for number in found[1].split())


def ask(link: Link) -> None:
    link.guest.run(f"echo 1 > {FILE}")


def test_there_is_a_file_for_each_module(link: Link) -> None:
    assert link.guest.run("ls /sys/class/net/eth0/box").split() == ["host", "port0"]
    assert count(link) == count(link, AT_HOST) == 0


def test_an_interrupt_is_told_once_for_each_time_that_it_is_asked_for(link: Link) -> None:
    guest = link.guest
    alarm(link)
    guest.ping()
    assert count(link) == 0, "nobody has asked"
    ask(link)
    alarm(link)
    guest.until(f"cat {FILE}", "^1$")
    alarm(link)
    guest.run("sleep 1")
    assert count(link) == 1
    ask(link)
    alarm(link)
    guest.until(f"cat {FILE}", "^2$")
    ask(link)
    guest.run(f"echo 0 > {FILE}")
    alarm(link)
    guest.run("sleep 1")
    assert count(link) == 2, "it has asked for no more"
    assert guest.try_run(f"echo 7 > {FILE}")[0] != 0


def test_the_program_of_the_guide_is_woken(link: Link) -> None:
    guest = link.guest
    bar2 = guest.bar(2)
    hold = f"busybox devmem {bar2 + HOLD:#x} 32"
    assert guest.run(f"(sleep 2; {hold} 1) & /run/twin/wait {AT_HOST}; {hold} 0").split() == ["1"]
    code, text = guest.try_run("/run/twin/wait /sys/class/net/eth0/box/none")
    assert code == 1 and "No such file" in text


def test_a_module_that_interrupts_without_end_costs_little(link: Link) -> None:
    guest = link.guest
    ask(link)
    before, told = interrupts(link), count(link)
    alarm(link, endless=True)
    guest.until(f"cat {FILE}", f"^{told + 1}$")
    guest.run("sleep 2")
    assert interrupts(link) - before <= 3, "masked until it is asked for again"
    guest.ping()
    # Asked for as fast as a shell can, it comes once a millisecond of the card at most.
    before, told = interrupts(link), count(link)
    guest.run(f"for i in $(seq 20); do echo 1 > {FILE}; done", 300)
    guest.until(f"test $(cat {FILE}) -gt {told}; echo $?", "^0$", 60)
    more = count(link) - told
    assert 1 <= more <= 20 and interrupts(link) - before <= more + 5
    alarm(link)  # ends it
    guest.run(f"echo 0 > {FILE}")
    guest.ping()
    guest.check()


def test_interrupts_go_on_after_a_reset_of_the_function_and_end_with_the_driver(link: Link) -> None:
    guest = link.guest
    ask(link)
    told = count(link)
    guest.run(f"echo 1 > {PF_DEVICE}/reset")
    guest.wait_link()
    # The driver looks four times a second.
    guest.run("sleep 1")
    alarm(link)
    guest.until(f"cat {FILE}", f"^{told + 1}$")
    ask(link)
    guest.run("rmmod meridian")
    bar2 = guest.bar(2)
    assert int(guest.run(f"busybox devmem {bar2 + 0x11801C:#x}"), 16) & 1 == 0
    guest.load()
    guest.check()
