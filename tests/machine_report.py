# SPDX-License-Identifier: Apache-2.0
"""The part of pytest's summary about machines: the time of each boot, each second start, each failed boot, and kept logs."""

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
from machine_summary import BOOT, FAILED_BOOT, SECOND_BOOT
from meridian_machine.computer import Computer
from meridian_machine.machine import Machine
from meridian_machine.sd_machine import SdMachine

KEPT = Path(__file__).resolve().parents[1] / "build" / "reports" / "logs"
#: A larger file is no log.
LARGEST = 50_000_000


@dataclass
class Boot:
    """seconds: until the machine took scripts, with the first start if it was started again; or until it had failed."""

    test: str
    seconds: float
    again: bool = False
    failed: bool = False

    @property
    def name(self) -> str:
        """Of the property that has its seconds."""
        return FAILED_BOOT if self.failed else SECOND_BOOT if self.again else BOOT


class Record:
    """What has happened since pytest began."""

    #: A property of a report, as those of boots are.
    LOGS = "kept_logs"

    def __init__(self) -> None:
        self.test = "no test"
        self.failures = 0
        self.spoilt_starts = 0
        self.boots: list[Boot] = []
        self.kept: list[Path] = []

    def timed(self, boot: Callable[..., Any]) -> Callable[..., Any]:
        """The same function; the time that it takes is noted."""

        @functools.wraps(boot)
        def call(*arguments: Any, **named: Any) -> Any:
            began, spoilt = time.monotonic(), self.spoilt_starts
            failed = True
            try:
                done = boot(*arguments, **named)
                failed = False
            finally:
                self.boots.append(Boot(self.test, time.monotonic() - began, self.spoilt_starts > spoilt, failed))
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
        boots = [(boot.name, f"{boot.seconds:.1f}") for boot in self.boots]
        kept = [(self.LOGS, str(folder)) for folder in self.kept]
        self.boots.clear()
        self.kept.clear()
        return boots + kept

    def add(self, test: str, properties: list[tuple[str, str]]) -> None:
        """Notes what the report of a test has."""
        for name, value in properties:
            if name in (BOOT, SECOND_BOOT, FAILED_BOOT):
                self.boots.append(Boot(test, float(value), name == SECOND_BOOT, name == FAILED_BOOT))
            elif name == self.LOGS:
                self.kept.append(Path(value))

    def lines(self) -> Iterator[str]:
        """A line of figures for each file of tests, then one for each second start, failed boot and folder of logs."""
        of_file: dict[str, list[Boot]] = defaultdict(list)
        for boot in (boot for boot in self.boots if not boot.failed):
            of_file[boot.test.partition("::")[0]].append(boot)
        for name, boots in of_file.items():
            yield f"{name}: {' '.join(f'{boot.seconds:.0f}' for boot in boots)} s to boot"
        for boot in self.boots:
            if boot.failed:
                yield f"{boot.test}: a machine did not boot, after {boot.seconds:.0f} s"
            elif boot.again:
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
