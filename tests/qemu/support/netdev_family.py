# SPDX-License-Identifier: Apache-2.0
"""What the kernel tells of an interface by netlink's family netdev: queues, NAPI, and statistics of each queue."""

from __future__ import annotations

from pathlib import Path

from driver_function import Function

TOOL = Path(__file__).with_name("netdev_tool.c")
# Of linux/netdev.h: commands, and what they answer.
QUEUE_GET, NAPI_GET, QSTATS_GET, PAGE_POOL_GET = 10, 11, 12, 5
QUEUE = {1: "id", 2: "ifindex", 3: "type", 4: "napi"}
NAPI = {1: "ifindex", 2: "id", 3: "irq"}
POOL = {1: "id", 2: "ifindex", 3: "napi", 4: "inflight", 6: "detached"}
QSTATS = {
    1: "ifindex",
    2: "type",
    3: "id",
    8: "rx_packets",
    9: "rx_bytes",
    10: "tx_packets",
    11: "tx_bytes",
    12: "rx_alloc_fail",
    13: "rx_hw_drops",
    14: "rx_hw_drop_overruns",
    16: "rx_csum_unnecessary",
    17: "rx_csum_none",
    18: "rx_csum_bad",
    24: "tx_hw_drops",
    25: "tx_hw_drop_errors",
    27: "tx_needs_csum",
    28: "tx_hw_gso_packets",
    29: "tx_hw_gso_bytes",
    30: "tx_hw_gso_wire_packets",
    31: "tx_hw_gso_wire_bytes",
    33: "tx_stop",
    34: "tx_wake",
}
RX, TX = 0, 1
BY_QUEUE = "4 1"  # the attribute scope with the value queue


def ask(function: Function, command: int, names: dict[int, str], words: str = "") -> list[dict[str, int]]:
    """Each answer of a dump that is of the function's interface."""
    text = function.run(f"/run/twin/netdev_tool {command} {words}")
    pairs = [[word.split("=") for word in line.split()] for line in text.splitlines()]
    answers = [{names.get(int(name), name): int(value) for name, value in line} for line in pairs]
    index = int(function.run("cat /sys/class/net/DEV/ifindex"))
    return [answer for answer in answers if answer.get("ifindex") == index]


def totals(function: Function) -> dict[str, int]:
    """Statistics of the whole interface."""
    answers = ask(function, QSTATS_GET, QSTATS)
    assert len(answers) == 1, f"{len(answers)} answers of statistics by netlink"
    return answers[0]


def by_queue(function: Function) -> list[dict[str, int]]:
    return ask(function, QSTATS_GET, QSTATS, BY_QUEUE)
