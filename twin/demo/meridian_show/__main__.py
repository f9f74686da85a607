# SPDX-License-Identifier: Apache-2.0
"""Boots host and card in the simulation, loads the wire, and writes a report."""

from __future__ import annotations

import argparse
import shlex
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
from meridian_twin.process import CardError
from meridian_twin.wire import WireError
from rich.console import Console
from rich.live import Live

from . import captured, report, saved
from .promises import promises, verdict
from .record import Record
from .run import Lengths, Show, ShowError, prepare
from .view import View

PORT = 8000
OTHER = "'make demo' runs it. With --quick or --pcap FILE, it plays captures through the card alone: --quick --help."
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
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__, epilog=OTHER)
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
    parser.add_argument("--report", type=Path, metavar="FOLDER", help="only make the report of an earlier run again")
    arguments = parser.parse_args()
    if min(arguments.idle, arguments.loaded, arguments.train) <= 0:
        parser.error("--idle, --loaded and --train must be above 0")
    if arguments.report:
        try:
            return tell(arguments.report, saved.load(arguments.report))
        except (OSError, ValueError, TypeError, KeyError) as error:
            parser.error(f"{arguments.report} has no record of a run that can be read: {error!r}")
    folder = new_run(arguments.out)
    console = Console(width=None if sys.stdout.isatty() else 120)
    record = Record()
    failed = ""
    try:
        prepare(console.print)
        record = Record()
        lengths = Lengths(arguments.idle, arguments.loaded, arguments.train)
        with Live(View(record), console=console, refresh_per_second=2 if console.is_terminal else 0.05):
            Show(folder, record, lengths).run()
    except ERRORS as error:
        failed = str(error) or repr(error)
    except KeyboardInterrupt:
        print(f"demo: interrupted; the files of the run are in {folder}", file=sys.stderr)
        return 130
    if failed:
        record.note(f"the demo broke off: {failed}")
        print(f"demo: {failed}\ndemo: the files of the run are in {folder}", file=sys.stderr)
    if not record.phases:
        return 1
    record.ended = record.now()
    saved.save(record, folder)
    print()  # behind the frame of the live display
    return tell(folder, record) or int(bool(failed))


def tell(folder: Path, record: Record) -> int:
    """Makes the report; the verdict, the report and how to read it in a browser, one a line."""
    seen = captured.read(folder / report.CAPTURE, record.train)
    file = report.write(folder, record, seen)
    found = promises(record, seen)
    for line in verdict(found):
        print(f"demo: {line}")
    print(f"the report: {file}")
    print(f"to read it from another machine: {serve(folder)} {PORT}")
    print(f"then open http://127.0.0.1:{PORT}/{report.NAME} there, through ssh -L {PORT}:127.0.0.1:{PORT}")
    return int(any(not it.kept for it in found))


def serve(folder: Path) -> str:
    return f"python3 -m http.server --bind 127.0.0.1 --directory {shlex.quote(str(folder))}"


if __name__ == "__main__":
    sys.exit(main())
