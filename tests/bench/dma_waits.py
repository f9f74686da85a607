# SPDX-License-Identifier: Apache-2.0
"""Rows of the published tables, and of our own format, that no run measures, each with what it waits for."""

from __future__ import annotations

from typing import Any

import dma_published as published

BYPASS, MEMORY = "bypass", "a load of memory-mapped queues"
AR_71453 = "Xilinx AR 71453"
#: Figures of AR 71453 by direction: of PF and VF, each on two machines.
MEMORY_FIGURES = {"c2h": (39, 42, 45, 48), "h2c": (40, 43, 46, 49), "both": (41, 44, 47, 50)}
WHY_MEMORY = (
    "the report has graphs without numbers, in its words 'the QDMA IP easily achieves the line rate with the typical 4K "
    "workload even with a single queue when using BRAM'. The model refuses such queues, as vivado/tcl/qdma.tcl builds the IP "
    "without them; the engine of our own has them with --memory true, and no program of this bench loads them"
)

#: What the row is, where it is from, what it waits for, and why.
ROWS: tuple[tuple[str, dict[str, Any], str, str, str, str], ...] = (
    (
        "push_round_trip_ns",
        {"engine": "qdma_model"},
        "round trip with the frame in the doorbell's own write, in place of a descriptor",
        published.ROUND_TRIP,
        BYPASS,
        "the queues of the IP take frames by descriptors in host memory alone",
    ),
    (
        "random_access_mops",
        {"engine": "qdma_model", "descriptors": "card"},
        "random access with descriptors that the card makes: H2C 32 M, C2H 80 M, both at once 29 M operations/s at 64 bytes",
        published.RANDOM,
        BYPASS,
        "the model refuses queues in bypass mode, as vivado/tcl/qdma.tcl builds the IP without it",
    ),
    (
        "latency_us",
        {"engine": "qdma_model", "descriptors": "card"},
        "latency from the card's own command to its answer: H2C 1.0 us, C2H 1.3 us at 64 bytes",
        published.LATENCY,
        BYPASS,
        "the model refuses queues in bypass mode, as vivado/tcl/qdma.tcl builds the IP without it",
    ),
    (
        "bridge_write_mops",
        {"engine": "qdma_model"},
        "writes to the bridge by a host's core, uncached or write-combined: about 8 M/s",
        "RC4ML rc4ml_qdma, README",
        "a host",
        "no core is modelled, and the rate is the core's",
    ),
    *(
        (
            f"memory_{direction}_gbytes_s",
            {"engine": "qdma_model", "memory": "BRAM"},
            f"memory-mapped queues of PF and VF, {direction}, 64 bytes to 32 KB, by Linux's reference driver",
            f"{AR_71453}, figures {', '.join(map(str, figures[:-1]))} and {figures[-1]}",
            MEMORY,
            WHY_MEMORY,
        )
        for direction, figures in MEMORY_FIGURES.items()
    ),
)

#: Rows that are measured, but have no number beside them.
WITHOUT_NUMBERS = (
    "C2H only and H2C only by dpdk-pktgen and by dma-perf",
    f"{AR_71453}, figures 3 to 38",
    "are measured above; the report has them as graphs without numbers",
)


def waits() -> list[dict[str, Any]]:
    """As dma.json has them."""
    return [
        {"id": name, "with": where, "row": row, "source": source, "waits_for": what, "why": why}
        for name, where, row, source, what, why in ROWS
    ]


def table_rows(entries: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """As the page shows them."""
    return [
        *((it["row"], it["source"], f"waits for {it['waits_for']}: {it['why']}") for it in entries),
        WITHOUT_NUMBERS,
    ]
