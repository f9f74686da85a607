# SPDX-License-Identifier: Apache-2.0
"""Compares what came out of the card with the golden model: every frame, every counter."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from .plan import Plan
from .run import Received


def _snake(name: str) -> str:
    return re.sub("([A-Z])", r"_\1", name).lower()


def _order(place: str, got: list[bytes], streams: list[list[bytes]]) -> list[str]:
    """got must be an interleaving of the streams, each in its own order."""
    errors = []
    wanted = Counter(frame for stream in streams for frame in stream)
    found = Counter(got)
    for frame, count in (wanted - found).items():
        errors.append(f"{place}: {count} time(s) missing: {len(frame)} bytes {frame[:20].hex(' ')}…")
    for frame, count in (found - wanted).items():
        errors.append(f"{place}: {count} time(s) too much: {len(frame)} bytes {frame[:20].hex(' ')}…")
    for stream in [] if errors else streams:
        # A frame that two streams have says nothing of the order of either.
        others = {frame for other in streams if other is not stream for frame in other}
        if [f for f in got if f not in others] != [f for f in stream if f not in others]:
            errors.append(f"{place}: frames out of order")
    return errors


def check(result: Received, plan: Plan) -> list[str]:
    """What is wrong; empty when all is right."""
    errors: list[str] = []
    unicast: dict[int, list[bytes]] = defaultdict(list)
    copies: dict[int, list[bytes]] = defaultdict(list)
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    port: Counter[str] = Counter()
    ps = []
    for frame, _, outcome in result.outcomes:
        port["rx_frames"] += 1
        if outcome.drop:
            port[f"rx_{outcome.drop}"] += 1
            continue
        port["rx_good_frames"] += 1
        if outcome.to_ps:
            ps.append(frame.data)
            port["rx_to_ps"] += 1
        if outcome.host:
            port["rx_to_host"] += 1
        if outcome.copying:
            verdicts["nobody"]["rx_copying"] += 1
        for delivery in outcome.host:
            who = "nobody" if delivery.function is None else plan.name(delivery.function)
            verdicts[who][f"rx_{_snake(delivery.verdict)}"] += 1
            if delivery.verdict == "delivered":
                assert delivery.queue is not None
                (copies if outcome.copying else unicast)[delivery.queue].append(frame.data)
    errors += _order("PS", [frame for _, frame in result.ps], [ps])
    for queue in sorted(set(unicast) | set(copies) | set(result.queues)):
        got = [frame for _, frame in result.queues[queue]]
        errors += _order(f"queue {queue}", got, [unicast[queue], copies[queue]])

    by_queue: dict[int, list[bytes]] = defaultdict(list)
    for queue, frame, verdict in result.answers:
        if queue >= 0:
            verdicts[_owner(plan, queue)][f"tx_{_snake(verdict)}"] += 1
        if verdict == "sent":
            by_queue[queue].append(frame)
            port["tx_from_ps" if queue < 0 else "tx_from_host"] += 1
    errors += _order("wire", [frame for _, frame in result.wire], list(by_queue.values()))

    for name in ("rx_bad_fcs", "rx_runt", "rx_oversize", "rx_host_overflow", "rx_ps_overflow"):
        port[name] += 0
    for name, value in port.items():
        if result.counters["port"][name] != value:
            errors.append(f"port counter {name}: {result.counters['port'][name]} instead of {value}")
    for who, counters in result.counters.items():
        if who == "port":
            continue
        for name, value in counters.items():
            if name.endswith("_bytes") or name == "rx_copies":
                continue
            if value != verdicts[who][name]:
                errors.append(f"{who} counter {name}: {value} instead of {verdicts[who][name]}")
    return errors


def _owner(plan: Plan, queue: int) -> str:
    return next(plan.name(f) for f in plan.functions if plan.queue_base(f) <= queue < plan.queue_base(f) + 4)
