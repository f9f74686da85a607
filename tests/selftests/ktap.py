# SPDX-License-Identifier: Apache-2.0
"""Reads KTAP, in which the kernel's tests tell their results, and the lines of those that are older than it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(
    r"(?P<verdict>ok|not ok) \d+ *(?:- )?(?P<name>[^#]*?) *(?:# *(?P<word>SKIP|XFAIL|TIMEOUT)? *(?P<reason>.*))?"
)
_OLDER_LINE = re.compile(r"TEST: (?P<name>.*?) +\[ *(?P<word>OK|FAIL|SKIP|XFAIL) *\]")
_OLDER_WORDS = {"OK": "pass", "FAIL": "fail", "SKIP": "skip", "XFAIL": "xfail"}
_PLAN = re.compile(r"1\.\.(\d+)(?: *# *SKIP *(.*))?")
#: What an exit status means that a test without KTAP ends with.
SKIP = 4


@dataclass(frozen=True)
class Result:
    """One case. outcome: pass, fail, skip or xfail (a failure that the test itself expects); reason: as the test has it."""

    name: str
    outcome: str
    reason: str = ""


def results(text: str) -> list[Result]:
    """The cases of a test's output, in its order."""
    found = []
    for line in text.splitlines():
        if older := _OLDER_LINE.fullmatch(line.strip()):
            # Some say in the name that they have skipped.
            word = "SKIP" if older["name"].startswith("SKIP") else older["word"]
            found.append(Result(older["name"], _OLDER_WORDS[word]))
        match = _LINE.fullmatch(line.strip())
        if not match:
            continue
        outcome = "fail" if match["verdict"] == "not ok" else "pass"
        if match["word"] in ("SKIP", "XFAIL") and outcome == "pass":
            outcome = match["word"].lower()
        found.append(Result(match["name"], outcome, match["reason"] or ""))
    return found


def planned(text: str) -> int | None:
    """How many cases the test said that it has; None if it did not say."""
    found = [match for line in text.splitlines() if (match := _PLAN.fullmatch(line.strip()))]
    return int(found[0][1]) if found else None


def verdict(test: str, status: int, text: str) -> list[Result]:
    """The cases, and one more in the test's name if it does not end as its cases say: it crashed, hung, or lacks some.

    A test that planned no case has skipped.
    """
    cases = results(text)
    plan = planned(text)
    failed = any(case.outcome == "fail" for case in cases)
    if not cases:
        outcome = {0: "skip" if plan == 0 else "pass", SKIP: "skip"}.get(status, "fail")
        return [Result(test, outcome, last_words(text))]
    if plan is not None and plan > len(cases):
        cases.append(Result(test, "fail", f"it ended with status {status} after {len(cases)} of {plan} cases"))
    elif status not in (0, SKIP) and not failed:
        cases.append(Result(test, "fail", f"it ended with status {status}: {last_words(text)}"))
    return cases


def last_words(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("# Interface")]
    return lines[-1] if lines else ""
