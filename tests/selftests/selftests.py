# SPDX-License-Identifier: Apache-2.0
"""Runs the Linux kernel's own tests of network drivers on the Meridian driver in the twin, on a PF or a VF.

The tests are those of Debian's source of the kernel that the machine boots. Results go to build/kernel-selftests.json
and, as a page, to build/kernel-selftests.md. Each case that is skipped, and each test that is not run, needs a reason in
docs/conformance/kernel-selftests.md. The command ends with status 1 if a case failed.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import ktap
from meridian_machine import BuildError, Image, MachineError
from meridian_machine.guest import TROUBLE, GuestError
from meridian_twin.process import CardError
from page import WORDS, page
from selftest_machine import FOLDER, Bench, bench

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "build" / "kernel-selftests.json"
REASONS = ROOT / "docs" / "conformance" / "kernel-selftests.md"
FOLDERS = ("drivers/net", "drivers/net/hw", "net/forwarding")
#: Those that have not failed on a busy computer either, for the time that they take.
QUICK = (
    "drivers/net/napi_id.py",
    "drivers/net/napi_threaded.py",
    "drivers/net/queues.py",
    "drivers/net/stats.py",
    "drivers/net/hw/irq.py",
    "drivers/net/hw/rss_api.py",
)
SECONDS = 2400  # for a test; ethtool_rmon.sh sends 600,000 frames
NOT_RUN = "not run"  # stands for the cases of a test that is left out; before a case, for that case
SUITES = ("trixie-backports", "trixie")


def reasons(page: str) -> list[tuple[str, str, str]]:
    """(test, pattern of cases, reason) of the page's table of skips."""
    rows = [[cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in page.splitlines() if "|" in line]
    return [(row[0], row[1], row[2]) for row in rows if len(row) == 3 and "/" in row[0]]


def reason_of(test: str, case: str, known: list[tuple[str, str, str]]) -> str:
    """Empty if the page has none."""
    found = [reason for name, pattern, reason in known if name == test and fnmatchcase(case, pattern)]
    return found[0] if found else ""


def left_out(test: str, known: list[tuple[str, str, str]]) -> list[str]:
    """Cases of a test that it is not to run."""
    return [
        cases.removeprefix(f"{NOT_RUN} ")
        for name, cases, _ in known
        if name == test and cases.startswith(f"{NOT_RUN} ")
    ]


def installed(ends: Bench) -> list[str]:
    """The tests of our folders in the machine, as drivers/net/ping.py."""
    lines = ends.guest.run(f"cat {FOLDER}/kselftest-list.txt").split()
    pairs = [line.split(":") for line in lines]
    two_ports = ends.guest.run(f"cd {FOLDER} && grep -lx NUM_NETIFS=2 net/forwarding/*.sh").split()
    tests = [f"{folder}/{name}" for folder, name in pairs if folder in FOLDERS]
    return [test for test in tests if not test.startswith("net/forwarding/") or test in two_ports]


@dataclass
class Run:
    """What became of a test. spoilt: the machine is of no use any more."""

    test: str
    seconds: float
    cases: list[ktap.Result]
    output: str = ""
    spoilt: bool = False


def run(ends: Bench, test: str, known: list[tuple[str, str, str]]) -> Run:
    """One test, without the cases that the page leaves out. Raises CardError."""
    where, _, name = test.rpartition("/")
    words = " ".join(f"{key}={shlex.quote(value)}" for key, value in ends.environment.items())
    started = time.monotonic()
    try:
        # What a test leaves running ends with it, after a pause to tidy up.
        script = f"cd {FOLDER}/{where} && env {words} timeout --kill-after 20 {SECONDS} "
        script += ends.command(test, left_out(test, known))
        status, text = ends.guest.try_run(script, SECONDS + 60)
        log = ends.guest.run("dmesg -c")
    except (GuestError, MachineError) as error:
        case = ktap.Result(name, "fail", f"it has spoilt the machine, or the one before it: {str(error)[:2000]}")
        return Run(test, round(time.monotonic() - started, 1), [case], spoilt=True)
    cases = ktap.verdict(name, status, text)
    if TROUBLE.search(log):
        cases.append(ktap.Result("kernel log", "fail", log[-2000:]))
    return Run(test, round(time.monotonic() - started, 1), cases, text)


def told(result: Run, known: list[tuple[str, str, str]]) -> list[str]:
    """Lines on what did not pass, and on skips that the page gives no reason for."""
    lines = []
    for case in result.cases:
        if case.outcome == "fail":
            lines.append(f"  {case.name} failed {case.reason}".rstrip())
        if case.outcome == "skip" and not reason_of(result.test, case.name, known):
            lines.append(f"  {case.name} was skipped, and {REASONS.name} has no reason for it: {case.reason}")
    return lines


def counts(results: list[Run]) -> Counter[str]:
    return Counter(case.outcome for result in results for case in result.cases)


def run_all(suite: str, function: str, wanted: list[str], results: list[Run], keep: Callable[[], None]) -> None:
    """These tests, or all without names, into `results` as they end, when `keep` is called.

    A machine that a test has spoilt is started again.

    Raises BuildError, CardError, MachineError, GuestError, and ValueError if there is no test of that name.
    """
    known = reasons(REASONS.read_text())
    left: list[str] | None = list(wanted) or None
    while left is None or left:
        with tempfile.TemporaryDirectory(prefix="meridian-") as folder, bench(suite, function, Path(folder)) as ends:
            there = installed(ends)
            if unknown := [test for test in wanted if test not in there]:
                raise ValueError(f"there is no test {unknown[0]}; there are {', '.join(there)}")
            left = there if left is None else left
            while left:
                test = left.pop(0)
                print(f"{function} {test}", end=" ", flush=True)
                why = reason_of(test, NOT_RUN, known)
                result = Run(test, 0, [ktap.Result(NOT_RUN, "skip", why)]) if why else run(ends, test, known)
                results.append(result)
                keep()
                words = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts([result]).items()))
                print("\n".join([f"{words}, {result.seconds} s", *told(result, known)]), flush=True)
                if result.spoilt:
                    break


