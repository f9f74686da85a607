# SPDX-License-Identifier: Apache-2.0
"""Builds a tree and runs one test in it: does it pass, does it fail, or can it not be run?"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from mutant_list import MutantError

#: Minutes of a build and of a test that has not yet been run.
LIMIT = 45


@dataclass(frozen=True)
class Outcome:
    """Of a test: whether it passed, the seconds that it took, and what says how it failed."""

    passed: bool
    seconds: float
    by: str = ""


class Runs:
    """Keeps what builds leave, and what the last run printed, in a folder."""

    def __init__(self, tree: Path, folder: Path, jobs: int) -> None:
        self._tree, self._folder, self._jobs = tree, folder, jobs
        self.log = folder / "log"

    def run(self, runner: str, words: list[str], limit: float = 60 * LIMIT) -> Outcome:
        """Of test-card, test-driver, test-dma and test-pcie the limit in seconds does not count the build."""
        runners = {
            "sbt": self._sbt,
            "test-card": self._card,
            "test-driver": self._driver,
            "test-dma": self._dma,
            "test-pcie": self._pcie,
            "pytest": self._pytest,
        }
        return runners[runner](words, limit)

    def _call(self, command: list[str], limit: float) -> int | None:
        """Its exit status, or none past the limit. Its processes end with it."""
        # Python's compiled files tell a change by size and second, which is too coarse for what changes here.
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "ASAN_OPTIONS": "detect_leaks=1"}
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                ["nice", "-n", "10", *command],
                cwd=self._tree,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                return process.wait(limit)
            except subprocess.TimeoutExpired:
                return None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    def _build(self, *commands: list[str]) -> None:
        for command in commands:
            if self._call(command, 60 * LIMIT) != 0:
                lines = [line for line in self.log.read_text(errors="replace").splitlines() if "error:" in line]
                raise MutantError(f"it does not build: {(lines or [shlex.join(command)])[0].strip()}")

    def _judged(self, status: int | None, seconds: float, passed: int, failed: int) -> Outcome:
        """From a runner's own counts. A test past its limit is no verdict: each has bounds, and the machine may be slow."""
        if failed:
            return Outcome(False, seconds, f"by {failed} test{'s' if failed > 1 else ''}")
        if status == 0 and passed:
            return Outcome(True, seconds)
        if status is None:
            raise MutantError(f"its test is not done after {seconds:.0f} s; its output is in {self.log}")
        what = "runs nothing" if status == 0 else f"ended with {status} before a test failed"
        raise MutantError(f"its test {what}; its output is in {self.log}")

    def _counted(self, command: list[str], limit: float, passed: str, failed: str) -> Outcome:
        """Of a program that prints how many tests passed and failed."""
        began = time.monotonic()
        status = self._call(command, limit)
        text = self.log.read_text(errors="replace")
        passed_, failed_ = (sum(int(n) for n in re.findall(words, text)) for words in (passed, failed))
        return self._judged(status, time.monotonic() - began, passed_, failed_)

    def _sbt(self, words: list[str], limit: float) -> Outcome:
        command = [str(self._tree / "scripts" / "sbt"), shlex.join(words)]
        return self._counted(command, limit, r"Tests: succeeded (\d+),", r"Tests: .* failed (\d+),")

    def _gtest(self, program: Path, words: list[str], limit: float) -> Outcome:
        """A program that a signal or a sanitizer ends has failed, too."""
        began = time.monotonic()
        status = self._call([str(program), f"--gtest_filter={':'.join(words)}"], limit)
        text = self.log.read_text(errors="replace")
        ran = re.search(r"\[==========\] Running [1-9]\d* test", text)
        failed = re.search(r"^ *(\d+) FAILED TEST", text, re.MULTILINE)
        return self._judged(
            status, time.monotonic() - began, int(bool(ran)), int(failed[1]) if failed else int(bool(ran and status))
        )

    def _card(self, words: list[str], limit: float) -> Outcome:
        folder = self._folder / "card"
        source = ["-S", str(self._tree / "twin" / "card"), "-B", str(folder), "-G", "Ninja"]
        # Not optimised, because for each run a file is compiled anew.
        options = ["-DSHELL_RTL=none", "-DCMAKE_CXX_FLAGS_RELEASE=-O0"]
        self._build(["cmake", *source, *options], ["ninja", "-C", str(folder), "-j", str(self._jobs), "card_test"])
        return self._gtest(folder / "card_test", words, limit)

    def _driver(self, words: list[str], limit: float) -> Outcome:
        folder = self._folder / "driver"
        source = self._tree / "host-driver" / "qdma" / "test"
        self._build(["make", "-s", f"-j{self._jobs}", "-C", str(source), f"BUILD={folder}", f"{folder}/qdma_test"])
        return self._gtest(folder / "qdma_test", words, limit)

    def _dma(self, words: list[str], limit: float) -> Outcome:
        program = self._tree / "scripts" / "test-dma"
        self._build([str(program), "--gtest_list_tests"])
        return self._gtest(program, words, limit)

    def _pcie(self, words: list[str], limit: float) -> Outcome:
        program = self._tree / "scripts" / "test-pcie"
        self._build([str(program), "--build"])
        return self._counted([str(program), *words], limit, r"TESTS=\d+ PASS=(\d+)", r"TESTS=\d+ PASS=\d+ FAIL=(\d+)")

    def _pytest(self, words: list[str], limit: float) -> Outcome:
        """What fails in a fixture, such as a build, is no verdict on the fault."""
        report = self._folder / "pytest.xml"
        report.unlink(missing_ok=True)
        options = ["-q", "-p", "no:cacheprovider", f"--basetemp={self._folder / 'pytest'}", f"--junitxml={report}"]
        began = time.monotonic()
        status = self._call([str(self._tree / "scripts" / "pytest"), *options, *words], limit)
        cases = list(ET.parse(report).getroot().iter("testcase")) if report.exists() else []
        failed = sum(case.find("failure") is not None for case in cases)
        passed = sum(all(case.find(word) is None for word in ("failure", "error", "skipped")) for case in cases)
        return self._judged(status, time.monotonic() - began, passed, failed)
