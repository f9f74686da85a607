# SPDX-License-Identifier: Apache-2.0
"""The PCIe links that the bench of DMA is run on, and the bounds of the models, each with where its numbers are from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Bound:
    """Of what the models of the IP and of the PCIe block have under way."""

    value: int
    what: str
    source: str

    def as_json(self) -> dict[str, Any]:
        return {"value": self.value, "what": self.what, "from": self.source}


#: By the option of qdma_bench that sets it.
BOUNDS = {
    "pcie-tags": Bound(256, "read requests under way", 'PG344, "H2C Stream Engine": 256 requests; 8-bit tags'),
    "pcie-answers": Bound(128, "packets of answers under way", 'PG213 1.3, "Completion Space": CPH 128'),
    "pcie-answer-bytes": Bound(32768, "bytes of answers under way", 'PG213 1.3, "Completion Space": CPD 32,768 bytes'),
    "h2c-bytes": Bound(
        32768, "bytes of H2C, from the request to the stream", 'PG302 5.0, "H2C Stream Engine": up to 32 KB of data'
    ),
    "pcie-pipeline": Bound(
        32,
        "requests in the PCIe block that an answer to a register read cannot pass",
        'PG213 1.3, "Maintaining Transaction Order": numbers of 6 bits, of which designs use half at a time '
        "(verilog-pcie, TX_LIMIT); the QDMA IP's own number is not published",
    ),
}


@dataclass(frozen=True)
class Link:
    """Payload and read request in bytes; round trip of a read on the idle link in ns."""

    name: str
    generation: int
    lanes: int
    whose: str
    payload: int = 256
    request: int = 512
    packets_from: str = "chosen: as gen3x16"
    round_trip_ns: int = 800
    round_trip_from: str = "chosen: a register read of 880 ns is published for a U280, bus of the card included"

    def options(self, flight: bool = True, pipeline: int | None = None) -> list[str]:
        """flight: the way across the link takes time. pipeline: in place of the bound of that name."""
        bounds = {name: bound.value for name, bound in BOUNDS.items()}
        if pipeline is not None:
            bounds["pcie-pipeline"] = pipeline
        return [
            *("--pcie", f"{self.generation}:{self.lanes}"),
            *("--pcie-payload", str(self.payload), "--pcie-request", str(self.request)),
            *("--pcie-round-trip", str(self.round_trip_ns if flight else 0)),
            *(word for name, value in bounds.items() for word in (f"--{name}", str(value))),
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "payload_bytes": self.payload,
            "read_request_bytes": self.request,
            "packets_from": self.packets_from,
            "round_trip_ns": self.round_trip_ns,
            "round_trip_from": self.round_trip_from,
        }


LINKS = {
    link.name: link
    for link in (
        Link("gen3x4", 3, 4, "of the board zcu106"),
        Link("gen3x8", 3, 8, "of the boards t1-rfsoc and fb4xxvg-z21d, and of Enyx's report"),
        Link("gen2x8", 2, 8, "of Enyx's report"),
        Link(
            "gen3x16",
            3,
            16,
            "of Xilinx's report and of RC4ML",
            packets_from="Xilinx AR 71453 v2.0, figure 2: MaxPayload 256 bytes, MaxReadReq 512 bytes",
        ),
    )
}
