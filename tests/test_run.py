# SPDX-License-Identifier: Apache-2.0
"""How make test runs its suites: what is built early, and how a run that is broken off ends."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import run
from machine_summary import Boots, lines
from meridian_twin.patience import deadline_in, stretched
from run import Early, Suite

WAIT = 20.0


def until(done: Callable[[], bool], what: str) -> None:
    deadline = deadline_in(WAIT)
    while not done():
        assert time.monotonic() < deadline, f"{what} did not come in {stretched(WAIT):.0f} s"
        time.sleep(0.02)


def shell(name: str, script: str, early: bool = True) -> Suite:
    return Suite(name, ["bash", "-c", script], 1, early=early)


def gone(file: Path) -> bool:
    """Whether the process whose number is in the file has ended; one that nobody has waited for has."""
    try:
        return Path(f"/proc/{file.read_text().strip()}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


PLAIN = shell("tests", "true", early=False)


def test_early_suites_run_one_after_another_and_leave_their_output(tmp_path: Path) -> None:
    log = tmp_path / "reports" / "early.log"
    first = shell("first", f"sleep 0.3; echo one; touch {tmp_path}/first")
    second = shell("second", f"test -e {tmp_path}/first && echo two >&2")
    with Early([PLAIN, first, second], log):
        until(lambda: log.exists() and log.read_text() == "one\ntwo\n", "the output of both")


def test_a_suite_that_fails_early_stops_no_other(tmp_path: Path) -> None:
    with Early([PLAIN, shell("first", "exit 3"), shell("second", f"touch {tmp_path}/second")], tmp_path / "log"):
        until((tmp_path / "second").exists, "the second suite")


def test_nothing_is_built_early_for_the_first_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With ONLY=QEMU its own run builds it, and shows its progress."""
    with Early([shell("QEMU", f"touch {tmp_path}/built")], tmp_path / "log"):
        pass
    assert not (tmp_path / "built").exists() and not (tmp_path / "log").exists()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("stubborn", [False, True])
def test_an_early_suite_ends_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stubborn: bool) -> None:
    monkeypatch.setattr(run, "END_SECONDS", 1)
    deaf = "trap '' TERM; " if stubborn else ""
    first = shell("first", f"{deaf}echo $$ >{tmp_path}/pid; while true; do sleep 0.1; done")
    second = shell("second", f"touch {tmp_path}/second")
    with pytest.raises(KeyboardInterrupt), Early([PLAIN, first, second], tmp_path / "log"):
        until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "", "the first suite")
        raise KeyboardInterrupt
    pid = (tmp_path / "pid").read_text().strip()
    until(lambda: not Path(f"/proc/{pid}").exists(), "the end of the first suite")
    assert not (tmp_path / "second").exists()


def test_programs_and_images_of_machines_are_built_early() -> None:
    early = {suite.name for suite in run.suites(long=False) if suite.early}
    images = {f"image of a {what}" for what in ("host", "host with DPDK", "PS")}
    assert early == {"DPDK", "busybox of the card", "QEMU", *images}
    assert {suite.name for suite in run.suites(long=True) if suite.early} == early | {"SD card of a PS"}


def leaves(folder: Path, then: str) -> str:
    """A script that begins a process which does not listen, and writes its number to folder/pid."""
    return f"(trap '' INT TERM; echo $BASHPID >{folder}/new; mv {folder}/new {folder}/pid; while true; do sleep 0.1; done) & {then}"


def test_processes_of_an_early_suite_end_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "END_SECONDS", 1)
    with Early([PLAIN, shell("first", leaves(tmp_path, "wait"))], tmp_path / "log"):
        until((tmp_path / "pid").exists, "the first suite")
    until(lambda: gone(tmp_path / "pid"), "the end of what the first suite has begun")


def test_a_report_that_was_not_ended_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "whole.xml").write_text('<testsuite><testcase name="a"/></testsuite>')
    (tmp_path / "cut.xml").write_text('<testsuite><testcase name="b"/>')
    assert run.count(tmp_path) == (1, 1, 0)


@pytest.mark.parametrize(
    ("skips", "last"), [(2, ["2 skipped", "1 passed, 0 failed"]), (0, ["0 skipped", "1 passed, 0 failed"])]
)
def test_skips_are_counted_before_the_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], skips: int, last: list[str]
) -> None:
    monkeypatch.setattr(run, "REPORTS", tmp_path / "reports")
    monkeypatch.setattr(run.os, "chdir", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["run.py"])
    cases = '<testcase name=\\"a\\"/>' + skips * '<testcase name=\\"b\\"><skipped/></testcase>'
    script = f'echo "<testsuite>{cases}</testsuite>" >{tmp_path}/reports/one/junit.xml'
    suite = Suite("one", ["bash", "-c", script], 1, tmp_path / "reports" / "one")
    monkeypatch.setattr(run, "suites", lambda long: [suite])
    assert run.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == last
    assert f"=== one: 1 passed, 0 failed, {skips} skipped, " in "\n".join(lines)


def test_the_last_lines_have_the_processor_time_of_each_suite_and_of_what_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    busy = "import time\nwhile time.process_time() < 1: pass"
    monkeypatch.setattr(run, "REPORTS", tmp_path / "reports")
    monkeypatch.setattr(run.os, "chdir", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["run.py"])
    works = Suite("works", ["bash", "-c", f"{sys.executable} -c '{busy}'; true"], 1)
    monkeypatch.setattr(run, "suites", lambda long: [works, shell("sleeps", "sleep 1")])
    assert run.main() == 0
    told = {line.split()[-1]: line.split()[:-1] for line in capsys.readouterr().out.splitlines() if " s  " in line}
    assert int(told["works"][2]) in (1, 2) and told["sleeps"][2] == "0", told


