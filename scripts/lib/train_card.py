#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a card program for a quarter of a millisecond of twin time as tests and machines use it: few frames, each way.

scripts/build-card has a compiler count meanwhile which code of the shell runs how often. Frames of several lengths go
from queues of a PF and a VF and from the PS to the wire, and come from it for each of them; counters are read. The
program fails if frames do not pass in one of these ways.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "twin/client"))

from meridian_twin import CardProcess, Host, Ps, QueueSetting

PERIOD_PS = 2_000_000
PERIODS = 128  # a sender has a frame in every eighth
SIZES = (60, 98, 1514, 342, 9000)
OPTIONS = ("--time", "lockstep", "--seed", "1", "--pcie-round-trip", "800")
TRAFFIC = "0=traffic:size=64/1518,rate=250kpps,flows=5,dmac=02:00:00:00:00:01,dmacs=5"  # each of those below, and others
SETTING = QueueSetting(paced=True, transmit_offload=True)
QUEUES = 2
PF, PS, VF = 0, 1, 4


def address(number: int) -> bytes:
    return bytes([2, 0, 0, 0, 0, 1 + number])


def frame(sender: int, size: int) -> bytes:
    return (address(9) + address(sender) + b"\x88\xb5").ljust(size, b"\x5a")


def exchange(host: Host, ps: Ps) -> dict[str, int]:
    """How many frames have passed in each way."""
    came = dict.fromkeys((PF, VF, PS), 0)
    for period in range(PERIODS):
        turn, is_sending = period // 8, period % 8 == 0
        for function in (PF, VF):
            if is_sending:
                host.functions[function].send(frame(function, SIZES[turn % len(SIZES)]), turn % QUEUES)
            came[function] += len(host.functions[function].take())
        if is_sending:
            ps.send(frame(PS, 60))
        host.link.advance(PERIOD_PS)
        came[PS] += len(ps.ports[0].poll())
    sent = {function: host.card.counters("FUNCTION", function)["tx_sent"] for function in (PF, VF)}
    sent[PS] = host.card.counters("PORT_COUNTERS")["tx_frames"] - sum(sent.values())
    names = {PF: "the PF", VF: "the VF", PS: "the PS"}
    return {f"{way} {names[who]}": n for way, of in (("to", came), ("from", sent)) for who, n in of.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="meridian_card of the folder that scripts/build-card prints")
    with (
        CardProcess(parser.parse_args().program, *OPTIONS, "--wire", TRAFFIC) as card,
        Host.connect(card.socket, lockstep=True) as host,
        Ps.connect(card.socket) as ps,
    ):
        host.bring_up(QUEUES, setting=SETTING)
        host.bring_up_vf(VF, QUEUES, 64, SETTING)
        for function in (PF, VF):
            host.add_mac(address(function), function)
        host.settle()
        ps.start(0, address(PS))
        frames = exchange(host, ps)
    print(", ".join(f"{number} frames {way}" for way, number in frames.items()))
    missing = [way for way, number in frames.items() if number <= 0]
    if missing:
        print(f"error: no frame passes {', '.join(missing)}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
