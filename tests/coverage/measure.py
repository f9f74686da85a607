# SPDX-License-Identifier: Apache-2.0
"""Measures what the tests run in each language, and writes build/coverage/index.html and build/coverage/summary.json.

  driver   lines of host-driver/qdma under its unit tests (gcov)
  dpdk     lines of host-driver/dpdk under its tests without a card process (gcov)
  card     lines of the card's models under their unit tests (gcov)
  python   lines of the programs in Python under the tests of the whole shell and card (coverage.py)
  shell    branches and bits of the generated Verilog under the same tests (Verilator)

python and shell are one run, which takes half an hour on two cores; the others take some minutes. The Linux drivers are
not measured: Debian's kernels are built without gcov.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coverage_page import Row, page
from run import SIDE_BY_SIDE
from shell_points import CoverageError, components

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "build" / "coverage"
MINUTES = 120
QUICK = "not long and not qemu and not vivado"
#: Where the programs in Python are.
PROGRAMS = [ROOT / "twin", ROOT / "host-driver" / "tools", ROOT / "packaging"]
#: Workers of pytest, and programs that tests begin, are measured as well: also those that end by a signal or by os._exit().
COUNTED = """[run]
source = {sources}
parallel = true
patch =
    subprocess
    _exit
sigterm = true
disable_warnings = no-data-collected
data_file = {folder}/data
[report]
exclude_also = if TYPE_CHECKING:
"""


@dataclass(frozen=True)
class Part:
    """What is measured: rows of its table, how much in percent, and its page with each line."""

    name: str
    about: str
    rows: list[Row]
    lines: str | None = None


def say(text: str) -> None:
    print(f"[coverage] {text}", file=sys.stderr, flush=True)


def run(log: Path, *words: str | Path, **more: str) -> None:
    """CoverageError with the log's last lines if the command fails."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        command = [str(word) for word in words]
        try:
            done = subprocess.run(
                command,
                stdout=file,
                stderr=file,
                timeout=60 * MINUTES,
                check=False,
                cwd=ROOT,
                env={**os.environ, **more},
            )
        except subprocess.TimeoutExpired:
            raise CoverageError(f"{command[0]} did not end within {MINUTES} minutes; its log: {log}") from None
    if done.returncode:
        last = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
        raise CoverageError(f"{command[0]} ended with status {done.returncode}; its log: {log}\n{last}")


def gcov(name: str, about: str, objects: Path, sources: str, *excluded: str) -> Part:
    """The rows of what gcov has counted beside the objects."""
    folder = OUTPUT / name
    exclude = [word for pattern in excluded for word in ("--exclude", pattern)]
    result = folder / "gcov.json"
    run(
        folder / "gcovr.log",
        *("gcovr", "--root", ROOT, "--filter", f"{ROOT}/{sources}", *exclude, "--gcov-ignore-parse-errors=all"),
        *(
            "--merge-mode-functions=merge-use-line-min",
            "--json-summary",
            result,
            "--html-details",
            folder / "lines.html",
        ),
        objects,
    )
    rows = [
        Row(file["filename"], file["line_covered"], file["line_total"], file["branch_covered"], file["branch_total"])
        for file in json.loads(result.read_text())["files"]
    ]
    return Part(name, about, rows, f"{name}/lines.html")


def driver() -> Part:
    objects = OUTPUT / "driver" / "objects"
    flags = "CFLAGS=-O1 -g -Wall -Wextra -Werror --coverage -fprofile-abs-path"
    run(
        OUTPUT / "driver" / "test.log",
        *("make", "-s", f"-j{os.cpu_count()}", "-C", ROOT / "host-driver" / "qdma" / "test", "check"),
        *(f"BUILD={objects}", flags),
    )
    return gcov("driver", "host-driver/qdma under its unit tests", objects, "host-driver/qdma/", ".*/test/.*")


def dpdk() -> Part:
    objects = OUTPUT / "dpdk" / "objects"
    tests = [ROOT / "tests" / "dpdk" / f"test_{name}.py" for name in ("port", "receive", "lifetimes")]
    run(
        OUTPUT / "dpdk" / "test.log",
        *("python3", "-m", "pytest", "-q", "-m", "not long and not qemu", *tests),
        MERIDIAN_GCOV=str(objects),
    )
    about = "host-driver/dpdk under its unit tests, which need no card process"
    return gcov("dpdk", about, objects, "host-driver/dpdk/", ".*/test/.*")