def write(file: Path, suite: str, kernel: str, results: dict[str, list[Run]]) -> None:
    command = ["git", "describe", "--always", "--dirty"]
    git = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    content = {
        "suite": suite,
        "kernel": kernel,
        "git": git.stdout.strip(),
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "totals": dict(counts([run for runs in results.values() for run in runs])),
        "results": {function: [asdict(run) for run in runs] for function, runs in results.items()},
    }
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content, indent=1) + "\n")
    file.with_suffix(".md").write_text(page(content))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/test-kernel", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", choices=SUITES, default=SUITES[0], help="Debian suite of the kernel (%(default)s)")
    parser.add_argument("--function", choices=("pf", "vf"), help="run on this function only (both)")
    parser.add_argument("--quick", action="store_true", help=f"run only {', '.join(QUICK)}")
    parser.add_argument(
        "--results",
        type=Path,
        default=RESULT,
        metavar="FILE",
        help="write results to this file (build/kernel-selftests.json)",
    )
    parser.add_argument("tests", nargs="*", metavar="TEST", help="a test, such as drivers/net/ping.py (all tests)")
    arguments = parser.parse_args()
    wanted = list(QUICK) if arguments.quick else arguments.tests
    results: dict[str, list[Run]] = {}
    complete = True
    try:
        kernel = Image.build(arguments.suite, "selftests").release
        keep = partial(write, arguments.results, arguments.suite, kernel, results)
        for function in [arguments.function] if arguments.function else ["pf", "vf"]:
            run_all(arguments.suite, function, wanted, results.setdefault(function, []), keep)
    except (BuildError, CardError, MachineError, GuestError, ValueError) as error:
        print(f"test-kernel: {error}", file=sys.stderr)
        complete = False
    every = [run for runs in results.values() for run in runs]
    if not every:
        return 1
    total = counts(every)
    figures = ", ".join(f"{total[word]} {word}" for word in WORDS)
    print(f"{arguments.results}: {figures}")
    known = reasons(REASONS.read_text())
    return 0 if complete and not any(told(run, known) for run in every) else 1


if __name__ == "__main__":
    sys.exit(main())
