# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Check that counters add up: what came in was delivered, or a counter says why not.

Counters are read one after the other while frames pass. So each reading is done twice, and what a sum was in between lies
between two bounds. A sum that cannot have been right is a fault.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from . import ethtool, frames, system
from .card import has_carrier, port_of
from .context import Context
from .result import Fail, Skip

FRAMES, QUICK_FRAMES = 500, 50
TRIES, PAUSE_SECONDS = 20, 0.1
LOOK = "'ethtool -S' has the counters; 'Frames are lost' of the page on trouble says what each means"
#: Verdicts of the card, each frame has one.
TX_VERDICTS = (
    *("sent", "switched", "to_ps", "no_function", "disabled", "spoof", "control_frame", "runt", "oversize", "error"),
    *("link_down", "host_disabled", "veb_full", "ps_full", "hairpin"),
)
RX_DROPS = ("disabled", "bad_queue", "queue_full", "copy_cut")
UNOWNED = ("no_match", "no_listener", "host_disabled", "copying", "copy_cut")
TO_PS = ("to_ps", "ps_overflow", "ps_policed", "ps_ptp_policed")
#: Of the interface in Linux.
OF_LINUX = ("rx_packets", "tx_packets")

Counts = dict[str, int]


@dataclass(frozen=True)
class Sum:
    """What is on both sides is equal. more: the left side may be larger by these; less: smaller by these."""

    what: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    more: tuple[str, ...] = ()
    less: tuple[str, ...] = ()

    def names(self) -> set[str]:
        return {*self.left, *self.right, *self.more, *self.less}


@dataclass(frozen=True)
class Reading:
    """Two readings, one after the other."""

    first: Counts
    second: Counts

    def bounds(self, plus: Iterable[str], minus: Iterable[str]) -> tuple[int, int]:
        """What the sum was at a moment in between, at least and at most."""
        plus, minus = list(plus), list(minus)
        least = sum(self.first[name] for name in plus) - sum(self.second[name] for name in minus)
        most = sum(self.second[name] for name in plus) - sum(self.first[name] for name in minus)
        return least, most


def difference(one: Sum, start: Reading, end: Reading) -> int:
    """How far the sides are apart from what they may be, in frames that passed meanwhile; 0 if they can be right."""
    began, ended = start.bounds(one.left, one.right), end.bounds(one.left, one.right)
    least, most = ended[0] - began[1], ended[1] - began[0]
    more = sum(end.second[name] - start.first[name] for name in one.more)
    less = sum(end.second[name] - start.first[name] for name in one.less)
    if least > more:
        return least - more
    return most + less if most < -less else 0


