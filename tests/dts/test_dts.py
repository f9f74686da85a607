# SPDX-License-Identifier: Apache-2.0
"""What is made of DTS's words, and of its commands: without DTS."""

from __future__ import annotations

import subprocess
from pathlib import Path

import dts_bench as bench
import pytest
from dts_outcomes import Outcome, Row, outcomes, rows, unexplained

GOOD = {"result": "PASS"}


def case(result: str, reason: str = "", **around: str) -> dict[str, object]:
    node: dict[str, object] = {"setup": GOOD, "result": result, "teardown": GOOD}
    node.update({name: {"result": word, "reason": "why"} for name, word in around.items()})
    return {**node, "reason": reason} if reason else node


def test_each_case_of_a_suite_has_its_outcome_and_reason() -> None:
    tree = {"setup": GOOD, "good": case("PASS"), "bad": case("FAIL", "it did not"), "teardown": GOOD}
    tree |= {"without": case("SKIP", "it lacks"), "broken": case("ERROR"), "blocked": case("BLOCK")}
    tree |= {"untidy": case("PASS", teardown="ERROR")}
    assert outcomes("mtu", {"test_suites": {"mtu": tree}}) == [
        Outcome("mtu.good", "pass"),
        Outcome("mtu.bad", "fail", "it did not"),
        Outcome("mtu.without", "skip", "it lacks"),
        Outcome("mtu.broken", "fail"),
        Outcome("mtu.blocked", "fail"),
        Outcome("mtu.untidy", "fail", "why"),
    ]


def test_a_suite_without_cases_has_one_outcome() -> None:
    skipped = {"test_suites": {"mtu": {"result": "SKIP", "reason": "it lacks"}}}
    assert outcomes("mtu", skipped) == [Outcome("mtu.*", "skip", "it lacks")]
    assert outcomes("mtu", {"execution_errors": ["no node"]}) == [Outcome("mtu.*", "fail", "no node")]
    assert outcomes("mtu", {"test_suites": {}})[0].outcome == "fail"
    broken = {"test_suites": {"mtu": {"setup": {"result": "ERROR", "reason": "no link"}}}}
    assert outcomes("mtu", broken) == [Outcome("mtu.setup", "fail", "no link")]


def test_an_outcome_that_the_page_does_not_explain_is_named() -> None:
    page = (
        "| cases | outcome | why |\n| --- | --- | --- |\n| `rss.key_*` | fail | It asks. |\n| `mtu.*` | skip | No. |\n"
    )
    known = rows(page)
    assert known == [Row("rss.key_*", "fail", "It asks."), Row("mtu.*", "skip", "No.")]
    found = [Outcome("rss.key_hash", "fail"), Outcome("mtu.*", "skip"), Outcome("vlan.strip", "pass")]
    assert unexplained(found, known) == []
    assert unexplained([Outcome("rss.key_hash", "pass")], known) == [
        "rss.key_hash passes, and the page says that it will fail"
    ]
    assert unexplained([Outcome("rss.key_hash", "skip", "x")], known) == ["rss.key_hash: skip: x"]
    assert unexplained([Outcome("vlan.strip", "fail", "x")], known) == ["vlan.strip: fail: x"]


@pytest.mark.parametrize(
    ("words", "functions", "rest"),
    [
        ("-l 0-1 -a 0000:aa:00.0 -a 0000:aa:00.1 -- -i -a", (0, 1), "-i -a"),
        ("-l 0-1 -a 0000:aa:00.1,x=1 -- -i --tx-offloads=0x8000", (1,), "-i --tx-offloads=0x8000"),
        ("-l 0-1 -a 0000:cc:00.0 -- -i", (), "-i"),
    ],
)
def test_pci_addresses_of_dts_become_devices_of_the_card(
    tmp_path: Path, words: str, functions: tuple[int, ...], rest: str
) -> None:
    """What else DTS says stays as it is."""
    programs = bench.Programs(*(Path(name) for name in ("source", "/bin/echo", "libs", "pmd.so", "card", "python")))
    bench.script(tmp_path / "testpmd", bench.testpmd_script(programs, Path("/tmp/card")))
    done = subprocess.run(
        [tmp_path / "testpmd", *words.split()], capture_output=True, text=True, timeout=60, check=True
    )
    before, _, after = done.stdout.strip().partition(" -- ")
    devices = [word for word in before.split() if word.startswith("--vdev=")]
    assert devices == [
        f"--vdev=net_meridian_twin{n},socket=/tmp/card,function={n},mac={bench.address(n)}" for n in functions
    ]
    assert "-l 0-1" in before and before.startswith("-d pmd.so -d librte_net_meridian_twin.so --no-huge")
    assert ("0000:cc:00.0" in before) == (not functions)
    assert after == f"--total-num-mbufs={bench.MBUFS} {rest}"
