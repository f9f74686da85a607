# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""A port's transceiver: its page of registers, and its own registers behind that (DRP)."""

from __future__ import annotations

from meridian_selftest import system
from meridian_selftest.registers import Registers

from .window import Registers32

LOOPBACKS = {"none": 0, "near-pcs": 1, "near-pma": 2, "far-pma": 4, "far-pcs": 6, "mac": 8}
MAC = "mac"
PATTERNS = {7: 1, 9: 2, 15: 3, 23: 4, 31: 5}
#: Gb/s on the wire, with the two bits that 64 bits have more there.
LINE_RATES = {10: 10.3125, 25: 25.78125}
REFUSALS = {
    1: "the card does not have that setting",
    2: "the host is enabled at the port: set its interface down, or use --force",
    3: "the card's ARM side is enabled at the port: set its interface down there; --force works on the ARM side only",
    4: "frames came or went at the port within the last millisecond: use --force",
}
DRP_RESULTS = {
    0: "was not begun",
    2: "was not answered: the transceiver has no clock or is in reset",
    3: "was not made, as the one before was not answered",
    4: "was mixed with another program's",
}
RESET_SECONDS, LOCK_SECONDS, DRP_SECONDS = 0.1, 0.5, 0.1
PRBS_ERRORS = (0x25E, 0x25F)
DONE = 1


class LaneError(Exception):
    """The card has refused something, or the transceiver does not answer."""


