# SPDX-License-Identifier: Apache-2.0
"""What pytest's summary says of machines, and which of their logs are kept."""

from __future__ import annotations

from pathlib import Path

import machine_report
import pytest
from machine_report import Boot, Record, run_folder
from meridian_machine.computer import Computer
from meridian_machine.machine import Machine
from meridian_machine.sd_machine import SdMachine


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Record:
    """Of this test alone."""
    mine = Record()
    monkeypatch.setattr(machine_report, "record", mine)
    monkeypatch.setattr(machine_report, "KEPT", tmp_path / "kept")
    return mine


def kept(record: Record) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for folder in record.kept
        for path in folder.rglob("*")
        if path.is_file()
    }


def leave_logs(folder: Path) -> None:
    (folder / "ps").mkdir()
    (folder / "console.log").write_text("up")
    (folder / "ps" / "console.log").write_text("down")
    (folder / "a-link").symlink_to("console.log")


def test_logs_of_a_test_that_passes_are_removed(record: Record) -> None:
    with run_folder() as folder:
        leave_logs(folder)
    assert not folder.exists()
    assert not record.kept


def test_logs_are_kept_when_the_test_raises_inside(record: Record) -> None:
    with pytest.raises(AssertionError, match="as meant"), run_folder() as folder:
        leave_logs(folder)
        raise AssertionError("as meant")
    assert not folder.exists()
    assert kept(record) == {"console.log": "up", "ps/console.log": "down"}


def test_logs_of_a_shared_machine_are_kept_when_one_of_its_tests_has_failed(record: Record) -> None:
    with run_folder() as folder:
        leave_logs(folder)
        record.failures += 1
    assert kept(record) == {"console.log": "up", "ps/console.log": "down"}


def test_a_file_that_is_no_log_is_left_out(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_report, "LARGEST", 3)
    with pytest.raises(KeyError), run_folder() as folder:
        leave_logs(folder)
        raise KeyError
    assert kept(record) == {"console.log": "up"}


def test_a_boot_is_timed_and_a_second_start_is_told(record: Record) -> None:
    keep_logs = record.noting_a_spoilt_start(lambda name: None)

    def boot(spoilt: bool) -> str:
        if spoilt:
            keep_logs("first")
        return "a machine"

    timed = record.timed(boot)
    for record.test, spoilt in (("a.py::one", False), ("a.py::two", True), ("b.py::one", False)):
        assert timed(spoilt) == "a machine"
    assert [boot.again for boot in record.boots] == [False, True, False]
    record.boots = [Boot(boot.test, 12.3, boot.again) for boot in record.boots]
    assert list(record.lines()) == [
        "a.py: 12 12 s to boot",
        "b.py: 12 s to boot",
        "a.py::two: the emulator spoilt the first start of a machine, the second one succeeded",
    ]


def test_this_run_records_each_way_to_boot() -> None:
    """The plug-in has wrapped them, so that pytest's summary has what the machines of all tests take."""
    for call in (Computer.boot, SdMachine.wait_up, Machine.keep_logs):
        assert call.__wrapped__.__module__.startswith("meridian_machine."), call  # type: ignore[attr-defined]


def test_a_boot_that_fails_is_told_with_its_time(record: Record) -> None:
    def boot() -> None:
        raise OSError("as meant")

    with pytest.raises(OSError, match="as meant"):
        record.timed(boot)()
    assert [boot.failed for boot in record.boots] == [True]
    record.boots = [Boot(record.test, 61.7, failed=True)]
    assert list(record.lines()) == ["no test: a machine did not boot, after 62 s"]


def test_a_report_carries_what_a_worker_noted(record: Record, tmp_path: Path) -> None:
    """Workers of pytest-xdist send reports to the process that prints the summary, and nothing else."""
    record.boots = [Boot("a.py::one", 12.3), Boot("a.py::one", 45.6, again=True), Boot("a.py::one", 7.8, failed=True)]
    record.kept = [tmp_path]
    summary = Record()
    summary.add("a.py::one", record.take())
    assert list(summary.lines()) == [
        "a.py: 12 46 s to boot",
        "a.py::one: the emulator spoilt the first start of a machine, the second one succeeded",
        "a.py::one: a machine did not boot, after 8 s",
        f"logs of a test that failed: {tmp_path}",
    ]
    assert record.take() == [], "what was told once is not told again"
