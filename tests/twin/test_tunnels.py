# SPDX-License-Identifier: Apache-2.0
"""Packets in tunnels from descriptors to the wire: the card cuts them, or fills in their checksums."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from frames import MINE, PEER
from large_frames import Large, large, payload_bytes
from meridian_golden.shell import TxOutcome, padded
from meridian_twin import Offload
from test_frames import connect, on_wire
from test_segments import ASKS, VF_MAC, Machine, machine, some_cuts
from tunnels import KINDS, in_tunnel, outer_headers

__all__ = ["connect", "machine"]
MOST = 20_000


@pytest.mark.parametrize("entries", [1, 4], ids=["descriptors of 16 bytes", "of 64"])
def test_packets_in_tunnels_are_cut_and_checked(machine: Machine, entries: int) -> None:
    host, random = machine.host, Random(40 + entries)
    host.bring_up(setting=replace(ASKS, pieces=entries, transmit_offload=True))
    machine.golden.transmit_offload = {0}
    due: list[TxOutcome] = []
    seen: Counter[str] = Counter()
    for _ in range(200):
        size = random.choice((0, 0, 511, 512, 536, 1388, 1400, 8191))
        inside = random.randbytes(12)
        one = large(random, inside, payload_bytes(random, size or 700, MOST if size else 1000))
        head = PEER + MINE + (b"\x81\0\0\7" if random.random() < 0.3 else b"")
        kind = random.choice(KINDS)
        headers = outer_headers(random, head, one, size, kind)
        frame, start = in_tunnel(headers, one), len(headers)
        if random.random() < 0.1:
            frame = frame[: random.randint(20, len(frame))]
        if random.random() < 0.1:
            start = random.choice((33, 32, 34, 60, 130, 255))
        ask = Offload(ip_checksum=one.version == 4, l4_checksum=True, segment_bytes=size, inner_start=start)
        cuts = some_cuts(random, one, len(frame)) if machine.has_pieces and entries > 1 else []
        host.send(frame, offload=ask, cuts=cuts)
        due += machine.due(frame, ask)
        seen[kind] += 1
    host.drain()
    assert min(seen[kind] for kind in KINDS) > 20
    sent = [padded(outcome.data) for outcome in due if outcome.on_wire]
    assert len(sent) > 400
    assert [got.data for got in on_wire(host, machine.card.wires[0], len(sent))] == sent
    counters, verdicts = machine.counters(), Counter(outcome.verdict for outcome in due)
    assert (counters["tx_sent"], counters["tx_error"]) == (verdicts["sent"], verdicts["error"])
    assert counters["tx_offload_skipped"] == sum(outcome.unfilled for outcome in due)
    assert verdicts["error"] > 5


def test_a_vf_is_checked_by_the_outer_header(machine: Machine) -> None:
    """Inside it may send with any address, and outside with its own alone."""
    machine.host.bring_up()
    vf = machine.add_vf()
    one = Large(MINE + MINE, bytes(3000))
    for head, verdict in ((PEER + VF_MAC, "sent"), (PEER + MINE, "spoof")):
        headers = outer_headers(Random(1), head, one, 1000, "vxlan", 4)
        ask = Offload(segment_bytes=1000, inner_start=len(headers))
        frame = in_tunnel(headers, one)
        vf.send(frame, offload=ask)
        due = machine.due(frame, ask, queue=8)
        assert [outcome.verdict for outcome in due] == [verdict] * 3
        if verdict == "sent":
            wire = machine.card.wires[0]
            assert [got.data for got in on_wire(machine.host, wire, 3)] == [outcome.data for outcome in due]
    vf.drain()
    assert machine.counters(4)["tx_spoof"] == 3
