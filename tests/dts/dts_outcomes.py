# SPDX-License-Identifier: Apache-2.0
"""What DTS writes of a run, case by case, and what the page says of cases that do not pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

PASS, FAIL, SKIP = "pass", "fail", "skip"


@dataclass(frozen=True)
class Outcome:
    """Of a case, as buffer_scatter.scatter_mbuf_2048. reason: DTS's, of what did not pass."""

    case: str
    outcome: str
    reason: str = ""


@dataclass(frozen=True)
class Row:
    """Of the page's table: cases by a pattern of the shell's, what comes of them, and why."""

    cases: str
    outcome: str
    why: str


def outcomes(suite: str, results: dict[str, Any]) -> list[Outcome]:
    """Of DTS's results.json. A suite that did not come to its cases stands for them, as suite.*."""
    found = []
    tree = results.get("test_suites", {}).get(suite, {})
    for name, node in tree.items():
        if name in ("setup", "teardown"):
            if node["result"] != "PASS":
                found.append(Outcome(f"{suite}.{name}", FAIL, node.get("reason", "")))
        elif isinstance(node, dict):
            found.append(one(f"{suite}.{name}", node))
    if not found and "result" in tree:
        found.append(one(f"{suite}.*", tree))
    errors = "; ".join(results.get("execution_errors", []))
    return found or [Outcome(f"{suite}.*", FAIL, errors or "no case ran")]


def one(case: str, node: dict[str, Any]) -> Outcome:
    """What is neither passed nor skipped has failed: failures, errors, and what these block."""
    words = {"PASS": PASS, "SKIP": SKIP}
    around = [node[name] for name in ("setup", "teardown") if node.get(name, {}).get("result", "PASS") != "PASS"]
    if around:
        return Outcome(case, FAIL, around[0].get("reason", ""))
    return Outcome(case, words.get(node.get("result", ""), FAIL), node.get("reason", ""))


def rows(page: str) -> list[Row]:
    cells = [[cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in page.splitlines() if "|" in line]
    return [Row(*row) for row in cells if len(row) == 3 and row[1] in (FAIL, SKIP)]


def unexplained(found: Sequence[Outcome], known: Sequence[Row]) -> list[str]:
    """Lines on cases that did not pass without a row, and on those that pass though a row says otherwise."""
    lines = []
    for case in found:
        row = next((row for row in known if fnmatchcase(case.case, row.cases)), None)
        if case.outcome == PASS:
            if row:
                lines.append(f"{case.case} passes, and the page says that it will {row.outcome}")
        elif row is None or row.outcome != case.outcome:
            lines.append(f"{case.case}: {case.outcome}: {case.reason}")
    return lines


def counts(found: Sequence[Outcome]) -> str:
    total = Counter(case.outcome for case in found)
    return ", ".join(f"{total[word]} {word}" for word in (PASS, FAIL, SKIP) if total[word])
