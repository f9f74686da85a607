# SPDX-License-Identifier: Apache-2.0
"""The part of pytest's summary about machines: the time of each boot, each second start, and the logs that are kept."""

from __future__ import annotations

import functools
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from meridian_machine.computer import Computer
from meridian_machine.machine import Machine
from meridian_machine.sd_machine import SdMachine

KEPT = Path(__file__).resolve().parents[1] / "build" / "reports" / "logs"
#: A larger file is no log.
LARGEST = 50_000_000


@dataclass
class Boot:
    """seconds: until the machine took scripts, with the first start if it was started again."""

    test: str
    seconds: float
    again: bool = False


class Record:
    """What has happened since pytest began."""

    #: A property of a report for each boot: the time of a usual one, and that of one whose first start was spoilt.
    BOOT, SECOND_BOOT, LOGS = "boot_seconds", "second_boot_seconds", "kept_logs"

    def __init__(self) -> None:
        self.test = "no test"
        self.failures = 0
        self.spoilt_starts = 0
        self.boots: list[Boot] = []
        self.kept: list[Path] = []

    def timed(self, boot: Callable[..., Any]) -> Callable[..., Any]:
        """The same function; the time that it takes is noted if it succeeds."""

        @functools.wraps(boot)
        def call(*arguments: Any, **named: Any) -> Any:
            began, spoilt = time.monotonic(), self.spoilt_starts
            done = boot(*arguments, **named)
            self.boots.append(Boot(self.test, time.monotonic() - began, self.spoilt_starts > spoilt))
            return done

        return call

    def noting_a_spoilt_start(self, keep_logs: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(keep_logs)
        def call(*arguments: Any, **named: Any) -> Any:
            self.spoilt_starts += 1
            return keep_logs(*arguments, **named)

        return call

    def take(self) -> list[tuple[str, str]]:
        """The properties of what was noted since the last call; it is forgotten."""
        boots = [(self.SECOND_BOOT if b.again else self.BOOT, f"{b.seconds:.1f}") for b in self.boots]
        kept = [(self.LOGS, str(folder)) for folder in self.kept]
        self.boots.clear()
        self.kept.clear()
        return boots + kept

    def add(self, test: str, properties: list[tuple[str, str]]) -> None:
        """Notes what the report of a test has."""
        for name, value in properties:
            if name in (self.BOOT, self.SECOND_BOOT):
                self.boots.append(Boot(test, float(value), name == self.SECOND_BOOT))
            elif name == self.LOGS:
                self.kept.append(Path(value))

    def lines(self) -> Iterator[str]:
        """A line of figures for each file of tests, then one for each second start and each folder of logs."""
        of_file: dict[str, list[Boot]] = defaultdict(list)
        for boot in self.boots:
            of_file[boot.test.partition("::")[0]].append(boot)
        for name, boots in of_file.items():
            yield f"{name}: {' '.join(f'{boot.seconds:.0f}' for boot in boots)} s to boot"
        for boot in self.boots:
            if boot.again:
                yield f"{boot.test}: the emulator spoilt the first start of a machine, the second one succeeded"
        yield from (f"logs of a test that failed: {folder}" for folder in self.kept)


#: Of this process.
record = Record()
#: Of all workers, by their reports.
told = Record()


@contextmanager
def run_folder() -> Iterator[Path]:
    """A folder for what a machine leaves. It is removed at the end; if a test has failed meanwhile, its logs are kept."""
    before = record.failures
    with tempfile.TemporaryDirectory(prefix="meridian-") as name:
        try:
            yield Path(name)
        except BaseException:
            _keep(Path(name))
            raise
        if record.failures > before:
            _keep(Path(name))


def _keep(folder: Path) -> None:
    target = KEPT / folder.name
    try:
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST:
                copy = target / path.relative_to(folder)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, copy)
    except OSError as error:  # the test's own failure is what must be seen
        print(f"the logs in {folder} could not be kept: {error}", file=sys.stderr)
    record.kept.append(target)


def pytest_configure(config: pytest.Config) -> None:
    originals = Computer.boot, SdMachine.wait_up, Machine.keep_logs
    Computer.boot = record.timed(Computer.boot)  # type: ignore[method-assign]
    SdMachine.wait_up = record.timed(SdMachine.wait_up)  # type: ignore[method-assign]
    Machine.keep_logs = record.noting_a_spoilt_start(Machine.keep_logs)  # type: ignore[method-assign]

    def restore() -> None:
        Computer.boot, SdMachine.wait_up, Machine.keep_logs = originals  # type: ignore[method-assign]

    config.add_cleanup(restore)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
    record.test = item.nodeid
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Generator[None, Any, Any]:
    report = yield
    record.failures += report.failed
    if call.when == "teardown":
        report.user_properties += record.take()
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown":
        told.add(report.nodeid, report.user_properties)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    lines = list(told.lines())
    if lines:
        terminalreporter.section("machines")
    for line in lines:
        terminalreporter.write_line(line)
