# SPDX-License-Identifier: Apache-2.0
"""Interrupts of receive queues in DPDK, on a VF and on the PF: by a program that never polls, and DPDK's own adapter."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from dpdk_pf import PF, TOKEN, serving, take_pf
from driver_machine import Link, linked
from meridian_machine import Hardware, tools
from meridian_machine.guest import MODULE, PF_DEVICE
from meridian_machine.program import Program, ProgramError
from meridian_machine.testpmd import LIBRARY, give_to, prepare_vfio, vf_name
from meridian_twin.patience import deadline_in
from sleeper import sleeper
from testpmd_checks import FAR, address, send, text, udp

pytestmark = [pytest.mark.qemu, pytest.mark.long]
PF_NUMBER = 9
FLOWS = 64  # so many that none of four queues is left out
BURSTS = (1, 3, 40, 400)
QUIET_SECONDS = 2
SECONDS = 60
PROMPT = "sleeper> "
ADAPTER = "event_eth_rx_intr_adapter_autotest"


class Sleeper:
    """The program on a function; frames that are sent to it are numbered from 0 on."""

    def __init__(self, link: Link, function: str, number: int, queues: int, eal: Sequence[str] = ()) -> None:
        command = ["stdbuf", "-o0", "/run/twin/sleeper", "-d", f"/run/twin/{LIBRARY}", "-m", "128", "--no-telemetry"]
        command += [*eal, "-l", "0", "--file-prefix=sleeper", "-a", function, "--", str(queues)]
        self.link, self.address, self.queues = link, address(number), queues
        self.program = Program(link.guest, "sleeper", command, PROMPT, SECONDS)
        self.sent = 0

    def do(self, line: str) -> str:
        return self.program.command(line, SECONDS)

    def counts(self) -> dict[str, int]:
        return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", self.do("show"))}

    def send(self, count: int) -> None:
        frames = [udp(self.address, FAR, 100, at, at % FLOWS) for at in range(self.sent, self.sent + count)]
        numbers = (b"slee" + at.to_bytes(4, "big") for at in range(self.sent, self.sent + count))
        send(self.link, [frame[:-8] + number for frame, number in zip(frames, numbers, strict=True)])
        self.sent += count

    def wait_all(self) -> dict[str, int]:
        """What it counts when each frame has come, each once."""
        deadline = deadline_in(SECONDS)
        while (counts := self.counts())["numbers"] < self.sent:
            assert time.monotonic() < deadline, f"{counts}, {self.sent} sent"
            time.sleep(0.1)
        assert counts["repeated"] == 0
        return counts

    def check_bursts(self) -> None:
        """Each wakes it, and nothing else does."""
        for count in BURSTS:
            before = self.counts()
            self.send(count)
            counts = self.wait_all()
            wakes = counts["wakes"] - before["wakes"]
            assert 1 <= wakes <= count + counts["other"] - before["other"]
            assert counts["empty"] == 0
        self.check_quiet()
        assert all(self.counts()[f"queue{queue}"] for queue in range(self.queues))

    def check_quiet(self) -> None:
        before = self.counts()
        time.sleep(QUIET_SECONDS)
        after = self.counts()
        assert after["wakes"] - before["wakes"] == after["other"] - before["other"]

    def check_off(self) -> None:
        """Frames that come meanwhile wake it when it is on again."""
        self.do("off")
        before = self.counts()
        self.send(50)
        time.sleep(QUIET_SECONDS)
        assert self.counts() == before
        self.do("on")
        self.wait_all()
        self.check_quiet()

    def check_left_over(self) -> None:
        """One frame is taken at each wake: those that are there already interrupt at once."""
        self.do("most 1")
        before = self.counts()
        self.send(40)
        after = self.wait_all()
        assert after["wakes"] - before["wakes"] == 40 + after["other"] - before["other"]
        self.do("most 0")

    def check(self) -> None:
        self.check_bursts()
        self.check_off()
        self.check_left_over()
        self.do("restart")
        self.send(20)
        assert self.wait_all()["empty"] == 0


@contextmanager
def sleeping(link: Link, function: str, number: int, queues: int, eal: Sequence[str] = ()) -> Iterator[Sleeper]:
    it = Sleeper(link, function, number, queues, eal)
    try:
        assert re.search("bursts: .* Locked\n", it.program.start_text)
        yield it
        it.program.say("quit")
        assert it.program.wait_end() == 0, it.program.output()
    finally:
        if it.program.is_running():
            it.program.kill()


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    """DPDK's test takes more than a GiB for its buffers."""
    library = tools.built("build-dpdk", "--suite", "bookworm", minutes=10)
    files: dict[str, Path] = {LIBRARY: library, "sleeper": sleeper(tmp_path_factory.mktemp("tools"))}
    with linked("bookworm", files, Hardware(memory=3072, iommu=True)) as it:
        prepare_vfio(it.guest, 704)
        yield it


