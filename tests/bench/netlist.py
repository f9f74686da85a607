# SPDX-License-Identifier: Apache-2.0
"""Reads a flattened netlist that Yosys wrote for UltraScale+ and counts resources and logic levels."""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from pathlib import Path

FLIP_FLOPS = {"FDRE", "FDSE", "FDCE", "FDPE"}
#: Distributed RAM and shift registers, by the LUTs they occupy.
LUT_RAM = {
    "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1D": 8, "RAM32M": 4, "RAM64M": 4, "RAM32M16": 8,
    "RAM64M8": 8, "RAM32X16DR8": 8, "RAM64X8SW": 8, "SRL16E": 1, "SRLC16E": 1, "SRLC32E": 1,
    "RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4, "RAM512X1S": 8,
}  # fmt: skip
#: The address pins behind an output of these; elsewhere DOx is read at ADDRx.
READ_ADDRESS = {"DPO": "DPRA", "SPO": "A", "O": "A", "Q": "A"}
BLOCK_RAM = {"RAMB18E2": 0.5, "RAMB36E2": 1.0}
ULTRA_RAM = {"URAM288", "URAM288_BASE"}
SEQUENTIAL = FLIP_FLOPS | set(BLOCK_RAM) | ULTRA_RAM
#: Levels that stand for a multiplier: Yosys leaves the registers beside it out of the DSP slice.
DSP_LEVELS = 4
#: Pins of a block RAM's second port.
BLOCK_RAM_B = {"ADDRBWRADDR", "ADDRENB", "DINBDIN", "DINPBDINP", "ENBWREN", "REGCEB", "RSTRAMB", "RSTREGB", "WEBWE"}
CLOCK_PINS = ("C", "CLK", "WCLK", "CLKARDCLK", "CLKBWRCLK", "CLKA", "CLKB")
#: A level is one LUT; the wide multiplexers behind LUTs cost none, a carry chain costs one to enter and none to follow.
FREE = {"MUXF7", "MUXF8", "MUXF9", "BUFG", "BUFGCTRL", "INV"}


@dataclass
class End:
    """The deepest path into a register, all bits of a word and all pins of a memory taken together."""

    depth: int
    path: list[str]


@dataclass
class Resources:
    lut: int = 0
    ff: int = 0
    bram36: float = 0.0
    uram: int = 0
    dsp: int = 0
    #: clock → registers with the deepest path into each, the deepest first
    ends: dict[str, list[End]] = field(default_factory=dict)


