# SPDX-License-Identifier: Apache-2.0
"""Who gets a frame: the shell's receive and transmit decisions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .checksum import Checksums, checksums
from .frame import parse, without_tag
from .rss import DEFAULT_KEY, hash_type, rss_hash

MIN_FRAME = 60
ETHERNET_HEADER = 14


@dataclass
class Function:
    """A PCIe function as the PF's driver set it up."""

    enable: bool = False
    port: int = 0
    broadcast: bool = True
    all_multicast: bool = False
    promiscuous: bool = False
    trusted: bool = False
    queue_base: int = 0
    queue_count: int = 0
    indirection: list[int] = field(default_factory=lambda: [0] * 128)
    key: tuple[int, ...] = DEFAULT_KEY
    microsoft: bool = False
    strip: bool = False


@dataclass
class Port:
    rx_enable: bool = False
    tx_enable: bool = False
    link_up: bool = True
    default_function: int | None = None
    ps_enable: bool = False
    ps_broadcast: bool = True
    ps_all_multicast: bool = True
    ps_promiscuous: bool = False
    ps_addresses: set[bytes] = field(default_factory=set)


@dataclass(frozen=True)
class Delivery:
    """A frame, or a copy of it, for a function; verdict "delivered" or the reason it drops."""

    verdict: str
    function: int | None = None
    queue: int | None = None
    told: Told | None = None
    data: bytes | None = None  # the frame as it is delivered


@dataclass(frozen=True)
class Told:
    """What a completion entry of 16 bytes tells beyond the 8 of any."""

    hash: int
    hash_type: str
    checksums: Checksums
    vlan_tci: int | None = None  # of the tag that was taken out


@dataclass(frozen=True)
class RxOutcome:
    """drop: the reason the MAC side drops the frame whole, or None."""

    drop: str | None
    to_ps: bool = False
    host: tuple[Delivery, ...] = ()
    copying: bool = False


class GoldenShell:
    """Model of one shell with its tables."""

    def __init__(self, ports: int = 1, functions: int = 8, queues: int = 512, max_frame: int = 9600) -> None:
        self.max_frame = max_frame
        self.queues = queues
        self.ports = [Port() for _ in range(ports)]
        self.functions = {
            number: Function(
                port=number if number < min(ports, 4) else 0,
                all_multicast=number < 4,
                promiscuous=number < 4,
                trusted=number < 4,
            )
            for number in range(functions)
        }
        self.owner: dict[int, int] = {}
        self.addresses: dict[tuple[int, bytes, int | None], int] = {}
        self.multicast_groups: dict[tuple[int, bytes, int | None], set[int]] = {}
        self.verdicts: Counter[tuple[str, int | None]] = Counter()

    def set_queues(self, function: int, base: int, count: int) -> None:
        """QCONF: the function's queues are base until base + count; count 0 switches it off."""
        self.owner = {queue: owner for queue, owner in self.owner.items() if owner != function}
        for queue in range(base, min(base + count, self.queues)):
            self.owner[queue] = function
        state = self.functions[function]
        state.queue_base, state.queue_count, state.enable = base, count, count > 0

    def function_reset(self, function: int) -> None:
        """Function level reset: the queues are gone, the other settings are the PF's business."""
        self.set_queues(function, 0, 0)

    def receive(self, port_number: int, frame: bytes, bad: bool = False) -> RxOutcome:
        """What becomes of a frame that arrives, buffers permitting."""
        port = self.ports[port_number]
        if bad:
            return RxOutcome("bad_fcs")
        if len(frame) < MIN_FRAME:
            return RxOutcome("runt")
        if len(frame) > self.max_frame:
            return RxOutcome("oversize")
        header = parse(frame)
        listed = port.ps_enable and header.destination in port.ps_addresses
        unicast = not header.multicast and not header.broadcast
        if unicast and listed:
            return RxOutcome(None, to_ps=True)
        to_ps = listed or (
            port.ps_enable
            and (
                port.ps_promiscuous
                or (header.broadcast and port.ps_broadcast)
                or (header.multicast and port.ps_all_multicast)
            )
        )
        if not port.rx_enable:
            return RxOutcome(None, to_ps, (Delivery("hostDisabled"),))
        functions, verdict = self._select(port_number, frame)
        if not functions:
            return RxOutcome(None, to_ps, (verdict,))
        host = tuple(self._queue(function, frame) for function in sorted(functions))
        return RxOutcome(None, to_ps, host, copying=len(functions) > 1)

    def _lookup(self, table: dict, port: int, address: bytes, vid: int):
        """The entry for the very VLAN wins over the one for any VLAN."""
        return table.get((port, address, vid), table.get((port, address, None)))

    def _select(self, port: int, frame: bytes) -> tuple[set[int], Delivery]:
        header = parse(frame)
        here = {n for n, f in self.functions.items() if f.enable and f.port == port}
        if header.broadcast:
            return {n for n in here if self.functions[n].broadcast}, Delivery("noListener")
        if header.multicast:
            group = self._lookup(self.multicast_groups, port, header.destination, header.vid) or set()
            return {n for n in here if n in group or self.functions[n].all_multicast}, Delivery("noListener")
        hit = self._lookup(self.addresses, port, header.destination, header.vid)
        if hit is not None:
            state = self.functions.get(hit)
            if state is None or not state.enable:
                return set(), Delivery("disabled", hit)
            return {hit}, Delivery("delivered")
        promiscuous = {n for n in here if self.functions[n].promiscuous}
        if promiscuous:
            return promiscuous, Delivery("delivered")
        default = self.ports[port].default_function
        if default is None:
            return set(), Delivery("noMatch")
        if not self.functions[default].enable:
            return set(), Delivery("disabled", default)
        return {default}, Delivery("delivered")

    def _queue(self, number: int, frame: bytes) -> Delivery:
        state = self.functions[number]
        if state.queue_count == 0:
            return Delivery("disabled", number)
        value = rss_hash(frame, state.key, state.microsoft)
        queue = state.queue_base + state.indirection[value & 127]
        if self.owner.get(queue) != number:
            return Delivery("badQueue", number, queue)
        header, kind = parse(frame), hash_type(frame, state.microsoft)
        strips = state.strip and header.tagged
        data = without_tag(frame) if strips else frame
        told = Told(value, kind, checksums(data), header.tci if strips else None)
        return Delivery("delivered", number, queue, told, data)

    def transmit(self, queue: int, frame: bytes, error: bool = False) -> Delivery:
        """What becomes of a frame from a host queue."""
        number = self.owner.get(queue)
        if number is None:
            return Delivery("noFunction")
        state = self.functions[number]
        port = self.ports[state.port]
        for holds, verdict in (
            (not port.tx_enable, "hostDisabled"),
            (not state.enable, "disabled"),
            (not port.link_up, "linkDown"),
            (len(frame) < ETHERNET_HEADER, "runt"),
            (error, "error"),
            (len(frame) > self.max_frame, "oversize"),
        ):
            if holds:
                return Delivery(verdict, number)
        header = parse(frame)
        if not state.trusted and self._lookup(self.addresses, state.port, header.source, header.vid) != number:
            return Delivery("spoof", number)
        return Delivery("sent", number, state.port)


def padded(frame: bytes) -> bytes:
    """A frame as it leaves the card: padded with zeros to the Ethernet minimum."""
    return frame.ljust(MIN_FRAME, b"\0")
