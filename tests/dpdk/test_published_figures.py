# SPDX-License-Identifier: Apache-2.0
"""What the guide of published figures says is what testpmd takes: each form, on the simulated card, and every row."""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import documents
import pytest
from dpdk_fixtures import library, testpmd
from meridian_twin import CardProcess
from meridian_twin.patience import deadline_in
from testpmd import Testpmd

pytestmark = pytest.mark.seconds(17)
__all__ = ["library", "testpmd"]  # fixtures
DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDE = (DOCS / "dpdk.md").read_text()
ADDRESS = "02:4d:52:44:4e:07"
ROWS = re.findall(r"^\| (`.*?`.*?) \| `(\w+)` \| (.*?) \| (.*?) \|$", GUIDE, re.MULTILINE)


def numbers(text: str) -> set[int]:
    """Of "64, 128" or "64 to 4096 in steps of 64"."""
    if found := re.fullmatch(r"(\d+) to (\d+) in steps of (\d+)", text):
        first, last, step = map(int, found.groups())
        return set(range(first, last + 1, step))
    return {int(word) for word in text.split(", ")}


def block(words: str) -> list[str]:
    """The lines of the block that has them."""
    return documents.block(DOCS / "dpdk.md", words).commands()


def filled(text: str, mode: str, size: int, queues: int) -> str:
    text = text.replace("$((SIZE + 4))", str(size + 4)).replace("$SIZE", str(size)).replace("$MODE", mode)
    return text.replace("$QUEUES", str(queues)).replace("$ADDRESS", ADDRESS)


def test_every_row_of_the_tables_is_named() -> None:
    for direction, mode in (("rx", "rxonly"), ("tx", "txonly")):
        with (DOCS / "reference" / "silicom_testpmd_25g.csv").open() as file:
            rows = {
                int(row["packet_bytes_without_fcs"]) for row in csv.DictReader(file) if row["direction"] == direction
            }
        assert [numbers(size) for _, of, size, _ in ROWS if of == mode] == [rows]
    with (DOCS / "reference" / "qdma_dpdk_forwarding.csv").open() as file:
        settings = {(int(row["packet_bytes"]), int(row["queues"])) for row in csv.DictReader(file)}
    ((_, _, sizes, queues),) = (row for row in ROWS if row[1] == "io")
    assert {(size, count) for size in numbers(sizes) for count in numbers(queues)} == settings


def check_counters(pmd: Testpmd, direction: str, size: int) -> None:
    deadline = deadline_in(60)
    while (counted := pmd.statistics())[f"{direction}-packets"] < 2000:
        assert time.monotonic() < deadline, counted
        time.sleep(0.1)
    assert counted[f"{direction}-bytes"] == size * counted[f"{direction}-packets"]
    assert counted["RX-errors"] == 0


@pytest.mark.parametrize(
    ("mode", "size", "queues"),
    [
        ("rxonly", 64, 1),
        ("txonly", 1024, 1),
        ("io", 64, 8),
        ("io", 4096, 4),
        *(
            pytest.param(*row, marks=pytest.mark.long)
            for row in (("rxonly", 1024, 1), ("txonly", 64, 1), ("io", 64, 1), ("io", 1536, 2))
        ),
    ],
)
def test_each_row_of_published_figures_can_be_run_by_testpmd(
    built_card: Callable[..., Path], testpmd: Callable[..., Testpmd], mode: str, size: int, queues: int
) -> None:
    card_line, testpmd_line = block("--wire 0=traffic")
    memory = int(re.findall(r"--no-huge -m (\d+) ", testpmd_line)[0])
    assert "--total-num-mbufs=20000 " in testpmd_line, "as the tests' testpmd has it"
    (wire,) = re.findall(r"0=(traffic:.*)$", card_line)
    start, *prompt = block("--forward-mode=$MODE")
    (more,) = re.findall(r"With `SIZE` over 1514, `(.*?)`", GUIDE)
    start += f" {more}" if size > 1514 else ""
    options = filled(start.partition(" -- -i ")[2], mode, size, queues).split()
    # This machine has fewer cores than the guide's.
    options = [re.sub(r"--nb-cores=\d+", "--nb-cores=1", option) for option in options]
    wire = filled(wire, mode, size, queues) + (",send=0" if mode == "txonly" else "")
    said: dict[str, str] = {}
    with CardProcess(built_card(), "--time", "free", "--wire", f"0={wire}") as card:
        pmd = testpmd(card, *options, more=f"mac={ADDRESS}", memory=memory)
        pmd.command("port start all")
        for line in prompt:
            order = line.removeprefix("testpmd> ")
            if order == "show port stats 0":
                check_counters(pmd, "TX" if mode == "txonly" else "RX", size)
            said[order] = pmd.quit() if order == "quit" else pmd.command(order)
    assert re.search(
        r"Burst mode: " + ("Scalar Scattered" if size > 1514 else r"Vector \w+"), said["show rxq info 0 0"]
    )
    if queues > 1:
        used = re.findall(r"RX Port= 0/Queue=\s*(\d+)", said["stop"])
        # The hash is linear, and flows differ in ten bits: with one key of a hundred they have half of eight queues.
        assert len(used) >= max(2, queues // 2), said["stop"]


def test_the_guides_generator_sends_frames_of_its_size_in_many_flows(
    run_card: Any, testpmd: Callable[..., Testpmd]
) -> None:
    """The other testpmd's frames: of the size, to the address, in many flows."""
    start = next(line for line in block("pmd -a $GENERATOR") if "txonly" in line)
    options = filled(start.partition(" -- -i ")[2], "txonly", 256, 4).split()
    card = run_card()
    pmd = testpmd(card, *[option for option in options if not option.startswith("--nb-cores")])
    pmd.command("port start all")
    pmd.command("start")
    frames, deadline = [], deadline_in(60)
    while len(frames) < 200:
        assert time.monotonic() < deadline, len(frames)
        frames += [frame.data for frame in card.wires[0].take()]
        time.sleep(0.02)
    assert {len(frame) for frame in frames} == {256}
    assert {frame[:6].hex(":") for frame in frames} == {ADDRESS}
    assert len({frame[26:38] for frame in frames}) > 8
    pmd.quit()
