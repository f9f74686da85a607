# SPDX-License-Identifier: Apache-2.0
"""make program takes the card off the bus and finds it again, and the port above is as before however that ends.

The host is a folder, its kernel a thread, and setpci a program of the test (fake_host.py).
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from fake_host import BARS, PFS, PORT, REGISTERS, VFS, FakeHost
from vivado_stub import ROOT

pytestmark = pytest.mark.vivado
UNPLUG = ROOT / "vivado/unplug.py"
#: The port above reports nothing: which bits are set in its registers, and which are not.
MASKED = {
    "COMMAND": (0, 0x100), "CAP_EXP+8.w": (0, 0xF), "ECAP_AER+8.l": (0x20, 0), "ECAP_AER+14.l": (0x1, 0),
    "ECAP001d+6.w": (0, 0x3),
}  # fmt: skip
SECONDS = 30


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Callable[..., FakeHost]]:
    hosts = []

    def make(**words: object) -> FakeHost:
        hosts.append(FakeHost(tmp_path / "host", **words))
        return hosts[-1]

    yield make
    for each in hosts:
        each.close()


class Unplug:
    """The program under way."""

    def __init__(self, host: FakeHost, *words: str, terminal: bool = False) -> None:
        self.host = host
        ours, theirs = os.openpty() if terminal else (None, subprocess.PIPE)
        self.process = subprocess.Popen(
            [str(UNPLUG), *words], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=host.environment,
        )  # fmt: skip
        self.terminal = ours
        if terminal:
            os.close(theirs)

    def ready(self) -> None:
        assert self.process.stdout.readline() == "off the bus\n", self.process.communicate(timeout=SECONDS)

    def fails_to_answer(self) -> None:
        """What the port sees of a card that has gone."""
        self.host.set_registers({"CAP_EXP+a.w": "000d", "ECAP_AER+4.l": "00000020", "ECAP_AER+10.l": "00000001"})

    def end(self, line: str | None = "\n") -> tuple[int, str]:
        if self.terminal is not None:
            if line:
                os.write(self.terminal, line.encode())
            line = None
        _, said = self.process.communicate(line, timeout=SECONDS)
        if self.terminal is not None:
            os.close(self.terminal)
        return self.process.returncode, said


def test_a_card_is_taken_off_and_found_again(host: Callable[..., FakeHost]) -> None:
    here = host()
    here.make_vfs()
    unplug = Unplug(here)
    unplug.ready()
    assert here.here() == []
    for name, (ones, zeros) in MASKED.items():
        value = int(here.registers()[name], 16)
        assert value & ones == ones and not value & zeros, name
    unplug.fails_to_answer()
    status, said = unplug.end()
    assert status == 0, said
    assert f"the card is back, x8 at 8.0 GT/s PCIe: {PFS[0]} (meridian)" in said
    assert f"{PFS[0]} loses its 2 VFs" in said
    # What the port saw meanwhile is cleared, what it had seen before is not, and it reports as before.
    assert here.registers() == REGISTERS
    events = here.events()
    masked = max(n for n, event in enumerate(events) if event.startswith("setpci") and n < events.index("rescan"))
    assert masked < events.index(f"sriov_numvfs {PFS[0]}") < events.index(f"remove {PFS[0]}") < events.index("rescan")
    assert {f"remove {address}" for address in (*PFS, *VFS)} <= set(events)
    assert here.here() == PFS


def test_a_port_without_aer_and_dpc_is_put_back(host: Callable[..., FakeHost]) -> None:
    here = host()
    kept = {name: value for name, value in REGISTERS.items() if not name.startswith("ECAP")}
    for name in REGISTERS.keys() - kept:
        (here.root / "registers" / name).unlink()
    unplug = Unplug(here)
    unplug.ready()
    status, said = unplug.end()
    assert status == 0 and here.registers() == kept, said


def test_a_card_without_a_port_above_is_unplugged_alone(host: Callable[..., FakeHost]) -> None:
    """The card is on a root bus, and the other devices there stay."""
    here = host(port=False)
    here.add("0000:00:1f.0", {}, vendor="0x8086", device="0x1234")
    unplug = Unplug(here)
    unplug.ready()
    assert here.here() == ["0000:00:1f.0"]
    status, said = unplug.end()
    assert status == 0 and "no reports of errors are masked" in said, said
    assert not [event for event in here.events() if event.startswith("setpci")]


@pytest.mark.parametrize(
    ("line", "number", "terminal"),
    [
        ("failed\n", None, False), ("", None, False), ("", signal.SIGTERM, False), (None, signal.SIGINT, True),
        (None, signal.SIGHUP, True),
    ],
    ids=["not programmed", "end of input", "SIGTERM", "Ctrl-C at a terminal", "terminal closed"],
)  # fmt: skip
def test_the_port_is_put_back_however_it_ends(
    host: Callable[..., FakeHost], line: str | None, number: signal.Signals | None, terminal: bool
) -> None:
    here = host()
    unplug = Unplug(here, terminal=terminal)
    unplug.ready()
    if number:
        unplug.process.send_signal(number)
    status, said = unplug.end(line)
    assert status == (1 if number else 0), said
    assert here.registers() == REGISTERS and here.here() == PFS, said


def test_ctrl_c_does_not_end_it_before_the_program_that_programs(host: Callable[..., FakeHost]) -> None:
    here = host()
    unplug = Unplug(here)
    unplug.ready()
    unplug.process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert unplug.process.poll() is None and here.here() == []
    status, said = unplug.end()
    assert status == 0, said


def test_a_user_at_a_terminal_is_asked_to_press_enter(host: Callable[..., FakeHost]) -> None:
    unplug = Unplug(host(), terminal=True)
    unplug.ready()
    status, said = unplug.end()
    assert status == 0 and "then press Enter here" in said, said


def test_a_function_that_a_program_uses_is_unplugged_by_force_only(host: Callable[..., FakeHost]) -> None:
    here = host()
    here.make_vfs()
    here.bind(VFS[0], "vfio-pci")
    here.use(VFS[1], 4711, "dpdk-testpmd")
    status, said = Unplug(here).end()
    assert status == 1 and f"{VFS[1]} is in use by dpdk-testpmd (process 4711): end it first" in said, said
    assert here.events() == [] and VFS[1] in here.here()
    unplug = Unplug(here, "--force")
    unplug.ready()
    status, said = unplug.end()
    assert status == 0 and f"{VFS[1]} is taken from dpdk-testpmd (process 4711)" in said, said


def test_a_function_that_the_kernel_does_not_let_go_ends_the_command(host: Callable[..., FakeHost]) -> None:
    """The write waits for ever, as for a program that does not close a function of VFIO."""
    here = host()
    remove = here.by_address / PFS[2] / "remove"
    remove.unlink()
    os.mkfifo(remove)
    status, said = Unplug(here).end()
    assert status == 1 and "the kernel does not end the write of 1" in said, said
    assert here.registers() == REGISTERS and here.here() == PFS, said
    os.close(os.open(remove, os.O_RDONLY | os.O_NONBLOCK))  # The writer ends.


def test_a_write_that_the_kernel_refuses_ends_the_command(host: Callable[..., FakeHost]) -> None:
    here = host()
    remove = here.by_address / PFS[3] / "remove"
    remove.unlink()
    remove.symlink_to("/dev/full")
    status, said = Unplug(here).end()
    assert status == 1 and f"{PFS[3]}/remove does not take 1: No space left on device" in said, said
    assert here.registers() == REGISTERS


def test_a_locked_kernel_is_named_as_the_reason(host: Callable[..., FakeHost]) -> None:
    here = host()
    (here.root / "locked").touch()
    status, said = Unplug(here).end()
    assert status == 1 and "Operation not permitted. The kernel may be locked down" in said, said
    assert "restart the host" not in said
    assert here.here() == PFS


@pytest.mark.parametrize(
    ("after", "sentence"),
    [
        ({"back": [], "trains": 0}, f"there is no card behind port {PORT}; its link has not trained"),
        ({"back": []}, "its link has trained (x8 at 8.0 GT/s PCIe), so the card answers too late or not at all"),
        ({"bars": {**BARS, 2: 0}}, f"got no addresses for BAR 2; before it had 4 MiB: the window of port {PORT} is too small"),
    ],
    ids=["link down", "silent", "window too small"],
)  # fmt: skip
def test_a_card_that_does_not_come_back_whole_asks_for_a_restart_of_the_host(
    host: Callable[..., FakeHost], after: dict[str, object], sentence: str
) -> None:
    here = host()
    unplug = Unplug(here)
    unplug.ready()
    for name, value in after.items():
        setattr(here, name, value)
    status, said = unplug.end()
    assert status == 1 and sentence in said and "without taking the card's power away" in said, said
    assert here.registers() == REGISTERS


def test_changes_by_another_bitstream_are_reported(host: Callable[..., FakeHost]) -> None:
    """Fewer PFs, larger BARs that have found room, and no room for the BARs of VFs."""
    here = host()
    unplug = Unplug(here)
    unplug.ready()
    here.back, here.bars = PFS[:1], {0: 256 << 10, 2: 16 << 20}
    status, said = unplug.end()
    assert status == 0, said
    assert "BAR 2 of 0000:01:00.0 has 16 MiB now, and had 4 MiB" in said
    assert "got no addresses for BAR 0 of its VFs: VFs need a restart of the host" in said
    assert "there were 4 PFs before" in said


def test_one_of_several_cards_has_to_be_named(host: Callable[..., FakeHost]) -> None:
    here = host()
    second = here.top / "0000:00:02.0"
    here.add("0000:00:02.0", {}, vendor="0x8086", device="0x2031", path=second)
    here.add("0000:02:00.0", BARS, vendor="0x10ee", device="0x903f", path=second / "0000:02:00.0")
    status, said = Unplug(here).end()
    assert status == 1 and "there are cards at 0000:01:00, 0000:02:00: name one" in said, said
    status, said = Unplug(here, "--card", "03:00.0").end()
    assert status == 1 and "there is no 03:00.0 on the bus" in said, said
    unplug = Unplug(here, "--card", "01:00.0")
    unplug.ready()
    assert here.here() == ["0000:00:02.0", "0000:02:00.0"]
    assert unplug.end()[0] == 0


def test_a_host_without_a_card_ends_with_status_3(host: Callable[..., FakeHost]) -> None:
    """The host has another design of AMD's, which may be the card as it was delivered."""
    here = host(back=[])
    here.add("0000:01:00.0", BARS, vendor="0x10ee", device="0x5020")
    status, said = Unplug(here).end()
    assert status == 3 and "no Meridian card on its PCIe bus. It has AMD's 0000:01:00.0" in said, said


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What scripts/bitstream needs to program, with a bitstream."""
    folder = tmp_path / "tree"
    for name in ("scripts/bitstream", "scripts/lib/env.sh", "scripts/requirements/tests.txt", "spinal/project/build.properties",
                 "vivado/boards", "vivado/unplug.py"):  # fmt: skip
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    bit = folder / "build/vivado/zcu106/meridian-zcu106.bit"
    bit.parent.mkdir(parents=True)
    bit.touch()
    return folder


def vivado(host: FakeHost, text: str) -> None:
    program = host.programs / "vivado"
    program.write_text(f'#!/usr/bin/env bash\necho "vivado $*" >>{host.root}/events\n{text}\n')
    program.chmod(0o755)


def program(tree: Path, host: FakeHost, *words: str) -> tuple[int, str]:
    command = [str(tree / "scripts/bitstream"), "program", "zcu106", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=host.environment)
    return done.returncode, done.stdout + done.stderr


def test_make_program_unplugs_programs_and_rescans_in_this_order(tree: Path, host: Callable[..., FakeHost]) -> None:
    here = host()
    vivado(here, "true")
    status, said = program(tree, here, "--card", "0000:01:00.0", "--force", "far:3121")
    assert status == 0 and "the card is back" in said, said
    events = here.events()
    (run,) = (n for n, event in enumerate(events) if event.startswith("vivado"))
    assert events[run].endswith("meridian-zcu106.bit far:3121")
    assert events.index(f"remove {PFS[0]}") < run < events.index("rescan")
    assert here.registers() == REGISTERS


def test_card_and_port_are_put_back_if_vivado_fails(tree: Path, host: Callable[..., FakeHost]) -> None:
    here = host()
    vivado(here, "exit 1")
    status, said = program(tree, here)
    assert status == 1 and "the card was not programmed; Vivado's log:" in said, said
    assert here.registers() == REGISTERS and here.here() == PFS


@contextmanager
def programming(tree: Path, host: FakeHost) -> Iterator[subprocess.Popen[str]]:
    """The script in a session of its own, when it has started Vivado. Whatever is left of the session ends."""
    # What is started in the background may have been told to ignore SIGINT.
    command = ["env", "--default-signal=INT", str(tree / "scripts/bitstream"), "program", "zcu106"]
    process = subprocess.Popen(command, env=host.environment, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        end = time.monotonic() + SECONDS
        while not [event for event in host.events() if event.startswith("vivado")]:
            assert time.monotonic() < end
            time.sleep(0.02)
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(SECONDS)


def test_ctrl_c_while_vivado_runs_puts_card_and_port_back(tree: Path, host: Callable[..., FakeHost]) -> None:
    """All processes of the terminal get it."""
    here = host()
    vivado(here, "exec sleep 60")  # a shell that is about to start a program may wait for its end first
    with programming(tree, here) as process:
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=SECONDS)
    assert process.returncode != 0
    assert here.registers() == REGISTERS and here.here() == PFS, said


def test_the_bus_is_put_back_after_vivado_if_the_script_is_ended_before(
    tree: Path, host: Callable[..., FakeHost]
) -> None:
    """The port stays masked and the bus as it is until Vivado has ended, which goes on."""
    here = host()
    vivado(here, f"sleep 2; echo programmed >>{here.root}/events")
    with programming(tree, here) as process:
        process.terminate()
        process.wait(timeout=SECONDS)
        end = time.monotonic() + SECONDS
        while "rescan" not in here.events() or here.registers() != REGISTERS:
            assert time.monotonic() < end, here.events()
            time.sleep(0.02)
    events = here.events()
    assert events.index("programmed") < events.index("rescan"), events


def test_a_card_in_another_host_needs_the_option_absent(tree: Path, host: Callable[..., FakeHost]) -> None:
    here = host(back=[])
    vivado(here, "true")
    status, said = program(tree, here)
    assert status == 3 and "run 'scripts/bitstream unplug' there first" in said, said
    assert here.events() == []
    # ABSENT=1 is --absent.
    shown = subprocess.run(
        ["make", "-n", "program", "BOARD=zcu106", "ABSENT=1", "CARD=3b:00.0"],
        cwd=ROOT, capture_output=True, text=True, timeout=20, check=True,
    ).stdout  # fmt: skip
    assert re.search(r'program "zcu106" --card "3b:00.0" +--absent', shown), shown
    status, said = program(tree, here, "--absent")
    assert status == 0 and "now press Enter at 'scripts/bitstream unplug'" in said, said
    assert len(here.events()) == 1


def test_the_script_unplugs_and_finds_the_card_again(tree: Path, host: Callable[..., FakeHost]) -> None:
    command = [str(tree / "scripts/bitstream"), "unplug", "--card", "0000:01:00.0"]
    done = subprocess.run(
        command, input="\n", capture_output=True, text=True, timeout=SECONDS, check=False, env=host().environment
    )
    assert done.returncode == 0 and "the card is back" in done.stderr, done.stderr
