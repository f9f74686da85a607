# SPDX-License-Identifier: Apache-2.0
"""The bench of the card process: each frame of the wire is accounted for, and the card is the usual one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import card
import pytest


class Counting:
    """A card that says so many of each, with two functions."""

    geometry = SimpleNamespace(functions=2)

    def __init__(self) -> None:
        self.port = dict.fromkeys(card.PORT_LOSSES, 0) | {"rx_frames": 100}
        self.functions = [{"rx_delivered": 0, "rx_queue_full": 0, "rx_bytes": 0, "tx_sent": 7} for _ in range(2)]
        self.nobody = {"rx_no_match": 0, "rx_host_disabled": 0}

    def counters(self, group: str, index: int = 0) -> dict[str, int]:
        return {"PORT_COUNTERS": self.port, "HOST_PORT_COUNTERS": self.nobody}.get(group) or self.functions[index]


def test_losses_are_those_of_the_port_of_each_function_and_of_nobody() -> None:
    counting: Any = Counting()
    counting.port |= {"rx_bad_fcs": 1, "rx_host_overflow": 2}
    counting.functions[0] |= {"rx_delivered": 50, "rx_bytes": 3000, "rx_queue_full": 4}
    counting.functions[1] |= {"rx_queue_full": 8}
    counting.nobody |= {"rx_host_disabled": 16}
    assert card.losses(counting) == {
        "rx_bad_fcs": 1,
        "rx_host_overflow": 2,
        "rx_queue_full": 12,
        "rx_host_disabled": 16,
    }


def test_frames_that_are_fetched_or_lost_for_a_reason_are_all() -> None:
    card.account(100, 100, {})
    card.account(100, 1, {"rx_queue_full": 98, "rx_host_disabled": 1})


@pytest.mark.parametrize(
    ("fetched", "lost"),
    [(99, {}), (101, {}), (90, {"rx_queue_full": 9}), (90, {"rx_queue_full": 11}), (0, {"rx_queue_full": 100})],
    ids=["lost", "doubled", "lost beside others", "counted twice", "none fetched"],
)
def test_a_frame_that_is_not_accounted_for_ends_the_bench(fetched: int, lost: dict[str, int]) -> None:
    with pytest.raises(SystemExit, match=f"of 100 frames on the wire {fetched} were fetched"):
        card.account(100, fetched, lost)


def test_the_bench_runs_the_usual_card_and_has_the_goal_of_300_khz(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The usual card is what scripts/build-card compiles by a profile."""
    built, ran, figures = [], [], []

    def build(command: list[Any], **_: Any) -> Any:
        built.append(tuple(command[1:]))
        return subprocess.CompletedProcess(command, 0, f"{tmp_path}/{'own' if command[1:] else 'model'}\n")

    def busy(program: Path, size: int, seconds: float) -> tuple[float, float]:
        ran.append(program.parent.name)
        return (299.0 if size == 64 else 301.0), 1000.0

    monkeypatch.setattr(card.subprocess, "run", build)
    monkeypatch.setattr(card, "busy", busy)
    monkeypatch.setattr(
        card, "idle", lambda program: ran.append(program.parent.name) or card.Figure("idle", {}, 0, "s")
    )
    monkeypatch.setattr(card, "doorbell", lambda program, count: card.Figure("doorbell", {}, 0, "us"))
    monkeypatch.setattr(card, "forward", lambda program: ran.append(program.parent.name) or [])
    monkeypatch.setattr(card, "write", lambda bench, kind, found: figures.extend(found))
    monkeypatch.setattr(sys, "argv", ["card.py"])
    assert card.main() == 1
    assert built == [("--dma", "meridian"), ()]
    assert ran == ["own", "own", "own", "model"]
    assert [one.point["bytes"] for one in figures if one.missed()] == [64]
    profiled = (Path(card.__file__).parents[2] / "scripts/build-card").read_text()
    assert f'"{" ".join(card.USUAL_CARD)}" ] && [ -z "$verilog_given" ]' in profiled