class Lane:
    """slow: by which bounds of time are longer, for a slow card."""

    def __init__(self, window: Registers32, registers: Registers, port: int, slow: float = 1) -> None:
        self.window, self.registers, self.port, self.slow = window, registers, port, slow
        #: What goes with each write: also if the port is in use.
        self.force = False
        numbers = registers
        if (magic := window.read(numbers["IDENT_MAGIC"])) != numbers["MAGIC"]:
            raise LaneError(
                f"the card's magic is {magic:#010x}, not {numbers['MAGIC']:#010x}: it is in reset, or its memory is switched "
                "off ('lspci -v' shows that)"
            )
        if not numbers.field("IDENT_CAPABILITIES_SELF_TEST", window.read(numbers["IDENT_CAPABILITIES"])):
            raise LaneError(
                "this bitstream has no pins to its transceivers: build it with 'make bitstream SELF_TEST=1'"
            )
        ports = numbers.field("IDENT_GEOMETRY_PORTS", window.read(numbers["IDENT_GEOMETRY"]))
        if not 0 <= port < ports:
            raise LaneError(f"there is no port {port}: the card has ports 0 to {ports - 1}")
        self._page = numbers.ps_base("TRANSCEIVER", port)
        status = window.read(numbers.ps_base("PORT", port) + numbers["PORT_LINK_STATUS"])
        self.line_rate = LINE_RATES[numbers.field("PORT_LINK_STATUS_GIGABITS", status)]

    def read(self, name: str) -> int:
        return self.window.read(self._page + self.registers[f"TRANSCEIVER_{name}"])

    def write(self, name: str, value: int) -> None:
        self.window.write(self._page + self.registers[f"TRANSCEIVER_{name}"], value)

    def status(self, field: str) -> int:
        return self.registers.field(f"TRANSCEIVER_STATUS_{field}", self.read("STATUS"))

    def _set(self, name: str, value: int, what: str) -> None:
        self.write(name, value | (self.registers[f"TRANSCEIVER_{name}_FORCE_MASK"] if self.force else 0))
        refusal = self.status("REFUSAL")
        if refusal:
            raise LaneError(f"port {self.port}: {what} is refused: {REFUSALS.get(refusal, f'code {refusal}')}")

    def _settle(self) -> None:
        if not system.until(lambda: not self.status("RESETTING"), RESET_SECONDS * self.slow):
            raise LaneError(f"port {self.port}: the reset of the transceiver does not end")

    @property
    def loopback(self) -> int:
        return self.registers.field("TRANSCEIVER_LOOPBACK_MODE", self.read("LOOPBACK"))

    def set_loopback(self, mode: int) -> None:
        self._settle()
        self._set("LOOPBACK", mode, "the loopback")
        self._settle()

    def wait_for_mac_loop(self) -> None:
        """Until the port's frames go round before the MAC."""
        if self.loopback != LOOPBACKS[MAC]:
            raise LaneError(
                f"port {self.port}: this bitstream has no loopback at the MAC's host side: build it from the commit of this "
                "program"
            )
        if not system.until(lambda: bool(self.status("MAC_LOOP")), LOCK_SECONDS * self.slow):
            raise LaneError(
                f"port {self.port}: the loopback at the MAC's host side does not begin: the receiver has no clock, or the MAC "
                "takes no frame"
            )

    @property
    def lost(self) -> int:
        """Frames that the loopback at the MAC's host side had no room for; wraps."""
        return self.read("MAC_LOOP_LOST")

    def set_patterns(self, patterns: tuple[int, int]) -> None:
        """Of transmitter and receiver."""
        self._set("PRBS", patterns[1] << 8 | patterns[0], "the test pattern")

    @property
    def patterns(self) -> tuple[int, int]:
        word = self.read("PRBS")
        return self.registers.field("TRANSCEIVER_PRBS_TX", word), self.registers.field("TRANSCEIVER_PRBS_RX", word)

    def wait_for_lock(self) -> bool:
        return system.until(lambda: bool(self.status("PRBS_LOCKED")), LOCK_SECONDS * self.slow)

    def reset_count(self) -> None:
        self.write("COMMAND", self.registers["TRANSCEIVER_COMMAND_RESET_COUNT_MASK"])

    def force_error(self) -> None:
        self.write("COMMAND", self.registers["TRANSCEIVER_COMMAND_FORCE_ERROR_MASK"])

    def reset_receiver(self) -> None:
        self._settle()
        self._set("COMMAND", self.registers["TRANSCEIVER_COMMAND_RESET_RX_MASK"], "a reset of the receiver")
        self._settle()

    def begin_scan(self, reset: bool = False) -> None:
        """The card leaves a receiver without a link alone from now on. reset: the eye scan is held in reset."""
        bits = self.registers["TRANSCEIVER_EYE_SCAN_SCANS_MASK"]
        self.write("EYE_SCAN", bits | (self.registers["TRANSCEIVER_EYE_SCAN_RESET_MASK"] if reset else 0))

    def end_scan(self) -> None:
        self.write("EYE_SCAN", 0)

    def errors(self) -> int:
        """Of the pattern, since the count began; the two words are of one moment if the high one stays."""
        while True:
            high, low, again = (self.drp_read(PRBS_ERRORS[which]) for which in (1, 0, 1))
            if high == again:
                return high << 16 | low

    def _drp(self, command: int) -> int:
        self.write("DRP_COMMAND", command)
        word = 0

        def ended() -> bool:
            nonlocal word
            word = self.read("DRP_STATUS")
            return not self.registers.field("TRANSCEIVER_DRP_STATUS_BUSY", word)

        if not system.until(ended, DRP_SECONDS * self.slow, pause=0):
            raise LaneError(f"port {self.port}: the card does not end an access to the transceiver")
        result = self.registers.field("TRANSCEIVER_DRP_STATUS_RESULT", word)
        if result != DONE:
            self.write("COMMAND", self.registers["TRANSCEIVER_COMMAND_CLEAR_DRP_MASK"])
            why = DRP_RESULTS.get(result, f"ended with code {result}")
            raise LaneError(f"port {self.port}: an access to the transceiver {why}")
        return self.registers.field("TRANSCEIVER_DRP_STATUS_DATA", word)

    def drp_read(self, address: int) -> int:
        return self._drp(address)

    def drp_write(self, address: int, value: int) -> None:
        self._drp(value << 16 | self.registers["TRANSCEIVER_DRP_COMMAND_WRITE_MASK"] | address)

    def drp_change(self, address: int, mask: int, value: int) -> None:
        """Of a register those bits that mask has."""
        self.drp_write(address, self.drp_read(address) & ~mask & 0xFFFF | value & mask)