def card() -> Part:
    objects = OUTPUT / "card" / "objects"
    log = OUTPUT / "card" / "test.log"
    options = ["-DSHELL_RTL=none", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=--coverage -fprofile-abs-path -O0"]
    run(log, "cmake", "-S", ROOT / "twin" / "card", "-B", objects, "-G", "Ninja", *options)
    run(log, "ninja", "-C", objects, "card_test")
    run(log, objects / "card_test")
    return gcov("card", "the card's models under their unit tests", objects, "twin/card/src/")


def python_and_shell(names: Sequence[str], chosen: Sequence[str]) -> list[Part]:
    """Of one run, because the shell's tests are in Python. Without the shell, cards are the usual ones, which are faster.
    chosen: these tests instead of all."""
    folder, counted = OUTPUT / "python", OUTPUT / "shell"
    folder.mkdir(parents=True)
    more = {}
    if "shell" in names:
        counted.mkdir(parents=True)
        more["MERIDIAN_COVERAGE"] = str(counted)
    settings = folder / "coveragerc"
    sources = "".join(f"\n    {each}" for each in PROGRAMS)
    settings.write_text(COUNTED.format(sources=sources, folder=folder))
    tests = chosen or [ROOT / "tests", "--ignore", ROOT / "tests" / "dpdk"]
    run(
        folder / "test.log",
        *("coverage", "run", f"--rcfile={settings}", "-m", "pytest", "-q", *SIDE_BY_SIDE, "-m", QUICK, *tests),
        **more,
    )
    run(folder / "combine.log", "coverage", "combine", f"--rcfile={settings}")
    run(folder / "html.log", "coverage", "html", f"--rcfile={settings}", "-d", folder / "html")
    run(folder / "json.log", "coverage", "json", f"--rcfile={settings}", "-o", folder / "lines.json")
    files = json.loads((folder / "lines.json").read_text())["files"]
    rows = [
        Row(os.path.relpath(name, ROOT), file["summary"]["covered_lines"], file["summary"]["num_statements"])
        for name, file in files.items()
    ]
    about = f"programs in Python under {' '.join(chosen) or 'the quick tests of the whole shell and card'}"
    python = Part("python", about, rows, "python/html/index.html")
    return [python, shell(counted)] if more else [python]


def shell(counted: Path) -> Part:
    files = sorted(counted.glob("*.dat"))
    if not files:
        raise CoverageError(f"no card has written its counts into {counted}")
    found = components(files)
    missed = "".join(
        f"{component.name}\n"
        + "".join(
            f"  {kind} {name}\n"
            for kind, name in (
                *(("branch", name) for name in component.lines.missed),
                *(("bit", name) for name in component.toggles.missed),
            )
        )
        for component in found
    )
    (counted / "missed.txt").write_text(missed)
    rows = [
        Row(each.name, each.lines.reached, each.lines.points, each.toggles.reached, each.toggles.points)
        for each in found
    ]
    about = f"the generated Verilog by component, in {len(files)} runs of cards under the quick tests"
    return Part("shell", about, rows, "shell/missed.txt")


#: Which function measures each part.
PARTS = {"driver": driver, "dpdk": dpdk, "card": card, "python": python_and_shell, "shell": python_and_shell}


def measured(names: Sequence[str], tests: Sequence[str]) -> list[Part]:
    parts: list[Part] = []
    for measure in dict.fromkeys(PARTS[name] for name in names):
        say(f"measuring {' and '.join(name for name in PARTS if name in names and PARTS[name] is measure)}")
        result = measure(names, tests) if measure is python_and_shell else measure()
        parts += result if isinstance(result, list) else [result]
    return parts


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/coverage", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "part", nargs="*", metavar="PART", help="driver, dpdk, card, python or shell; all if none is named"
    )
    parser.add_argument("--tests", nargs="+", default=[], metavar="TEST", help="of python and shell, these tests only")
    arguments = parser.parse_args()
    names = arguments.part or (["python"] if arguments.tests else list(PARTS))
    if wrong := [name for name in names if name not in PARTS]:
        parser.error(f"there is no part {wrong[0]}: it is one of {', '.join(PARTS)}")
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir(parents=True)
    try:
        parts = measured(names, arguments.tests)
    except CoverageError as error:
        say(str(error))
        return 1
    (OUTPUT / "index.html").write_text(page([(part.name, part.about, part.rows, part.lines) for part in parts]))
    summary = {
        part.name: {row.name: [row.reached, row.points, row.branches, row.of_branches] for row in part.rows}
        for part in parts
    }
    (OUTPUT / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    for part in parts:
        reached, points = sum(row.reached for row in part.rows), sum(row.points for row in part.rows)
        print(f"{part.name:<7} {100 * reached / max(points, 1):5.1f} % of {points:6} {part.about}")
    print(f"the page: {(OUTPUT / 'index.html').relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
