# SPDX-License-Identifier: Apache-2.0
"""Which frames of the wire the PS gets while it has limits: which of them a frame is under, and how many pass."""

from __future__ import annotations

from dataclasses import dataclass

from .frame import COUNTED_VLAN_TYPES

#: Frames a second of a rate of 1.
UNIT = 390_625_000 / 2**18
BEAT = 8
PTP_TYPE = 0x88F7
PTP_PORTS = (319, 320)
#: From the EtherType to where UDP has its destination port, behind a header without options.
PORT_BEHIND = {0x0800: 24, 0x86DD: 44}
#: Clocks are off by less than this share.
CLOCK = 1e-3


@dataclass(frozen=True)
class Rate:
    """Frames: rate in UNIT, burst at once."""

    rate: int
    burst: int


@dataclass(frozen=True)
class Limit:
    """Of the frames of PTP, and of all others."""

    others: Rate
    ptp: Rate

    def of(self, frame: bytes) -> Rate:
        return self.ptp if is_ptp(frame) else self.others


def is_ptp(frame: bytes) -> bool:
    """Whether a frame is taken for one of PTP, by docs/architecture.md, "Limits of the PS".

    What is in the last beat, of one to eight bytes, does not count there. No message of PTP has its type or port in it.
    """
    before_last = frame[: (len(frame) - 1) // BEAT * BEAT]

    def word(at: int) -> int:
        return int.from_bytes(before_last[at : at + 2], "big")

    at = 12
    while at < 20 and word(at) in COUNTED_VLAN_TYPES:
        at += 4
    behind = PORT_BEHIND.get(word(at))
    return word(at) == PTP_TYPE or (behind is not None and word(at + behind) in PTP_PORTS)


@dataclass
class Bucket:
    """What may be in a token bucket, by what was seen of it: frames at times, in order, that passed or did not.

    slack: tokens, for what is not known of the times.
    """

    rate: Rate
    slack: float = 0.1
    least: float = 0
    most: float = 0
    time_ns: float = 0

    def __post_init__(self) -> None:
        self.most = self.rate.burst

    def saw(self, time_ns: float, passed: bool) -> bool:
        """Whether that can be."""
        gained = self.rate.rate * UNIT * 1e-9 * (time_ns - self.time_ns)
        self.time_ns = time_ns
        self.least = min(self.rate.burst, self.least + gained * (1 - CLOCK))
        self.most = min(self.rate.burst, self.most + gained * (1 + CLOCK))
        if passed:
            possible = self.most + self.slack >= 1
            self.least, self.most = max(self.least - 1, 0), max(self.most - 1, 0)
        else:
            possible = self.least < 1 + self.slack
            self.most = min(self.most, 1)
        return possible
