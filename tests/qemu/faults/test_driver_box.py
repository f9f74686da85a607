# SPDX-License-Identifier: Apache-2.0
"""A user's module that hangs: devlink's reporter `box` tells it, and a reset of the module brings the frames back. One that
breaks frames is told once, and left to the administrator."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver_machine import Link, linked
from meridian_machine import Hardware, tools
from peer import ethernet

pytestmark = [pytest.mark.qemu, pytest.mark.long]
DEVICE = "pci/0000:01:00.0"
BOX = Path(__file__).resolve().parents[2] / "shell" / "box" / "hostile_box.sv"
WINDOW, CONTROL = 0x180000, 0x118008
HANGS, FLOODS, SILENT, DEAD, UNREADY = 1, 2, 3, 5, 8
BREAKS = r"of port 0 breaks frames: (\d+) to the host, (\d+) to the wire"
TRACING = "/sys/kernel/tracing"
#: So many frames of a direction may resets by hand have cut.
CUT = 16
NOT_READY = "the box of port 0 has not been ready for 10 s: its box_rst_done is low"


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    # The test writes registers of the module while the driver is bound.
    with linked(tools.SUITES[0], hardware=Hardware(kernel="iomem=relaxed"), shell=("--box", str(BOX))) as it:
        yield it


def tell_box(link: Link, mood: int) -> None:
    bar2 = link.guest.bar(2)
    link.guest.run(f"busybox devmem {bar2 + WINDOW:#x} 32 {mood}")


def counts(link: Link) -> tuple[str, int, int]:
    """State of the reporter, and how many errors and recoveries it had."""
    text = link.guest.run(f"devlink health show {DEVICE} reporter box")
    found = re.search(r"state (\w+) error (\d+) recover (\d+)", text)
    assert found, text
    return found[1], int(found[2]), int(found[3])


def wait_counts(link: Link, state: str, errors: int, recovered: int) -> None:
    link.guest.until(f"devlink health show {DEVICE} reporter box", f"state {state} error {errors} recover {recovered}")


def diagnosis(link: Link, what: str = "diagnose") -> str:
    return " ".join(link.guest.run(f"devlink health {what} {DEVICE} reporter box").split())


def refused(link: Link) -> int:
    """Frames of the module for the host that the card has refused."""
    found = re.search(r"rx_refused: (\d+)", diagnosis(link))
    assert found
    return int(found[1])


def warned(link: Link, what: str) -> None:
    """The log has the driver's warning, and no other."""
    guest = link.guest
    text = f"the box of port 0 hangs:{what}, until it is reset"
    assert text in guest.run("dmesg")
    guest.run("dmesg -C")


def test_a_module_that_is_well_has_no_error(link: Link) -> None:
    link.guest.ping()
    assert counts(link) == ("healthy", 0, 0)
    text = diagnosis(link)
    assert re.search(
        r"port: 0 id: 0 version: 0 ready: true rx_hung: false tx_hung: false registers_hung: false", text
    ), text
    passed = re.search(r"rx_passed: (\d+) rx_dropped: 0 .*tx_passed: (\d+) tx_dropped: 0", text)
    assert passed and min(int(number) for number in passed.groups()) >= 2, text
    link.guest.check()


def test_a_module_that_hangs_is_reset(link: Link) -> None:
    guest = link.guest
    _, errors, recovered = counts(link)
    tell_box(link, HANGS)
    assert guest.try_run("ping -c 1 -W 1 10.44.0.1")[0] != 0
    guest.until("ping -c 1 -W 1 10.44.0.1", "1 received", 30)
    state, more, again = counts(link)
    assert state == "healthy" and more > errors and again - recovered == more - errors
    assert "rx_hung: true" in diagnosis(link, "dump show") or "tx_hung: true" in diagnosis(link, "dump show")
    assert re.search(r"hangs: (receive|transmit)", guest.run("dmesg"))
    guest.run(f"dmesg -C; devlink health dump clear {DEVICE} reporter box")


