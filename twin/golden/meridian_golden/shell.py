# SPDX-License-Identifier: Apache-2.0
"""Who gets a frame: the shell's receive and transmit decisions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from .checksum import IPV4, Checksums, checksums
from .frame import controls_link, parse, with_tag, without_tag
from .limit import Limit
from .offload import Request, filled, request_of
from .rss import DEFAULT_KEY, hash_type, rss_hash
from .segments import LEAST, LEAST_IN_TUNNEL, REFUSED, Segment, segments_of
from .tunnels import inner_frame, may_begin, outer_frame

MIN_FRAME = 60
ETHERNET_HEADER = 14
#: The first functions of a card are PFs.
PFS = 4
#: Who sent a frame inside the card, where it was no function.
OF_PS = -1


@dataclass
class Function:
    """A PCIe function as the PF's driver set it up."""

    enable: bool = False
    port: int = 0
    broadcast: bool = True
    all_multicast: bool = False
    promiscuous: bool = False
    trusted: bool = False
    control_frames: bool = False
    queue_base: int = 0
    queue_count: int = 0
    indirection: list[int] = field(default_factory=lambda: [0] * 128)
    key: tuple[int, ...] = DEFAULT_KEY
    hash_order: int = 0
    strip: bool = False
    link_down: bool = False
    insert: int | None = None  # control information of the tag that its frames get

    @property
    def serves(self) -> bool:
        """Frames come and go."""
        return self.enable and not self.link_down


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
    ps_limit: Limit | None = None
    veb: bool = False


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


@dataclass(frozen=True)
class TxOutcome:
    """A frame of the host or of the PS: verdict is "sent" if it is on the wire, or why not."""

    verdict: str
    function: int | None = None  # of the host
    port: int = 0
    to_ps: bool = False
    inside: bool = False  # it goes to functions; what becomes of it there:
    host: tuple[Delivery, ...] = ()
    copying: bool = False
    data: bytes = b""  # the frame as it goes out
    unfilled: bool = False  # of one that goes out: a checksum it asked for is not filled in

    @property
    def on_wire(self) -> bool:
        return self.verdict == "sent"


