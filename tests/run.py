# SPDX-License-Identifier: Apache-2.0
"""Runs the suites one after another, shows their output, and counts: ends with "N passed, N failed"."""

from __future__ import annotations

import argparse
import itertools
import math
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

import machine_summary
from machine_summary import Boots

ROOT = Path(__file__).resolve().parents[1]
REPORTS = ROOT / "build" / "reports"
#: So long may a command take to end after it is told to.
END_SECONDS = 20
#: Files of tests run beside each other, as a simulation takes one core. Those of one file share what they build or boot.
#: Those files begin first that last longest (tests/longest_first.py).
#: After a crash no worker is started anew, as pytest-xdist would then wait for the lost tests for ever.
SIDE_BY_SIDE = [
    *("-n", str(max(1, min(os.cpu_count() or 1, 4)))),
    *("--dist", "loadfile", "--no-loadscope-reorder", "--max-worker-restart", "0"),
]
QUICK_MACHINES = ["-k", "not bookworm", *SIDE_BY_SIDE]


#: What runs on a card with the model of the QDMA IP, too. All tests run on one with the DMA engine of our own.
QDMA_IP = [
    f"tests/twin/{name}.py"
    for name in (
        *("ps/test_ps", "ps/test_ps_bus_errors"),
        *(f"test_{name}" for name in ("cable", "card", "completions", "conservation", "frames", "interrupts", "link")),
        *(f"test_{name}" for name in ("observability", "offload", "receiver_reset", "shared_doorbells")),
        *(f"test_{name}" for name in ("switching", "time", "vf")),
    )
]
#: And what wants more time, or cards of its own.
QDMA_IP_LONG = [
    *QDMA_IP,
    *(f"tests/twin/{name}.py" for name in ("functions/test_vf_parents", "ps/test_ps_limits", "test_segments")),
    *("tests/twin/dma/test_push.py", "tests/twin/test_random_abuse.py"),
    *(f"tests/dpdk/twin/test_twin_{name}.py" for name in ("attach", "pf", "vf", "push")),
]

#: Of machines with such a card: in make test the first three of these, without what is long.
QDMA_IP_MACHINES = [
    f"tests/qemu/{name}.py"
    for name in (
        *(f"driver/test_driver_{name}" for name in ("ping", "pieces", "push", "segments", "frames", "ethtool")),
        *("sriov/test_driver_mailbox", "sriov/test_driver_pfs", "sriov/test_driver_sriov", "sriov/test_host_sriov"),
        *("xdp/test_driver_xdp", "faults/test_driver_faults", "faults/test_driver_box_irq", "ps/test_ps_box"),
        *("card/test_qemu_frames", "dpdk/test_dpdk_pf", "vm/test_vm_dpdk"),
    )
]


@dataclass
class Suite:
    """A command that leaves JUnit XML in a folder, or whose exit status is its one test."""

    name: str
    command: list[str]
    minutes: int
    reports: Path | None = None
    early: bool = False  # see Early


