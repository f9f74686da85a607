# SPDX-License-Identifier: Apache-2.0
"""The benches of the shell and of the card process: what they make of what the programs say."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import card
import pytest
import shell
from report import Figure
from shell import FCS, OF_EACH, SAYS, Shell, clocks, duplex, latency, losses, priority, rates, storm


class Played(Shell):
    """Says that so much of the frames of 64 bytes was lost on receive, in percent."""

    lost = 0.0

    def play(self, measurement: str, sizes: list[int] | None = None, *options: str) -> Iterator[dict[str, Any]]:
        point = {"bytes": 64 + FCS}
        yield {"id": f"{measurement}_line_rate", "value": 100.0, "with": point}
        yield {"id": f"{measurement}_loss", "value": self.lost, "with": point}


def test_rates_are_given_of_both_directions() -> None:
    found = [(one.id, one.value, one.point["bytes"]) for one in rates(Played(1, 256), [64])]
    assert found == [("rx_rate_percent", 100.0, 64), ("tx_rate_percent", 100.0, 64)]


@pytest.mark.parametrize("percent", [0.001, 0.5, 100])
def test_a_lost_frame_ends_the_bench(percent: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Played, "lost", percent)
    with pytest.raises(SystemExit, match=f"{percent:g} percent of 64 bytes lost"):
        list(rates(Played(1, 256), [64]))


class Whole(Shell):
    """Says all that it should, but what is left out: (id, bytes with FCS, value of what it says each of)."""

    left_out: tuple[str, int | None, str | None] = ("", None, None)

    def play(self, measurement: str, sizes: list[int] | None = None, *options: str) -> Iterator[dict[str, Any]]:
        name, values = OF_EACH.get(measurement, ("", (None,)))
        for what in SAYS[measurement]:
            for size in sizes or [None]:
                for value in values:
                    length = size + FCS if size else None
                    point = {"functions": 4, "ceiling_mpps": 1.0}
                    point |= {"bytes": length} if length else {}
                    point |= {name: value} if value else {}
                    if (what, length, value) != self.left_out:
                        yield {
                            "id": what,
                            "with": point,
                            "value": int("broadcasts" in what),
                            "min": 0,
                            "max": 1,
                            "runs": 1,
                        }


SIZES = [64, 1518]
ASKED: dict[str, Callable[[Shell], Iterable[Figure]]] = {
    "rates": lambda shell: rates(shell, SIZES),
    "duplex": lambda shell: duplex(shell, SIZES),
    "latency": latency,
    "priority": priority,
    "losses": losses,
    "clocks": clocks,
    "storm": storm,
}
#: Of each measurement one of its figures.
LEFT_OUT = [
    ("rates", ("rx_line_rate", 1522, None)),
    ("rates", ("rx_loss", 68, None)),
    ("rates", ("tx_line_rate", 1522, None)),
    ("duplex", ("duplex_ceiling", 68, None)),
    ("latency", ("tx_latency_end", 68, None)),
    ("priority", ("ps_tx_pins_wait_frames", 9604, None)),
    ("losses", ("ps_rx_lost", 68, "no_buffers")),
    ("clocks", ("phc_error_peak", None, "tx")),
    ("storm", ("storm_unicast_loss", None, None)),
    ("storm", ("storm_broadcasts_to_host", None, None)),
]


@pytest.mark.parametrize("kind", ASKED)
def test_a_program_that_says_nothing_ends_the_bench(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Whole, "play", lambda *_: iter(()))
    with pytest.raises(SystemExit, match="has not said: "):
        list(ASKED[kind](Whole(1, 256)))


@pytest.mark.parametrize(("kind", "left_out"), LEFT_OUT, ids=[f"{kind} {what[0]}" for kind, what in LEFT_OUT])
def test_a_figure_that_is_missing_ends_the_bench(
    kind: str, left_out: tuple[str, int | None, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Whole, "left_out", left_out)
    what, length, value = left_out
    text = " ".join([what, *([f"{length - FCS} bytes"] if length else []), *([value] if value else [])])
    with pytest.raises(SystemExit, match=f"has not said: {text}$"):
        list(ASKED[kind](Whole(1, 256)))


def test_the_program_says_what_the_bench_asks_for() -> None:
    """Each name is one of shell_bench's source, so that a new name there is one here, too."""
    folder = Path(shell.__file__).parents[2] / "twin/card/src/bench"
    source = "".join((folder / name).read_text() for name in ("bench.cpp", "bench_load.cpp"))
    for what in (what for each in SAYS.values() for what in each):
        assert f'figure("{what}"' in source, what


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
