# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""The report as text, a line as soon as it is known, or as JSON."""

from __future__ import annotations

import json
import platform
import time

from . import VERSION, ethtool
from .card import ArmCard, HostCard
from .result import FAIL, PASS, SKIP, Line

WIDTH = 12


def facts(card: HostCard | ArmCard | None) -> dict[str, str]:
    """Of the machine and the card, for whoever reads the report elsewhere."""
    system = platform.uname()
    found = {
        "program": f"meridian-selftest {VERSION}",
        "date": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
        "machine": f"{system.node}, {system.system} {system.release} {system.machine}",
    }
    if card:
        found["card"] = card.name
    if card and card.interfaces:
        try:
            found["driver"] = " ".join(ethtool.driver(card.interfaces[0])[:2])
        except ethtool.Detached as error:
            found["driver"] = f"does not say its name: {error}"
    return found


def text(line: Line) -> str:
    return f"{line.result}  {line.name:{WIDTH}} {line.text}"


def summary(lines: list[Line]) -> str:
    return ", ".join(f"{count(lines, result)} {result}" for result in (PASS, FAIL, SKIP))


def count(lines: list[Line], result: str) -> int:
    return sum(line.result == result for line in lines)


def as_json(about: dict[str, str], lines: list[Line]) -> str:
    """about: facts()."""
    checks = [{"name": line.name, "result": line.result, "text": line.text} for line in lines]
    counts = {result.lower(): count(lines, result) for result in (PASS, FAIL, SKIP)}
    return json.dumps({**about, "checks": checks, **counts}, indent=2)
