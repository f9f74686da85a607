# SPDX-License-Identifier: Apache-2.0
"""The command line of the self-test program, and what it puts back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from meridian_selftest import changes, registers, system
from meridian_selftest.main import main

TOOLS = Path(__file__).resolve().parents[2] / "host-driver" / "tools"
PROGRAM = TOOLS / "meridian-selftest"


def run(*words: str, root: Path = Path("/nowhere")) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(PROGRAM), *words],
        env=os.environ | {"MERIDIAN_FAKE_ROOT": str(root)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def pf(root: Path, address: str) -> None:
    place = root / "sys/bus/pci/devices" / address
    place.mkdir(parents=True)
    for name, value in (("vendor", "0x10ee"), ("device", "0x903f"), ("subsystem_device", "0x4d52")):
        (place / name).write_text(value)


@pytest.mark.parametrize(
    "words",
    [
        *(["--bogus"], ["--only", "bogus"], ["--device", "card"], ["--ports", "a"], ["--slow", "0"], ["word"]),
        *(["--cables", "0"], ["--cables", "0-a"], ["--cables", "1-1"], ["--cables", "0-1,1-2"]),
        ["--cables", "0-1", "--loop-plugs", "1"],
    ],
)
def test_a_wrong_command_line_is_status_2(words: list[str]) -> None:
    done = run(*words)
    assert done.returncode == 2 and "error:" in done.stderr


def test_help_names_what_each_check_changes() -> None:
    text = run("--help").stdout
    assert "vf: makes a VF" in text and "--no-disturb" in text and "Ctrl-C" in text


def test_the_list_has_every_check_once() -> None:
    names = [line.split()[0] for line in run("--list").stdout.splitlines()]
    assert len(set(names)) == len(names) > 15
    assert {"bars", "link", "counters", "dma-pattern"} <= set(names)


def test_the_program_refuses_to_run_without_root(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert main(["--quick"]) == 2
    assert capsys.readouterr() == ("", "meridian-selftest: it needs the rights of root: run it with sudo\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="the program wants root")
class TestAsRoot:
    def test_no_card_is_a_fault(self, tmp_path: Path) -> None:
        done = run(root=tmp_path)
        assert done.returncode == 1
        (line,) = (line for line in done.stdout.splitlines() if not line.startswith("#"))
        assert line.startswith("FAIL  card ") and "/sys/bus/pci/rescan" in line

    def test_several_cards_need_a_choice(self, tmp_path: Path) -> None:
        for address in ("0000:3b:00.0", "0000:5e:00.0"):
            pf(tmp_path, address)
        done = run(root=tmp_path)
        assert done.returncode == 2 and "--device: 0000:3b:00.0, 0000:5e:00.0" in done.stderr
        done = run("--device", "0000:01:00.0", root=tmp_path)
        assert done.returncode == 2 and "is no PF of a Meridian card" in done.stderr
        assert run("--device", "0000:5e:00.0", "--only", "driver", root=tmp_path).returncode == 1

    def test_the_json_report_has_each_check_and_the_sums(self, tmp_path: Path) -> None:
        pf(tmp_path, "0000:3b:00.0")
        done = run("--json", "--only", "driver", "--only", "phc", root=tmp_path)
        report = json.loads(done.stdout)
        assert [(check["name"], check["result"]) for check in report["checks"]] == [("driver", "FAIL"), ("phc", "SKIP")]
        assert (report["card"], report["fail"], report["skip"], done.returncode) == ("0000:3b:00.0", 1, 1, 1)


CHANGE = """
    import signal, sys, time
    from pathlib import Path
    from meridian_selftest import changes
    for number in changes.SIGNALS:
        signal.signal(number, signal.SIG_DFL)  # the shell that runs the tests may ignore some
    changes.watch_signals()
    try:
        with changes.written(Path(sys.argv[1]), "1"):
            print("changed", flush=True)
            time.sleep(60)
    except changes.Ended as ended:
        print(f"ended by {ended}")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_was_changed_is_put_back_after_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    file = tmp_path / "numvfs"
    file.write_text("0\n")
    command = [sys.executable, "-c", textwrap.dedent(CHANGE), str(file)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(TOOLS)}
    ) as it:
        assert it.stdout and it.stdout.readline() == "changed\n"
        assert file.read_text() == "1"
        it.send_signal(number)
        text, _ = it.communicate(timeout=30)
    assert text == f"ended by {number.name}\n"
    assert file.read_text() == "0"


def test_a_reader_who_goes_away_is_no_failing_check(tmp_path: Path) -> None:
    """As `meridian-selftest | head`: the pipe is closed before the first line."""
    pf(tmp_path, "0000:03:00.0")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        done = subprocess.run(
            [sys.executable, str(PROGRAM), "--only", "map"],
            env=os.environ | {"MERIDIAN_FAKE_ROOT": str(tmp_path)},
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            timeout=30,
            check=False,
        )
    assert (done.returncode, done.stderr) == (2, "")


def test_a_package_without_its_register_map_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pf(tmp_path, "0000:03:00.0")
    monkeypatch.setattr(system, "ROOT", tmp_path)
    monkeypatch.setattr(system, "PCI", tmp_path / "sys/bus/pci/devices")
    monkeypatch.setattr(registers, "_PLACES", (tmp_path,))
    monkeypatch.setattr(changes, "watch_signals", lambda: None)
    assert main(["--only", "map"]) == 2
    assert "install the package meridian-tools again" in capsys.readouterr().err
