# SPDX-License-Identifier: Apache-2.0
"""Machines of each suite: what a script gives back, and what is said when a machine does not do as it should."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from meridian_machine import (
    Hardware,
    Image,
    Machine,
    MachineError,
    MachineTimeout,
    tools,
)
from meridian_machine.computer import Computer
from meridian_machine.machine import RACE
from meridian_twin import CardProcess
from meridian_twin.patience import stretched
from meridian_twin.process import CardError

pytestmark = pytest.mark.qemu
TOOLS = "bpftool curl dhclient ethtool insmod iperf3 ip lspci modprobe nc ping strace tcpdump"
KERNELS = {"trixie": r"6\.12\.", "bookworm": r"6\.1\."}


@pytest.fixture(scope="session")
def qemu() -> Path:
    return tools.qemu()


@pytest.fixture(scope="session", params=tools.SUITES)
def suite(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def image(suite: str) -> Image:
    return Image.build(suite)


@pytest.fixture(scope="module")
def machine(
    qemu: Path, image: Image, built_card: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Machine]:
    """With the card; for tests that leave it as it is."""
    folder = tmp_path_factory.mktemp("machine")
    given = {"given/numbers": bytes(range(256)), "given/say": b"#!/bin/sh\necho said $1\n"}
    with (
        CardProcess(built_card(), "--wire", "0=none") as card,
        Machine(qemu, image, folder, card.socket, files=given, watch=card.check) as running,
    ):
        running.wait_ready()
        yield running
        running.power_off()


@pytest.fixture
def lonely(qemu: Path, tmp_path: Path) -> Iterator[Machine]:
    """Without a card, of the first suite; for tests that end badly."""
    with Machine(qemu, Image.build(tools.SUITES[0]), tmp_path, hardware=Hardware(memory=512, cpus=1)) as running:
        running.wait_ready()
        yield running
    assert not Path(f"/proc/{running.pid}").exists()


def test_the_kernel_is_the_suites(machine: Machine, image: Image, suite: str) -> None:
    release = machine.run("uname -r").text.strip()
    assert release == image.release
    assert re.match(KERNELS[suite], release)
    assert suite in machine.run("cat /etc/os-release", check=True).text


def test_the_card_is_on_the_bus(machine: Machine) -> None:
    assert re.search(r"^01:00\.0 .*\[10ee:903f\]", machine.run("lspci -nn").text, re.MULTILINE)


def test_the_image_has_each_tool(machine: Machine) -> None:
    machine.run(
        f"for tool in {TOOLS}; do command -v $tool >/dev/null || {{ echo no $tool >&2; exit 1; }}; done", check=True
    )


@pytest.mark.parametrize(("script", "status"), [("true", 0), ("exit 7", 7), ("kill -9 $$", 137), ("nonsense", 127)])
def test_a_run_ends_with_the_status_of_its_script(machine: Machine, script: str, status: int) -> None:
    assert machine.run(script).status == status


def test_standard_output_and_standard_error_come_apart_and_whole(machine: Machine) -> None:
    done = machine.run("cat /run/twin/given/numbers; echo wrong >&2; head -c 5000000 /dev/zero; printf '\\1'")
    assert done.stdout == bytes(range(256)) + bytes(5_000_000) + b"\1"
    assert done.stderr == b"wrong\n"


def test_output_comes_while_the_script_runs(machine: Machine) -> None:
    came: list[tuple[bytes, float]] = []
    machine.run("echo first; sleep 2; echo second", stdout=lambda data: came.append((data, time.monotonic())))
    assert b"".join(data for data, _ in came) == b"first\nsecond\n"
    assert came[-1][1] - came[0][1] > 1


def test_a_script_gets_no_input_and_need_not_wait_for_its_children(machine: Machine) -> None:
    started = time.monotonic()
    assert machine.run("cat; sleep 60 & echo end").text == "end\n"
    assert time.monotonic() - started < 30


def test_files_go_in_and_out(machine: Machine, tmp_path: Path) -> None:
    assert machine.run("/run/twin/given/say hello", check=True).text == "said hello\n"
    machine.run("mkdir -p '/tmp/what is/left' && cp /run/twin/given/numbers '/tmp/what is/left'", check=True)
    machine.fetch("/tmp/what is", tmp_path)
    assert (tmp_path / "what is" / "left" / "numbers").read_bytes() == bytes(range(256))


def test_a_checked_run_that_fails_raises_its_status_and_error_output(machine: Machine) -> None:
    with pytest.raises(MachineError, match=r"status 3: it is wrong"):
        machine.run("echo it is wrong >&2; exit 3", check=True)


def test_what_a_machine_writes_is_gone_with_it(lonely: Machine) -> None:
    """Of this one and every one before: the image itself is read-only."""
    assert lonely.run("cat /etc/written").status != 0
    lonely.run("echo now >/etc/written && grep now /etc/written", check=True)
    assert lonely.run("echo >/dev/vda").status != 0


def test_a_script_that_hangs_is_given_up(lonely: Machine) -> None:
    started = time.monotonic()
    output: list[bytes] = []
    with pytest.raises(MachineTimeout, match=f"waited {stretched(3):.0f} s for the machine to be done with the script"):
        lonely.run("echo until here; echo 'on the console' >/dev/console; sleep 1000", 3, stdout=output.append)
    assert time.monotonic() - started < stretched(15)
    assert output == [b"until here\n"]
    assert "on the console" in lonely.console.read_text()


def test_a_kernel_panic_is_told_with_the_consoles_end(lonely: Machine) -> None:
    with pytest.raises(MachineError, match=r"(?s)kernel panicked \(sysrq triggered crash\); .*Kernel Offset"):
        lonely.run("echo 8 >/proc/sysrq-trigger; echo c >/proc/sysrq-trigger")


def test_a_machine_that_goes_off_is_told(lonely: Machine) -> None:
    with pytest.raises(MachineError, match="ended before its work was done"):
        lonely.run("poweroff")
    with pytest.raises(MachineError, match="ended before its work was done"):
        lonely.run("true")


def test_a_qemu_that_is_killed_is_told(lonely: Machine) -> None:
    os.kill(lonely.pid, signal.SIGKILL)
    with pytest.raises(MachineError, match="QEMU ended with status -9"):
        lonely.run("sleep 100")


def test_a_qemu_that_does_not_start_says_why(qemu: Path, tmp_path: Path) -> None:
    with (
        Machine(qemu, Image.build(tools.SUITES[0]), tmp_path, tmp_path / "nobody") as machine,
        pytest.raises(MachineError, match=r"status 1: .*no card answers at"),
    ):
        machine.wait_ready()


BOOTING = "[    0.3] smp: Bringing up secondary CPUs ..."
STALLED = "[   31.7] rcu: rcu_preempt kthread timer wakeup didn't happen for 5251 jiffies! g-1159 f0x0"


def spoilt(qemu: Path, folder: Path, times: int, said: str, end: str) -> Path:
    """The real QEMU, but for so many starts whose console says this and that go on with the command `end`."""
    program, words, console = folder / "qemu", folder / "words", folder / "console.log"
    words.write_text(said)
    count = f"n=$(cat {folder}/n 2>/dev/null || echo 0); echo $((n + 1)) >{folder}/n"
    program.write_text(
        f'#!/bin/sh\n{count}\nif [ $n -lt {times} ]; then cat {words} >{console}; {end}; fi\nexec {qemu} "$@"\n'
    )
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("times", "said", "end", "reason"),
    [
        (1, "", f'echo "physmem.c: {RACE}." >&2; kill -ABRT $$', "iotlb_to_section"),
        (1, BOOTING, f'echo "physmem.c: {RACE}." >&2; kill -ABRT $$', "iotlb_to_section"),
        (2, BOOTING, f'echo "physmem.c: {RACE}." >&2; kill -ABRT $$', "iotlb_to_section"),
        (1, STALLED, "exec sleep 1000", "timer wakeup didn't happen"),
        (2, STALLED, "exec sleep 1000", "timer wakeup didn't happen"),
    ],
    ids=["assertion", "assertion while the kernel boots", "two assertions", "stall", "two stalls"],
)
def test_a_fault_of_the_emulator_costs_a_start(
    qemu: Path,
    built_card: Callable[..., Path],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    times: int,
    said: str,
    end: str,
    reason: str,
) -> None:
    program = spoilt(qemu, tmp_path, times, said, end.replace("`", "\\`"))
    computer = Computer(program, Image.build(tools.SUITES[0]), Hardware(memory=512, cpus=1))
    started = time.monotonic()
    with CardProcess(built_card(), "--wire", "0=none") as card:
        if times == 1:
            with computer.boot(tmp_path, card.socket, card.check) as machine:
                assert machine.run("lspci -d 10ee:").text
        else:
            with pytest.raises(MachineError, match=reason):
                computer.boot(tmp_path, card.socket, card.check)
            assert time.monotonic() - started < 30, "a stall is not waited for"
    told = capfd.readouterr().err
    assert reason in told and "it is started once more" in told
    assert (tmp_path / "n").read_text().strip() == "2"
    assert (tmp_path / "console-first.log").read_text() == said
    assert (tmp_path / "qemu-first.log").exists()


def test_an_assertion_during_set_up_costs_a_start(
    qemu: Path, built_card: Callable[..., Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The machine is up and has spoken; QEMU ends while the script that sets it up runs."""
    program = tmp_path / "qemu"
    count = f"n=$(cat {tmp_path}/n 2>/dev/null || echo 0); echo $((n + 1)) >{tmp_path}/n"
    words = tmp_path / "words"
    words.write_text(f"physmem.c: {RACE}.\n")
    program.write_text(
        f'#!/bin/bash\n{count}\nif [ $n = 1 ]; then exec {qemu} "$@"; fi\n'
        f'{qemu} "$@" &\nwhile ! grep -q set-up {tmp_path}/console.log; do sleep 0.2; done\n'
        f"kill -KILL $!; cat {words} >&2; kill -ABRT $$\n"
    )
    program.chmod(0o755)
    setup = "echo set-up >/dev/console; sleep 2"
    computer = Computer(program, Image.build(tools.SUITES[0]), Hardware(memory=512, cpus=1), setup=setup)
    with CardProcess(built_card(), "--wire", "0=none") as card:
        computer.boot(tmp_path, card.socket, card.check).close()
    assert "it is started once more" in capfd.readouterr().err
    assert (tmp_path / "n").read_text().strip() == "2"
    assert "set-up" in (tmp_path / "console-first.log").read_text()


def test_a_machine_without_its_root_says_so_at_once(qemu: Path, tmp_path: Path) -> None:
    image = Image.build(tools.SUITES[0])
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in (image.kernel, image.early):
        (broken / path.name).symlink_to(path)
    (broken / image.root.name).write_bytes(bytes(1 << 20))
    with (
        Machine(qemu, Image(broken), tmp_path, hardware=Hardware(cpus=1)) as machine,
        pytest.raises(MachineError, match=r"(?s)ended before .*the root file system cannot be mounted"),
    ):
        machine.wait_ready()


def test_a_card_that_dies_ends_the_wait(qemu: Path, built_card: Callable[..., Path], tmp_path: Path) -> None:
    with (
        pytest.raises(CardError) as error,
        CardProcess(built_card(), "--wire", "0=none") as card,
        Machine(qemu, Image.build(tools.SUITES[0]), tmp_path, card.socket, watch=card.check) as machine,
    ):
        machine.wait_ready()
        os.kill(card.pid, signal.SIGKILL)
        machine.run("sleep 100")
    assert error.value.status == -signal.SIGKILL
