# SPDX-License-Identifier: Apache-2.0
"""Puts faults into a copy of the checkout, one at a time, and says of each whether the test that should notice it fails.

Each line of output names a fault, tells whether its test killed it, and how long that took. A fault survives if its test
still passes. It is an error if the fault's text is not in its file exactly once, if its test does not pass without it, or if its
test is not done in time with it.
The faults and their tests are listed in tests/mutants/mutants.toml. The copy and its builds stay in the cache, so that a
second run compiles little. It also keeps which faults were killed: --resume goes on with the others, and with those whose
entry, file or tests have changed since; other changes of the sources are not looked for. The exit status is 0 if all were killed, 1 if one survived, 2 if there were errors alone.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mutant_list import KINDS, Mutant, MutantError, chosen, mutants
from mutant_record import Record
from mutant_runs import Outcome, Runs
from mutant_tree import Tree

ROOT = Path(__file__).resolve().parents[2]
#: A test may take so many times as long with a fault as without, and so many seconds more, which are those of a build.
SLOWER, MORE_SECONDS = 3, 300
Run = Callable[..., Outcome]


@dataclass
class Verdict:
    """killed, survived or error, and what is to be said about it."""

    mutant: Mutant
    word: str
    about: str
    seconds: float


class Judge:
    """Remembers of each test how it ended without a fault."""

    def __init__(self, tree: Tree, run: Run) -> None:
        self._tree, self._run = tree, run
        self._without: dict[str, float | str] = {}

    def _limit(self, mutant: Mutant) -> float:
        """Seconds that the test may take."""
        if mutant.test not in self._without:
            try:
                outcome = self._run(mutant.runner, mutant.words)
                self._without[mutant.test] = outcome.seconds if outcome.passed else f"its test fails {outcome.by}"
            except MutantError as error:
                self._without[mutant.test] = str(error)
        without = self._without[mutant.test]
        if isinstance(without, str):
            raise MutantError(f"without the fault, {without}")
        return SLOWER * without + MORE_SECONDS

    def verdict(self, mutant: Mutant) -> Verdict:
        began = time.monotonic()
        try:
            with self._tree.planted(mutant):
                pass  # the text is looked for first, which costs nothing
            limit = self._limit(mutant)
            with self._tree.planted(mutant):
                outcome = self._run(mutant.runner, mutant.words, limit)
            word, about = ("survived", mutant.test) if outcome.passed else ("killed", outcome.by)
        except MutantError as error:
            word, about = "error", str(error)
        return Verdict(mutant, word, about, time.monotonic() - began)


def verdicts_on(wanted: list[Mutant], judge: Judge, record: Record, resume: bool) -> Iterator[Verdict]:
    """Of each in turn. With resume, one that an earlier run has killed is not judged again."""
    for mutant in wanted:
        if resume and record.has(mutant):
            yield Verdict(mutant, "killed", "by an earlier run", 0)
            continue
        verdict = judge.verdict(mutant)
        record.note(mutant, verdict.word == "killed")
        yield verdict


def line(verdict: Verdict) -> str:
    mutant = verdict.mutant
    return f"{verdict.word:<8} {verdict.seconds:5.0f} s  {mutant.kind:<6} {mutant.name:<40} {verdict.about}"


def summary(verdicts: list[Verdict]) -> str:
    """The numbers, and of each that was not killed what it would do to a user."""
    left = [verdict for verdict in verdicts if verdict.word == "survived"]
    lines = [f"{verdict.mutant.name} in {verdict.mutant.file} survived: {verdict.mutant.why}" for verdict in left]
    errors = sum(verdict.word == "error" for verdict in verdicts)
    killed = len(verdicts) - len(left) - errors
    seconds = sum(verdict.seconds for verdict in verdicts)
    numbers = f"{len(verdicts)} mutants: {killed} killed, {len(left)} survived, {errors} errors, {seconds:.0f} s"
    return "\n".join([*lines, numbers])


def status(verdicts: list[Verdict]) -> int:
    words = {verdict.word for verdict in verdicts}
    return 1 if "survived" in words else 2 if "error" in words else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/test-mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", metavar="NAME", help="judge one mutant")
    parser.add_argument("--kind", choices=KINDS, help="judge those of one part of the sources")
    parser.add_argument("--resume", action="store_true", help="leave out those that an earlier run has killed")
    parser.add_argument("--list", action="store_true", help="name them, with their files and tests, and run nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="compile N files at a time")
    return parser.parse_args()


def main() -> int:
    given = arguments()
    try:
        wanted = chosen(mutants(), given.only, given.kind)
        if given.list:
            for mutant in wanted:
                print(f"{mutant.kind:<6} {mutant.name}\n       {mutant.file}: {mutant.why}\n       {mutant.test}")
            return 0
        folder = Path(os.environ["MERIDIAN_CACHE"]) / "mutants"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise MutantError(f"another run uses {folder}; wait until it has ended") from None
            tree = Tree(folder)
            tree.update(ROOT)
            judge = Judge(tree, Runs(tree.root, folder, given.jobs).run)
            record = Record(folder / "killed.json", tree.root)
            verdicts = []
            for verdict in verdicts_on(wanted, judge, record, given.resume):
                verdicts.append(verdict)
                print(line(verdict), flush=True)
    except MutantError as error:
        print(f"test-mutants: {error}", file=sys.stderr)
        return 2
    print(summary(verdicts), flush=True)
    return status(verdicts)


if __name__ == "__main__":
    sys.exit(main())
