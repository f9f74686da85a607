# SPDX-License-Identifier: Apache-2.0
"""The bench of DMA: what it makes of what qdma_bench says, and of the published tables."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import dma
import dma_own
import dma_published
import dma_runs
import dma_waits
import pytest
import report
from dma_links import LINKS

SETTINGS = frozenset(
    (
        *("engine", "source", "link", "bytes", "queues", "function", "direction", "load", "offered_mops", "poll_ns"),
        *("timed_by", "pipeline"),
    )
)
TIMES = {
    "mean": 1250.0,
    "median": 1200.0,
    "median_between": [1100.0, 1300.0],
    "min": 1000.0,
    "max": 1500.0,
    "frames": 7,
}
#: What was asked for by --mode or --registers.
ASKED = 'while [ $# -gt 0 ]; do case "$1" in --mode | --registers) asked=$2 ;; esac; shift; done'


def said(mode: str, c2h: int, h2c: int, engine: str = "qdma_model") -> dict[str, Any]:
    """What qdma_bench says of so many bytes."""
    ways = {
        name: {"frames": count // 64, "bytes_at_pins": count, "mpps": count / 64, "gbps": count / 125}
        for name, count in (("c2h", c2h), ("h2c", h2c))
    }
    times = dict.fromkeys(("latency_ns", "h2c_latency_ns", "round_trip_ns"), TIMES)
    whole = ways["h2c" if mode in ("h2c", "forward", "round-trip") else "c2h"]
    accesses = {"read_us": TIMES, "write_us": TIMES, "count": 3, "load": ways}
    return {"mode": mode, "source": "here", "engine": engine, "timed_by": "window"} | whole | ways | times | accesses


ROOT = Path(__file__).resolve().parents[2]
GOOD = said("c2h", 6400, 0)


def program(folder: Path, *lines: str) -> Path:
    made = folder / "qdma_bench"
    made.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    made.chmod(0o755)
    return made


def test_published_tables_are_read() -> None:
    assert dma_published.forwarding()["pf", 64, 8] == 83.17
    assert len({size for function, size, _ in dma_published.forwarding() if function == "vf"}) == 64
    assert dma_published.enyx(dma_published.ROUND_TRIP)["gen2x8", 1027] == 1188
    assert dma_published.enyx(dma_published.LOOPBACK)["gen3x8", 1] == 0.07
    assert dma_published.random_access()["h2c", 64, 1] == pytest.approx(32.34)
    assert dma_published.random_access()["both_c2h", 512, 1] == pytest.approx(24.12)
    assert dma_published.registers() == {"idle": 0.88, "h2c": 0.95, "c2h": 1.47, "both": 2.95}
    first = dma_published.latencies()[0]
    assert (first.direction, first.gap_ns, first.command_us) == ("h2c", 200, 1.0)


def test_a_reference_has_the_ratio_of_measured_to_published_value() -> None:
    assert dma_published.reference(30.0, 40.0, "x.csv") == {"value": 40.0, "source": "x.csv", "ratio": 0.75}
    assert dma_published.reference(30.0, None, "x.csv") is None


def test_sizes_of_the_round_trip_are_those_of_the_report() -> None:
    assert set(dma.IN_TABLES) == {size for _, size in dma_published.enyx(dma_published.ROUND_TRIP)}
    assert set(dma.IN_TABLES) < set(dma.ROUND_TRIP_SIZES)
    assert max(dma.ROUND_TRIP_SIZES) == 2015


def test_each_link_says_where_its_numbers_are_from() -> None:
    assert set(LINKS) == {"gen3x4", "gen3x8", "gen2x8", "gen3x16"}
    for link in LINKS.values():
        assert f"{link.generation}:{link.lanes}" == link.name.removeprefix("gen").replace("x", ":")
        assert all(link.as_json().values())
        assert str(link.round_trip_ns) in link.options()


@pytest.mark.parametrize(
    ("mode", "c2h", "h2c", "message"),
    [
        ("c2h", 6400, 0, None),
        ("c2h", 6400, 64, "mode c2h moved 64 bytes by H2C, where none belong"),
        ("h2c", 0, 6400, None),
        ("h2c", 1, 6400, "mode h2c moved 1 bytes by C2H"),
        ("forward", 6400, 6400, None),
        ("forward", 6400, 0, "mode forward moved nothing by H2C"),
        ("idle", 0, 0, None),
        ("idle", 64, 0, "mode idle moved 64 bytes by C2H"),
    ],
)
def test_a_mode_that_lies_gives_no_figure(tmp_path: Path, mode: str, c2h: int, h2c: int, message: str | None) -> None:
    made = program(tmp_path, f"echo '{json.dumps(said(mode, c2h, h2c))}'")
    run = dma_runs.Run("here", mode, (), lambda found: [report.Figure("x", {}, found["frames"], "frames")])
    figures, missing = dma_runs.measure_all(made, [run])
    assert len(figures) == (message is None)
    assert message is None or (len(missing) == 1 and message in missing[0])


def test_each_run_is_asked_for_what_its_figure_says(tmp_path: Path) -> None:
    """The point of a figure and the options of its run agree, for all of them."""
    for run in dma.all_runs(dma.PLANS["full"]):
        asked = dict(zip(run.options[::2], run.options[1::2], strict=True)) if "--random" not in run.options else {}
        for figure in run.figures(said(run.mode, 6400, 6400)):
            assert figure.point["engine"] == "qdma_model"
            assert set(figure.point) <= SETTINGS, "what was measured is a figure of its own"
            link = LINKS[figure.point["link"]]
            wanted = link.options(figure.id != "engine_share_ns", figure.point.get("pipeline"))
            assert run.options[-len(wanted) :] == tuple(wanted)
            by_pins = figure.point.get("direction") == "host_card_host"
            assert ("--registers" in run.options) or ("--source block" in " ".join(run.options)) != by_pins
            for key in {"bytes", "queues", "function"} & set(figure.point) & {name[2:] for name in asked}:
                assert asked[f"--{key}"] == str(figure.point[key])
            if figure.id.endswith("_mpps"):
                assert figure.id == f"{run.mode}_mpps"
                assert figure.point["source"] == "here"


def test_a_row_of_tuning_has_one_setting_and_asks_for_it() -> None:
    option = {"queues": "--queues", "payload": "--pcie-payload", "request": "--pcie-request", "poll_ns": "--poll-ns"}
    rows = []
    for run in dma.tunings():
        (figure,) = run.figures(said(run.mode, 6400, 6400))
        at = figure.point
        assert set(at) <= SETTINGS | {"mode", "setting", "payload", "request"} and figure.id == "tuning_mpps"
        asked = dict(zip(run.options[::2], run.options[1::2], strict=True))
        assert asked[option[at["setting"]]] == str(at[at["setting"]])
        assert (asked["--mode"], asked["--bytes"], asked["--queues"]) == (
            at["mode"],
            str(at["bytes"]),
            str(at["queues"]),
        )
        rows.append((at["setting"], at[at["setting"]]))
    assert len(set(rows)) == len(rows)
    assert {value for setting, value in rows if setting == "request"} == {128, 256, 512, 1024, 2048}
    assert {value for setting, value in rows if setting == "payload"} == {128, 256, 512}


def test_the_option_tuning_measures_the_rows_of_tuning_alone(bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, engine in ((bench, "qdma_model"), (bench / "own", "meridian")):
        cases = [
            f"{mode}) echo '{json.dumps(said(mode, *moved, engine))}' ;;"
            for mode, moved in (("c2h", (6400, 0)), ("h2c", (0, 6400)), ("forward", (6400, 6400)))
        ]
        program(folder, ASKED, 'case "$asked" in', *cases, "esac")
    monkeypatch.setattr(sys, "argv", ["--tuning" if word == "--quick" else word for word in sys.argv])
    assert dma.main() == 0
    written = json.loads((bench / "build/bench/dma.json").read_text())
    assert {it["id"] for it in written["figures"]} == {"tuning_mpps"}
    assert len(written["figures"]) == 2 * len(dma.tunings())
    page = (bench / "build/bench/dma.html").read_text()
    assert page.count("<td>request</td>") == 5


def test_the_full_plan_has_the_whole_tables() -> None:
    found = [figure for run in dma.all_runs(dma.PLANS["full"]) for figure in run.figures(said(run.mode, 64, 64))]
    compared = {
        (figure.point["function"], figure.point["bytes"], figure.point["queues"])
        for figure in found
        if figure.id == "forward_mpps" and figure.reference
    }
    assert compared == set(dma_published.forwarding())
    for name in ("c2h_mpps", "h2c_mpps"):
        assert len([it for it in found if it.id == name and it.point["link"] == "gen3x16"]) == 64 * 4 * 2
    for name, kinds in (("round_trip_ns", 1), ("engine_share_ns", 1), ("loopback_gbps", 2)):
        assert len([it for it in found if it.id == name]) == 2 * kinds * len(dma.ROUND_TRIP_SIZES)
    assert {it.point["load"] for it in found if it.id == "bar2_read_us"} == {"idle", "h2c", "c2h", "both"}
    assert len([it for it in found if it.id == "latency_us"]) == len(dma_published.latencies())
    random = {
        (it.point["direction"], it.point["bytes"], it.point["queues"])
        for it in found
        if it.id == "random_access_mops" and it.reference
    }
    assert random == set(dma_published.random_access())


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Writes to a folder of its own, and measures little."""
    small = replace(dma.PLANS["quick"], sizes=(64,), other_sizes=(), round_trip_sizes=(1, 20))
    monkeypatch.setitem(dma.PLANS, "quick", small)
    monkeypatch.setattr(report, "ROOT", tmp_path)
    monkeypatch.setattr(report, "tool_versions", lambda: {"verilator": "0"})
    (tmp_path / "own").mkdir()
    folders = (
        "--programs",
        str(tmp_path),
        "--own-programs",
        str(tmp_path / "own"),
        "--command-programs",
        str(tmp_path),
    )
    (tmp_path / "meridian_card").touch()

    def measured(folder: Path) -> list[report.Figure]:
        if not (folder / "measures").exists():
            raise RuntimeError("of 10 commands 9 have ended")
        at = {"engine": "meridian", "link": "gen3x8", "bytes": 64, "queues": 1, "direction": "h2c"}
        return [report.Figure("command_beat_ratio", at, 3.9, "", ">= 1.25")]

    monkeypatch.setattr(dma.commands, "measure", measured)
    monkeypatch.setattr(sys, "argv", ["dma.py", "--quick", *folders])
    return tmp_path