class GoldenShell:
    """Model of one shell with its tables.

    segmentation: it cuts large frames, if their descriptors ask for it. host_bytes: of a beat of the host's streams.
    """

    def __init__(
        self,
        ports: int = 1,
        functions: int = 8,
        queues: int = 512,
        max_frame: int = 9600,
        segmentation: bool = False,
        host_bytes: int = 32,
    ) -> None:
        self.max_frame = max_frame
        self.segmentation = segmentation
        self.host_bytes = host_bytes
        self.queues = queues
        self.ports = [Port() for _ in range(ports)]
        self.functions = {
            number: Function(
                port=number if number < min(ports, PFS) else 0,
                all_multicast=number < PFS,
                promiscuous=number < PFS,
                trusted=number < PFS,
                control_frames=number < PFS,
            )
            for number in range(functions)
        }
        self.owner: dict[int, int] = {}
        self.transmit_offload: set[int] = set()  # queues whose descriptors may ask for tags and checksums
        self.transmit_segments: set[int] = set()  # and those that may ask for segments
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
        """Function level reset: the queues are gone with their switches, other settings are the PF's business."""
        queues = {queue for queue, owner in self.owner.items() if owner == function}
        self.transmit_offload -= queues
        self.transmit_segments -= queues
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
        host, copying = self._deliver(port_number, frame)
        return RxOutcome(None, to_ps, host, copying)

    def _deliver(self, port: int, frame: bytes, source: int | None = None) -> tuple[tuple[Delivery, ...], bool]:
        """What becomes of a frame on the host side, and whether it is copied.

        source: None from the wire, else the function that sent it, or the PS.
        """
        if not self.ports[port].rx_enable:
            return (Delivery("hostDisabled"),), False
        functions, verdict, of_group = self._select(port, frame, source is not None)
        if not functions:
            return (verdict,), False
        others = sorted(functions - {source})
        several = len(functions) > 1 or (of_group and source is not None)
        if others or several:
            return tuple(self._queue(function, frame) for function in others), several
        multicast = frame[0] & 1
        return ((Delivery("noListener"),) if multicast else (Delivery("noMatch", source),)), False

    def _lookup(self, table: dict, port: int, address: bytes, vid: int):
        """The entry for the very VLAN wins over the one for any VLAN."""
        return table.get((port, address, vid), table.get((port, address, None)))

    def _select(self, port: int, frame: bytes, inside: bool) -> tuple[set[int], Delivery, bool]:
        """Whom a frame is for, the verdict if for nobody, and whether a group of the MAC table says so."""
        header = parse(frame)
        here = {n for n, f in self.functions.items() if f.serves and f.port == port}
        group = self._lookup(self.multicast_groups, port, header.destination, header.vid)
        if header.broadcast and group is None:
            return {n for n in here if self.functions[n].broadcast}, Delivery("noListener"), False
        if header.broadcast or header.multicast:
            listeners = {n for n in here if n in (group or ()) or self.functions[n].all_multicast}
            return listeners, Delivery("noListener"), group is not None
        hit = self._lookup(self.addresses, port, header.destination, header.vid)
        if hit is not None:
            state = self.functions.get(hit)
            if state is None or not state.serves:
                return set(), Delivery("disabled", hit), False
            return {hit}, Delivery("delivered"), False
        if inside:
            return set(), Delivery("noMatch"), False
        promiscuous = {n for n in here if self.functions[n].promiscuous}
        if promiscuous:
            return promiscuous, Delivery("delivered"), False
        default = self.ports[port].default_function
        if default is None:
            return set(), Delivery("noMatch"), False
        if not self.functions[default].serves:
            return set(), Delivery("disabled", default), False
        return {default}, Delivery("delivered"), False

    def _queue(self, number: int, frame: bytes) -> Delivery:
        state = self.functions[number]
        if state.queue_count == 0:
            return Delivery("disabled", number)
        value = rss_hash(frame, state.key, state.hash_order)
        queue = state.queue_base + state.indirection[value & 127]
        if self.owner.get(queue) != number:
            return Delivery("badQueue", number, queue)
        header, kind = parse(frame), hash_type(frame, state.hash_order)
        strips = state.strip and header.tagged
        data = without_tag(frame) if strips else frame
        told = Told(value, kind, checksums(data), header.tci if strips and state.insert is None else None)
        return Delivery("delivered", number, queue, told, data)

    def transmit(self, queue: int, frame: bytes, error: bool = False, metadata: int = 0) -> TxOutcome:
        """What becomes of a frame from a host queue that is not cut, buffers permitting; metadata: of its descriptor."""
        return self._transmit(queue, frame, error, self._request(queue, metadata))

    def transmit_all(self, queue: int, frame: bytes, error: bool = False, metadata: int = 0) -> tuple[TxOutcome, ...]:
        """The same of each frame that the card makes of one: of the segments, or of itself."""
        segments = self.segments(queue, frame, error, metadata)
        if segments is None:
            return (self.transmit(queue, frame, error, metadata),)
        return tuple(self.transmit_segment(queue, segment, metadata) for segment in segments)

    def segments(self, queue: int, frame: bytes, error: bool, metadata: int) -> tuple[Segment, ...] | None:
        """What a frame is cut into, or what is made of one in a tunnel; None: it goes on as it is.

        An error comes with the last beat, and spoils what is in it. A transfer without a byte is no frame that could be
        cut or refused: it is a runt, whatever it asks for.
        """
        if not (self.segmentation and queue in self.transmit_segments and frame):
            return None
        request = request_of(metadata)
        if request.inner is not None:
            return self._in_tunnel(frame, error, request.inner, request.segment_bytes)
        return self._cut(frame, request.segment_bytes, error) if request.segment_bytes else None

    def _cut(self, frame: bytes, size: int, error: bool, least: int = LEAST) -> tuple[Segment, ...]:
        before_last = (len(frame) - 1) // self.host_bytes * self.host_bytes
        return segments_of(frame, size, before_last if error else None, self.host_bytes, least)

    def _in_tunnel(self, frame: bytes, error: bool, start: int, size: int) -> tuple[Segment, ...]:
        if not may_begin(start):
            return (Segment(frame, True, is_cut=False),)
        if len(frame) <= start:
            return REFUSED
        if not size:
            return (Segment(frame, error, start, is_cut=False),)
        made = self._cut(inner_frame(frame, start), size, error, LEAST_IN_TUNNEL)
        return tuple(
            replace(it, data=outer_frame(frame, start, it.data, number), inner=start) if it.data else it
            for number, it in enumerate(made)
        )

    def transmit_segment(self, queue: int, segment: Segment, metadata: int) -> TxOutcome:
        """Its queue might ask when the frame was begun. What was cut has its checksums, whether or not it asked."""
        request = self._request(queue, metadata)
        if segment.is_cut:
            frame = segment.data or b""
            is_ip4 = parse(frame if segment.inner is None else inner_frame(frame, segment.inner)).ethertype == IPV4
            request = replace(request_of(metadata), ip=is_ip4, l4=True)
        return self._transmit(queue, segment.data, segment.error, request, segment.inner)

    def _request(self, queue: int, metadata: int) -> Request:
        return request_of(metadata if queue in self.transmit_offload else 0)

    def _transmit(
        self, queue: int, frame: bytes | None, error: bool, request: Request, inner: int | None = None
    ) -> TxOutcome:
        """frame: None is one that was refused. inner: where the packet begins that the request is about."""
        number = self.owner.get(queue)
        if number is None:
            return TxOutcome("noFunction")
        state = self.functions[number]
        port = self.ports[state.port]
        for holds, verdict in (
            (not port.tx_enable, "hostDisabled"),
            (not state.serves, "disabled"),
            (not port.link_up, "linkDown"),
            (frame is not None and len(frame) < ETHERNET_HEADER, "runt"),
            (error or frame is None, "error"),
        ):
            if holds:
                return TxOutcome(verdict, number, state.port)
        assert frame is not None
        data, unfilled = filled(frame if inner is None else inner_frame(frame, inner), request)
        if inner is not None:
            data = outer_frame(frame, inner, data)
        outcome = self._by_address(number, data, request.vlan)
        # What is dropped for its addresses gets no tag.
        if max(len(frame), len(outcome.data)) > self.max_frame:
            return TxOutcome("oversize", number, state.port)
        return replace(outcome, unfilled=unfilled) if outcome.data else outcome

    def _by_address(self, number: int, frame: bytes, vlan: int | None) -> TxOutcome:
        """vlan: of a tag that the frame asks for; its function's goes before."""
        state = self.functions[number]
        if state.insert is not None and parse(frame).tagged:
            return TxOutcome("spoof", number, state.port)
        controls = controls_link(frame)
        tag = vlan if state.insert is None else state.insert
        if tag is not None:
            frame = with_tag(frame, tag)
        header = parse(frame)
        if not state.trusted and self._lookup(self.addresses, state.port, header.source, header.vid) != number:
            return TxOutcome("spoof", number, state.port)
        if controls:
            if not state.control_frames:
                return TxOutcome("controlFrame", number, state.port)
            return TxOutcome("sent", number, state.port, data=frame)
        return self._switch(number, state.port, frame)

    def _switch(self, number: int, port_number: int, frame: bytes) -> TxOutcome:
        """Edge virtual bridging: what of a frame of a function stays inside the card."""
        port, header = self.ports[port_number], parse(frame)
        if not port.veb:
            return TxOutcome("sent", number, port_number, data=frame)
        listed = port.ps_enable and header.destination in port.ps_addresses
        if header.multicast or header.broadcast:
            wanted = port.ps_broadcast if header.broadcast else port.ps_all_multicast
            to_ps = listed or (port.ps_enable and wanted)
            host, copying = self._deliver(port_number, padded(frame), number)
            return TxOutcome("sent", number, port_number, to_ps, True, host, copying, frame)
        if listed:
            return TxOutcome("toPs", number, port_number, to_ps=True, data=frame)
        hit = self._lookup(self.addresses, port_number, header.destination, header.vid)
        if hit is None:
            return TxOutcome("sent", number, port_number, data=frame)
        if hit == number:
            return TxOutcome("hairpin", number, port_number)
        host, copying = self._deliver(port_number, padded(frame), number)
        return TxOutcome("switched", number, port_number, inside=True, host=host, copying=copying, data=frame)

    def transmit_ps(self, port_number: int, frame: bytes) -> TxOutcome:
        """What becomes of a frame of the PS, buffers permitting."""
        port, header = self.ports[port_number], parse(frame)
        group = header.multicast or header.broadcast
        known = self._lookup(self.addresses, port_number, header.destination, header.vid) is not None
        if not port.veb or not (group or known):
            return TxOutcome("sent", port=port_number)
        host, copying = self._deliver(port_number, padded(frame), OF_PS)
        return TxOutcome("sent" if group else "switched", None, port_number, False, True, host, copying)


def padded(frame: bytes) -> bytes:
    """A frame as it leaves the card: padded with zeros to the Ethernet minimum."""
    return frame.ljust(MIN_FRAME, b"\0")
