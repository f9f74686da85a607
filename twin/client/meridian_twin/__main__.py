# SPDX-License-Identifier: Apache-2.0
"""Examines a running card and sends frames through it, from the command line."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from .card import MismatchError, RegisterError
from .contexts import LAYOUTS, ContextError, Select
from .driver import Host
from .link import Link, LinkError
from .qdma import QueueError

ERRORS = (LinkError, MismatchError, RegisterError, ContextError, QueueError)


def info(host: Host, _: argparse.Namespace) -> None:
    for name, value in host.card.identity().items():
        print(f"{name:16} {value:#010x}")
    for name, value in vars(host.card.geometry).items():
        print(f"{name:16} {value}")
    print(f"{'time':16} {host.link.welcome.time_ps / 1e12:.9f} s")


def bring_up(host: Host, arguments: argparse.Namespace) -> None:
    host.bring_up(arguments.queues, ports=(arguments.port,))
    print(
        f"PF {host.function}: {arguments.queues} queue pairs on port {arguments.port}; ends with this program",
        flush=True,
    )
    received = 0
    deadline = time.monotonic() + arguments.seconds
    while time.monotonic() < deadline:
        host.link.serve(0.01)
        received += len(host.take())
    print(f"{received} frames received")


def send(host: Host, arguments: argparse.Namespace) -> None:
    host.bring_up(ports=(arguments.port,))
    frames = [bytes.fromhex(text) for text in arguments.frame]
    for _ in range(arguments.repeat):
        for frame in frames:
            host.send(frame)
    host.drain()
    print(f"{arguments.repeat * len(frames)} frames sent")


def receive(host: Host, arguments: argparse.Namespace) -> None:
    host.bring_up(arguments.queues, ports=(arguments.port,))
    for frame in host.receive(arguments.count, arguments.seconds):
        print(frame.hex())


def dump(host: Host, arguments: argparse.Namespace) -> None:
    if arguments.what == "counters":
        for block, number in (("FUNCTION", host.function), ("PORT_COUNTERS", arguments.port)):
            for name, value in host.card.counters(block, number).items():
                if value or arguments.all:
                    print(f"{block.lower()}.{name:24} {value}")
        return
    for select in LAYOUTS:
        if select not in (Select.FMAP, Select.INTERRUPT_RING):
            fields = host.contexts.read(select, arguments.queue)
            shown = " ".join(f"{name}={value:#x}" for name, value in fields.items() if value or arguments.all)
            print(f"{select.name.lower():18} {shown}")


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="meridian_twin", description=__doc__)
    result.add_argument("--socket", type=Path, required=True, help="socket of the card")
    result.add_argument("--lockstep", action="store_true", help="control the card's time")
    result.add_argument("--function", type=int, default=0, choices=range(4), help="number of the PF (0)")
    commands = result.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--port", type=int, default=0, help="Ethernet port (0)")
        return command

    add("info", "identification, sizes and time of the card").set_defaults(run=info)

    one = add("bring-up", "bring a PF up and keep it up (the card resets it when the program ends)")
    one.add_argument("--queues", type=int, default=1)
    one.add_argument("--seconds", type=float, default=1e9, help="duration (until interrupted)")
    one.set_defaults(run=bring_up)

    one = add("send", "send frames")
    one.add_argument("frame", nargs="+", help="a frame in hexadecimal digits, without FCS")
    one.add_argument("--repeat", type=int, default=1)
    one.set_defaults(run=send)

    one = add("receive", "print received frames in hexadecimal")
    one.add_argument("--count", type=int, default=1)
    one.add_argument("--queues", type=int, default=1)
    one.add_argument("--seconds", type=float, default=60, help="how long to wait (60)")
    one.set_defaults(run=receive)

    one = add("dump", "counters that are not 0, or the contexts of a queue")
    one.add_argument("what", choices=("counters", "contexts"))
    one.add_argument("--queue", type=int, default=0, help="absolute number of the queue (0)")
    one.add_argument("--all", action="store_true", help="also print values that are 0")
    one.set_defaults(run=dump)
    return result


def main(line: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(line)
    try:
        link = Link(arguments.socket, name="meridian_twin", lockstep=arguments.lockstep)
        with Host(link, arguments.function) as host:
            arguments.run(host, arguments)
    except ERRORS as error:
        print(f"meridian_twin: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