def suites(long: bool) -> list[Suite]:
    scripts = ROOT / "scripts"
    unit = f"testOnly * -- -oF -u {REPORTS / 'unit'}" + ("" if long else " -l meridian.LongTest")
    elsewhere = ["--ignore", str(ROOT / "tests" / "dpdk")]
    extended = Suite(
        "DMA engine, extended tags", [str(scripts / "test-dma"), "--extended-tags"], 20, REPORTS / "dma-tags"
    )
    shell = "not qemu and not vivado" if long else "not long and not qemu and not vivado"
    return [
        Suite("lint", [str(scripts / "lint")], 10),
        Suite("unit and formal", [str(scripts / "sbt"), unit], 80, REPORTS / "unit"),
        Suite("card", [str(scripts / "test-card")], 15, REPORTS / "card"),
        Suite("DMA engine", [str(scripts / "test-dma")], 20, REPORTS / "dma"),
        *([extended] if long else []),
        Suite(
            "DMA engine, models of others",
            [str(scripts / "test-pcie"), *(["--long"] if long else [])],
            60 if long else 10,
            REPORTS / "pcie",
        ),
        Suite("driver library", [str(scripts / "test-driver"), *(["--long"] if long else [])], 45, REPORTS / "driver"),
        Suite("DPDK", [str(scripts / "build-dpdk")], 20, early=True),
        Suite("busybox of the card", [str(scripts / "build/build-busybox")], 10, early=True),
        pytest("DPDK driver", "not qemu" if long else "not long and not qemu", 20, "dpdk", SIDE_BY_SIDE, "tests/dpdk"),
        Suite(
            "Vivado build",
            [
                str(scripts / "check/check-vivado"),
                f"--junitxml={REPORTS / 'vivado' / 'junit.xml'}",
                *SIDE_BY_SIDE,
                *([] if long else ["-m", "not long"]),
            ],
            10,
            REPORTS / "vivado",
        ),
        pytest("whole shell and card", shell, 240 if long else 30, "shell", [*elsewhere, *SIDE_BY_SIDE]),
        pytest(
            "twin with the QDMA IP's model",
            "not long",
            40 if long else 20,
            "twin-qdma",
            ["--dma", "qdma", *SIDE_BY_SIDE],
            *(QDMA_IP_LONG if long else QDMA_IP),
        ),
        Suite("image of a host", [str(scripts / "build-image")], 20, early=True),
        Suite("image of a host with DPDK", [str(scripts / "build-image"), "--suite", "bookworm"], 20, early=True),
        Suite("image of a PS", [str(scripts / "build-image"), "--machine", "ps"], 30, early=True),
        Suite("QEMU", [str(scripts / "build/build-qemu")], 45, early=True),
        # No quick machine starts from these. make demo starts the PS from the SD card.
        *([Suite("SD card of a PS", [str(scripts / "build/build-sd")], 30, early=True)] if long else []),
        *([Suite("boot loaders of a PS", [str(scripts / "build/build-boot")], 20)] if long else []),
        # What is left out of make test is what is slow, and machines of older suites.
        *([Suite("Linux driver, all kernels", [str(scripts / "check-driver")], 40)] if long else []),
        *([Suite("Linux driver of the PS, all kernels", [str(scripts / "check-driver"), "--ps"], 40)] if long else []),
        *([Suite("semantic patches", [str(scripts / "check-driver"), "--semantics"], 20)] if long else []),
        *([Suite("semantic patches, PS", [str(scripts / "check-driver"), "--ps", "--semantics"], 20)] if long else []),
        *([Suite("kernel selftests", [str(scripts / "test-kernel")], 300)] if long else []),
        *([Suite("mutants", [str(scripts / "test-mutants")], 300)] if long else []),
        *(machines() if long else [pytest("machines", "quick and not long", 40, "machines", QUICK_MACHINES)]),
        pytest(
            "machines with the QDMA IP's model",
            "qemu" if long else "qemu and not long",
            90 if long else 20,
            "machines-qdma",
            ["--dma", "qdma", *QUICK_MACHINES],
            *(QDMA_IP_MACHINES if long else QDMA_IP_MACHINES[:3]),
        ),
    ]


#: Of all tests on machines: name, folders of tests/qemu, minutes.
PARTS = [
    ("the card in QEMU", ["card"], 60),
    ("Linux driver", ["driver", "xdp", "faults"], 120),
    ("host and SR-IOV", ["host", "sriov"], 180),
    ("DPDK, VMs, libmeridian", ["dpdk", "vm", "library"], 180),
    ("PS", ["ps"], 90),
    ("PTP", ["ptp"], 120),
    ("SD card", ["sd"], 240),
]
#: Of these the tests of the Linux driver run with a kernel that checks itself, too. Only the first suite has one.
CHECKED = [
    *("driver", "xdp", "faults", "sriov"),
    *(f"host/{name}.py" for name in ("test_selftest", "test_pattern", "test_port_loops", "test_port_cable")),
]
CHECKED_TESTS = "(test_driver or test_selftest or test_pattern or test_port) and not bookworm"
#: What maps frames in pieces for the card.
IN_PIECES = ["driver/test_driver_pieces.py", "driver/test_driver_segments.py", "xdp/test_driver_xdp.py"]