def flood(link: Link, errors: int, recovered: int) -> None:
    """Frames that are none, among others, both ways: one report says so, with how many it were by then."""
    guest = link.guest
    tell_box(link, FLOODS)
    wait_counts(link, "error", errors, recovered)
    for text in (guest.run("dmesg -c"), guest.run(f"cat {TRACING}/trace; echo >{TRACING}/trace")):
        told = re.findall(BREAKS, text)
        assert len(told) == 1 and max(map(int, told[0])) > CUT, text


def test_a_module_that_breaks_frames_is_told_once_and_left_alone(link: Link) -> None:
    guest = link.guest
    guest.run(f"mountpoint -q {TRACING} || mount -t tracefs none {TRACING}")
    guest.run(f"echo 1 >{TRACING}/events/devlink/devlink_health_report/enable; echo >{TRACING}/trace")
    _, errors, recovered = counts(link)
    flood(link, errors + 1, recovered)
    assert re.search(r"[rt]x_refused: [1-9]", diagnosis(link, "dump show"))
    guest.run("sleep 5")
    assert re.search(r"rx_refused: [1-9].* tx_refused: [1-9]", diagnosis(link))
    assert counts(link) == ("error", errors + 1, recovered) and "breaks frames" not in guest.run("dmesg")
    # The administrator resets it. What the reset has cut is no fault.
    guest.run(f"devlink health recover {DEVICE} reporter box; devlink health dump clear {DEVICE} reporter box")
    guest.until("ping -c 1 -W 1 10.44.0.1", "1 received", 30)
    guest.run("sleep 2")
    assert counts(link) == ("healthy", errors + 1, recovered + 1)
    guest.check()


def test_frames_that_resets_by_hand_cut_are_no_fault(link: Link) -> None:
    """Each reset comes while frames pass the module, and cuts one now and then."""
    guest = link.guest
    before, start = counts(link), refused(link)
    guest.run("dmesg -C")
    reset = f"for word in 1 0; do busybox devmem {guest.bar(2) + CONTROL:#x} 32 $word; done"
    frame = ethernet(guest.address(), link.peer.mac, 0x88B5, bytes(1500))
    deadline = guest.deadline(60)
    while refused(link) < start + 3:
        assert time.monotonic() < deadline, f"the resets have cut {refused(link) - start} frames"
        for _ in range(300):
            link.peer.wire.send(frame)
        guest.run(reset)
    guest.run("sleep 2")
    assert refused(link) <= start + CUT
    assert counts(link) == before and "breaks frames" not in guest.run("dmesg")


def test_a_module_that_breaks_frames_no_more_is_well_a_minute_later(link: Link) -> None:
    guest = link.guest
    _, errors, recovered = counts(link)
    flood(link, errors + 1, recovered)
    tell_box(link, 0)
    guest.until("ping -c 1 -W 1 10.44.0.1", "1 received", 30)
    assert counts(link) == ("error", errors + 1, recovered)
    guest.until(f"devlink health show {DEVICE} reporter box", "state healthy", 120)
    assert counts(link) == ("healthy", errors + 1, recovered)
    guest.run(f"devlink health dump clear {DEVICE} reporter box; dmesg -C")
    guest.ping()


def test_a_module_whose_registers_hang_is_reset(link: Link) -> None:
    guest = link.guest
    _, errors, recovered = counts(link)
    tell_box(link, SILENT)
    tell_box(link, SILENT)
    wait_counts(link, "healthy", errors + 1, recovered + 1)
    warned(link, " registers")
    guest.ping()


def test_a_module_that_does_not_get_ready_is_told_once(link: Link) -> None:
    guest = link.guest
    before = counts(link)
    for said in (1, 2):
        tell_box(link, UNREADY)
        guest.until(f"dmesg | grep -c '{NOT_READY}'", f"^{said}", 60)
        assert "ready: false" in diagnosis(link)
        guest.run("sleep 12")
        assert guest.run("dmesg").count(NOT_READY) == said
        guest.run(f"for word in 1 0; do busybox devmem {guest.bar(2) + CONTROL:#x} 32 $word; sleep 3; done")
        assert "ready: true" in diagnosis(link)
    assert counts(link) == before
    guest.run("dmesg -C")
    guest.ping()


