# SPDX-License-Identifier: Apache-2.0
"""A shell and its golden model set up together, and a note of all traffic with what the model says of it.

A setting that changes while frames are about has two models, before and after, each with the time in which a frame may
meet it: see `Bench.changing`. A frame may have what any model says that it may have met.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from meridian_card import PsFrame, PsPort, Shell, Simulator, Timestamp
from meridian_golden.frame import Header, parse
from meridian_golden.limit import Limit
from meridian_golden.shell import PFS, GoldenShell, RxOutcome, TxOutcome

#: From a frame's last bit at the pins to its last decision if no buffer is full, and from a setting's write to when all
#: follow it.
INSIDE_NS = 20_000
SETTLE_NS = 10_000
FOR_EVER = 1 << 62
T = TypeVar("T")
WIRE_OVERHEAD = 24  # preamble, FCS and the gap between frames, in bytes


@dataclass
class Model:
    """A golden model and when a frame may have met it, in ns."""

    golden: GoldenShell
    since: int = 0
    until: int = FOR_EVER


@dataclass
class RxSent:
    number: int
    port: int
    data: bytes
    bad: bool
    window: tuple[int, int]
    end_ns: float  # on the wire
    outcomes: list[RxOutcome] = field(default_factory=list)

    @cached_property
    def header(self) -> Header:
        return parse(self.data)


@dataclass
class TxSent:
    """A frame of the host, or one that the shell makes of it."""

    number: int
    queue: int
    data: bytes
    error: bool
    window: tuple[int, int]
    metadata: int
    outcomes: list[TxOutcome] = field(default_factory=list)


#: A frame that the shell may not have made at all.
ABSENT = TxOutcome("absent")


@dataclass
class PsSent:
    number: int
    port: int
    data: bytes
    tag: int | None
    outcome: TxOutcome | None = None


@dataclass
class Seen:
    """What came out."""

    c2h: list[dict] = field(default_factory=list)
    wire: dict[int, list[dict]] = field(default_factory=dict)
    ps: dict[int, list[PsFrame]] = field(default_factory=dict)
    stamps: dict[int, list[Timestamp]] = field(default_factory=dict)
    interrupts: list[dict] = field(default_factory=list)  # messages to the host, and levels to the PS


def distinct(items: Iterable[T]) -> list[T]:
    found: list[T] = []
    for item in items:
        if item not in found:
            found.append(item)
    return found


class Bench:
    """Functions keep to queues of their own (`queue_home`), so that a queue tells the function at any time."""

    def __init__(self, simulator: Simulator, rate: int = 25, ring_log2: int = 8, seed: int = 1) -> None:
        self.sim = simulator
        self.shell = Shell(simulator)
        geometry = self.shell.geometry
        self.geometry = geometry
        self.rate = rate
        self.segmentation = self.shell.has("SEGMENTS")
        self.pacing = True
        self.inside_ns = INSIDE_NS
        golden = GoldenShell(
            geometry.ports,
            geometry.functions,
            geometry.queues,
            geometry.max_frame,
            self.segmentation,
            geometry.host_bytes,
        )
        self.models = [Model(golden)]
        self.ps = [PsPort(self.shell, port, ring_log2, seed + port) for port in range(geometry.ports)]
        self.queues_each = geometry.queues // geometry.functions
        self.rx_sent: list[RxSent] = []
        self.tx_sent: list[TxSent] = []
        self.tx_made: list[TxSent] = []  # of those, with what the golden model says: segments, or the frame itself
        self.ps_sent: dict[int, list[PsSent]] = {port: [] for port in range(geometry.ports)}
        self.seen = Seen(
            wire={p: [] for p in self.ps_sent}, ps={p: [] for p in self.ps_sent}, stamps={p: [] for p in self.ps_sent}
        )
        self.reset_functions: set[int] = set()
        self.limited_since: dict[int, int] = {}
        self._free_at = [0.0] * geometry.ports
        self._h2c_free_at = 0.0
        self._judged = 0  # frames of the host

    @property
    def golden(self) -> GoldenShell:
        """The model as everything is set now."""
        return self.models[-1].golden

    def queue_home(self, function: int) -> int:
        return function * self.queues_each

    def home_of(self, queue: int) -> int:
        return queue // self.queues_each

    def has_completion16(self, queue: int) -> bool:
        """Every other queue has completion entries of 16 bytes."""
        return queue % 2 == 1

    def has_transmit_offload(self, queue: int) -> bool:
        """All but every third queue may ask."""
        return queue % 3 != 0

    def has_transmit_segments(self, queue: int) -> bool:
        return self.segmentation and queue % 5 != 0

    def is_paced(self, queue: int) -> bool:
        """Without descriptors the stream does not wait for the pacer, but its frames are counted."""
        return self.pacing and queue % 4 == 0

    def set_switches(self, queues: range) -> None:
        asking, cut = set(filter(self.has_transmit_offload, queues)), set(filter(self.has_transmit_segments, queues))

        def apply(golden: GoldenShell) -> None:
            golden.transmit_offload = golden.transmit_offload.difference(queues) | asking
            golden.transmit_segments = golden.transmit_segments.difference(queues) | cut

        with self.changing(apply):
            for queue in queues:
                self.shell.set_queue_switches(
                    queue, self.has_completion16(queue), self.is_paced(queue), queue in asking, queue in cut
                )

    def set_requests(self, queue: int, offload: bool, segments: bool) -> None:
        """What it may ask for, until the function is reset, or the switches are set again."""

        def apply(golden: GoldenShell) -> None:
            (golden.transmit_offload.add if offload else golden.transmit_offload.discard)(queue)
            (golden.transmit_segments.add if segments else golden.transmit_segments.discard)(queue)

        with self.changing(apply):
            self.shell.set_queue_switches(queue, transmit_offload=offload, transmit_segments=segments)

    # Settings

    @contextmanager
    def changing(self, *steps: Callable[[GoldenShell], object]) -> Iterator[None]:
        """Around writes to the shell: each step changes the model, all but the last only pass by."""
        if not (self.rx_sent or self.tx_sent):
            for step in steps:
                step(self.golden)
            yield
            return
        since = self.sim.now_ns()
        yield
        until = self.sim.now_ns() + SETTLE_NS
        self.models[-1].until = until
        for step in steps:
            golden = copy.deepcopy(self.golden)
            step(golden)
            self.models.append(Model(golden, since, until))
        self.models[-1].until = FOR_EVER

    def set_queues(self, function: int, base: int, count: int) -> None:
        """The function is switched on before, or off after, its queues are there: lists may name it meanwhile.

        QueueTable changes the range before it takes away the old queues, which still are the function's meanwhile.
        """

        def switch(golden: GoldenShell) -> None:
            golden.functions[function].enable = count > 0

        def with_old_queues(golden: GoldenShell) -> None:
            old = {queue: owner for queue, owner in golden.owner.items() if owner == function}
            golden.set_queues(function, base, count)
            golden.owner = old | golden.owner

        with self.changing(switch, with_old_queues, lambda golden: golden.set_queues(function, base, count)):
            self.shell.set_queues(function, base, count)

    def function_reset(self, function: int) -> None:
        def off(golden: GoldenShell) -> None:
            golden.functions[function].enable = False

        with self.changing(off, lambda golden: golden.function_reset(function)):
            self.shell.function_reset(function)
        self.reset_functions.add(function)
        self.set_switches(range(self.queue_home(function), self.queue_home(function + 1)))

    def set_flags(
        self,
        function: int,
        broadcast: bool,
        all_multicast: bool,
        promiscuous: bool,
        trusted: bool,
        control_frames: bool = False,
    ) -> None:
        def apply(golden: GoldenShell) -> None:
            state = golden.functions[function]
            state.broadcast, state.all_multicast = broadcast, all_multicast
            state.promiscuous, state.trusted = promiscuous, trusted
            state.control_frames = control_frames or function < PFS

        with self.changing(apply):
            self.shell.set_flags(function, broadcast, all_multicast, promiscuous, trusted, control_frames)

    def set_function_port(self, function: int, port: int) -> None:
        with self.changing(lambda golden: setattr(golden.functions[function], "port", port)):
            self.shell.set_function_port(function, port)

    def set_indirection(self, function: int, entries: list[int], first: int = 0) -> None:
        def apply(golden: GoldenShell) -> None:
            golden.functions[function].indirection[first : first + len(entries)] = entries

        with self.changing(apply):
            self.shell.set_indirection(function, entries, first)

    def set_hash_key(self, function: int, key: tuple[int, ...]) -> None:
        before = self.golden.functions[function].key

        def apply(words: int) -> Callable[[GoldenShell], None]:
            return lambda golden: setattr(golden.functions[function], "key", key[:words] + before[words:])

        with self.changing(*(apply(words + 1) for words in range(len(key)))):
            self.shell.set_hash_key(function, key)

    def set_hash_order(self, function: int, order: int) -> None:
        with self.changing(lambda golden: setattr(golden.functions[function], "hash_order", order)):
            self.shell.set_hash_order(function, order)

    def set_vlan(self, function: int, strip: bool, insert: int | None) -> None:
        def apply(golden: GoldenShell) -> None:
            golden.functions[function].strip, golden.functions[function].insert = strip, insert

        with self.changing(apply):
            self.shell.set_vlan(function, strip, insert)

    def set_link_state(self, function: int, up: bool | None) -> None:
        with self.changing(lambda golden: setattr(golden.functions[function], "link_down", up is False)):
            self.shell.set_link_state(function, up)

    def enable_host(self, port: int, rx: bool, tx: bool) -> None:
        def apply(golden: GoldenShell) -> None:
            golden.ports[port].rx_enable, golden.ports[port].tx_enable = rx, tx

        with self.changing(apply):
            self.shell.enable_host(port, rx, tx)

    def set_link(self, port: int, up: bool) -> None:
        with self.changing(lambda golden: setattr(golden.ports[port], "link_up", up)):
            self.sim.send("link", port=port, up=up)

    def set_veb(self, port: int, on: bool) -> None:
        with self.changing(lambda golden: setattr(golden.ports[port], "veb", on)):
            self.shell.set_veb(port, on)

    def set_default_function(self, port: int, function: int | None) -> None:
        with self.changing(lambda golden: setattr(golden.ports[port], "default_function", function)):
            self.shell.set_default_function(port, function)

    def set_ps_filter(self, port: int, enable: bool, broadcast: bool, all_multicast: bool, promiscuous: bool) -> None:
        def apply(golden: GoldenShell) -> None:
            state = golden.ports[port]
            state.ps_enable, state.ps_broadcast = enable, broadcast
            state.ps_all_multicast, state.ps_promiscuous = all_multicast, promiscuous

        with self.changing(apply):
            self.shell.set_ps_filter(port, enable, broadcast, all_multicast, promiscuous)

    def add_ps_address(self, port: int, address: bytes) -> None:
        index = len(self.golden.ports[port].ps_addresses)
        with self.changing(lambda golden: golden.ports[port].ps_addresses.add(address)):
            self.shell.set_ps_address(port, index, address)

    def set_ps_limit(self, port: int, limit: Limit | None) -> None:
        """From now on for good: what passes is held to one limit."""
        assert not self.rx_sent, "the limit is set before the first frame"
        self.golden.ports[port].ps_limit = limit
        rates = [(rate.rate, rate.burst) for rate in (limit.others, limit.ptp)] if limit else [None]
        self.shell.set_ps_limit(port, *rates)
        self.limited_since[port] = self.sim.now_ns()

    def add_address(self, port: int, address: bytes, vid: int | None, function: int) -> None:
        with self.changing(lambda golden: golden.addresses.update({(port, address, vid): function})):
            assert self.shell.mac_command("ADD", port, address, vid, function) in ("DONE", "EXISTS")

    def remove_address(self, port: int, address: bytes, vid: int | None) -> None:
        with self.changing(lambda golden: golden.addresses.pop((port, address, vid))):
            assert self.shell.mac_command("REMOVE", port, address, vid) == "DONE"

    def add_group(self, group: int, port: int, address: bytes, vid: int | None, functions: set[int]) -> None:
        with self.changing(lambda golden: golden.multicast_groups.update({(port, address, vid): functions})):
            self.shell.set_group(group, functions)
            assert self.shell.mac_command("ADD", port, address, vid, group, is_group=True) == "DONE"

    # Traffic

    def rx(self, port: int, data: bytes, bad: bool = False, at_ns: int = 0) -> None:
        now = self.sim.now_ps / 1000
        start = max(self._free_at[port], at_ns, now)
        end = start + (len(data) + WIRE_OVERHEAD) * 8 / self.rate
        self._free_at[port] = end
        window = (int(start), int(end) + self.inside_ns)
        self.rx_sent.append(RxSent(len(self.rx_sent), port, data, bad, window, end))
        self.shell.rx(data, port, bad, at_ns)

    def wire_free_at(self, port: int) -> int:
        """When the last frame given to rx is in, in ns."""
        return int(self._free_at[port])

    def h2c(self, queue: int, data: bytes, error: bool = False, metadata: int = 0) -> None:
        """metadata: of the descriptor; they mean nothing on a queue that may not ask."""
        now = self.sim.now_ps // 1000
        # Those before it may leave on one port, a large one as hundreds of segments.
        self._h2c_free_at = max(self._h2c_free_at, now) + 1.25 * len(data) * 8 / self.rate
        window = (now, int(self._h2c_free_at) + self.inside_ns)
        self.tx_sent.append(TxSent(len(self.tx_sent), queue, data, error, window, metadata))
        self.shell.h2c(queue, data, error, metadata)

    def ps_send(self, port: int, data: bytes, tag: int | None = None) -> None:
        """tag: a transmit timestamp is wanted, with that tag."""
        self.ps_sent[port].append(PsSent(len(self.ps_sent[port]), port, data, tag))
        self.ps[port].send(data, tag or 0, tag is not None)

    def step(self, ns: int) -> None:
        """Time passes; what came out is noted, and the PS serves its rings."""
        self.shell.run(ns)
        self.sim.now_ns()
        self._collect()

    def drain(self, max_rounds: int = 200) -> None:
        """Until nothing moves any more and the PS has sent everything."""
        for _ in range(max_rounds):
            before = self._events()
            self.shell.drain()
            self.step(10_000)  # a whole frame may be between the PS's memory and the wire, with no pin moving
            if self._events() == before and not any(ps.sending for ps in self.ps):
                break
        else:
            raise AssertionError("the PS's rings do not come to an end")
        for frame in self.rx_sent:
            frame.outcomes = frame.outcomes or self._received(frame)
        for frame in self.tx_sent[self._judged :]:
            self._judge(frame)
        self._judged = len(self.tx_sent)
        for sent in self.ps_sent.values():
            for frame in sent:  # settings that matter to it do not change while the PS sends
                frame.outcome = frame.outcome or self.golden.transmit_ps(frame.port, frame.data)

    def _events(self) -> int:
        seen = self.seen
        return len(seen.c2h) + sum(
            len(events) for side in (seen.wire, seen.ps, seen.stamps) for events in side.values()
        )

    def _met(self, window: tuple[int, int]) -> list[GoldenShell]:
        since, until = window
        return [model.golden for model in self.models if model.since <= until and since <= model.until]

    def _received(self, frame: RxSent) -> list[RxOutcome]:
        return distinct(golden.receive(frame.port, frame.data, frame.bad) for golden in self._met(frame.window))

    def _judge(self, frame: TxSent) -> None:
        """Its queue says whether it is cut when it begins; what becomes of a segment, other settings say later."""
        models = self._met(frame.window)
        made: list[list[tuple[bytes, list[TxOutcome]]]] = []
        for segments in distinct(
            golden.segments(frame.queue, frame.data, frame.error, frame.metadata) for golden in models
        ):
            if segments is None:
                given = (frame.queue, frame.data, frame.error, frame.metadata)
                made.append([(frame.data, distinct(golden.transmit(*given) for golden in models))])
                continue
            made.append(
                [
                    (
                        s.data or b"",
                        distinct(golden.transmit_segment(frame.queue, s, frame.metadata) for golden in models),
                    )
                    for s in segments
                ]
            )
        if len(made) > 1:
            if all(len(way) == 1 for way in made):
                made = [[(frame.data, distinct(outcome for ((_, outcomes),) in made for outcome in outcomes))]]
            else:
                made = [[(data, [*outcomes, ABSENT]) for data, outcomes in way] for way in made]
        for data, outcomes in (piece for way in made for piece in way):
            self.tx_made.append(replace(frame, number=len(self.tx_made), data=data, outcomes=outcomes))

    def _collect(self) -> None:
        for port, ps in enumerate(self.ps):
            self.seen.ps[port] += ps.poll()
            self.seen.stamps[port] += ps.timestamps()
        for event in self.sim.take():
            if event["ev"] == "c2h":
                self.seen.c2h.append(event)
            elif event["ev"] == "tx":
                self.seen.wire[event["port"]].append(event)
            elif event["ev"] in ("usr_irq", "ps_irq"):
                self.seen.interrupts.append(event)
            elif event["ev"] in ("write", "read") and event["resp"] != 0:
                raise AssertionError(f"an access was refused: {event}")