def machines() -> list[Suite]:
    """All tests on machines, in parts that can be run by themselves."""

    def part(name: str, folders: list[str], minutes: int, reports: str, *more: str) -> Suite:
        first, *others = (str(ROOT / "tests" / "qemu" / folder) for folder in folders)
        more = (*others, *more, "--pcie-far", "20000")
        return pytest(f"machines: {name}", "qemu", minutes, f"machines-{reports}", more, first)

    return [
        *(part(name, folders, minutes, folders[0]) for name, folders, minutes in PARTS),
        part("debug kernel", CHECKED, 600, "debug", "--debug-kernel", "-k", CHECKED_TESTS),
        part("debug kernel, QDMA IP's model", IN_PIECES, 90, "debug-qdma", "--debug-kernel", "--dma", "qdma"),
    ]


def pytest(name: str, marks: str, minutes: int, folder: str, more: Sequence[str] = (), *tests: str) -> Suite:
    """Tests in Python, those with these marks: all, or those of these files and folders."""
    places = [str(ROOT / place) for place in tests or ("tests",)]
    command = ["python3", "-m", "pytest", "-q", "-ra", *places, "-m", marks, *more]
    reports = REPORTS / folder
    return Suite(name, [*command, f"--junitxml={reports / 'junit.xml'}"], minutes, reports)


def count(folder: Path) -> tuple[int, int, int]:
    """(passed, failed, skipped) of all JUnit files of a folder."""
    passed = failed = skipped = 0
    for file in folder.rglob("*.xml"):
        try:
            cases = list(ET.parse(file).getroot().iter("testcase"))
        except ET.ParseError as error:  # its suite was ended while it wrote
            print(f"{file} is not whole: {error}", flush=True)
            failed += 1
            continue
        for case in cases:
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
            elif case.find("skipped") is not None:
                skipped += 1
            else:
                passed += 1
    return passed, failed, skipped


def failures(folder: Path) -> list[str]:
    """The names of the tests that failed, of all JUnit files of a folder."""
    names = []
    for file in sorted(folder.rglob("*.xml")):
        with suppress(ET.ParseError):
            cases = ET.parse(file).getroot().iter("testcase")
            names += [
                f"{case.get('classname')}: {case.get('name')}"
                for case in cases
                if case.find("failure") is not None or case.find("error") is not None
            ]
    return names


class Early:
    """Runs the commands of early suites, one after another, while suites before them run. Use it as a context manager.

    They fill the cache; their output goes to a file. The suite's own run then finds what they have made, or waits for it, or
    fails with the same error where all can see it.
    """

    def __init__(self, suites: Sequence[Suite], log: Path) -> None:
        first = next((at for at, suite in enumerate(suites) if not suite.early), len(suites))
        self._suites = [suite for suite in suites[first:] if suite.early]
        self._log = log
        self._running: subprocess.Popen[bytes] | None = None
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._work)

    def _work(self) -> None:
        with self._log.open("wb") as log:
            for suite in self._suites:
                with self._lock:
                    if self._over.is_set():
                        return
                    # Their scripts lower their own priority by ten, and the suites would wait for them in the end.
                    raised = ["nice", "-n", "-10"] if os.geteuid() == 0 else []
                    self._running = subprocess.Popen(
                        [*raised, *suite.command],
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        start_new_session=True,
                    )
                self._running.wait()

    def __enter__(self) -> Self:
        if self._suites:
            names = ", ".join(suite.name for suite in self._suites)
            print(f"these are built beside the suites before them: {names}; their log is {self._log}", flush=True)
            self._log.parent.mkdir(parents=True, exist_ok=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if not self._thread.is_alive():
            return
        with self._lock:
            self._over.set()
        # At last also what the command has begun and left, in its group.
        for word in (signal.SIGTERM, signal.SIGKILL):
            if self._running:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._running.pid, word)
            self._thread.join(END_SECONDS)