def test_a_measurement_that_fails_is_reported_and_has_no_figure(
    bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (bench, bench / "own"):
        program(folder, "echo 'qdma_bench: no frame came to the host' >&2", "exit 3")
    assert dma.main() == 1
    told = capsys.readouterr().err
    assert "not measured: forward gen3x16, 64 bytes, 8 queues, pf: qdma_bench: no frame" in told
    assert "not measured: meridian: forward gen3x8, 64 bytes, 8 queues, pf: qdma_bench: no frame" in told
    assert "not measured: commands of the card's own logic: of 10 commands 9 have ended" in told
    assert json.loads((bench / "build/bench/dma.json").read_text())["figures"] == []


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("nonsense", "its answer is no JSON: 'nonsense"),
        (json.dumps({"load": said("idle", 0, 0)}), "its answer has no 'read_us'"),
    ],
)
def test_an_answer_that_is_none_costs_no_other_figure(tmp_path: Path, answer: str, said: str) -> None:
    made = program(tmp_path, f"case $1 in --registers) echo '{answer}';; *) echo '{json.dumps(GOOD)}';; esac")
    runs = [dma.register("idle", 32), dma.rate(LINKS["gen3x8"], "c2h", 64, 1, "pf")]
    figures, missing = dma_runs.measure_all(made, runs)
    assert [figure.id for figure in figures] == ["c2h_mpps"]
    assert len(missing) == 1 and missing[0].startswith(f"BAR2, load idle, 32 requests: {said}")


