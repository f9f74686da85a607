# SPDX-License-Identifier: Apache-2.0
"""Runs suites of DPDK's own tests (DTS) on the DPDK driver and a card process; scripts/test-dts starts it."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from dts_bench import Programs, bench
from dts_outcomes import FAIL, Outcome, counts, outcomes, rows, unexplained
from meridian_twin.process import CardError

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "build" / "dts.json"
PAGE = ROOT / "docs" / "conformance" / "dts.md"
SUITES = (
    "hello_world",
    "buffer_scatter",
    "checksum_offload",
    "dual_vlan",
    "dynamic_config",
    "dynamic_queue_conf",
    "mac_filter",
    "mtu",
    "port_control",
    "port_restart_config_persistency",
    "port_stats",
    "promisc_support",
    "qinq",
    "queue_toggle",
    "rss",
    "rx_tx_offload",
    "speed_capabilities",
    "unified_packet",
    "vlan",
)
SUITE_SECONDS = 1800
DTS_SECONDS = 60  # of one command; DTS's own word is 15, and the card is simulated


def run(programs: Programs, suite: str, cases: list[str]) -> tuple[list[Outcome], str]:
    """One suite, or these cases of it, on a new card; and all that DTS said."""
    with tempfile.TemporaryDirectory(prefix="meridian-dts-") as name, bench(Path(name), programs) as environment:
        output = Path(name) / "output"
        output.mkdir()
        command = [str(programs.python), "main.py", "--output-dir", str(output), "--timeout", str(DTS_SECONDS), "-v"]
        command += ["--test-suite", suite, *cases]
        try:
            done = subprocess.run(
                command,
                cwd=programs.source / "dts",
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=SUITE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            text = (late.stdout or b"").decode(errors="replace")
            return [Outcome(f"{suite}.*", FAIL, f"not done after {SUITE_SECONDS} s")], text
        text = done.stdout.decode(errors="replace")
        results = output / "results.json"
        if not results.exists():
            return [Outcome(f"{suite}.*", FAIL, text[-2000:])], text
        return outcomes(suite, json.loads(results.read_text())), text


def version(programs: Programs) -> str:
    return (programs.source / "VERSION").read_text().strip()


def write(file: Path, programs: Programs, results: dict[str, list[Outcome]]) -> None:
    command = ["git", "describe", "--always", "--dirty"]
    git = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    content = {
        "dpdk": version(programs),
        "git": git.stdout.strip(),
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "totals": counts([case for found in results.values() for case in found]),
        "results": {suite: [asdict(case) for case in found] for suite, found in results.items()},
    }
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/test-dts", description=__doc__)
    for name in ("source", "testpmd", "libraries", "library", "card", "python"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE")
    parser.add_argument("suites", nargs="*", metavar="SUITE[.CASE]")
    given = parser.parse_args()
    programs = Programs(given.source, given.testpmd, given.libraries, given.library, given.card, given.python)
    wanted: dict[str, list[str]] = {}
    for word in given.suites or SUITES:
        suite, _, case = word.partition(".")
        wanted.setdefault(suite, []).extend([case] if case else [])
    known = rows(PAGE.read_text())
    results: dict[str, list[Outcome]] = {}
    strange: list[str] = []
    try:
        for suite, cases in wanted.items():
            print(suite, end=" ", flush=True)
            started = time.monotonic()
            results[suite], text = run(programs, suite, cases)
            logs = given.results.with_suffix("")
            logs.mkdir(parents=True, exist_ok=True)
            (logs / f"{suite}.log").write_text(text)
            write(given.results, programs, results)
            lines = unexplained(results[suite], known)
            strange += lines
            print("\n  ".join([f"{counts(results[suite])}, {time.monotonic() - started:.0f} s", *lines]), flush=True)
    except (CardError, OSError, subprocess.SubprocessError) as error:
        print(f"test-dts: {error}", file=sys.stderr)
        return 1
    print(f"{given.results}: {counts([case for found in results.values() for case in found])}")
    return 1 if strange else 0


if __name__ == "__main__":
    sys.exit(main())
