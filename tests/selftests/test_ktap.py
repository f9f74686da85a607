# SPDX-License-Identifier: Apache-2.0
"""What the reader of KTAP takes for a pass, a failure and a skip, and how a test that breaks off is told."""

from __future__ import annotations

from dataclasses import asdict

import ktap
import page
import pytest
import selftests

WHOLE = """# Interface: eth0, driver: meridian
TAP version 13
1..4
ok 1 ping.test_default_v4
# Exception| not ok at all
not ok 2 ping.test_default_v6
ok 3 ping.test_xdp_offload # SKIP device does not support offloaded XDP
ok 4 ping.slow # XFAIL too slow here
# Totals: pass:1 fail:1 xfail:1 xpass:0 skip:1 error:0
"""


def test_each_case_has_its_outcome() -> None:
    cases = ktap.verdict("ping.py", 1, WHOLE)
    assert [case.outcome for case in cases] == ["pass", "fail", "skip", "xfail"]
    assert cases[2] == ktap.Result("ping.test_xdp_offload", "skip", "device does not support offloaded XDP")


def test_a_failure_is_no_skip_whatever_it_says() -> None:
    assert ktap.results("not ok 1 a.b # SKIP there is no such device") == [
        ktap.Result("a.b", "fail", "there is no such device")
    ]


@pytest.mark.parametrize(
    ("status", "text", "outcome"),
    [
        (0, "", "pass"),
        (0, "1..0\n# eth0 has no histograms", "skip"),
        (1, "", "fail"),
        (4, "SKIP: no tool", "skip"),
        (124, "", "fail"),
    ],
)
def test_without_cases_the_status_counts(status: int, text: str, outcome: str) -> None:
    assert ktap.verdict("a.sh", status, text)[0].outcome == outcome


def test_older_lines_have_their_outcome_in_brackets() -> None:
    text = (
        "TEST: ping IPv4                                       [ OK ]\n"
        "TEST: no cable (skip_hw)                              [FAIL]\n\tExpected more\n"
        "TEST: slow                                            [XFAIL]\n"
        "TEST: SKIP: dev eth0 does not support loopback        [ OK ]\n"
    )
    assert [(case.name, case.outcome) for case in ktap.results(text)] == [
        ("ping IPv4", "pass"),
        ("no cable (skip_hw)", "fail"),
        ("slow", "xfail"),
        ("SKIP: dev eth0 does not support loopback", "skip"),
    ]


def test_the_page_has_a_row_for_each_test_and_names_what_failed() -> None:
    cases = [asdict(case) for case in ktap.results(WHOLE)]
    ping = {"test": "drivers/net/ping.py", "seconds": 2.4, "cases": cases}
    content = {"kernel": "6.12", "suite": "trixie", "git": "abc", "when": "now", "results": {"pf": [ping], "vf": []}}
    lines = page.page(content).splitlines()
    assert "| `drivers/net/ping.py` | 1 | 1 | 1 | 1 | 2 |  |  |  |  |  |" in lines
    assert "- PF `drivers/net/ping.py` ping.test_default_v6: " in lines


def test_a_test_that_breaks_off_has_failed() -> None:
    cases = ktap.verdict("ping.py", 139, "1..3\nok 1 ping.a\n")
    assert cases[-1] == ktap.Result("ping.py", "fail", "it ended with status 139 after 1 of 3 cases")


def test_a_status_that_no_case_explains_is_a_failure() -> None:
    cases = ktap.verdict("ping.py", 1, "1..1\nok 1 ping.a\nTraceback\n")
    assert cases[-1] == ktap.Result("ping.py", "fail", "it ended with status 1: Traceback")


def test_the_page_gives_reasons_for_skips() -> None:
    known = selftests.reasons(selftests.REASONS.read_text())
    assert selftests.reason_of("drivers/net/ping.py", "ping.test_xdp_offload", known)
    assert not selftests.reason_of("drivers/net/ping.py", "ping.test_default_v4", known)
    assert not selftests.reason_of("drivers/net/csum.py", "csum.*", known)