class Netlist:
    """One flattened module."""

    def __init__(self, file: Path, top: str) -> None:
        module = json.loads(file.read_text())["modules"][top]
        self.cells: dict[str, dict] = module["cells"]
        self.names: dict[int, str] = {}
        # Of the names a net has after flattening, the shortest that the design gave; those of the top's pins first.
        for name, net in sorted(module["netnames"].items(), key=lambda item: (item[0].startswith("$"), len(item[0]))):
            for i, bit in enumerate(net["bits"]):
                if isinstance(bit, int):
                    self.names.setdefault(bit, f"{name}[{i}]" if len(net["bits"]) > 1 else name)
        for name, port in module["ports"].items():
            if len(port["bits"]) == 1 and isinstance(port["bits"][0], int):
                self.names[port["bits"][0]] = name

    def _output(self, cell: dict) -> str:
        """The name of what a register holds."""
        outputs = [b for p, v in cell["connections"].items() if cell["port_directions"].get(p) == "output" for b in v]
        names = [self.names[bit] for bit in outputs if isinstance(bit, int) and bit in self.names]
        return min(names, key=lambda name: name.startswith("$"), default=cell["type"])

    def resources(self) -> Resources:
        """Counts every cell and walks every path between registers."""
        result = Resources()
        kinds = Counter(cell["type"] for cell in self.cells.values())
        for kind, count in kinds.items():
            if kind.startswith("LUT") and kind[3:].isdigit():
                result.lut += count
            result.lut += LUT_RAM.get(kind, 0) * count
            result.ff += count if kind in FLIP_FLOPS else 0
            result.bram36 += BLOCK_RAM.get(kind, 0) * count
            result.uram += count if kind in ULTRA_RAM else 0
            result.dsp += count if kind == "DSP48E2" else 0
        self._walk(result)
        return result

    def parts(self) -> Counter[str]:
        """LUTs by the component that they belong to, those of distributed RAM with them.

        A LUT whose net the design does not name belongs to the component of what it feeds.
        """
        reads: dict[int, list[str]] = defaultdict(list)
        for name, cell in self.cells.items():
            for pin, bits in cell["connections"].items():
                if cell["port_directions"].get(pin) == "input" and pin not in CLOCK_PINS:
                    for bit in bits:
                        reads[bit].append(name)
        luts: Counter[str] = Counter()
        for name, cell in self.cells.items():
            kind = cell["type"]
            size = LUT_RAM.get(kind, int(kind.startswith("LUT") and kind[3:].isdigit()))
            if size:
                luts[self._part(name, reads)] += size
        return luts

    def _part(self, cell: str, reads: dict[int, list[str]]) -> str:
        seen, queue = {cell}, deque([cell])
        while queue:
            at = self.cells[queue.popleft()]
            named = self._output(at)
            if named != at["type"] and not named.startswith("$"):
                return named.rpartition(".")[0] or "top"
            outputs = [b for p, v in at["connections"].items() if at["port_directions"].get(p) == "output" for b in v]
            for reader in (reader for bit in outputs for reader in reads.get(bit, [])):
                if reader not in seen:
                    seen.add(reader)
                    queue.append(reader)
        return "top"

    def _inputs(self, name: str, pin: str, index: int) -> tuple[list[int], int]:
        """Bits that bit `index` of an output pin depends on without a register between, and the levels it adds."""
        cell = self.cells[name]
        kind, pins = cell["type"], cell["connections"]
        if kind in SEQUENTIAL:
            return [], 0
        if kind in LUT_RAM:
            port = READ_ADDRESS.get(pin, pin.replace("DO", "ADDR", 1))
            return [b for p in pins if p.rstrip("0123456789") == port for b in pins[p]], 1
        if kind.startswith("CARRY"):
            # A position of a carry chain sees those below it, and for the sum its own select.
            below = {"CI": 1, "CI_TOP": 1, "CYINIT": 1, "DI": index + (pin == "CO"), "S": index + 1}
            return [b for p, n in below.items() for b in pins.get(p, [])[:n]], 0
        sources = [b for p, v in pins.items() if cell["port_directions"].get(p) == "input" for b in v]
        return sources, 0 if kind in FREE else DSP_LEVELS if kind == "DSP48E2" else 1

    def _levels(self) -> tuple[dict[int, int], dict[int, int | None]]:
        """Of every bit the LUTs since the last register, and the bit before it on the deepest path."""
        driver: dict[int, tuple[str, str, int]] = {}
        for name, cell in self.cells.items():
            for pin, bits in cell["connections"].items():
                if cell["port_directions"].get(pin) == "output":
                    driver |= {bit: (name, pin, i) for i, bit in enumerate(bits) if isinstance(bit, int)}
        level: dict[int, int] = {}
        origin: dict[int, int | None] = {}
        entered: set[int] = set()
        for start in driver:
            stack = [start]
            while stack:
                bit = stack[-1]
                if bit in level:
                    stack.pop()
                    continue
                sources, cost = self._inputs(*driver[bit])
                waiting = [s for s in sources if isinstance(s, int) and s not in level and s in driver]
                if waiting:
                    if bit in entered:
                        raise RuntimeError(f"combinational loop at {self.names.get(bit, bit)}")
                    entered.add(bit)
                    stack.extend(waiting)
                    continue
                known = [(level.get(s, 0), s) for s in sources if isinstance(s, int)]
                best = max(known, default=(0, None), key=lambda item: item[0])
                level[bit], origin[bit] = best[0] + cost, best[1]
                stack.pop()
        return level, origin

    def _path(self, end: str, bit: int, origin: dict[int, int | None]) -> list[str]:
        path = [end]
        step: int | None = bit
        while step is not None:
            name = self.names.get(step, "")
            if name and not name.startswith("$"):
                path.append(name)
            step = origin.get(step)
        return path[::-1]

    def _clock(self, cell: dict, pin: str) -> int | None:
        """The clock with which an input pin of a register or memory is taken, if it is taken with one."""
        kind, pins = cell["type"], cell["connections"]
        if kind in LUT_RAM:
            # The last of the address ports is the one to write at; the others are read without a clock.
            write = max((p for p in pins if p.startswith("ADDR")), default="A" if "DPO" in pins else "")
            if pin.startswith(("ADDR", "DPRA", "A")) and not (write and pin.startswith(write)):
                return None
        names: tuple[str, ...] = CLOCK_PINS
        if kind in BLOCK_RAM:
            wide = pin.startswith("DIN") and not int(cell["parameters"]["WRITE_WIDTH_A"], 2)
            names = ("CLKBWRCLK",) if pin in BLOCK_RAM_B or wide else ("CLKARDCLK",)
        return next((pins[p][0] for p in names if p in pins and isinstance(pins[p][0], int)), None)

    def _walk(self, result: Resources) -> None:
        level, origin = self._levels()
        worst: dict[str, dict[str, tuple[int, int, str]]] = defaultdict(dict)
        for cell in self.cells.values():
            if cell["type"] not in SEQUENTIAL and cell["type"] not in LUT_RAM:
                continue
            output = self._output(cell)
            word = output.split("[")[0]
            for pin, bits in cell["connections"].items():
                if cell["port_directions"].get(pin) != "input" or pin in CLOCK_PINS:
                    continue
                clock = self._clock(cell, pin)
                if clock is None:
                    continue
                words = worst[self.names.get(clock, str(clock))]
                for bit in bits:
                    if isinstance(bit, int) and level.get(bit, 0) > words.get(word, (-1,))[0]:
                        words[word] = (level.get(bit, 0), bit, f"{output}.{pin}")
        for clock_name, words in worst.items():
            ends = sorted(words.values(), key=lambda end: -end[0])
            result.ends[clock_name] = [End(depth, self._path(name, bit, origin)) for depth, bit, name in ends]
