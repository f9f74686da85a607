# SPDX-License-Identifier: Apache-2.0
"""The page on tuning quotes what the published tables, the driver, the bench and the shell's page have."""

from __future__ import annotations

import csv
import re

import documents
import pytest
from documents import ROOT

PAGE = ROOT / "docs" / "tuning.md"
TEXT = PAGE.read_text()
LINK = re.compile(r"gen(\d)x(\d+)")


def table(head: str) -> list[list[str]]:
    """Rows of the table whose first cell begins so, without its rule."""
    (found,) = (table for table in documents.tables(PAGE) if table[0][0].startswith(head))
    return [found[0], *found[2:]]


def test_the_page_quotes_the_published_rates_of_forwarding() -> None:
    with (ROOT / "docs" / "reference" / "qdma_dpdk_forwarding.csv").open() as file:
        rates = {
            (row["host"], row["packet_bytes"], row["queues"]): row["mpps"]
            for row in csv.DictReader(file)
            if row["function"] == "pf"
        }
    head, *rows = table("host, bytes")
    queues = [cell.split()[0] for cell in head[1:]]
    assert queues == ["1", "2", "4", "8"] and len(rows) == 4
    for name, *cells in rows:
        host, size = name.split(", ")
        assert cells == [rates[host, size, count] for count in queues], name


def test_the_page_quotes_the_published_rates_of_a_port() -> None:
    with (ROOT / "docs" / "reference" / "silicom_testpmd_25g.csv").open() as file:
        rates = {
            row["direction"]: int(row["pps"]) for row in csv.DictReader(file) if row["packet_bytes_without_fcs"] == "64"
        }
    received, sent = re.search(r"has ([\d.]+) million frames of 64 bytes .* and ([\d.]+) million sent", TEXT).groups()
    assert (float(received), float(sent)) == (round(rates["rx"] / 1e6, 1), round(rates["tx"] / 1e6, 1))


def test_the_page_has_the_drivers_rings_and_moderation() -> None:
    linux = ROOT / "host-driver" / "linux"
    header = (linux / "meridian.h").read_text()
    ring = {name: int(re.search(rf"RING_{name}\s+(\d+)", header)[1]) for name in ("MIN", "MAX", "DEFAULT")}
    assert f"{ring['DEFAULT']} entries; {ring['MIN']} to {ring['MAX']}, powers of two" in TEXT
    coalesce = (linux / "rings" / "meridian_coalesce.c").read_text()
    values = re.findall(r"\.([rt]x) = \{ \.usecs = (\d+), \.frames = (\d+), \.is_adaptive = true \}", coalesce)
    (rx_usecs, rx_frames), (tx_usecs, tx_frames) = (each[1:] for each in values)
    assert (
        f"from {rx_usecs} us and {rx_frames} frames for receive, {tx_usecs} us and {tx_frames} frames for transmit"
        in TEXT
    )
    assert "buffers is fixed. 3456 bytes" in (ROOT / "host-driver" / "README.md").read_text()


def test_the_page_has_the_shells_latencies_of_the_architecture_page() -> None:
    shell = (ROOT / "docs" / "architecture.md").read_text()
    for range_of_ns in re.findall(r"(\d+ to \d+) ns", TEXT):
        assert f"{range_of_ns} ns" in shell, range_of_ns


def test_counters_are_those_of_troubleshooting() -> None:
    counters = {name for row in table("what rises")[1:] for name in re.findall(r"`(\w+)`", row[0])}
    assert counters
    text = (ROOT / "docs" / "troubleshooting.md").read_text()
    assert all(f"`{name}`" in text for name in counters)


def test_the_pages_own_figures_are_those_of_the_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row has a figure for each value that the bench sets, and says what frames it moves."""
    monkeypatch.syspath_prepend(ROOT / "tests" / "bench")
    import dma

    assert "`make bench-dma TUNING=1`" in TEXT and "$(if $(TUNING),--tuning)" in (ROOT / "Makefile").read_text()
    names = {"queues": "queues", "payload": "MPS", "request": "MRRS", "poll_ns": "time between looks, ns"}
    ways = {"forward": "to the host and back", "c2h": "to the host", "h2c": "from the host"}
    measured: dict[tuple[str, str], list[str]] = {}
    for run in dma.tunings():
        (figure,) = run.figures({"engine": "x", "source": "x", "mpps": 1})
        at = figure.point
        assert LINK.fullmatch(at["link"]).groups() == ("3", "8") and "Gen3 x8" in TEXT
        queues = "" if at["setting"] == "queues" else f", queues: {at['queues']}"
        key = (names[at["setting"]], f"{at['bytes']} bytes, {ways[at['mode']]}{queues}")
        measured.setdefault(key, []).append(str(at[at["setting"]]))
    head, *rows = table("setting, one at a time")
    assert head[-2:] == ["model of the QDMA IP", "our engine"]
    assert {(name, frames): values.split(", ") for name, frames, values, *_ in rows} == measured
    for name, _, values, *figures in rows:
        for found in figures:
            assert len(found.split(", ")) == len(values.split(", ")), name
            assert all(re.fullmatch(r"\d+\.\d+", figure) for figure in found.split(", ")), name
