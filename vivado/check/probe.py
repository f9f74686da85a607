# SPDX-License-Identifier: Apache-2.0
"""Compares what a Vivado answered to vivado/probe.tcl with what the build's check takes for facts: probe.py FILE.

Prints a line for each difference, and for each fact that Vivado could not be asked for; ends with status 1 if there is any.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path

import ports

FACTS = Path(__file__).resolve().parent / "facts"
#: What report_cdc should call the crossings of probe.v: register it ends at, rule before and after the waiver.
CROSSINGS = {
    "bit_b_reg": ("CDC-1 Critical", None),
    "word_b_reg": ("CDC-4 Critical", "CDC-4 Critical"),
    "held_b_reg": ("CDC-15 Warning", "CDC-15 Warning"),
    "mixed_b_reg": ("CDC-10 Critical", "CDC-10 Critical"),
}
#: Properties whose values depend on device and package: those of the board are compared, see `differences`.
OF_THE_DEVICE = {"pcie_blk_locn", "select_quad"}


def lines(path: Path) -> list[str]:
    """Of a file of facts, without comments."""
    stripped = (re.sub(r"(^|\s)#.*$", "", line).strip() for line in path.read_text().splitlines())
    return [line for line in stripped if line]


def expand(word: str) -> list[str]:
    """A name with {012} stands for one with each digit."""
    found = re.fullmatch(r"(.*)\{(\d+)\}(.*)", word)
    return [found[1] + digit + found[3] for digit in found[2]] if found else [word]


class Answers:
    """The file that probe.tcl writes: a fact a line, its kind first."""

    def __init__(self, text: str) -> None:
        self.of: dict[str, list[list[str]]] = defaultdict(list)
        for line in text.splitlines():
            kind, *words = line.split(" ")
            self.of[kind].append(words)
        if not self.of["release"]:
            raise ValueError("this is no file of vivado/probe.tcl: it names no release")

    def one(self, kind: str, key: str) -> str:
        return next((" ".join(words[1:]) for words in self.of[kind] if words[0] == key), "")


def has_own_engine(answers: Answers) -> bool:
    """Whether the board can have the DMA engine of our own: of others, the PCIe block itself is not asked for."""
    return "meridian" in answers.one("board", "engines").split()


def properties(answers: Answers) -> list[str]:
    """Names and values that the facts have and this Vivado has not."""
    wrong = []
    release = answers.of["release"][0][0]
    for ip in ("qdma", "pcie4_uscale_plus", "xxv_ethernet", "clk_wiz", "zynq_ultra_ps_e"):
        if ip == "pcie4_uscale_plus" and not has_own_engine(answers):
            continue
        known = {words[1] for words in answers.of["property"] if words[0] == ip}
        allowed = {words[1]: " ".join(words[2:]).split("|") for words in answers.of["values"] if words[0] == ip}
        if not known:
            wrong.append(f"{ip}: Vivado named no property")
            continue
        for line in lines(FACTS / "properties" / f"{ip}.txt"):
            word, *rest = line.split()
            names = [name for part in rest for name in expand(part)] if word == "names" else []
            if word == "since" and release.split(".")[:2] >= rest[0].split("."):
                names = expand(rest[1])
            wrong += [f"{ip}: there is no property {name}" for name in names if name not in known]
            if word == "values" and rest[0] in allowed and rest[0] not in OF_THE_DEVICE:
                wanted = " ".join(rest[1:]).split("|")
                wrong += [
                    f"{ip}: {rest[0]} does not take '{value}', but {allowed[rest[0]]}"
                    for value in wanted
                    if value not in allowed[rest[0]]
                ]
    return wrong


def modules(answers: Answers) -> list[str]:
    """Ports of the IP that differ from those that the wrappers connect."""
    sizes = {key: int(answers.one("board", key)) for key in ("host_bytes", "pcie_lanes", "ports")}
    wrong = []
    for module in ports.read(FACTS / "ports.txt", 8 * sizes["host_bytes"], sizes["pcie_lanes"], sizes["ports"]):
        if module.name not in ("qdma_0", "pcie4_uscale_plus_0", "xxv_ethernet_0", "clk_wiz_0"):
            continue
        if module.name == "pcie4_uscale_plus_0" and not has_own_engine(answers):
            continue
        is_there = {w[2]: (w[1], int(w[3])) for w in answers.of["port"] if w[0] == module.name}
        for name, port in module.ports.items():
            if name not in is_there:
                if not port.optional:
                    wrong.append(f"{module.name} has no port {name}")
            elif is_there[name] != (port.direction, port.width):
                direction, width = is_there[name]
                wrong.append(
                    f"{module.name}: {name} is an {direction} of {width} bits, not {port.direction} {port.width}"
                )
        # An output that nobody wants does no harm.
        wrong += [
            f"{module.name} has an input {name} of {width} bits that the wrapper leaves open"
            for name, (direction, width) in is_there.items()
            if direction == "input" and name not in module.ports
        ]
    return wrong


def crossings(answers: Answers) -> list[str]:
    wrong = []
    for state in (0, 1):
        found = defaultdict(set)
        for when, rule, severity, _, target in (words[:5] for words in answers.of["cdc"]):
            if when == ("before", "after")[state]:
                found[re.sub(r"(\[[\d:]+\])?/\w+$", "", target)].add(f"{rule} {severity}")
        for register, expected in CROSSINGS.items():
            rules = {expected[state]} if expected[state] else set()
            if found[register] != rules:
                when = "after" if state else "without"
                wrong.append(
                    f"report_cdc, {when} a waiver: {register} is {sorted(found[register])}, not {sorted(rules)}"
                )
    return wrong


def differences(answers: Answers) -> list[str]:
    release = ".".join(answers.of["release"][0][0].split(".")[:2])
    wrong = [f"not asked: {' '.join(words)}" for words in answers.of["error"]]
    wrong += [f"there is no command {name}" for name, there in answers.of["command"] if there != "1"]
    definitions = {tuple(words) for words in answers.of["ipdef"]}
    for line in lines(FACTS / "ipdefs.txt"):
        when, name, version = line.split()[:3]
        if when == release and (name, version) not in definitions:
            wrong.append(f"{name}: this Vivado has {sorted(v for n, v in definitions if n == name)}, not {version}")
    wrong += properties(answers) + modules(answers)
    block, quad = answers.one("board", "pcie_block"), answers.one("board", "pcie_quad")
    sites = {tuple(words) for words in answers.of["pcie_site"]}
    if (block, quad) not in sites:
        wrong.append(f"the PCIe block {block} does not reach {quad}: {sorted(sites)}")
    high = any(int(words[0]) > 1 << 31 for words in answers.of["memory"])
    for name, there in (("HP0_DDR_LOW", True), ("HP0_DDR_HIGH", high)):
        if answers.one("segment", name) != str(int(there)):
            wrong.append(f"the segment {name} is {'not ' if there else ''}there")
    for port, lane in enumerate(answers.one("board", "eth_lanes").split()):
        site = answers.one("site", f"eth_rxp[{port}]")
        if not site.endswith(f"_CHANNEL_{lane}"):
            wrong.append(f"port {port} is at the site '{site}', eth_lanes says {lane}")
    wrong += [
        f"Vivado has no message {name.replace('_', ' ')} for its mistake"
        for name, count in answers.of["message"]
        if count == "0"
    ]
    return wrong + crossings(answers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="probe.txt, as make probe writes it")
    wrong = differences(Answers(parser.parse_args().file.read_text()))
    for line in wrong:
        print(line)
    print(
        f"{len(wrong)} differences from vivado/check/facts" if wrong else "everything is as vivado/check/facts has it"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