SIGNALLED = """
import signal, sys
from pathlib import Path
import run
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the shell that runs the tests may ignore it
folder = Path(sys.argv[1])
first = run.Suite("first", ["bash", "-c", f"echo $$ >{folder}/new; mv {folder}/new {folder}/pid; sleep 60"], 1, early=True)
run.REPORTS = folder / "reports"
run.suites = lambda long: [run.Suite("tests", ["sleep", "60"], 1), first]
sys.argv = ["run.py"]
run.main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_early_suite(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-c", SIGNALLED, str(tmp_path)]
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(Path(run.__file__).parent)}) as it:
        until((tmp_path / "pid").exists, "the first suite")
        it.send_signal(number)
        assert it.wait(stretched(WAIT)) == 128 + number
    until(lambda: gone(tmp_path / "pid"), "the end of the first suite")


@pytest.mark.parametrize("trap", ["true", "trap '' TERM"], ids=["that listens", "that does not"])
def test_a_suite_that_takes_too_long_ends_with_what_it_has_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trap: str
) -> None:
    monkeypatch.setattr(run, "END_SECONDS", 0.5)
    begins = f"echo \\$\\$ >{tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid"
    script = f'bash -c "{trap}; {begins}; while sleep 0.1; do :; done" & wait'
    begun = time.monotonic()
    passed, failed, skipped, processor = run.run(Suite("slow", ["bash", "-c", script], 2 / 60))
    assert (passed, failed, skipped) == (0, 1, 0) and math.isnan(processor)
    assert time.monotonic() - begun < WAIT
    until(lambda: gone(tmp_path / "pid"), "the end of what the suite has begun")


def test_a_command_that_has_ended_is_not_too_late_though_the_runner_was_held_up() -> None:
    with subprocess.Popen(["true"]) as process:
        time.sleep(0.5)
        assert run.wait(process, 0)[0] == 0


def test_a_run_that_is_broken_off_ends_its_suite(tmp_path: Path) -> None:
    script = f"bash -c 'echo $$ >{tmp_path}/pid; sleep 1000' & wait"
    program = "import sys, signal, run\nsignal.signal(15, lambda *_: sys.exit(143))\n"
    program += f"run.run(run.Suite('slow', ['bash', '-c', {script!r}], 1))"
    with subprocess.Popen([sys.executable, "-c", program], cwd=Path(run.__file__).parent) as runner:
        until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "", "the suite")
        runner.send_signal(signal.SIGTERM)
        assert runner.wait(stretched(WAIT)) == 143
    until(lambda: gone(tmp_path / "pid"), "the end of what the suite had begun")


def test_a_crash_of_a_worker_ends_the_suite(tmp_path: Path) -> None:
    slow = "@pytest.mark.parametrize('n', range(20))\ndef test_this(n):\n    time.sleep(0.05)"
    for name, then in (("first", "\n    if n == 7: os.abort()"), *((name, "") for name in "abc")):
        (tmp_path / f"test_{name}.py").write_text(f"import os, time, pytest\n{slow}{then}\n")
    command = [sys.executable, "-m", "pytest", "-q", *run.SIDE_BY_SIDE, "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "crashed while running 'test_first.py::test_this[7]'" in done.stdout


#: A test that has machines, as tests/machine_report.py notes them.
WITH_MACHINES = """
import machine_report
from machine_report import Boot

def test_one():
    machine_report.record.boots += [Boot("", 40.0), Boot("", 50.0), Boot("", 130.0, again=True)]

def test_two():
    machine_report.record.boots += [Boot("", 300.2, failed=True)]
    assert False, "no machine"
"""


def test_the_last_lines_have_each_boot_each_second_start_and_each_failed_boot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As pytest leaves them in its JUnit file, and only of suites that had a machine."""
    reports = tmp_path / "reports"
    (tmp_path / "test_machines.py").write_text(WITH_MACHINES)
    (tmp_path / "test_none.py").write_text("def test_it():\n    pass\n")

    def suite(name: str) -> Suite:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "machine_report", f"test_{name}.py"]
        command += ["-p", "no:cacheprovider", f"--rootdir={tmp_path}", f"--junitxml={reports / name / 'junit.xml'}"]
        return Suite(name, ["bash", "-c", f'cd "{tmp_path}" && exec "$@"', "sh", *command], 1, reports / name)

    monkeypatch.setenv("PYTHONPATH", f"{Path(run.__file__).parent}:{os.environ['PYTHONPATH']}")
    monkeypatch.setattr(run, "REPORTS", reports)
    monkeypatch.setattr(run.os, "chdir", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["run.py"])
    monkeypatch.setattr(run, "suites", lambda long: [suite("none"), suite("machines")])
    assert run.main() == 1
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("machines of ")]
    times = "in 50 s (median) and 130 s at most, 220 s in all"
    assert told == [f"machines of machines: 3 booted, {times}; 1 at the second start; 1 did not boot, after 300 s"]


def test_machines_of_several_suites_are_summed_up() -> None:
    suites = [("a", Boots([40.0, 60.0])), ("b", Boots()), ("c", Boots([], [], [20.0, 30.0]))]
    up, down = "2 booted, in 50 s (median) and 60 s at most, 100 s in all", "2 did not boot, after 20 30 s"
    assert lines(suites) == [
        f"machines of a: {up}; 0 at the second start; 0 did not boot",
        f"machines of c: 0 booted; 0 at the second start; {down}",
        f"machines of all suites: {up}; 0 at the second start; {down}",
    ]
    assert suites[0][1] == Boots([40.0, 60.0]), "the sum is another"
    assert lines(suites[1:2]) == []