def family(pid: int) -> list[int]:
    """A process and all that it, and they, have begun."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a command with all that it has begun: a test that is ended so would leave its machines."""
    members = family(process.pid)
    for word in (signal.SIGTERM, signal.SIGKILL):
        for pid in members:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, word)
        deadline = time.monotonic() + END_SECONDS
        while process.poll() is None or any(Path(f"/proc/{pid}").exists() for pid in members):
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)


class Ended(NamedTuple):
    """A suite has so many tests, and took so many seconds of processor time with all that it has begun and waited for.

    Of a suite that was ended after its minutes the processor time is not known, and nan.
    """

    passed: int
    failed: int
    skipped: int
    processor: float


def wait(process: subprocess.Popen[bytes], seconds: float) -> tuple[int, float]:
    """A command's exit status and its processor time in seconds. It raises TimeoutExpired after so many seconds."""
    deadline = time.monotonic() + seconds
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_utime + usage.ru_stime
        if time.monotonic() > deadline:
            raise subprocess.TimeoutExpired(process.args, seconds)
        time.sleep(0.05)


def run(suite: Suite) -> Ended:
    print(f"\n=== {suite.name}", flush=True)
    started = time.monotonic()
    if suite.reports:
        suite.reports.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(suite.command, cwd=ROOT)
    try:
        status, processor = wait(process, 60 * suite.minutes)
    except subprocess.TimeoutExpired:
        print(f"{suite.name}: not done after {suite.minutes} minutes", flush=True)
        status, processor = 1, math.nan
    finally:
        if process.poll() is None:
            end(process)
    passed, failed, skipped = count(suite.reports) if suite.reports else (int(status == 0), int(status != 0), 0)
    if suite.reports and passed + failed == 0:
        failed = 1  # a suite that ran nothing has failed
    if status != 0 and failed == 0:
        failed = 1
    seconds = time.monotonic() - started
    print(f"=== {suite.name}: {passed} passed, {failed} failed, {skipped} skipped, {seconds:.0f} s", flush=True)
    return Ended(passed, failed, skipped, processor)


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/run-tests", description=__doc__)
    parser.add_argument("--long", action="store_true", help="also run the suites and sizes that make test leaves out")
    parser.add_argument("--only", metavar="NAME", help="run one suite; a wrong name lists all of them")
    arguments = parser.parse_args()
    # Who ends this program also ends what runs early. With nohup it goes on without its terminal.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    # The name of a test may have any letter, and the last line has to come.
    sys.stdout.reconfigure(errors="backslashreplace")
    os.chdir(ROOT)
    shutil.rmtree(REPORTS, ignore_errors=True)
    chosen = [s for s in suites(arguments.long) if arguments.only in (None, s.name)]
    if not chosen:
        names = ", ".join(repr(suite.name) for suite in suites(arguments.long))
        parser.error(f"no suite {arguments.only!r}; there are {names}")
    started = time.monotonic()
    with Early(chosen, REPORTS / "early.log"):
        ends = [started]
        totals = []
        for suite in chosen:
            totals.append(run(suite))
            ends.append(time.monotonic())
    print(f"\n{len(chosen)} suites took {time.monotonic() - started:.0f} s; each with its processor time:", flush=True)
    for suite, (begun, ended), total in zip(chosen, itertools.pairwise(ends), totals, strict=True):
        print(f"{ended - begun:7.0f} s {total.processor:7.0f} s  {suite.name}", flush=True)
    for suite, total in zip(chosen, totals, strict=True):
        if broken := total.failed:
            names = failures(suite.reports) if suite.reports else []
            names = names or ["its output above says why"]
            print("\n  ".join([f"{suite.name}: {broken} failed", *names]), flush=True)
    for line in machine_summary.lines((suite.name, Boots.of(suite.reports)) for suite in chosen if suite.reports):
        print(line, flush=True)
    passed, failed, skipped, _ = (sum(column) for column in zip(*totals, strict=True))
    print(f"\n{skipped} skipped\n{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
