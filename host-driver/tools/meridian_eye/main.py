# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""The command meridian-eye."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from meridian_selftest import VERSION, changes
from meridian_selftest.main import NO_CARD, SLOW, chosen_card, number, pci_address
from meridian_selftest.registers import Registers

from . import picture
from .lane import LOOPBACKS, MAC, PATTERNS, Lane, LaneError
from .scan import Scanner
from .window import NotReachable, Registers32, window_of

RIGHT, FAILED, WRONG = 0, 1, 2
Value = TypeVar("Value")
#: Where the receiver's counter of errors stops.
FULL_COUNT = 0xFFFFFFFF
#: Bits without an error that make a rate of 1 / bits unlikely by 95 %: -ln(0.05).
CONFIDENCE = 3.0
EPILOG = """
It runs on the card's ARM side or on its host, as root, and needs a bitstream with the self-test block. A loopback and a test
pattern take the port's traffic away, and the first eye scan resets the receiver for a moment, so the card refuses them on a
port that is in use, unless --force is given. What was changed is put back at the end, also after Ctrl-C. A far loopback
stays while --seconds pass, for the other side to measure. So does the loopback 'mac', for frames of host and ARM side: they
come back before the MAC.

The status is 0 if it has measured, 1 if something failed (no eye, no pattern, the card refuses), 2 if the command line is
wrong or the program may not run here.
"""
#: Options that change nothing unless an eye is scanned.
OF_THE_SCAN = ("png", "prescale", "columns", "rows", "ber")


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="meridian-eye",
        description="Measures the link of a port of a Meridian card: eye scan, bit error rate of a test pattern, loopbacks.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("--version", action="version", version=f"meridian-eye {VERSION}")
    result.add_argument("--port", type=int, default=0, metavar="N", help="number of the port on the card (0)")
    result.add_argument(
        "--device", type=pci_address, metavar="ADDRESS", help="PCI address of the card to use, if there are several"
    )
    result.add_argument("--loopback", choices=list(LOOPBACKS), help="loopback of the port (default: as it is)")
    result.add_argument(
        "--prbs",
        type=int,
        choices=sorted(PATTERNS),
        help="send this test pattern, and count errors in the received one",
    )
    result.add_argument(
        "--seconds",
        type=number,
        default=10,
        metavar="N",
        help="how long errors are counted, or how long a far loopback or that of the MAC stays (10)",
    )
    result.add_argument(
        "--inject", type=int, default=0, metavar="N", help="number of errors to force in the sent pattern (0)"
    )
    result.add_argument("--no-eye", action="store_true", help="make no eye scan")
    result.add_argument("--png", type=Path, metavar="FILE", help="write the eye to FILE, too")
    result.add_argument(
        "--prescale", type=int, default=3, choices=range(16), metavar="0..15",
        help="each step doubles the time and the bits of a point, which are 67 million at 3 with words of 32 bits (3)",
    )  # fmt: skip
    result.add_argument(
        "--columns", type=int, default=16, metavar="N", help="number of steps from the eye's middle to its side (16)"
    )
    result.add_argument(
        "--rows", type=int, default=15, metavar="N", help="number of steps from the eye's middle to its top (15)"
    )
    result.add_argument(
        "--ber",
        type=float,
        default=1e-6,
        metavar="RATE",
        help="bit error rate at which the eye opening is measured (1e-6)",
    )
    result.add_argument("--force", action="store_true", help="measure even if the port is enabled or carries traffic")
    result.add_argument(
        "--slow", type=number, default=os.environ.get(SLOW, "1"), metavar="FACTOR", help=argparse.SUPPRESS
    )
    return result


def count_errors(lane: Lane, pattern: int, seconds: float, inject: int) -> str:
    """Sends a pattern, and returns a line with the bit error rate of the received one."""
    lane.set_patterns((PATTERNS[pattern], PATTERNS[pattern]))
    if not lane.wait_for_lock():
        raise LaneError(
            f"port {lane.port}: no PRBS{pattern} is found in what comes in. The other side has to send it, or send back "
            "what it gets; '--loopback near-pma' needs nobody"
        )
    lane.reset_count()
    began = time.monotonic()
    for _ in range(inject):
        lane.force_error()
    while (left := began + seconds - time.monotonic()) > 0:
        time.sleep(min(left, 0.2))
        if not lane.status("PRBS_LOCKED"):
            raise LaneError(
                f"port {lane.port}: the receiver has lost PRBS{pattern}: more than one bit of a thousand is wrong"
            )
    errors, bits = lane.errors(), lane.line_rate * 1e9 * (time.monotonic() - began)
    if errors == FULL_COUNT:
        return f"PRBS{pattern}: {errors} errors or more, as the counter stops there: take fewer --seconds"
    if errors:
        return f"PRBS{pattern}: {errors} errors in {bits:.3g} bits, a bit error rate of {errors / bits:.2g}"
    return f"PRBS{pattern}: no error in {bits:.3g} bits, a bit error rate below {CONFIDENCE / bits:.2g} (95 %)"