@pytest.fixture(scope="module")
def vf(link: Link) -> str:
    guest = link.guest
    guest.run(f"echo 0 >{PF_DEVICE}/sriov_drivers_autoprobe; echo 1 >{PF_DEVICE}/sriov_numvfs")
    guest.run(f"ip link set eth0 vf 0 mac {text(address(0))}")
    function = vf_name(guest, 0)
    give_to(guest, function, "vfio-pci")
    return function


@pytest.fixture(scope="module")
def pf(link: Link) -> Iterator[str]:
    """From meridian.ko, and back."""
    guest = link.guest
    take_pf(guest)
    yield f"{PF},mac={text(address(PF_NUMBER))},queues="
    give_to(guest, PF, "")
    guest.run(f"insmod {MODULE}")


def refusal(link: Link, function: str, queues: int) -> str:
    with pytest.raises(ProgramError) as error:
        Sleeper(link, function, 0, queues)
    return str(error.value)


@pytest.mark.parametrize("queues", [1, 4])
def test_a_vf_wakes_a_program_that_sleeps(link: Link, vf: str, queues: int) -> None:
    with sleeping(link, vf, 0, queues) as it:
        it.check()


def test_more_receive_queues_with_interrupts_than_vectors_of_a_vf_are_refused(link: Link, vf: str) -> None:
    said = refusal(link, vf, 8)
    assert "8 receive queues that interrupt take 9 MSI-X vectors, the function has 8" in said, said
    with sleeping(link, vf, 0, 7) as it:
        it.check_bursts()


@pytest.mark.parametrize("queues", [1, 4])
def test_a_pf_wakes_a_program_that_sleeps(link: Link, pf: str, queues: int) -> None:
    with sleeping(link, f"{pf}64", PF_NUMBER, queues) as it:
        it.check()


def test_more_receive_queues_with_interrupts_than_vectors_of_a_pf_are_refused(link: Link, pf: str) -> None:
    said = refusal(link, f"{pf}64", 10)
    assert "10 receive queues that interrupt take 11 MSI-X vectors, the function has 10" in said, said
    with sleeping(link, f"{pf}64", PF_NUMBER, 9) as it:
        it.check_bursts()


def test_a_vf_whose_pf_is_in_dpdk_wakes_a_program_that_sleeps(link: Link, pf: str) -> None:
    with serving(link, 1):
        function = vf_name(link.guest, 0)
        give_to(link.guest, function, "vfio-pci")
        with sleeping(link, function, 0, 4, TOKEN) as it:
            it.check()


def test_dpdks_own_test_of_its_receive_adapter_passes(link: Link, pf: str) -> None:
    """It takes all queues there are."""
    options = f"-d /run/twin/{LIBRARY} -m 1400 --no-telemetry -l 0-1 -a {pf}4"
    status, said = link.guest.try_run(f"DPDK_TEST={ADAPTER} timeout 240 dpdk-test {options} </dev/null 2>&1", 300)
    counts = dict(re.findall(r"\+ Tests (\w+) *: +(\d+)", said))
    assert status == 0 and "Test OK" in said, said[-4000:]
    assert counts["Passed"] == counts["Total"] != "0" and counts["Skipped"] == "0", counts
    assert "Port 0 MAC: 02 aa bb cc dd 09" in said, said[-4000:]