def test_the_page_and_the_json_have_a_figure_of_each_mode_and_engine(bench: Path) -> None:
    for folder, engine in ((bench, "qdma_model"), (bench / "own", "meridian")):
        answers = {mode: json.dumps(said(mode, *moved, engine)) for mode, moved in (
            ("idle", (0, 0)), ("c2h", (6400, 0)), ("h2c", (0, 6400)), ("both", (6400, 6400)), ("forward", (6400, 6400)),
            ("loopback", (6400, 6400)), ("round-trip", (6400, 6400)),
        )}  # fmt: skip
        cases = [f"{mode}) echo '{answer}' ;;" for mode, answer in answers.items()]
        program(folder, ASKED, 'case "$asked" in', *cases, "esac")
    (bench / "measures").touch()
    assert dma.main() == 0
    written = json.loads((bench / "build/bench/dma.json").read_text())
    assert written["links"]["gen3x16"]["payload_bytes"] == 256
    assert all(bound["from"] for bound in written["bounds"].values())
    waiting = {it["id"]: it for it in written["waits"]}
    assert waiting["push_round_trip_ns"]["waits_for"] == "bypass"
    assert all("value" not in it for it in written["waits"])
    pushed = [it for it in written["figures"] if it["id"] == "push_round_trip_ns"]
    assert [it.get("goal") for it in pushed] == [None, "< 700"] and {it["with"]["engine"] for it in pushed} == {
        "meridian"
    }
    share = next(it for it in written["figures"] if it["id"] == "engine_share_ns")
    assert (share["value"], share["with"]["timed_by"]) == (1000.0, "window")
    timed = next(it for it in written["figures"] if it["id"] == "latency_us")
    assert (timed["value"], timed["median_from"], timed["median_to"]) == (1.25, 1.1, 1.3)
    forward = next(it for it in written["figures"] if it["id"] == "forward_mpps" and it["with"]["queues"] == 8)
    assert forward["reference"] == {"value": 83.17, "source": "qdma_dpdk_forwarding.csv", "ratio": 1.202}
    mine = [it for it in written["figures"] if it["with"]["engine"] == "meridian"]
    goal = next(
        it for it in mine if it["id"] == "forward_mpps" and (it["with"]["bytes"], it["with"]["queues"]) == (64, 8)
    )
    assert goal["goal"] == ">= 45"
    assert goal["reference"] == {"value": 100.0, "source": "qdma_model, same run", "ratio": 1.0}
    assert next(it for it in mine if it["id"] == "engine_own_ns" and it["with"]["bytes"] == 64)["value"] == 0
    assert next(it for it in mine if it["id"] == "bar2_read_ratio")["value"] == 1
    page = ElementTree.fromstring((bench / "build/bench/dma.html").read_text().removeprefix("<!doctype html>"))
    pictures = page.findall(".//{*}svg")
    assert len(pictures) >= 5
    for picture in pictures:
        assert picture.get("role") == "img"
        assert "over the bytes of a frame." in str(picture.get("aria-label"))
    told = "".join(page.itertext())
    assert "waits for bypass" in told
    assert told.count("waits for a load of memory-mapped queues: the report has graphs without numbers") == 3
    assert "Xilinx AR 71453, figures 39, 42, 45 and 48" in told
    assert "Mpps" in told
    assert "8 queues, published" in told
    assert "h2c, 64 bytes, 1 queues" in told and "by a module of the card" in told
    assert "at each point on the faster of two machines" in told
    assert "Simulated Verilog behind a model of the integrated block for PCIe" in told