def eye(lane: Lane, arguments: argparse.Namespace) -> None:
    scanner = Scanner(lane, arguments.prescale)
    scanner.prepare()
    scanner.align()
    progress = sys.stderr.isatty()

    def told(done: int, of: int) -> None:
        if progress:
            print(f"\rrow {done} of {of}", end="" if done < of else "\n", file=sys.stderr, flush=True)

    found = scanner.scan(arguments.columns, arguments.rows, told)
    print(picture.text(found))
    least = found.least()
    if arguments.ber < least:
        print(
            f"the points have too few bits for {arguments.ber:g}: the opening is measured at {least:.2g}; raise --prescale"
        )
    rate = max(arguments.ber, least)
    print(f"opening at a bit error rate of {rate:.2g}: {found.width(rate):.2f} UI, {found.height(rate)} codes of 254")
    if arguments.png:
        arguments.png.write_bytes(picture.png(found))
        print(f"written: {arguments.png}")


def put_back(change: Callable[[Value], None], now: Callable[[], Value], before: Value, lane: Lane) -> None:
    """Whole, and though the port may be in use now."""
    lane.force = True
    with changes.undisturbed():
        if now() != before:
            change(before)


def go_round(lane: Lane, seconds: float) -> None:
    lane.wait_for_mac_loop()
    before = lane.lost
    print(f"frames of port {lane.port} come back before the MAC for {seconds:g} s", flush=True)
    time.sleep(seconds)
    print(f"{(lane.lost - before) & FULL_COUNT} of them were lost on the way")


def measure(window: Registers32, arguments: argparse.Namespace) -> int:
    lane = Lane(window, Registers(), arguments.port, arguments.slow)
    lane.force = arguments.force
    with ExitStack() as back:
        if arguments.loopback:
            back.callback(put_back, lane.set_loopback, lambda: lane.loopback, lane.loopback, lane)
            lane.set_loopback(LOOPBACKS[arguments.loopback])
        if arguments.loopback == MAC:
            go_round(lane, arguments.seconds)
            return RIGHT
        if arguments.prbs:
            back.callback(put_back, lane.set_patterns, lambda: lane.patterns, lane.patterns, lane)
            print(count_errors(lane, arguments.prbs, arguments.seconds, arguments.inject), flush=True)
        elif (arguments.loopback or "").startswith("far"):
            print(f"port {lane.port} sends back what comes in for {arguments.seconds:g} s", flush=True)
            time.sleep(arguments.seconds)
        if not arguments.no_eye:
            back.callback(lane.end_scan)
            eye(lane, arguments)
    return RIGHT


def unused(options: argparse.ArgumentParser, arguments: argparse.Namespace) -> str:
    """The sentence about an option of the eye scan that was given though no eye is scanned; "" if there is none."""
    if not arguments.no_eye and arguments.loopback != MAC:
        return ""
    given = [name for name in OF_THE_SCAN if getattr(arguments, name) != options.get_default(name)]
    reason = "the loopback mac has none" if arguments.loopback == MAC else "--no-eye leaves it out"
    return f"--{given[0]} is for the eye scan, and {reason}: leave one of them out" if given else ""


def main(line: Sequence[str] | None = None) -> int:
    options = parser()
    arguments = options.parse_args(line)

    def wrong(what: object) -> int:
        print(f"meridian-eye: {what}", file=sys.stderr)
        return WRONG

    if not (1 <= arguments.columns <= 32 and 1 <= arguments.rows <= 127):
        return wrong("--columns takes 1 to 32, --rows 1 to 127")
    if arguments.inject < 0 or (arguments.inject and not arguments.prbs):
        return wrong("--inject takes a number of errors from 0 on, and needs --prbs")
    if arguments.loopback == MAC and arguments.prbs:
        return wrong("a test pattern does not go through the loopback mac: choose one of the transceiver")
    if sentence := unused(options, arguments):
        return wrong(sentence)
    if not 0 < arguments.ber < 0.5:
        return wrong("--ber takes a rate between 0 and 0.5")
    if os.geteuid():
        return wrong("it needs the rights of root: run it with sudo")
    try:
        card = chosen_card(arguments.device)
    except ValueError as error:
        return wrong(error)
    if card is None:
        return wrong(NO_CARD)
    changes.watch_signals()
    try:
        window = window_of(card)
        try:
            return measure(window, arguments)
        finally:
            window.close()
    except (LaneError, NotReachable) as error:
        print(f"meridian-eye: {error}", file=sys.stderr)
        return FAILED
    except OSError as error:
        return wrong(error)
    except changes.Ended as error:
        print(f"meridian-eye: ended by {error}; what it had changed is put back", file=sys.stderr)
        return 130