def test_a_hung_module_is_left_to_the_administrator_without_auto_recover(link: Link) -> None:
    guest = link.guest
    _, _, recovered = counts(link)
    guest.run(f"devlink health set {DEVICE} reporter box auto_recover false")
    tell_box(link, HANGS)
    guest.try_run("ping -c 1 -W 1 10.44.0.1")
    guest.until(f"devlink health show {DEVICE} reporter box", "state error")
    # Queues that start anew make no module well.
    guest.run("ip link set eth0 down; ip link set eth0 up")
    guest.wait_link()
    assert guest.try_run("ping -c 3 -W 1 10.44.0.1")[0] != 0
    assert counts(link)[0] == "error" and counts(link)[2] == recovered
    assert re.search(r"[rt]x_dropped: [1-9]", diagnosis(link))
    guest.run(f"devlink health recover {DEVICE} reporter box")
    guest.until("ping -c 1 -W 1 10.44.0.1", "1 received", 30)
    assert counts(link)[0] == "healthy" and counts(link)[2] == recovered + 1
    guest.run(f"devlink health set {DEVICE} reporter box auto_recover true; dmesg -C")
    guest.ping()
    guest.check()


def test_a_module_that_is_dead_is_reset_less_and_less_often(link: Link) -> None:
    """It hangs as soon as there is a frame, whatever is done."""
    guest = link.guest
    _, errors, recovered = counts(link)
    tell_box(link, DEAD)
    guest.try_run("ping -c 150 -i 0.1 -W 1 10.44.0.1", 60)
    _, more, again = counts(link)
    # Pauses of 1, 2, 4 and 8 s; a guest's second is one of the card's only about.
    assert 2 <= more - errors <= 6 and again - recovered == more - errors, (more - errors, again - recovered)
    assert guest.run("dmesg").count("the box of port 0 hangs") == more - errors
    tell_box(link, 0)
    guest.run(f"devlink health recover {DEVICE} reporter box || true")
    guest.until("ping -c 1 -W 1 10.44.0.1", "1 received", 90)
    guest.until(f"devlink health show {DEVICE} reporter box", "state healthy")
    guest.run("dmesg -C")


def test_an_error_that_was_left_is_mended_at_the_next_one(link: Link) -> None:
    """The administrator had switched recovery off, reset the module by hand, and switched recovery on again."""
    guest = link.guest
    guest.run(f"devlink health set {DEVICE} reporter box auto_recover false")
    tell_box(link, HANGS)
    guest.try_run("ping -c 1 -W 1 10.44.0.1")
    # The module has hung often, so the driver may look away for 64 s.
    guest.until(f"devlink health show {DEVICE} reporter box", "state error", 90)
    bar2 = guest.bar(2)
    guest.run(f"for word in 1 0; do busybox devmem {bar2 + CONTROL:#x} 32 $word; done")
    guest.until("ping -c 1 -W 1 10.44.0.1", "1 received", 30)
    assert counts(link)[0] == "error"
    guest.run(f"devlink health set {DEVICE} reporter box auto_recover true")
    tell_box(link, HANGS)
    guest.try_run("ping -c 1 -W 1 10.44.0.1")
    guest.until("ping -c 1 -W 1 10.44.0.1", "1 received", 90)
    guest.until(f"devlink health show {DEVICE} reporter box", "state healthy")
    guest.run("dmesg -C")


def test_a_reset_of_the_queues_leaves_the_module(link: Link) -> None:
    before = counts(link)
    link.guest.run(f"devlink health test {DEVICE} reporter tx")
    link.guest.until("ping -c 1 -W 1 10.44.0.1", "1 received", 30)
    assert counts(link) == before
    link.guest.check()
