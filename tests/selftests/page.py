# SPDX-License-Identifier: Apache-2.0
"""The results of the kernel's tests as a page: a table of figures, then what failed."""

from __future__ import annotations

from collections import Counter
from typing import Any

WORDS = ("pass", "fail", "skip", "xfail")


def page(content: dict[str, Any]) -> str:
    """Markdown of what kernel-selftests.json holds."""
    functions = list(content["results"])
    runs = {(function, run["test"]): run for function in functions for run in content["results"][function]}
    tests = list(dict.fromkeys(test for _, test in runs))
    heads = [f"{function.upper()}: {word}" for function in functions for word in (*WORDS, "s")]
    lines = [
        f"# The kernel's own tests of network drivers, {content['kernel']}",
        f"Debian {content['suite']}, commit {content['git']}, {content['when']}",
        "",
        f"| test | {' | '.join(heads)} |",
        "| --- " * (len(heads) + 1) + "|",
    ]
    for test in tests:
        cells = [cell for function in functions for cell in figures(runs.get((function, test)))]
        lines.append(f"| `{test}` | {' | '.join(cells)} |")
    lines += ["", "## What failed"]
    for (function, test), run in runs.items():
        failed = [case for case in run["cases"] if case["outcome"] == "fail"]
        lines += [f"- {function.upper()} `{test}` {case['name']}: {first_line(case['reason'])}" for case in failed]
    return "\n".join(lines) + "\n"


def figures(run: dict[str, Any] | None) -> list[str]:
    """How many cases had each outcome, and the seconds; empty cells for a test that did not run."""
    if run is None:
        return [""] * (len(WORDS) + 1)
    total = Counter(case["outcome"] for case in run["cases"])
    return [*(str(total[word] or "") for word in WORDS), f"{run['seconds']:.0f}"]


def first_line(text: str) -> str:
    return text.splitlines()[0][:200] if text else ""
