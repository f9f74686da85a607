# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""The command meridian-selftest."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from . import VERSION, boards, changes, report
from .card import ADDRESS, ArmCard, HostCard, arm_card, host_cards
from .checks import CHECKS, TELLS, Check
from .context import Context, Options
from .registers import Registers
from .result import FAIL, Line

RIGHT, FAILED, WRONG = 0, 1, 2
#: By how much bounds of time are longer where no option says it, for machines with a slow card.
SLOW = "MERIDIAN_SELFTEST_SLOW"
NO_CARD = (
    "no Meridian card is on this machine's PCIe bus, and this is no card's ARM side. 'echo 1 >/sys/bus/pci/rescan' looks "
    "again; if 'lspci -nn -d 10ee:' shows no 10ee:903f, see whether the card has its bitstream and the slot its link"
)
EPILOG = """
It prints a line for each check: PASS, FAIL or SKIP, and why. Mail us all of it. The status is 0 if no check failed, 1 if
one did, 2 if the command line is wrong or the program may not run here.

What it does to the machine: it sends some hundred frames of 60 bytes with EtherType 0x88B5 to 02:4d:52:44:ff:fe, which is
nobody. The check vf sends them one after another for some seconds, and from its VF to the PF as well. A switch sends frames
for such an address to all its ports.
"""


