# SPDX-License-Identifier: Apache-2.0
"""The card as a grandmaster, and as a boundary clock: a real ptp4l with software timestamps, on a veth or a TAP device at
the other end of the wire, follows it. That one only watches, as a clock of this machine is not to be set."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from meridian_machine import PsHardware, Setting, Twin, tools
from meridian_machine.guest import Guest
from meridian_machine.processes import guarded, stop
from meridian_twin.patience import deadline_in, stretched
from ptp_run import Grandmaster, running

pytestmark = pytest.mark.qemu
SECONDS = 60
FAST = "--logAnnounceInterval=-1 --logSyncInterval=-2 --announceReceiptTimeout=10"
WATCHES = "free_running 1\nslaveOnly 1\nsummary_interval -10\nannounceReceiptTimeout 10\n"
FOLLOWS = r"(?s)on RS_SLAVE.*(master offset.*){5}"
GRANDMASTER = Grandmaster("above", 0, "transport=ethernet,priority1=10", "-2 -E", 7000, 10**18)
ABOVE = "02005e.fffe.158801"  # its clock identity


class Follower:
    """A ptp4l at the far end of a port."""

    def __init__(self, folder: Path, words: Path) -> None:
        self.folder, self.words = folder, words

    def until(self, wanted: str, seconds: float = SECONDS) -> str:
        deadline = deadline_in(seconds)
        while not re.search(wanted, text := self.words.read_text()):
            assert time.monotonic() < deadline, f"no {wanted!r} in {seconds} s: {text[-2000:]}"
            time.sleep(0.2)
        return text

    def parent(self, programs: Path) -> dict[str, str]:
        """What it knows of whom it follows."""
        command = [programs / "pmc", "-u", "-b", "0", "-s", self.folder / "socket", "-i", self.folder / "pmc"]
        done = subprocess.run(
            [*command, "GET PARENT_DATA_SET"], capture_output=True, text=True, timeout=stretched(20), check=True
        )
        return dict(re.findall(r"\n\s+(\w+)\s+(\S+)", done.stdout))


@pytest.fixture(scope="session")
def linuxptp() -> Path:
    return tools.built("build/fetch-source", "--binary", "linuxptp", minutes=10) / "usr" / "sbin"


@contextmanager
def follower(twin: Twin, linuxptp: Path, interface: str, folder: Path) -> Iterator[Follower]:
    folder.mkdir()
    config, words = folder / "ptp4l.conf", folder / "words"
    config.write_text(f"[global]\n{WATCHES}uds_address {folder / 'socket'}\n")
    options = ["-i", interface, "-2", "-S", "-m", "-q", "-f", str(config)]
    program = [*twin.peer.enter, *guarded([str(linuxptp / "ptp4l"), *options])]
    with words.open("wb") as log:
        process = subprocess.Popen(
            program, stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0, env=os.environ
        )
    try:
        yield Follower(folder, words)
    finally:
        stop(process)


def identity(guest: Guest, where: str) -> str:
    # pmc waits for an answer no longer than a moment.
    text = guest.until(f"pmc -u -b 0 -s {where}.socket 'GET DEFAULT_DATA_SET'", "clockIdentity")
    return re.search(r"clockIdentity\s+(\S+)", text)[1]  # type: ignore[index]


@pytest.mark.parametrize("veth", [True, False], ids=["veth", "tap"])
def test_the_card_leads_as_a_grandmaster(linuxptp: Path, tmp_path: Path, veth: bool) -> None:
    setting = Setting(hardware=None, ps=PsHardware(), veth=veth)
    with Twin(setting, tmp_path) as twin, twin.ps_machine() as machine:
        guest = Guest(machine)
        guest.wait_link()
        with (
            running(guest, f"-2 --clientOnly=0 --priority1=50 {FAST}") as ptp4l,
            follower(twin, linuxptp, "wire0", tmp_path / "far") as far,
        ):
            ptp4l.says("assuming the grand master role")
            text = far.until(FOLLOWS)
            assert far.parent(linuxptp)["grandmasterIdentity"] == identity(guest, ptp4l.where)
            # Software at one end, and a machine that is emulated: what it finds is coarse, not wrong.
            offsets = [int(it) for it in re.findall(r"master offset +(-?\d+)", text)]
            assert max(offsets) - min(offsets) < 10**9, text
            assert [guest.statistics()[f"tx_stamps_{name}"] for name in ("late", "unknown", "skipped")] == [0, 0, 0]
        guest.check()
        machine.power_off()


def test_a_boundary_clock_follows_on_one_port_and_leads_on_the_other(linuxptp: Path, tmp_path: Path) -> None:
    """Port 0 follows, port 1 leads, with one clock."""
    setting = Setting(hardware=None, ps=PsHardware(), ports=2, wires=[f"0={GRANDMASTER.wire()}"], veth=True)
    with Twin(setting, tmp_path) as twin, twin.ps_machine() as machine:
        guest = Guest(machine)
        guest.wait_link()
        guest.run("ip link set eth1 up && ip address add 10.44.1.3/24 dev eth1")
        guest.until("ping -c 3 -i 0.2 -W 5 10.44.1.1", " 3 received")
        with (
            running(guest, f"-2 -i eth1 --clientOnly=0 {FAST}") as ptp4l,
            follower(twin, linuxptp, "wire1", tmp_path / "far") as far,
        ):
            ptp4l.settle()
            far.until(FOLLOWS)
            told = far.parent(linuxptp)
            assert told["grandmasterIdentity"] == ABOVE, told
            assert told["parentPortIdentity"] == f"{identity(guest, ptp4l.where)}-2", told
            ports = re.findall(r"portState\s+(\w+)", ptp4l.ask("GET PORT_DATA_SET"))
            assert ports == ["SLAVE", "MASTER"]
            assert ptp4l.samples().last(8).peak() <= 2
        guest.check()
        machine.power_off()
