# SPDX-License-Identifier: Apache-2.0
"""The way to host memory of the cards in the drivers' tests: without latency in half of them, slow in the others.

Where DMA takes no time, a driver that looks too early, or gives memory back too soon, goes unseen. A hash of the test's
name draws fast or far, or one of the fixture's name and parameter where several tests share a card: it is the same in
each run. --pcie-seed draws others, --pcie-link gives all tests one. A test that is about one link has the mark pcie_link
with its name. The JUnit report names the link of each test, and so does the text of one that fails.
"""

from __future__ import annotations

import fnmatch
import hashlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from meridian_twin import CardProcess

#: Files of the drivers' tests. test_pcie_link.py sees that each pattern finds some.
TESTS = ("qemu/*/test_driver_*.py", "qemu/*/test_dpdk_*.py", "dpdk/test_*.py", "dpdk/twin/test_*.py")
FAR, FAR_NS = ("--pcie", "3:8", "--pcie-round-trip"), "5000"
LINKS = {
    "fast": (),
    # Of a slot far behind switches: a machine sees round trips of some 20 ms, as the twin is slow, and make test-long has
    # four times that. And, for who asks for it, of one lane whose few reads in flight wait for each other.
    "far": (*FAR, FAR_NS),
    "narrow": ("--pcie", "2:1", "--pcie-round-trip", "3000", "--pcie-tags", "8"),
}
_name, _link = ("", ""), "fast"  # of what runs now, if it has a link of its own: test or file, and a shared fixture
_started: dict[tuple[str, str], str] = {}  # links of the last cards, by that name
_start = CardProcess.__init__


def _start_with_link(self: CardProcess, program: Path | str, *options: str, **named: Any) -> None:
    if any(_name):
        _started[_name] = _link
    _start(self, program, *LINKS[_link], *options, **named)


def is_drivers_test(node: str) -> bool:
    """node: the name that pytest gives a file or a test of it, from the folder of the tests."""
    return any(fnmatch.fnmatchcase(node.partition("::")[0], pattern) for pattern in TESTS)


def drawn(name: str, seed: int) -> str:
    return ("far", "fast")[hashlib.sha256(f"{seed} {name}".encode()).digest()[0] % 2]


@contextmanager
def _link_of(node: pytest.Item | pytest.Collector, fixture: str = "", parameter: int = 0) -> Iterator[None]:
    """fixture: one that several tests share, and the number of its parameter."""
    global _name, _link
    before = _name, _link
    if is_drivers_test(node.nodeid):
        option, mark = node.config.getoption, node.get_closest_marker("pcie_link")
        link = mark.args[0] if mark else option("--pcie-link")
        name = f"{node.nodeid}::{fixture}[{parameter}]" if fixture else node.nodeid
        _name, _link = (node.nodeid, fixture), link or drawn(name, option("--pcie-seed"))
    else:
        _name, _link = ("", ""), "fast"
    try:
        yield
    finally:
        _name, _link = before


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pcie-link", choices=list(LINKS), help="of all cards in the drivers' tests (drawn by name)")
    parser.addoption("--pcie-far", default=FAR_NS, metavar="NS", help=f"round trip of the link far ({FAR_NS})")
    parser.addoption("--pcie-seed", type=int, default=1, metavar="N", help="draws other links (1)")


def pytest_configure(config: pytest.Config) -> None:
    LINKS["far"] = (*FAR, config.getoption("--pcie-far"))
    CardProcess.__init__ = _start_with_link  # type: ignore[method-assign]
    config.add_cleanup(lambda: setattr(CardProcess, "__init__", _start))


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Generator[None, Any, Any]:
    """A fixture of one test has the test's link, one of a file its own. No fixture of a session starts a card."""
    shared = "" if isinstance(request.node, pytest.Item) else fixturedef.argname
    with _link_of(request.node, shared, request.param_index):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    with _link_of(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Generator[None, Any, Any]:
    names = [(node.nodeid, name) for node in item.listchain() for name in ("", *getattr(item, "fixturenames", ()))]
    links = [_started[name] for name in names if name in _started]
    if links and call.when == "call":
        item.user_properties.append(("pcie_link", links[-1]))
    report = yield
    if links and report.failed:
        report.sections.append(("PCIe link of the card", " ".join((f"--pcie-link {links[-1]}:", *LINKS[links[-1]]))))
    return report