def number(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is not above 0 and below 1000000")
    return value


def port_set(text: str) -> frozenset[int]:
    if not all(word.isdigit() for word in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r} are no numbers of ports, such as 0,1")
    return frozenset(int(word) for word in text.split(","))


def cable_list(text: str) -> tuple[tuple[int, int], ...]:
    pairs = [word.split("-") for word in text.split(",")]
    if not all(len(pair) == 2 and all(end.isdigit() for end in pair) for pair in pairs):
        raise argparse.ArgumentTypeError(f"{text!r} are no pairs of ports, such as 0-1,2-3")
    ends = [int(end) for pair in pairs for end in pair]
    if len(set(ends)) < len(ends):
        raise argparse.ArgumentTypeError(f"{text!r}: a port has one cable, to another port")
    return tuple(zip(ends[::2], ends[1::2]))


def pci_address(text: str) -> str:
    if not ADDRESS.fullmatch(text.lower()):
        raise argparse.ArgumentTypeError(f"{text!r} is no PCIe address, such as 0000:3b:00.0")
    return text.lower()


def parser() -> argparse.ArgumentParser:
    disturbing = "".join(f"  {check.name}: {check.changes}\n" for check in CHECKS if check.changes)
    result = argparse.ArgumentParser(
        prog="meridian-selftest",
        description="Tests a Meridian card, from the host that it is plugged into or from its own ARM side.",
        epilog=f"{EPILOG}With --no-disturb it does not do the following, which it puts back otherwise, also after Ctrl-C:\n"
        f"{disturbing}  all that send: set an interface up that is down\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [check.name for check in CHECKS]
    result.add_argument("--version", action="version", version=f"meridian-selftest {VERSION}")
    result.add_argument("--list", action="store_true", help="print the checks and end")
    result.add_argument(
        "--only", action="append", choices=names, metavar="CHECK", help="do this check only; may be given several times"
    )
    result.add_argument("--quick", action="store_true", help="less of each: under 10 s on a card")
    result.add_argument("--json", action="store_true", help="print one JSON object at the end in place of lines")
    result.add_argument("--no-disturb", action="store_true", help="leave out what changes the machine, see below")
    result.add_argument(
        "--device", type=pci_address, metavar="ADDRESS", help="of several cards this one, such as 0000:3b:00.0"
    )
    result.add_argument("--board", choices=sorted(boards.all_boards()), help="the board that the card is")
    result.add_argument("--ports", type=port_set, metavar="0,1", help="ports that have a cable (default: all)")
    result.add_argument(
        "--loop-plugs",
        type=port_set,
        metavar="0,1",
        help="ports that have a loop plug, which port-loops tests as well (default: none)",
    )
    result.add_argument(
        "--cables",
        type=cable_list,
        default=(),
        metavar="0-1",
        help="pairs of ports that a cable joins, without a switch, which port-loops tests as well (default: none)",
    )
    result.add_argument(
        "--seconds", type=number, default=10, metavar="N", help="how long the PTP clock is measured (10)"
    )
    result.add_argument(
        "--slow",
        type=number,
        default=os.environ.get(SLOW, "1"),
        metavar="FACTOR",
        help=f"bounds of time are so many times longer, for a slow card (1, or the variable {SLOW})",
    )
    return result


def chosen_card(device: str | None) -> HostCard | ArmCard | None:
    """The card that is meant. Raises ValueError if that is not clear."""
    cards = host_cards()
    if device:
        found = [card for card in cards if device in [pf.address for pf in card.pfs]]
        if not found:
            there = ", ".join(card.name for card in cards) or "none"
            raise ValueError(f"{device} is no PF of a Meridian card; cards of this machine: {there}")
        return found[0]
    if len(cards) > 1:
        raise ValueError(f"there are several cards, choose one by --device: {', '.join(card.name for card in cards)}")
    return cards[0] if cards else arm_card()


def run(context: Context, checks: Sequence[Check], tell: bool) -> list[Line]:
    lines: list[Line] = []
    tells = TELLS[type(context.card)]
    for at, check in enumerate(checks):
        told = (tells, FAIL) in [(line.name, line.result) for line in lines]
        for line in check.run(context, told or tells in [later.name for later in checks[at:]]):
            lines.append(line)
            if tell:
                print(report.text(line), flush=True)
    return lines


def test(card: HostCard | ArmCard | None, arguments: argparse.Namespace) -> int:
    options = Options(
        arguments.quick,
        not arguments.no_disturb,
        arguments.slow,
        arguments.seconds,
        arguments.board or "",
        arguments.ports,
        arguments.loop_plugs,
        arguments.cables,
    )
    about = report.facts(card)
    if options.slow != 1:
        about["bounds"] = f"of time are {options.slow:g} times those of a card"
    if not arguments.json:
        for name, value in about.items():
            print(f"# {name}: {value}", flush=True)
    if card is None:
        lines = [Line("card", FAIL, NO_CARD)]
        if not arguments.json:
            print(report.text(lines[0]))
    else:
        only = arguments.only or [check.name for check in CHECKS]
        chosen = [check for check in CHECKS if check.name in only]
        lines = run(Context(card, options, Registers()), chosen, not arguments.json)
    print(report.as_json(about, lines) if arguments.json else f"# {report.summary(lines)}")
    return FAILED if report.count(lines, FAIL) else RIGHT


def main(line: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(line)
    both = (arguments.loop_plugs or frozenset()) & {end for cable in arguments.cables for end in cable}
    if both:
        parser().error(f"port {min(both)} has either a loop plug or a cable: see --loop-plugs and --cables")
    if arguments.list:
        for check in CHECKS:
            print(f"{check.name:{report.WIDTH}} {check.what}" + (f" (it {check.changes})" if check.changes else ""))
        return RIGHT
    if os.geteuid():
        print("meridian-selftest: it needs the rights of root: run it with sudo", file=sys.stderr)
        return WRONG
    try:
        card = chosen_card(arguments.device)
    except ValueError as error:
        print(f"meridian-selftest: {error}", file=sys.stderr)
        return WRONG
    changes.watch_signals()
    try:
        return test(card, arguments)
    except FileNotFoundError as error:
        print(f"meridian-selftest: {error}", file=sys.stderr)
        return WRONG
    except BrokenPipeError:
        # Whoever read the lines has gone, as `head` does. Nothing is left to be said, also not at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WRONG
    except changes.Ended as error:
        print(f"meridian-selftest: ended by {error}; what it had changed is put back", file=sys.stderr)
        return 130
