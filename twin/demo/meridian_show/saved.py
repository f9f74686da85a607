# SPDX-License-Identifier: Apache-2.0
"""A run's record as a file beside its capture, so that its report can be made again."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .about import About
from .record import Counters, Offset, Phase, Programs, Record

NAME = "record.json"


def save(record: Record, folder: Path) -> None:
    (folder / NAME).write_text(json.dumps(asdict(record)))


def load(folder: Path) -> Record:
    """Raises OSError or ValueError."""
    read = json.loads((folder / NAME).read_text())
    return Record(
        about=About(**read["about"]),
        ended=read["ended"],
        train=read["train"],
        receivers=read["receivers"],
        programs=Programs(**read["programs"]) if read["programs"] else None,
        phases=[Phase(**it) for it in read["phases"]],
        offsets=[Offset(**it) for it in read["offsets"]],
        counters=[_counters(it) for it in read["counters"]],
        pings=[tuple(it) for it in read["pings"]],
        notes=[tuple(it) for it in read["notes"]],
        bursts=[tuple(it) for it in read["bursts"]],
    )


def _counters(read: dict[str, Any]) -> Counters:
    pairs = {which: {name: tuple(pair) for name, pair in read[which].items()} for which in ("frames", "bytes")}
    return Counters(**{**read, **pairs})
