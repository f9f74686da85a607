# SPDX-License-Identifier: Apache-2.0
"""Interrupts of users' modules, in a program on the card's ARM: it is woken once, and again when it has asked for more.
A module that interrupts without end costs the ARM nothing, also if somebody else has enabled it. The program is woken
when the driver goes, and a card that was reset is told again for whom it interrupts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import documents
import pytest
from driver_machine import Link, tool
from meridian_machine import PsHardware, computer, tools
from meridian_machine import driver as drivers
from meridian_machine.guest import Guest
from peer import BROADCAST, ethernet
from ps_link import WRITABLE, interrupts, ps_link, register, until

pytestmark = [pytest.mark.qemu, pytest.mark.long]
ROOT = Path(__file__).resolve().parents[3]
BOXES = (
    *("--box", str(ROOT / "examples/boxes/frame_alarm.v")),
    *("--host-box", str(ROOT / "tests/shell/box/holding_host_box.sv")),
)
PAGE = ROOT / "docs" / "user-logic.md"
MODULE = "/run/twin/meridian_ps.ko"
KIND = 0x88B6
FILES = "/sys/bus/platform/devices/a0000000.ethernet/box"
FILE, AT_HOST = f"{FILES}/port0", f"{FILES}/host"
OF_PORT, OF_HOST = 1 << 0, 1 << 4
ENABLE, PENDING = 0xA0000800, 0xA0000804
#: Port 0 hands received frames to the host's path as well, where its module is.
HOST_ENABLE = 0xA0002004
#: Register of the module at the host: its interrupt is high while this is 1, and it keeps received frames.
HOLD = 0xA00C0000
#: Of the card, in seconds of the machine: a gap is a millisecond of the card.
GAPS = 1


def write(guest: Guest, address: int, value: int) -> None:
    guest.run(f"busybox devmem {address:#x} 32 {value:#x}")


@pytest.fixture(scope="module")
def ps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    folder = tmp_path_factory.mktemp("box")
    source = folder / "wait.c"
    source.write_text(documents.block(PAGE, "POLLPRI").text)
    program = tool(folder, source, "aarch64-linux-gnu-gcc")
    # One processor: an interrupt that comes again and again would keep it from everything else.
    hardware = PsHardware(kernel=WRITABLE, cpus=1)
    with ps_link(hardware, shell=BOXES, files={program.name: program}) as link:
        write(link.guest, HOST_ENABLE, 3)
        yield link


def alarm(ps: Link, endless: bool = False) -> None:
    """The module at the port interrupts, once or until the next alarm."""
    body = bytes([0xFF if endless else 0]) + bytes(60)
    ps.peer.wire.send(ethernet(BROADCAST, ps.peer.mac, KIND, body))
    # The wire keeps the order.
    ps.guest.ping()


def edge(guest: Guest) -> None:
    """The module at the host interrupts."""
    guest.run(f"busybox devmem {HOLD:#x} 32 1; busybox devmem {HOLD:#x} 32 0")


def count(guest: Guest, file: str = FILE) -> int:
    return int(guest.run(f"cat {file}"))


def ask(guest: Guest, file: str = FILE, value: int = 1) -> None:
    guest.run(f"echo {value} >{file}")


def test_there_is_a_file_for_each_module(ps: Link) -> None:
    assert ps.guest.run(f"ls {FILES}").split() == ["host", "port0"]
    assert count(ps.guest) == count(ps.guest, AT_HOST) == 0


def test_an_interrupt_is_told_once_for_each_time_that_it_is_asked_for(ps: Link) -> None:
    guest = ps.guest
    alarm(ps)
    assert count(guest) == 0, "nobody has asked"
    for number in (1, 2):
        ask(guest)
        assert register(guest, ENABLE) == OF_PORT
        alarm(ps)
        guest.until(f"cat {FILE}", f"^{number}$")
        alarm(ps)
        assert count(guest) == number and register(guest, ENABLE) == 0
    ask(guest)
    ask(guest, value=0)
    alarm(ps)
    assert count(guest) == 2, "it has asked for no more"
    assert guest.try_run(f"echo 7 >{FILE}")[0] != 0
    guest.check()


def test_two_edges_before_the_first_is_read_are_one(ps: Link) -> None:
    guest, told = ps.guest, count(ps.guest, AT_HOST)
    ask(guest, AT_HOST)
    edge(guest)
    edge(guest)
    guest.until(f"cat {AT_HOST}", f"^{told + 1}$")
    guest.run(f"sleep {GAPS}")
    assert count(guest, AT_HOST) == told + 1


def test_an_edge_while_it_is_masked_is_told_to_nobody(ps: Link) -> None:
    """Who asks looks at the module then: what it had to tell before is acknowledged. The next one is told."""
    guest, told = ps.guest, count(ps.guest, AT_HOST)
    assert register(guest, ENABLE) == 0
    edge(guest)
    guest.run(f"sleep {GAPS}")
    assert register(guest, PENDING) & OF_HOST
    ask(guest, AT_HOST)
    guest.run(f"sleep {GAPS}")
    assert count(guest, AT_HOST) == told and register(guest, PENDING) & OF_HOST == 0
    edge(guest)
    guest.until(f"cat {AT_HOST}", f"^{told + 1}$")


def test_two_modules_interrupt_apart(ps: Link) -> None:
    guest = ps.guest
    told = [count(guest), count(guest, AT_HOST)]
    ask(guest)
    ask(guest, AT_HOST)
    assert register(guest, ENABLE) == OF_PORT | OF_HOST
    edge(guest)
    guest.until(f"cat {AT_HOST}", f"^{told[1] + 1}$")
    assert register(guest, ENABLE) == OF_PORT and count(guest) == told[0]
    alarm(ps)
    guest.until(f"cat {FILE}", f"^{told[0] + 1}$")
    assert register(guest, ENABLE) == 0 and count(guest, AT_HOST) == told[1] + 1


def test_the_program_of_the_guide_is_woken(ps: Link) -> None:
    guest, told = ps.guest, count(ps.guest, AT_HOST)
    later = f"(sleep 2; busybox devmem {HOLD:#x} 32 1; busybox devmem {HOLD:#x} 32 0) &"
    assert guest.run(f"{later} /run/twin/wait {AT_HOST}").split() == [str(told + 1)]
    status, text = guest.try_run(f"/run/twin/wait {FILES}/none")
    assert status == 1 and "No such file" in text


def test_a_module_that_interrupts_without_end_costs_nothing(ps: Link) -> None:
    guest, told = ps.guest, count(ps.guest)
    ask(guest)
    alarm(ps, endless=True)
    guest.until(f"cat {FILE}", f"^{told + 1}$")
    assert register(guest, PENDING) & OF_PORT
    before = interrupts(guest)
    guest.run("sleep 2")
    after = interrupts(guest)
    assert after[0] - before[0] < 20 and count(guest) == told + 1, "masked until it is asked for again"
    # Asked for as fast as a shell can, it comes once a millisecond of the card at most.
    guest.run(f"for i in $(seq 20); do echo 1 >{FILE}; done", 300)
    guest.run(f"sleep {GAPS}")
    assert 1 <= count(guest) - told - 1 <= 20
    alarm(ps)  # ends it
    ask(guest, value=0)
    guest.check()


def test_what_somebody_else_has_enabled_is_masked(ps: Link) -> None:
    guest, told = ps.guest, count(ps.guest)
    alarm(ps, endless=True)
    until(lambda: bool(register(guest, PENDING) & OF_PORT), "module that interrupts")
    before = interrupts(guest)
    for _ in range(5):
        write(guest, ENABLE, OF_PORT | OF_HOST)
        until(lambda: register(guest, ENABLE) == 0, "module that is masked")
    taken, unwanted = interrupts(guest)
    assert taken - before[0] < 60 and unwanted - before[1] <= 5, (before, taken, unwanted)
    assert count(guest) == told
    alarm(ps)  # ends it
    assert "nobody cared" not in guest.log()
    guest.check()


def test_the_driver_goes_while_a_program_waits(ps: Link) -> None:
    guest, told = ps.guest, count(ps.guest, AT_HOST)
    guest.run(f"/run/twin/wait {AT_HOST} >/run/waited 2>&1 & echo $! >/run/waits")
    until(lambda: register(guest, ENABLE) == OF_HOST, "program that waits")
    # The program itself waits for 20 s, and its descriptor keeps nothing from going.
    ended = "timeout 10 sh -c 'while [ -e /proc/$(cat /run/waits) ]; do sleep 0.1; done'"
    guest.run(f"exec 5>{AT_HOST} && rmmod meridian_ps && {ended} && ! echo 1 >&5")
    # Its read comes before the file's end or behind it.
    assert guest.run("cat /run/waited").strip() in (str(told), "")
    assert register(guest, ENABLE) == 0
    edge(guest)
    guest.run(f"insmod {MODULE}; ip link set eth0 up; ip address replace 10.44.0.3/24 dev eth0")
    guest.wait_link()
    guest.ping()
    assert count(guest, AT_HOST) == 0 and register(guest, ENABLE) == 0
    ask(guest, AT_HOST)
    edge(guest)
    guest.until(f"cat {AT_HOST}", "^1$")
    guest.check()


def test_a_card_that_was_reset_interrupts_again(run_card: Callable[..., Any], tmp_path: Path) -> None:
    """Whoever has asked before is told of an edge behind the reset; also while no port is up."""
    place = tmp_path / "card"
    first = run_card("--time", "wall", configuration=BOXES)
    place.symlink_to(first.socket)
    ps = computer.ps(tools.SUITES[0], PsHardware(kernel=WRITABLE), drivers.PS_SOURCE)
    with ps.boot(tmp_path, place, lambda: None) as machine:
        guest = Guest(machine)
        guest.wait_link()
        guest.run("ip link set eth0 down")
        ask(guest, AT_HOST)
        first.stop()
        second = run_card("--time", "wall", configuration=BOXES)
        place.unlink()
        place.symlink_to(second.socket)
        until(lambda: register(guest, ENABLE) == OF_HOST, "card that knows again who listens")
        assert count(guest, AT_HOST) == 0
        edge(guest)
        guest.until(f"cat {AT_HOST}", "^1$")
        guest.check()
        machine.power_off()