def test_rows_wait_for_what_the_builds_leave_out() -> None:
    """Once a build has bypass or memory-mapped queues, the model has to have them, and the rows go."""
    settings = (ROOT / "vivado/tcl/qdma.tcl").read_text()
    built = {"bypass": "dsc_byp_mode None", "a load of memory-mapped queues": "en_axi_mm_qdma false"}
    rows = [it for it in dma_waits.waits() if "vivado/tcl/qdma.tcl" in it["why"]]
    assert {it["waits_for"] for it in rows} == set(built)
    assert all(setting in settings for setting in built.values())
    assert sorted(number for numbers in dma_waits.MEMORY_FIGURES.values() for number in numbers) == [*range(39, 51)]
    assert len({it["id"] for it in dma_waits.waits()}) == len(dma_waits.ROWS)


def test_the_limit_of_a_link_counts_the_headers_of_its_packets() -> None:
    """Gen3x8 has 7,877 bytes a us each way. Of 64 bytes: 88 and 40 up for payload and completion, 24 for a read request; 84
    and 16 down. Of 1,518: 6 packets of payload, 3 read requests."""
    for mode, size, limit in (
        ("c2h", 64, 7877 / 128),
        ("h2c", 64, 7877 / 100),
        ("forward", 64, 7877 / 152),
        ("forward", 1518, 7877 / (1518 + 6 * 24 + 40 + 3 * 24)),
    ):
        assert dma_own.link_limit_mpps(LINKS["gen3x8"], mode, size) == pytest.approx(limit, rel=1e-4)


def test_rows_of_our_engine_say_how_far_they_are() -> None:
    at = {"engine": "meridian", "source": "here", "link": "gen3x8", "bytes": 64, "queues": 8, "function": "pf"}
    model = [report.Figure("forward_mpps", at | {"engine": "qdma_model"}, 50.0, "Mpps")]
    mpps, percent = dma_own.beside(model, [report.Figure("forward_mpps", at, 40.0, "Mpps")])
    assert (mpps.reference or {})["ratio"] == 0.8
    assert mpps.missed()
    assert percent.value == pytest.approx(100 * 40 * 152 / 7877, abs=0.1)
    alone = dma_own.beside([], [report.Figure("forward_mpps", at, 46.0, "Mpps")])[0]
    assert (alone.reference, alone.missed()) == (None, False)


def test_a_folder_without_the_program_is_told(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="has no qdma_bench; name a folder that scripts/build-card printed"):
        dma.built(tmp_path)


def test_options_that_choose_the_runs_exclude_each_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["dma.py", "--quick", "--full"])
    with pytest.raises(SystemExit, match="2"):
        dma.main()
    assert (
        "bench-dma: error: --quick, --full, --own and --tuning exclude each other; choose one"
        in capsys.readouterr().err
    )
