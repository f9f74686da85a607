#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a card program for half a millisecond of twin time as tests and machines use it: mostly few frames, each way.

scripts/build-card has a compiler count meanwhile which code of the shell runs how often. Frames of several lengths go
from queues of a PF and a VF to the wire, come from it in queues of the host and of the PS, and registers are read.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "twin/client"))

from meridian_twin import CardProcess, Host, Ps, QueueSetting

PERIOD_PS = 2_000_000  # from frame to frame
FRAMES = 120
SIZES = (60, 98, 1514, 342, 9000)
OPTIONS = ("--time", "lockstep", "--seed", "1", "--pcie-round-trip", "800")
TRAFFIC = "0=traffic:size=64/1518,rate=250kpps,dmac=02:00:00:00:00:01,dmacs=3"
SETTING = QueueSetting(paced=True, transmit_offload=True)
VF = 4
PS = 1  # of the addresses


def address(function: int) -> bytes:
    return bytes([2, 0, 0, 0, 0, 1 + function])


def exchange(host: Host, ps: Ps, functions: dict[int, int]) -> None:
    """functions: those that send, and how many queues each has."""
    for number in range(FRAMES):
        for function, queues in functions.items():
            if number % 8 == 0:
                data = (address(9) + address(function) + b"\x88\xb5").ljust(SIZES[number // 8 % len(SIZES)], b"\x5a")
                host.functions[function].send(data, number // 8 % queues)
            host.functions[function].take()
        host.link.advance(PERIOD_PS)
        if number % 16 == 0:
            host.card.counters("FUNCTION", VF)
            ps.send(address(9) + address(PS) + b"\x88\xf7".ljust(60, b"\0"))
        ps.ports[0].poll()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="meridian_card of the folder that scripts/build-card prints")
    with CardProcess(parser.parse_args().program, *OPTIONS, "--wire", TRAFFIC) as card:
        with Host.connect(card.socket, lockstep=True) as host, Ps.connect(card.socket) as ps:
            ps.start(0, address(PS))
            host.bring_up(2, setting=SETTING)
            host.bring_up_vf(VF, 2, 64, SETTING)
            for function in (0, VF):
                host.add_mac(address(function), function)
            host.settle()
            exchange(host, ps, {0: 2, VF: 2})
            ps.phc.time_ns()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
