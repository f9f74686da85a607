# SPDX-License-Identifier: Apache-2.0
"""A card's registers that end in a dictionary, with a transceiver behind them: for the program that measures eyes."""

from __future__ import annotations

from collections.abc import Callable

from meridian_selftest.registers import Registers

ENABLES, RUN = 3 << 8, 1 << 10
LARGEST = 65535
NONE, RESERVED, HOST_ENABLED = 0, 1, 2
DONE, TIMEOUT = 1, 2


class FakeLane:
    """Port 1 of 2, at 25 Gb/s. rate: the bit error rate at a place (steps, codes, sign of the threshold)."""

    def __init__(self, rate: Callable[[int, int, int], float], word_bits: int = 32) -> None:
        self.rate, self.word_bits = rate, word_bits
        self.registers = Registers()
        self.page = self.registers.ps_base("TRANSCEIVER", 1)
        self.words: dict[int, int] = {}
        self.drp = {0x003: 6 << 5, 0x066: {16: 0, 32: 1, 64: 2}[word_bits], 0x03C: 0}
        self.enabled = False  # before the receiver's last reset
        self.misaligned = False
        self.in_use = False
        self.answers = True
        self.locks = True
        self.errors_to_come: list[int] = []
        self.loopbacks: list[int] = []
        self.modes = 15  # bits of a loopback
        self.loops = True  # the one before the MAC
        self.lost: list[int] = []  # by it, as its counter is read
        self.patterns: list[int] = []
        self.resets = 0
        self.forced = 0
        self.refusal = NONE
        self.result = 0
        self.read_data = 0
        self.magic = self.registers["MAGIC"]
        self.blind = 0  # points that find errors only, as the receiver has not locked yet
        self.capabilities = self.registers["IDENT_CAPABILITIES_SELF_TEST_MASK"]

    def read(self, address: int) -> int:
        regs = self.registers
        if address == self.page + regs["TRANSCEIVER_MAC_LOOP_LOST"] and self.lost:
            return self.lost.pop(0)
        known = {
            regs["IDENT_MAGIC"]: self.magic,
            regs["IDENT_CAPABILITIES"]: self.capabilities,
            regs["IDENT_GEOMETRY"]: 2 << regs["IDENT_GEOMETRY_PORTS_SHIFT"],
            regs.ps_base("PORT", 1) + regs["PORT_LINK_STATUS"]: 25 << regs["PORT_LINK_STATUS_GIGABITS_SHIFT"] | 1,
            self.page + regs["TRANSCEIVER_STATUS"]: self.refusal
            | (self.locks and self.patterns[-1:] not in ([], [0])) << regs["TRANSCEIVER_STATUS_PRBS_LOCKED_SHIFT"]
            | (self.loops and self.loopbacks[-1:] == [8]) << regs["TRANSCEIVER_STATUS_MAC_LOOP_SHIFT"],
            self.page + regs["TRANSCEIVER_DRP_STATUS"]: self.result << regs["TRANSCEIVER_DRP_STATUS_RESULT_SHIFT"]
            | self.read_data,
        }
        return known.get(address, self.words.get(address, 0))

    def _taken(self, value: int, harmless: bool, force_mask: int) -> bool:
        self.refusal = HOST_ENABLED if self.in_use and not harmless and not value & force_mask else NONE
        return self.refusal == NONE

    def write(self, address: int, value: int) -> None:
        regs = self.registers
        name = {
            self.page + regs[f"TRANSCEIVER_{name}"]: name for name in ("LOOPBACK", "PRBS", "COMMAND", "DRP_COMMAND")
        }
        what = name.get(address, "")
        if what == "DRP_COMMAND":
            self._access(value & 0x3FF, value >> 16 if value & 0x8000 else None)
        elif what == "COMMAND":
            self.forced += value & 1
            if value & 4 and self._taken(value, False, 0x100):
                self.resets += 1
                self.enabled = self.drp[0x03C] & ENABLES == ENABLES
        elif what == "LOOPBACK" and self._taken(value, value & self.modes == 0, 0x100):
            self.words[address] = value & self.modes
            self.loopbacks.append(value & self.modes)
        elif what == "PRBS" and self._taken(value, value & 0xF0F == 0, 0x10000):
            self.words[address] = value & 0xF0F
            self.patterns.append(value & 0xF0F)
        elif not what:
            self.words[address] = value
            if value == 3 and self.drp.get(0x04F, 0) >> 4 == 0x880:
                self.misaligned = False

    def _access(self, address: int, value: int | None) -> None:
        self.result = DONE if self.answers else TIMEOUT
        if not self.answers:
            return
        if value is not None:
            begins = address == 0x03C and value & RUN and not self.drp[0x03C] & RUN
            self.drp[address] = value
            if begins and self.enabled:
                self._measure()
            if address == 0x03C and not value & RUN:
                self.drp[0x253] = 0
        if address == 0x25E and self.errors_to_come:
            count = self.errors_to_come.pop(0)
            self.drp[0x25E], self.drp[0x25F] = count & 0xFFFF, count >> 16
        self.read_data = self.drp.get(address, 0)

    @property
    def scans(self) -> bool:
        place = self.page + self.registers["TRANSCEIVER_EYE_SCAN"]
        return bool(self.words.get(place, 0) & self.registers["TRANSCEIVER_EYE_SCAN_SCANS_MASK"])

    def _measure(self) -> None:
        assert self.scans, "the card would reset a receiver without a link"
        across, vertical = self.drp.get(0x04F, 0) >> 4 & 0x7FF, self.drp.get(0x097, 0)
        assert self.drp[0x04F] >> 4 & 0x800, "above 10 Gb/s the phase is chosen by this bit"
        code = (vertical >> 2 & 0x7F) * (-1 if vertical >> 10 & 1 else 1)
        masks = [*range(0x049, 0x04E), *range(0x0F1, 0x0F6)]
        mask = sum(self.drp.get(place, 0) << 16 * number for number, place in enumerate(masks))
        left = [bit for bit in range(160) if not mask >> bit & 1]
        assert left == list(range(80 - self.word_bits, 80)), "the word ends at bit 79"
        self.blind, is_blind = max(0, self.blind - 1), self.blind > 0
        rate = 0.5 if self.misaligned or is_blind else self.rate(across - (across >> 10 << 11), code, vertical >> 9 & 1)
        each = rate * self.word_bits * 2 ** (1 + (self.drp[0x03C] & 31))
        samples = LARGEST if each * LARGEST < LARGEST else max(1, round(LARGEST / each))
        self.drp[0x251], self.drp[0x252] = min(LARGEST, round(each * samples)), samples
        self.drp[0x253] = 5
