# SPDX-License-Identifier: Apache-2.0
"""The PCIe links that the bench of DMA is run on, by name, each with where its numbers are from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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

    def options(self) -> list[str]:
        return [
            *("--pcie", f"{self.generation}:{self.lanes}"),
            *("--pcie-payload", str(self.payload), "--pcie-request", str(self.request)),
            *("--pcie-round-trip", str(self.round_trip_ns)),
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
