# SPDX-License-Identifier: Apache-2.0
"""Reads a flattened netlist that Yosys wrote for UltraScale+ and counts resources and logic levels."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

FLIP_FLOPS = {"FDRE", "FDSE", "FDCE", "FDPE"}
#: Distributed RAM and shift registers, by the LUTs they occupy.
LUT_RAM = {
    "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1D": 8, "RAM32M": 4, "RAM64M": 4, "RAM32M16": 8,
    "RAM64M8": 8, "RAM32X16DR8": 8, "RAM64X8SW": 8, "SRL16E": 1, "SRLC16E": 1, "SRLC32E": 1,
}  # fmt: skip
BLOCK_RAM = {"RAMB18E2": 0.5, "RAMB36E2": 1.0}
ULTRA_RAM = {"URAM288", "URAM288_BASE"}
SEQUENTIAL = FLIP_FLOPS | set(BLOCK_RAM) | ULTRA_RAM | {"DSP48E2"}
CLOCK_PINS = ("C", "CLK", "WCLK", "CLKARDCLK", "CLKBWRCLK", "CLKA", "CLKB")
#: A level is one LUT; the wide multiplexers behind LUTs cost none, a carry chain costs one to enter and none to follow.
FREE = {"MUXF7", "MUXF8", "MUXF9", "BUFG", "BUFGCTRL", "INV"}


@dataclass
class Resources:
    lut: int = 0
    ff: int = 0
    bram36: float = 0.0
    uram: int = 0
    dsp: int = 0
    #: clock → worst number of LUTs between two registers, and the net where that path ends
    depth: dict[str, int] = field(default_factory=dict)
    worst: dict[str, list[str]] = field(default_factory=dict)


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
        for pin in ("Q", "O", "DOUTADOUT", "P"):
            for bit in cell["connections"].get(pin, []):
                if isinstance(bit, int):
                    return self.names.get(bit, str(bit))
        return cell["type"]

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

    def _walk(self, result: Resources) -> None:
        driver: dict[int, tuple[str, str]] = {}
        for name, cell in self.cells.items():
            for pin, bits in cell["connections"].items():
                if cell["port_directions"].get(pin) == "output":
                    for bit in bits:
                        driver[bit] = (name, pin)
        level: dict[int, int] = {}
        origin: dict[int, int | None] = {}

        def inputs(bit: int) -> tuple[list[int], int]:
            """Bits that this one depends on without a register between, and the levels from them to it."""
            if bit not in driver:
                return [], 0
            cell = self.cells[driver[bit][0]]
            kind = cell["type"]
            if kind in SEQUENTIAL:
                return [], 0
            pins = cell["connections"]
            if kind in LUT_RAM:
                return [b for p, v in pins.items() if p.startswith(("DPRA", "ADDR", "A", "RA")) for b in v], 1
            sources = [b for p, v in pins.items() if cell["port_directions"].get(p) == "input" for b in v]
            return sources, 0 if kind in FREE or kind.startswith("CARRY") else 1

        for start in driver:
            stack = [start]
            while stack:
                bit = stack[-1]
                if bit in level:
                    stack.pop()
                    continue
                sources, cost = inputs(bit)
                waiting = [s for s in sources if isinstance(s, int) and s not in level and s in driver]
                if waiting:
                    level[bit] = 0  # a combinational loop would end here instead of walking for ever
                    del level[bit]
                    stack.extend(waiting)
                    if len(stack) > 1_000_000:
                        raise RuntimeError(f"combinational loop at {self.names.get(bit, bit)}")
                    continue
                known = [(level.get(s, 0), s) for s in sources if isinstance(s, int)]
                best = max(known, default=(0, None), key=lambda item: item[0])
                level[bit], origin[bit] = best[0] + cost, best[1]
                stack.pop()

        worst: dict[str, tuple[int, int, str]] = defaultdict(lambda: (-1, 0, ""))
        for cell in self.cells.values():
            kind = cell["type"]
            if kind not in SEQUENTIAL and kind not in LUT_RAM:
                continue
            pins = cell["connections"]
            clock = next((pins[p][0] for p in CLOCK_PINS if p in pins and isinstance(pins[p][0], int)), None)
            if clock is None:
                continue
            clock_name = self.names.get(clock, str(clock))
            for pin, bits in pins.items():
                if cell["port_directions"].get(pin) != "input" or pin in CLOCK_PINS:
                    continue
                for bit in bits:
                    if isinstance(bit, int) and level.get(bit, 0) > worst[clock_name][0]:
                        worst[clock_name] = (level.get(bit, 0), bit, f"{self._output(cell)}.{pin}")
        for clock_name, (depth, bit, end) in worst.items():
            result.depth[clock_name] = depth
            path: list[str] = [end]
            step: int | None = bit
            while step is not None and len(path) < 60:
                name = self.names.get(step, "")
                if name and not name.startswith("$"):
                    path.append(name)
                step = origin.get(step)
            result.worst[clock_name] = path[::-1]
