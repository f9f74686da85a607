# SPDX-License-Identifier: Apache-2.0
"""How a command reaches a card's PS by ssh: here with an ssh of our own, as no machine is needed to see who tries again."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from meridian_machine import sd_machine
from meridian_machine.machine import MachineError
from meridian_machine.sd_machine import SdMachine
from meridian_twin.patience import stretched


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SdMachine]:
    """Of a process that does nothing; `ssh` fails as often as the file `refusals` has bytes, then runs the command."""
    (tmp_path / "ssh").write_text(
        '#!/bin/bash\necho "${@: -1}" >>"$0.log"\n'
        'if [ -s "${0%/*}/refusals" ]; then truncate -s -1 "${0%/*}/refusals"; echo refused >&2; exit 255; fi\n'
        'bash -c "${@: -1}"\n'
    )
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(sd_machine, "LOGIN_PAUSE", 0)
    one = SdMachine.__new__(SdMachine)
    one.folder, one.console, one._port = tmp_path, tmp_path / "console.log", 1
    one._key, one._watch, one._lets_in = tmp_path / "key", lambda: None, False
    one._process = subprocess.Popen(["sleep", "60"])
    yield one
    one.cut()


def tried(machine: SdMachine) -> list[str]:
    return (machine.folder / "ssh.log").read_text().splitlines()


def test_a_command_that_ends_with_the_status_of_ssh_runs_once(machine: SdMachine) -> None:
    assert machine.run("exit 255").status == 255
    assert tried(machine) == ["true", "exit 255"]
    assert machine.run("exit 3").status == 3
    assert tried(machine)[2:] == ["exit 3"]


def test_only_the_login_is_tried_again(machine: SdMachine) -> None:
    (machine.folder / "refusals").write_text("xxx")
    assert machine.run("echo done").text == "done\n"
    assert tried(machine) == ["true"] * 4 + ["echo done"]


def test_nobody_waits_for_a_machine_that_has_ended(machine: SdMachine) -> None:
    (machine.folder / "refusals").write_text("x" * 1000)
    machine.cut()
    with pytest.raises(MachineError, match="the machine ended with status -9"):
        machine.run("true")


def test_a_login_that_never_works_ends_with_the_words_of_ssh(
    machine: SdMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine.folder / "refusals").write_text("x" * 1000)
    monkeypatch.setattr(sd_machine, "LOGIN_SECONDS", 0.2)
    with pytest.raises(MachineError, match=f"does not log in within {stretched(0.2):g} s: refused"):
        machine.run("true")


def power_off_script(machine: SdMachine, script: str) -> None:
    """What systemctl is in the machine."""
    program = machine.folder / "systemctl"
    program.write_text(f"#!/bin/bash\n{script}\n")
    program.chmod(0o755)


def ended_with(machine: SdMachine, command: str) -> None:
    """The process of the machine is another one."""
    machine.cut()
    machine._errors = machine.folder / "qemu.log"
    machine._errors.write_text("it is wrong")
    machine._process = subprocess.Popen(["bash", "-c", command])


def test_a_machine_that_is_off_before_ssh_has_the_status_is_off(machine: SdMachine) -> None:
    ended_with(machine, f"until [ -e {machine.folder}/off ]; do sleep 0.02; done")
    power_off_script(machine, f"touch {machine.folder}/off; echo 'the connection is closed' >&2; exit 255")
    machine.power_off()


def test_a_machine_that_is_off_already_need_not_be_asked(machine: SdMachine) -> None:
    ended_with(machine, "exit 0")
    machine._process.wait()
    machine.power_off()
    assert not (machine.folder / "ssh.log").exists()


def test_a_machine_that_went_off_while_it_was_asked_is_off(machine: SdMachine) -> None:
    (machine.folder / "refusals").write_text("x" * 1000)
    ended_with(machine, "sleep 0.2")
    machine.power_off()


def test_a_machine_that_refuses_to_go_off_says_why(machine: SdMachine) -> None:
    power_off_script(machine, "echo 'no such bus' >&2; exit 1")
    with pytest.raises(MachineError, match="'systemctl --no-block poweroff' ended with status 1: no such bus"):
        machine.power_off()


def test_an_end_of_qemu_that_is_no_power_off_is_told(machine: SdMachine) -> None:
    ended_with(machine, "exit 3")
    machine._process.wait()
    with pytest.raises(MachineError, match="QEMU ended with status 3: it is wrong"):
        machine.power_off()
