# SPDX-License-Identifier: Apache-2.0
"""The page of make coverage: a table for each part, with the least covered first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Coverage</title><style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid #8884 }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
</style></head><body><h1>What the tests run</h1>
"""


@dataclass(frozen=True)
class Row:
    """A file or a component: lines (of RTL: branches) reached, of how many; then branches (of RTL: bits)."""

    name: str
    reached: int
    points: int
    branches: int = 0
    of_branches: int = 0


def percent(reached: int, points: int) -> str:
    return f"{100 * reached / points:.1f} %" if points else "–"


def table(name: str, about: str, rows: Sequence[Row], lines: str | None) -> str:
    first, second = ("branches", "bits") if name == "shell" else ("lines", "branches")
    link = f' (<a href="{escape(lines)}">each line</a>)' if lines else ""
    total = Row(
        "all", *(sum(getattr(row, name) for row in rows) for name in ("reached", "points", "branches", "of_branches"))
    )
    body = "".join(
        f"<tr><td>{escape(row.name)}</td>"
        f'<td class="number">{percent(row.reached, row.points)}</td><td class="number">{row.points - row.reached}</td>'
        f'<td class="number">{percent(row.branches, row.of_branches)}</td>'
        f'<td class="number">{row.of_branches - row.branches}</td></tr>\n'
        for row in (total, *sorted(rows, key=lambda row: (row.reached - row.points, row.name)))
    )
    return (
        f"<h2>{escape(name)}</h2><p>{escape(about[:1].upper() + about[1:])}{link}.</p>\n<table><tr><th></th>"
        f'<th class="number">{first}</th><th class="number">not reached</th>'
        f'<th class="number">{second}</th><th class="number">not reached</th></tr>\n{body}</table>\n'
    )


def page(parts: Sequence[tuple[str, str, Sequence[Row], str | None]]) -> str:
    """Each part is its name, what was measured, its rows and the page with each line."""
    return HEAD + "".join(table(*part) for part in parts) + "</body></html>\n"
