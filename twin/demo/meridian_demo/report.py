# SPDX-License-Identifier: Apache-2.0
"""The demo's tables and files."""

from __future__ import annotations

from pathlib import Path

from meridian_golden.frame import parse
from rich.console import Console
from rich.table import Table

from . import capture
from .plan import Plan
from .reasons import REASONS
from .run import Received


def tables(console: Console, result: Received, plan: Plan) -> None:
    who = Table(title="Who got what")
    for column in ("endpoint", "addresses", "unicast", "broadcast, multicast", "bytes", "sent"):
        who.add_column(column, justify="left" if column in ("endpoint", "addresses") else "right")
    sent = result.counters["port"]
    ps_addresses = [plan.ps_address.hex(":")] if plan.ps_address else []
    _row(who, "PS", [*ps_addresses, "PTP"], [f for _, f in result.ps], sent["tx_from_ps"])
    for function, addresses in plan.functions.items():
        base = plan.queue_base(function)
        frames = [f for queue in range(base, base + 4) for _, f in result.queues[queue]]
        name = plan.name(function)
        shown = [a.hex(":") for a in addresses[:2]] + (["…"] if len(addresses) > 2 else [])
        _row(who, name, shown + (["all others"] if function == 0 else []), frames, result.counters[name]["tx_sent"])
    console.print(who)

    why = Table(title="Why frames dropped")
    why.add_column("reason")
    why.add_column("frames", justify="right")
    why.add_column("why that is right")
    for name, reason in REASONS.items():
        count = sum(counters.get(name, 0) for counters in result.counters.values())
        if count:
            why.add_row(reason.words, str(count), reason.why)
    console.print(why)


def _row(table: Table, name: str, addresses: list[str], frames: list[bytes], sent: int) -> None:
    group = sum(1 for frame in frames if parse(frame).multicast or parse(frame).broadcast)
    row = [name, ", ".join(addresses), str(len(frames) - group), str(group), str(sum(map(len, frames))), str(sent)]
    table.add_row(*row)


def pcaps(folder: Path, result: Received, plan: Plan) -> list[Path]:
    """One pcap an endpoint, in the card's time."""
    folder.mkdir(parents=True, exist_ok=True)
    endpoints = {"ps": result.ps, "wire": result.wire}
    for function in plan.functions:
        base = plan.queue_base(function)
        frames = [entry for queue in range(base, base + 4) for entry in result.queues[queue]]
        endpoints[plan.name(function).lower().replace(" ", "")] = sorted(frames)
    files = []
    for name, frames in endpoints.items():
        file = folder / f"{name}.pcap"
        capture.write(file, frames)
        files.append(file)
    return files
