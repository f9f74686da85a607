# SPDX-License-Identifier: Apache-2.0
"""Ports of the IP by the table in facts/ports.txt, and Verilog modules of these ports with nothing in them, for lint."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path

FACTS = Path(__file__).resolve().parent / "facts"
#: Parameters that instances give to modules of the vendor.
PARAMETERS = {"IBUFDS_GTE4": "parameter [1:0] REFCLK_HROW_CK_SEL = 2'b00"}


@dataclass(frozen=True)
class Port:
    direction: str
    width: int
    optional: bool


@dataclass
class Module:
    name: str
    ports: dict[str, Port] = field(default_factory=dict)


def read(path: Path, beat_bits: int, lanes: int, ethernet_ports: int) -> list[Module]:
    """The modules of the table for these sizes."""
    sizes = {"W": beat_bits, "K": beat_bits // 32, "L": lanes}
    modules: list[Module] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "module":
            modules.append(Module(words[1]))
            continue
        if len(words) not in (3, 4) or words[0] not in ("input", "output") or words[3:] not in ([], ["optional"]):
            raise ValueError(f"{path.name}:{number}: not 'input|output NAME WIDTH [optional]': {line}")
        direction, name, width = words[:3]
        port = Port(direction, sizes[width] if width in sizes else int(width), len(words) == 4)
        names = [name.replace("{N}", str(n)) for n in range(ethernet_ports)] if "{N}" in name else [name]
        for each in names:
            if each in modules[-1].ports:
                raise ValueError(f"{path.name}:{number}: {each} is there twice")
            modules[-1].ports[each] = port
    return modules


def verilog(modules: list[Module]) -> str:
    """Black boxes: outputs are driven by nobody, as lint is told."""
    text = [
        "// SPDX-License-Identifier: Apache-2.0",
        "// Written by vivado/check/ports.py.",
        "/* verilator lint_off UNUSED */",
    ]
    text.append("/* verilator lint_off UNDRIVEN */\n/* verilator lint_off DECLFILENAME */")
    for module in modules:
        ports = [
            f"  {port.direction} wire {f'[{port.width - 1}:0] ' if port.width > 1 else ''}{name}"
            for name, port in module.ports.items()
            if not port.optional
        ]
        parameters = f" #({PARAMETERS[module.name]})" if module.name in PARAMETERS else ""
        text.append(f"module {module.name}{parameters} (\n" + ",\n".join(ports) + "\n);\nendmodule")
    return "\n".join(text) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beat-bits", type=int, required=True)
    parser.add_argument("--lanes", type=int, required=True)
    parser.add_argument("--ethernet-ports", type=int, required=True)
    arguments = parser.parse_args()
    table = FACTS / "ports.txt"
    print(verilog(read(table, arguments.beat_bits, arguments.lanes, arguments.ethernet_ports)), end="")


if __name__ == "__main__":
    main()
