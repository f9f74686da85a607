# SPDX-License-Identifier: Apache-2.0
"""What others have published of DMA (docs/reference), by the points of the bench."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"
FORWARDING = "qdma_dpdk_forwarding.csv"
ROUND_TRIP = "enyx_hfp_latency_ns.csv"
LOOPBACK = "enyx_hfp_bandwidth_gbps.csv"
RANDOM = "rc4ml_u280_random_access.csv"
LATENCY = "rc4ml_u280_latency.csv"
REGISTERS = "rc4ml_axil_read_latency.csv"
ENYX = {"gen3x8": "Virtex UltraScale+ Gen3x8", "gen2x8": "Virtex UltraScale+ Gen2x8"}


def rows(name: str) -> Iterator[dict[str, str]]:
    with (FOLDER / name).open() as stream:
        yield from csv.DictReader(stream)


def reference(measured: float, published: float | None, source: str) -> dict[str, Any] | None:
    """As a figure has it; ratio: of what was measured to what is published."""
    if published is None:
        return None
    return {"value": published, "source": source, "ratio": round(measured / published, 3)}


@cache
def forwarding() -> dict[tuple[str, int, int], float]:
    """(function, bytes, queues) → Mpps, on the faster of the two machines."""
    best: dict[tuple[str, int, int], float] = {}
    for row in rows(FORWARDING):
        key = row["function"], int(row["packet_bytes"]), int(row["queues"])
        best[key] = max(best.get(key, 0.0), float(row["mpps"]))
    return best


@cache
def enyx(name: str) -> dict[tuple[str, int], float]:
    """(link, bytes) → value of one of Enyx's tables, of the device family of our boards."""
    found: dict[tuple[str, int], float] = {}
    by_target = {row["target"]: row for row in rows(name)}
    for link, target in ENYX.items():
        found |= {(link, int(size)): float(value) for size, value in by_target[target].items() if size != "target"}
    return found


@cache
def random_access() -> dict[tuple[str, int, int], float]:
    """(direction, bytes, queues) → million operations a second."""
    return {
        (row["direction"], int(row["packet_bytes"]), int(row["queues"])): round(
            1000 * float(row["gbytes_per_s"]) / int(row["packet_bytes"]), 2
        )
        for row in rows(RANDOM)
    }


@dataclass(frozen=True)
class Offered:
    """A row of the table of latencies: gap_ns from one operation to the next, 0 for as fast as they go."""

    direction: str
    bytes: int
    gap_ns: int
    mops: float
    command_us: float


@cache
def latencies() -> list[Offered]:
    cycle_ns = 4
    return [
        Offered(
            row["direction"],
            int(row["packet_bytes"]),
            cycle_ns * int(row["wait_cycles"]),
            float(row["mops"]),
            float(row["latency_cmd_us"]),
        )
        for row in rows(LATENCY)
    ]


@cache
def registers() -> dict[str, float]:
    """load → us of a read by AXI-Lite; reads of DMA go from the host to the card."""
    names = {(False, False): "idle", (True, False): "h2c", (False, True): "c2h", (True, True): "both"}
    return {
        names[row["dma_read_gbytes_per_s"] != "0", row["dma_write_gbytes_per_s"] != "0"]: float(
            row["axil_read_latency_us"]
        )
        for row in rows(REGISTERS)
    }