def _of(prefix: str, names: Iterable[str], interfaces: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{interface}:{prefix}{name}" for interface in interfaces for name in names)


def of_interface(name: str) -> list[Sum]:
    """Between Linux and the card."""
    return [
        Sum(
            f"frames that the card delivered to {name} and that Linux got",
            (f"{name}:card_rx_delivered",),
            _of("", ("rx_packets", "rx_no_memory", "rx_bad_completion"), [name]),
        ),
        Sum(
            f"frames that {name} sent and the card's verdicts on them",
            (f"{name}:tx_packets",),
            _of("card_tx_", TX_VERDICTS, [name]),
        ),
    ]


def of_wire(name: str) -> list[Sum]:
    """Between the port's wire and the card. name: of an interface of the port."""
    return [
        Sum(
            f"frames that came to the port of {name} and where they went",
            (f"{name}:port_rx_frames",),
            _of("port_rx_", ("bad_fcs", "runt", "oversize", "to_host", "host_overflow", "nowhere"), [name]),
            more=_of("port_rx_", TO_PS, [name]),
        ),
        Sum(
            f"frames that left the port of {name} and who sent them",
            (f"{name}:port_tx_frames",),
            _of("port_tx_", ("from_host", "from_ps"), [name]),
        ),
    ]


def of_port(interfaces: list[str]) -> list[Sum]:
    """Between a port and all functions that it has. The first holds while the ARM side sends nothing from inside."""
    first = interfaces[0]
    drops = _of("card_rx_", RX_DROPS, interfaces)
    return [
        Sum(
            f"frames for the host at the port of {first} and the card's verdicts on them",
            (
                *_of("card_rx_", ("delivered",), interfaces),
                *drops,
                *_of("port_rx_", UNOWNED, [first]),
            ),
            (
                f"{first}:port_rx_to_host",
                *_of("card_rx_", ("copies",), interfaces),
                *_of("card_tx_", ("switched",), interfaces),
            ),
            more=(*drops, *_of("card_tx_", ("copies_switched",), interfaces), f"{first}:port_rx_copying"),
        ),
        Sum(
            f"frames of the host that left the port of {first} and that its functions sent",
            (f"{first}:port_tx_from_host",),
            _of("card_tx_", ("sent",), interfaces),
        ),
    ]


def _read(interfaces: list[str]) -> Counts:
    found = {}
    for interface in interfaces:
        for name in OF_LINUX:
            found[f"{interface}:{name}"] = system.number(system.NET / interface / "statistics" / name)
        for name, value in ethtool.statistics(interface).items():
            found[f"{interface}:{name}"] = value
    return found


def reading(interfaces: list[str]) -> Reading:
    return Reading(_read(interfaces), _read(interfaces))


def _sums(context: Context, interfaces: list[str]) -> tuple[list[Sum], str]:
    """That hold for the card as it is used now, and what is left out."""
    ports: dict[int, list[str]] = {}
    for interface in interfaces:
        ports.setdefault(port_of(interface), []).append(interface)
    capabilities = context.dump(interfaces[0]).word("CAPABILITIES")
    at_host, at_wire = (
        bool(capabilities & context.map[f"IDENT_CAPABILITIES_{which}_BOX_MASK"]) for which in ("HOST", "USER")
    )
    # The functions' counters are of before the module at the host, the ports' of behind that at the wire.
    sums = [] if at_host else [one for interface in interfaces for one in of_interface(interface)]
    for members in ports.values():
        sums += of_wire(members[0])
    if at_host or at_wire:
        return sums, "; a user's module may make and drop frames, so what is counted at its two sides is not added up"
    others = [pf.address for pf in context.host.pfs if not pf.interface]
    vfs = sum(pf.number("sriov_numvfs") for pf in context.host.pfs)
    if others or vfs:
        return sums, "; functions that are not this driver's, or VFs, are not added up"
    left_out = ""
    for members in ports.values():
        inside = context.dump(members[0]).ring("TX_STATUS", "RUNNING")
        sums += of_port(members)[1:] if inside else of_port(members)
        if inside:
            left_out = "; what the ARM side sends inside the card is not added up"
    return sums, left_out


def _send(context: Context, interface: str, count: int) -> None:
    seconds = context.patience(1)
    with frames.opened(interface) as socket:
        for number in range(1, count + 1):
            if not socket.send(number):
                raise Fail(
                    f"Linux takes no frame for {interface}", f"See 'tc -s qdisc show dev {interface}' and 'dmesg'"
                )
            if not socket.sent(seconds):
                raise Fail(
                    f"frame {number} of {count} of {interface} is not done after {seconds:g} s",
                    "'ethtool -S' and 'dmesg' tell of a queue that stands still",
                )


def add_up(context: Context) -> str:
    """Some frames are sent, whatever comes comes, and then every sum holds."""
    interfaces = context.host.interfaces or [context.host.first_interface()]
    sums, left_out = _sums(context, interfaces)
    count = QUICK_FRAMES if context.options.quick else FRAMES
    added = {name for one in sums for name in one.names()}
    start = reading(interfaces)
    ready = [interface for interface in interfaces if has_carrier(interface)]
    if not ready:
        raise Skip("no interface of the card is up with a link: no frame can be counted")
    with frames.by_first_queue(interfaces[0]):
        for interface in ready:
            _send(context, interface, count)
    wrong: dict[str, int] = {}
    for _ in range(TRIES):
        end = reading(interfaces)
        back = [name for name, value in end.second.items() if name in added and value < start.first[name]]
        wrong = {one.what: difference(one, start, end) for one in sums if difference(one, start, end)}
        if not wrong and not back:
            passed = sum(end.second[f"{name}:port_rx_frames"] - start.first[f"{name}:port_rx_frames"] for name in ready)
            return f"{len(sums)} sums are right: {count * len(ready)} frames sent, {passed} came{left_out}"
        if back:
            raise Fail(f"counters went back: {', '.join(back[:4])}", f"Somebody has reset the card meanwhile. {LOOK}")
        time.sleep(PAUSE_SECONDS)
    what, number = next(iter(wrong.items()))
    raise Fail(f"{what} differ by {number}", LOOK)
