# SPDX-License-Identifier: Apache-2.0
"""Command line of the whole demo."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from meridian_machine import MachineError, SdError
from meridian_machine.guest import GuestError
from meridian_machine.nested_vm import VmError
from meridian_machine.peer import PeerError
from meridian_machine.program import ProgramError
from meridian_machine.testpmd_prompt import TestpmdError
from meridian_machine.tools import BuildError
from meridian_machine.twin import new_run
from meridian_twin.control import ControlError
from meridian_twin.pcapng import packets
from meridian_twin.process import CardError
from meridian_twin.wire import WireError
from rich.console import Console
from rich.live import Live

from . import report
from .latency import covered, of_sizes
from .record import IDLE, LOADED, Record, peak, rms, verdict
from .run import Lengths, Show, ShowError, prepare
from .view import View

ERRORS = (
    GuestError,
    ProgramError,
    TestpmdError,
    VmError,
    BuildError,
    CardError,
    ControlError,
    MachineError,
    PeerError,
    SdError,
    ShowError,
    WireError,
    OSError,
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    defaults = Lengths()
    parser.add_argument(
        "--idle", type=float, default=defaults.idle, metavar="SECONDS", help="length of the idle phase (%(default)s)"
    )
    parser.add_argument(
        "--loaded",
        type=float,
        default=defaults.loaded,
        metavar="SECONDS",
        help="length of the phase under load (%(default)s)",
    )
    parser.add_argument(
        "--train", type=int, default=defaults.train, metavar="N", help="frames of a train at line rate (%(default)s)"
    )
    parser.add_argument("--out", type=Path, help="folder for the files of the run (build/twin/run-...)")
    arguments = parser.parse_args()
    if min(arguments.idle, arguments.loaded, arguments.train) <= 0:
        parser.error("--idle, --loaded and --train must be above 0")
    folder = new_run(arguments.out)
    console = Console(width=None if sys.stdout.isatty() else 120)
    try:
        prepare(console.print)
        record = Record()
        lengths = Lengths(arguments.idle, arguments.loaded, arguments.train)
        with Live(View(record), console=console, refresh_per_second=2 if console.is_terminal else 0.05):
            Show(folder, record, lengths).run()
    except ERRORS as error:
        print(f"demo: {error}\ndemo: the files of the run are in {folder}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"demo: interrupted; the files of the run are in {folder}", file=sys.stderr)
        return 130
    passed = list(packets(folder / "card.pcapng"))
    syncs = covered(passed)
    file = report.write(folder, record, of_sizes(passed, arguments.train), syncs)
    for name in (IDLE, LOADED):
        found = record.offsets_in(name)
        console.print(f"{name}: {len(found)} Sync, offset {rms(found):.2f} ns r.m.s., peak {peak(found)} ns")
    console.print(f"{syncs[1]} of {syncs[0]} Sync under load arrived in the middle of a train at line rate")
    console.print(f"the report: {file}")
    wrong = verdict(record, syncs)
    for sentence in wrong[:10]:
        print(f"demo: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
