# SPDX-License-Identifier: Apache-2.0
"""DPDK's own dpdk-test, of the system's package: its suites that want an Ethernet port, with ours in their hands.

Not taken: link bonding, which brings ports of its own (test_bonding.py has ours in a bond); and the adapter for
interrupts of receive queues, which the null card has none of: tests/qemu/dpdk/test_dpdk_interrupts.py.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from dpdk_fixtures import library
from plugin import plugin

__all__ = ["library"]  # a fixture
SUITES = {
    "bitratestats_autotest": 384,
    "event_eth_rx_adapter_autotest": 4096,
    "event_eth_tx_adapter_autotest": 384,
    "latencystats_autotest": 384,
    "pmd_perf_autotest": 384,
}


@pytest.mark.parametrize(("suite", "megabytes"), SUITES.items())
def test_a_suite_of_dpdk_passes_on_the_driver(library: Path, suite: str, megabytes: int) -> None:
    before, driver = plugin(library)
    command = [*before, "dpdk-test", *driver, "--no-huge", "-m", str(megabytes), "--no-pci", "--no-telemetry"]
    command += ["-l", "0,1", "--file-prefix", f"meridian-{os.getpid()}", "--vdev=net_meridian_null0,loop=1"]
    done = subprocess.run(
        command,
        env={**os.environ, "DPDK_TEST": suite},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0 and "Test OK" in done.stdout, done.stdout[-4000:]
    counts = dict(re.findall(r"\+ Tests (\w+) *: +(\d+)", done.stdout))
    if suite == "pmd_perf_autotest":
        (sent,) = re.findall(r"(\d+) packet, 0 drop", done.stdout)
        assert int(sent) > 1_000_000
    else:
        assert counts["Passed"] == counts["Total"] != "0" and counts["Skipped"] == "0", counts
