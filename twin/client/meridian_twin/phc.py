# SPDX-License-Identifier: Apache-2.0
"""The PTP clock: read by everybody, set and adjusted by the PS."""

from __future__ import annotations

from .card import Card

SECOND = 1_000_000_000
EDGES = 8  # stamps that wait in the card at most


class Phc:
    """Times are nanoseconds since the clock's epoch; the clock itself counts fractions of 2^-32 ns.

    Raises ValueError for an adjustment of a second or more.
    """

    def __init__(self, card: Card) -> None:
        self.card = card

    def _at(self, register: str) -> int:
        place = self.card.regs.ps_address if self.card.bus == "ps" else self.card.regs.address
        return place("PTP", register)

    def _read(self, register: str) -> int:
        return self.card.read(self._at(register), self.card.bus)

    def _write(self, register: str, value: int) -> None:
        self.card.write(self._at(register), value, self.card.bus)

    def _command(self, name: str) -> None:
        self._write("COMMAND", self.card.regs.field("PTP", "COMMAND", name).at(1))

    def time_ns(self) -> int:
        """The time now. Only the PS may latch it; its three words are of one moment."""
        self._command("LATCH")
        seconds = self._read("TIME_SECONDS_HIGH") << 32 | self._read("TIME_SECONDS_LOW")
        return SECOND * seconds + self._read("TIME_NANOSECONDS")

    def followed(self) -> bool:
        """The time in every port's MAC clocks, which stamp the frames, follows this clock."""
        self.time_ns()  # behind what was written before
        bits = self.card.regs.field("PTP", "STATUS", "FOLLOWERS").of(self._read("STATUS"))
        return bits == (1 << 2 * self.card.geometry.ports) - 1

    def set_ns(self, time_ns: int) -> None:
        seconds, nanoseconds = divmod(time_ns, SECOND)
        self._write("SET_SECONDS_HIGH", seconds >> 32)
        self._write("SET_SECONDS_LOW", seconds & 0xFFFFFFFF)
        self._write("SET_NANOSECONDS", nanoseconds)
        self._write("SET_FRACTION", 0)
        self._command("SET")

    def adjust_ns(self, offset: int) -> None:
        """Adds an offset of less than a second either way, at once."""
        if abs(offset) >= SECOND:
            raise ValueError(f"an offset of {offset} ns; it has to be below a second, set the clock instead")
        self._write("ADJUST_NANOSECONDS", offset & 0xFFFFFFFF)
        self._write("ADJUST_FRACTION", 0)
        self._command("ADJUST")

    def adjust_frequency(self, ppb: float) -> None:
        """The clock's speed against its nominal one, in parts per billion."""
        nominal = self._read("NOMINAL_NANOSECONDS") << 32 | self._read("NOMINAL_FRACTION")
        increment = nominal + round(nominal * ppb / SECOND)
        self._write("INCREMENT_NANOSECONDS", increment >> 32)
        self._write("INCREMENT_FRACTION", increment & 0xFFFFFFFF)

    def stamp_edges(self) -> None:
        """Rising edges at the pin for external timestamps are stamped from now on."""
        self._write("EXTTS", self.card.regs.field("PTP", "EXTTS", "RISING").at(1))
        self.time_ns()  # behind what was written before

    def edges_ns(self) -> list[int]:
        """Stamps of the edges that came since the last call; the card keeps eight."""
        stamped = self.card.regs.field("PTP", "STATUS", "STAMPED")
        found: list[int] = []
        while len(found) < EDGES and stamped.of(self._read("STATUS")):
            seconds = self._read("EXTTS_SECONDS_HIGH") << 32 | self._read("EXTTS_SECONDS_LOW")
            found.append(SECOND * seconds + self._read("EXTTS_NANOSECONDS"))
            self._command("POP")
            self.time_ns()  # behind it
        return found
