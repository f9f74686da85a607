# SPDX-License-Identifier: Apache-2.0
"""What may happen to a clock that follows: a leap second comes, its grandmaster is gone for a while, the card is reset."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from meridian_machine import PsHardware, Twin, computer, tools
from meridian_machine import driver as drivers
from meridian_machine.guest import Guest
from meridian_twin import CardProcess
from meridian_twin.control import Control
from ptp_run import Grandmaster, Running, ps_with, pulse_errors, pulses, running

pytestmark = [pytest.mark.qemu, pytest.mark.quick]
LAYER = tools.ROOT / "meta-layer" / "meta-meridian" / "recipes-connectivity" / "meridian-ptp" / "files"
SPEC = "transport=udp4"
LEAPING = Grandmaster("leaping", 1, f"{SPEC},leap=61", "-4 -E")
LONELY = Grandmaster("lonely", 2, SPEC, "-4 -E", 20_000)
HELD_PULSES = 10
HELD_NS = 50  # of ten seconds on its own: the last frequency is right within some ppb
EXPIRES = "ANNOUNCE_RECEIPT_TIMEOUT_EXPIRES"


@pytest.fixture(scope="module")
def ps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Twin, Guest, Control]]:
    folder = tmp_path_factory.mktemp("ptp")
    options = ("--control", str(folder / "control"))
    with ps_with([LEAPING, LONELY], folder, options) as (twin, guest):
        health = (LAYER / "meridian-ptp-health").read_text()
        guest.run(f"cat >/tmp/health <<'END'\n{health}END\nchmod +x /tmp/health")
        with Control(folder / "control") as control:
            yield twin, guest, control


def test_a_leap_second_is_told(ps: tuple[Twin, Guest, Control]) -> None:
    _, guest, _ = ps
    with running(guest, LEAPING.found()) as ptp4l:
        ptp4l.settle()
        told = ptp4l.ask("GET TIME_PROPERTIES_DATA_SET")
    found = dict(re.findall(r"\s(leap\d\d|currentUtcOffset\w*)\s+(\S+)", told))
    assert found == {"leap61": "1", "leap59": "0", "currentUtcOffset": "37", "currentUtcOffsetValid": "1"}, told


def health_of(guest: Guest, ptp4l: Running) -> tuple[int, str]:
    """What the card's own check asks and says."""
    conf = f"[global]\ndomainNumber {LONELY.domain}\nuds_address {ptp4l.where}.socket\n"
    guest.run(f"cat >/tmp/health.conf <<'END'\n{conf}END")
    return guest.try_run("/tmp/health /tmp/health.conf")


@pytest.mark.long
@pytest.mark.parametrize("leaves", [False, True], ids=["ptp4l-stays", "ptp4l-leaves"])
def test_an_offset_of_long_ago_is_no_lock(ps: tuple[Twin, Guest, Control], leaves: bool) -> None:
    """Sync messages cease while the grandmaster's last Announce still holds: ptp4l, as the card's profiles have it, leaves
    the grandmaster, and one that does not is found out."""
    _, guest, control = ps
    patience = f"--announceReceiptTimeout=200 --syncReceiptTimeout={16 if leaves else 0}"
    with running(guest, f"{LONELY.found()} {patience}") as ptp4l:
        ptp4l.settle()
        status, words = health_of(guest, ptp4l)
        assert status == 0 and words.startswith("locked"), words
        control.ask("cut", port=0, on=True)
        try:
            if leaves:
                ptp4l.reach(lambda it: "SLAVE to LISTENING" in it.text, "end of the lock", 30)
            status, words = health_of(guest, ptp4l)
        finally:
            control.ask("cut", port=0, on=False)
        wanted = "not following: ports are LISTENING" if leaves else "unlocked: no Sync comes"
        assert status == 1 and words.startswith(wanted), words


def test_a_grandmaster_goes_and_comes_back(ps: tuple[Twin, Guest, Control]) -> None:
    """Meanwhile the clock keeps its last frequency, and says that nobody is followed."""
    twin, guest, control = ps

    def health() -> tuple[int, str]:
        answers = ptp4l.ask("GET PORT_DATA_SET", "GET TIME_STATUS_NP")
        return guest.try_run(f"/tmp/health --answers - <<'END'\n{answers}END")

    with running(guest, LONELY.found()) as ptp4l:
        ptp4l.settle()
        status, words = health()
        assert status == 0 and words.startswith("locked"), words
        had = ptp4l.samples().text.count(EXPIRES)
        control.ask("cut", port=0, on=True)
        seen = len(pulses(twin.folder))
        ptp4l.reach(lambda it: it.text.count(EXPIRES) > had, EXPIRES, 60)
        status, words = health()
        assert status == 1 and words.startswith("not following"), words
        ptp4l.reach(lambda _: len(pulses(twin.folder)) >= seen + HELD_PULSES, "pulses", 60)
        held = pulse_errors(LONELY, pulses(twin.folder)[seen:])
        control.ask("cut", port=0, on=False)
        back = ptp4l.reach(lambda it: it.text.count("UNCALIBRATED to SLAVE") >= 2, "return", 60)
        had = len(back.offsets)
        settled = ptp4l.settle()
        after = ptp4l.samples().first(settled).last(settled - had)
        assert health()[0] == 0
    assert max(map(abs, held)) < HELD_NS, held
    assert max(map(abs, after.offsets), default=0) < HELD_NS, after.text
    assert "s0" not in after.states


def test_a_card_that_was_reset_is_set_again(built_card: Callable[..., Path], tmp_path: Path) -> None:
    """With the profile that the card has; it lost its time and its frequency."""
    profile = re.sub(r"(?m)^(log\w+Interval)\s.*$", r"\1 -2", (LAYER / "default.conf").read_text())
    wire = Grandmaster("only", 0, SPEC, "", 2500, 10**18).wire()
    place = tmp_path / "card"

    def card() -> CardProcess:
        it = CardProcess(built_card(), "--time", "wall", "--wire", f"0={wire}")
        place.unlink(missing_ok=True)
        place.symlink_to(it.socket)
        return it

    ps = computer.ps(tools.SUITES[0], PsHardware(), drivers.PS_SOURCE)
    with card() as first, ps.boot(tmp_path, place, lambda: None) as machine:
        guest = Guest(machine)
        guest.wait_link()
        guest.run(f"cat >/tmp/profile <<'END'\n{profile}END")
        with running(guest, "-f /tmp/profile") as ptp4l:
            ptp4l.settle()
            first.stop()
            ptp4l.says("SLAVE to FAULTY")
            with card():
                ptp4l.reach(lambda it: it.text.count("to SLAVE") >= 2, "return", 120)
                ptp4l.settle(120)
        guest.check()
        machine.power_off()
