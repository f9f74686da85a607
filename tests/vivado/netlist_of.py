# SPDX-License-Identifier: Apache-2.0
"""Registers and memories of generated Verilog by their path, as synthesis would name their cells."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

MODULE = re.compile(r"^module (\w+) \((.*?)^\);(.*?)^endmodule", re.MULTILINE | re.DOTALL)
REG = re.compile(
    r"^  (?:\(\*.*?\*\) )?reg\s+(?:\[(\d+):0\]\s*)?(\w+)(?:\s*\[0:(\d+)\])?\s*(?:/\*.*?\*/\s*)?;", re.MULTILINE
)
OUTPUT_REG = re.compile(r"output reg\s+(?:\[(\d+):0\]\s*)?(\w+)")
INSTANCE = re.compile(r"^  (?:\(\*.*?\*\) )?(\w+) (\w+) \(\n\s*\.", re.MULTILINE)


@dataclass
class Module:
    ports: str
    #: Registers by name: their width, and 0 or the words of a memory.
    registers: dict[str, tuple[int, int]] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)


@cache
def modules(text: str) -> dict[str, Module]:
    found = {}
    for name, ports, body in MODULE.findall(text):
        module = found[name] = Module(ports)
        for width, register, words in REG.findall(body):
            module.registers[register] = (int(width or 0) + 1, int(words or 0))
        for width, register in OUTPUT_REG.findall(ports):
            module.registers[register] = (int(width or 0) + 1, 0)
        for kind, instance in INSTANCE.findall(body):
            module.instances[instance] = kind
    return found


@cache
def registers(text: str, top: str) -> dict[str, tuple[int, int]]:
    """All below a top, by path."""
    known, found = modules(text), {}

    def walk(module: Module, prefix: str) -> None:
        for name, shape in module.registers.items():
            found[prefix + name] = shape
        for instance, kind in module.instances.items():
            walk(known[kind], f"{prefix}{instance}/")

    walk(known[top], "")
    return found


def ports(text: str, top: str) -> dict[str, tuple[str, int]]:
    """Direction and width of the pins of a module."""
    found = re.findall(r"(input|output)\s+(?:wire|reg)\s+(?:\[(\d+):0\])?\s*(\w+)", modules(text)[top].ports)
    return {name: (direction, int(width or 0) + 1) for direction, width, name in found}


def cells(text: str, top: str, prefix: str) -> str:
    """Lines NAME REF WIDTH, for vivado/check/stub.tcl. A memory above 2 Kbit is taken to be a block RAM."""
    lines = []
    for path, (width, words) in registers(text, top).items():
        if words:
            lines.append(f"{prefix}{path}_reg_0 {'RAMB36E2' if width * words > 2048 * 8 else 'RAM32M16'} 1")
        else:
            lines.append(f"{prefix}{path}_reg FDRE {width}")
    return "\n".join(lines) + "\n"
