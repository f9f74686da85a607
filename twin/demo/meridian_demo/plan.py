# SPDX-License-Identifier: Apache-2.0
"""Who plays whom: addresses of the capture given to the PS, the PF and some VFs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from meridian_golden.frame import parse

from .capture import Frame

PF = 0
FIRST_VF = 4
#: Multicast addresses PTP is sent to (IEEE 1588 annexes; UDP/IPv4, UDP/IPv6 and Ethernet).
PTP_ADDRESSES = tuple(
    bytes.fromhex(a) for a in ("01005e000181", "01005e00006b", "333300000181", "33330000006b", "011b19000000", "0180c200000e")
)  # fmt: skip
QUEUES_EACH = 4


@dataclass
class Plan:
    ps_address: bytes | None = None
    functions: dict[int, list[bytes]] = field(default_factory=dict)

    def name(self, function: int) -> str:
        return f"PF {function}" if function < FIRST_VF else f"VF {function - FIRST_VF}"

    def queue_base(self, function: int) -> int:
        """PF first, then the VFs, QUEUES_EACH queues each."""
        return QUEUES_EACH * (0 if function == PF else 1 + function - FIRST_VF)


def choose(frames: list[Frame], vfs: int = 4) -> Plan:
    """The busiest unicast destination goes to the PF, the next ones to VFs and the PS in turn; the rest stays unknown."""
    busiest = Counter()
    for frame in frames:
        header = parse(frame.data)
        if not header.multicast and not header.broadcast:
            busiest[header.destination] += 1
    plan = Plan(functions={PF: []} | {FIRST_VF + i: [] for i in range(vfs)})
    order = [PF, FIRST_VF, None] + [FIRST_VF + i for i in range(1, vfs)]
    for index, (address, _) in enumerate(busiest.most_common(3 * len(order))):
        owner = order[index % len(order)]
        if owner is not None:
            plan.functions[owner].append(address)
        elif plan.ps_address is None:
            plan.ps_address = address
    return plan
