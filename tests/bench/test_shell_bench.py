# SPDX-License-Identifier: Apache-2.0
"""The bench of the shell: what it makes of what shell_bench says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

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
