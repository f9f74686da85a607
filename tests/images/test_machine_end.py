# SPDX-License-Identifier: Apache-2.0
"""How a machine's end is told: a script stands in for QEMU, so that it may end when and as the test likes."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from meridian_machine import Image, Machine, MachineError, MachineTimeout
from meridian_machine.machine import RACE
from meridian_machine.sd_machine import listening_port
from meridian_twin.patience import stretched

Begin = Callable[[str], Machine]
PANIC = "Kernel panic - not syncing: sysrq triggered crash"


@pytest.fixture
def begin(tmp_path: Path) -> Begin:
    """A machine whose QEMU is a script; `told` in it waits for a line at the control port."""
    image = Image(tmp_path / "image")
    image.folder.mkdir()
    image.early.write_bytes(b"")
    (image.folder / "release").write_text("6.12\n")

    def run(script: str) -> Machine:
        program = tmp_path / "qemu"
        # The first port that QEMU is given is the control port.
        port = r"""[[ "$*" =~ socket,id=twin-control,fd=([0-9]+) ]] && port=${BASH_REMATCH[1]}"""
        told = 'told() { read -r _ <&"$port"; }'
        program.write_text(f"#!/bin/bash\n{port}\n{told}\nconsole={tmp_path}/console.log\n{script}\n")
        program.chmod(0o755)
        return Machine(program, image, tmp_path)

    return run


def wait_ended(machine: Machine) -> None:
    """Not reaped, as nobody has asked for its status."""
    while Path(f"/proc/{machine.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)


@pytest.mark.parametrize("before", [False, True], ids=["told", "by itself"])
def test_a_machine_that_ends_in_order_is_off(begin: Begin, before: bool) -> None:
    with begin("exit 0" if before else "told; exit 0") as machine:
        if before:
            wait_ended(machine)
        machine.power_off()
    assert not Path(f"/proc/{machine.pid}").exists()


@pytest.mark.parametrize("before", [False, True], ids=["told", "by itself"])
@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        ("echo it is wrong >&2; exit 3", "QEMU ended with status 3: it is wrong"),
        ("kill -KILL $$", "QEMU ended with status -9: without a word"),
        (f"echo '{PANIC}' >$console; exit 0", "the machine's kernel panicked (sysrq triggered crash)"),
    ],
    ids=["status", "signal", "panic"],
)
def test_a_machine_that_ends_badly_says_why(begin: Begin, before: bool, end: str, sentence: str) -> None:
    with begin(end if before else f"told; {end}") as machine:
        if before:
            wait_ended(machine)
        with pytest.raises(MachineError, match=re.escape(sentence)):
            machine.power_off()
    assert not Path(f"/proc/{machine.pid}").exists()


def test_an_emulators_fault_costs_nothing_once_all_is_done(begin: Begin) -> None:
    with begin(f"told; echo {shlex.quote(RACE)} >&2; exit 134") as machine:
        machine.power_off()


def test_a_machine_that_does_not_end_is_told_and_ended(begin: Begin) -> None:
    sentence = f"not off {stretched(1):.0f} s after it was told"
    with begin("told; exec sleep 1000") as machine, pytest.raises(MachineTimeout, match=sentence):
        machine.power_off(1)
    assert not Path(f"/proc/{machine.pid}").exists()


def test_the_port_of_ssh_is_the_one_that_the_process_listens_at() -> None:
    with socket.socket() as ours, subprocess.Popen(["sleep", "60"]) as other:
        try:
            ours.bind(("127.0.0.1", 0))
            assert listening_port(os.getpid()) is None, "it is bound, but nobody listens"
            ours.listen()
            assert listening_port(os.getpid()) == ours.getsockname()[1]
            assert listening_port(other.pid) is None, "somebody else's"
        finally:
            other.kill()
    assert listening_port(other.pid) is None, "of one that has ended"
