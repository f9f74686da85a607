# SPDX-License-Identifier: Apache-2.0
"""Rows of the DMA engine of our own, each beside the same row of the model of the QDMA IP, which was measured in the same
run. The engine is Verilog that is simulated cycle by cycle, behind a model of the integrated block for PCIe; the model of
the IP spends no time of its own. Both have the same model of the link, host and self-test block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dma_links import LINKS, Link
from report import Figure

#: The engine's streams have 256 bit. The host of the bench allows extended tags.
SHELL = ("--dma", "meridian", "--extended-tags", "true", "--self-test", "true")
OWN, MODEL = "meridian", "qdma_model"
LINK = LINKS["gen3x8"]
#: The link that the goal of pushed frames is for.
NEAR = replace(
    LINK, name="gen3x8 near", round_trip_ns=560, round_trip_from="chosen: less than Enyx's round trip by a half"
)
PUSH, PUSH_LINKS = 128, (LINK, NEAR)  # bytes up to which frames are pushed
#: Of frames: the smallest, and the largest of an Ethernet without jumbo frames, each without FCS.
SIZES = (64, 1518)
QUEUES = (1, 8)
#: The host's looks are 4 us apart, so that its doorbells are some 100 ns apart with 8 queues: the engine takes one access
#: after another, and a host that rings more stands still until there is room.
LOOKS = ("--poll-ns", "4000", "--burst", "512")
REQUEST, ANSWER, COMPLETION, DESCRIPTOR = 24, 20, 16, 16  # bytes, the first two around what a packet carries

#: By id, and the point's bytes, queues or load.
GOALS: dict[tuple[Any, ...], str] = {
    ("forward_mpps", 64, 8): ">= 45",
    ("forward_mpps", 64, 1): "> 35.5",
    ("link_percent", 1518, 8): ">= 97",
    ("push_round_trip_ns", 64, 1): "< 700",
    ("engine_own_ns", 64, 1): "<= 120",
    ("bar2_read_ratio", "c2h"): "<= 1.5",
}


def _packets(size: int, limit: int) -> int:
    return -(-size // limit)


def link_limit_mpps(link: Link, mode: str, size: int) -> float:
    """Frames that the link carries if each has its payload, its completion, its read requests and its H2C descriptor, and
    nothing else is sent. Buffers begin at multiples of 4,096."""
    coding = 8 / 10 if link.generation < 3 else 128 / 130
    bytes_us = {1: 2.5, 2: 5, 3: 8, 4: 16, 5: 32}[link.generation] * coding * link.lanes * 1000 / 8
    comes, goes = mode in ("c2h", "forward"), mode in ("h2c", "forward")
    up = comes * (size + REQUEST * _packets(size, link.payload) + COMPLETION + REQUEST)
    up += goes * REQUEST * _packets(size, link.request)
    down = goes * (size + ANSWER * _packets(size, link.payload) + DESCRIPTOR)
    return bytes_us / max(up, down)


def _key(figure: Figure) -> tuple[Any, ...]:
    at = {name: value for name, value in figure.point.items() if name not in ("engine", "source", "timed_by")}
    return figure.id, tuple(sorted(at.items()))


def _goal(figure: Figure) -> str | None:
    at = figure.point
    if figure.id == "push_round_trip_ns" and at["link"] != NEAR.name:
        return None
    return GOALS.get((figure.id, at.get("bytes"), at.get("queues")) if "bytes" in at else (figure.id, at.get("load")))


def beside(model: Sequence[Figure], own: Sequence[Figure]) -> list[Figure]:
    """The own figures with their ratio to the model's, their goals, and what follows from both: the percentage of what the
    link carries, the time that the engine takes and the model does not, and reads of BAR2 under load over those without."""
    theirs = {_key(figure): figure.value for figure in model}
    rings = {it.point["link"]: it.value for it in own if it.id == "round_trip_ns" and it.point["bytes"] == SIZES[0]}
    made = []
    for figure in own:
        reference = None
        if value := theirs.get(_key(figure)):
            ratio = round(figure.value / value, 3)
            reference = {"value": value, "source": f"{MODEL}, same run", "ratio": ratio}
        if figure.id == "push_round_trip_ns" and (value := rings.get(figure.point["link"])):
            ratio = round(figure.value / value, 3)
            reference = {"value": value, "source": "by the ring, same run", "ratio": ratio}
        made.append(replace(figure, reference=reference, goal=_goal(figure)))
        at = figure.point
        if figure.id.endswith("_mpps") and at["link"] in LINKS and "function" in at:
            most = link_limit_mpps(LINKS[at["link"]], figure.id.removesuffix("_mpps"), at["bytes"])
            share = Figure(
                "link_percent", at | {"mode": figure.id.removesuffix("_mpps")}, round(100 * figure.value / most, 1), "%"
            )
            forward = share.point["mode"] == "forward"
            made.append(replace(share, goal=_goal(share) if forward else None))
        if figure.id == "engine_share_ns" and reference is not None:
            more = Figure("engine_own_ns", at, round(figure.value - reference["value"], 1), "ns")
            made.append(replace(more, goal=_goal(more)))
    idle = {figure.point["load"]: figure.value for figure in own if figure.id == "bar2_read_us"}
    for figure in own:
        if figure.id == "bar2_read_us" and figure.point["load"] != "idle" and "idle" in idle:
            ratio = Figure("bar2_read_ratio", figure.point, round(figure.value / idle["idle"], 3), "")
            made.append(replace(ratio, goal=_goal(ratio)))
    return made
