# SPDX-License-Identifier: Apache-2.0
"""Holds what came out of a shell, and its counters, against the golden model's word on every frame.

Lossless: no buffer overflowed, so every frame must be there and every counter has its very value. Otherwise what is
missing must be what the overflow counters say; what came out is held to the model all the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench import ABSENT, Bench, RxSent, TxSent
from meridian_card import PsFrame
from meridian_golden.checksum import Checksums
from meridian_golden.frame import parse
from meridian_golden.limit import Bucket, is_ptp
from meridian_golden.shell import Delivery, RxOutcome, Told, TxOutcome, padded
from meridian_twin.completion import Completion

FCS = 4
BINS = (64, 127, 255, 511, 1023, 1518, 1522, 1548, 2047, 4095, 8191, 9215)
RX_VERDICTS = (
    "delivered", "copying", "noMatch", "noListener", "disabled", "badQueue", "queueFull", "copyCut", "hostDisabled",
)  # fmt: skip
TX_VERDICTS = (
    "sent", "noFunction", "disabled", "spoof", "runt", "oversize", "error", "linkDown", "hostDisabled",
    "switched", "toPs", "vebFull", "psFull", "hairpin", "controlFrame",
)  # fmt: skip
Slot = tuple[str, int]  # ("function", n), or ("port", n) for frames of no function
Place = tuple[Slot, str]  # and a verdict


def snake(verdict: str) -> str:
    return re.sub("([A-Z])", r"_\1", verdict).lower()


def check(bench: Bench, lossless: bool) -> None:
    """Everything; the bench has been drained."""
    counts = Counts(bench)
    check_mac_counters(bench, counts)
    check_receive(bench, counts, lossless)
    check_ps(bench, counts, lossless)
    check_transmit(bench, counts, lossless)
    for name, value in bench.shell.events().items():
        assert value == 0, f"{name} is {value}"


class Counts:
    """All counters, read once."""

    def __init__(self, bench: Bench) -> None:
        shell, geometry = bench.shell, bench.geometry
        self.port = [shell.counters("PORT_COUNTERS", port) for port in range(geometry.ports)]
        self.slot: dict[Slot, dict[str, int]] = {
            ("function", f): shell.counters("FUNCTION", f) for f in range(geometry.functions)
        }
        self.slot |= {("port", p): shell.counters("HOST_PORT_COUNTERS", p) for p in range(geometry.ports)}
        self.ring = [ps.counters() for ps in bench.ps]

    def verdict(self, direction: str, slot: Slot, verdict: str) -> int:
        return self.slot[slot][f"{direction}_{snake(verdict)}"]

    def total(self, direction: str, verdicts: Iterable[str]) -> int:
        return sum(self.verdict(direction, slot, verdict) for slot in self.slot for verdict in verdicts)


class Bounds:
    """How often each verdict may have been given."""

    def __init__(self) -> None:
        self.least: Counter[Place] = Counter()
        self.most: Counter[Place] = Counter()

    def add(self, choices: list[Counter[Place]]) -> None:
        for place in set().union(*choices):
            self.least[place] += min(choice[place] for choice in choices)
            self.most[place] += max(choice[place] for choice in choices)

    def allow(self, places: set[Place]) -> None:
        for place in places:
            self.most[place] += 1


def mac_counters(direction: str, frames: Iterable[tuple[bytes, str | None]], minimum: int = 60) -> Counter[str]:
    """What the MAC side counts of frames, each with the reason it is dropped for or None."""
    result: Counter[str] = Counter()
    limits = (0, *BINS)
    for data, drop in frames:
        size = len(data) + FCS
        result["frames"] += 1
        result["bytes"] += size
        if size < 64:
            result["small"] += 1
        elif size > BINS[-1]:
            result["large"] += 1
        else:
            i = next(i for i, limit in enumerate(BINS) if size <= limit)
            result["size_64" if i == 0 else f"size_{limits[i] + 1}_{limits[i + 1]}"] += 1
        if drop:
            result[drop] += 1
            continue
        header = parse(data)
        result["good_frames"] += 1
        result["good_bytes"] += size
        result["broadcast" if header.broadcast else "multicast" if header.multicast else "unicast"] += 1
        result["vlan"] += header.counted_as_vlan
    return Counter({f"{direction}_{name}": value for name, value in result.items()})


def check_mac_counters(bench: Bench, counts: Counts) -> None:
    elsewhere = {
        "rx_to_host", "rx_to_ps", "rx_host_overflow", "rx_ps_overflow", "rx_ps_policed", "rx_ps_ptp_policed",
        "tx_from_host", "tx_from_ps",
    }  # fmt: skip
    for port, counters in enumerate(counts.port):
        received = [(f.data, f.outcomes[0].drop) for f in bench.rx_sent if f.port == port]
        sent = [(bytes.fromhex(e["hex"]), None) for e in bench.seen.wire[port]]
        expected = mac_counters("rx", received) + mac_counters("tx", sent)
        found = {name: value for name, value in counters.items() if value and name not in elsewhere}
        assert found == {name: value for name, value in expected.items() if value}, f"port {port}"


@dataclass
class Arrival:
    """A frame that comes to the receive filter, or may: from the wire, a function's queue or the PS."""

    data: bytes
    source: tuple[str, int]  # frames of one source keep their order
    number: int
    port: int
    outcomes: Sequence[RxOutcome | TxOutcome]

    def __str__(self) -> str:
        return f"frame {self.number} of {self.source}"


def arrivals(bench: Bench) -> list[Arrival]:
    found = [Arrival(f.data, ("port", f.port), f.number, f.port, f.outcomes) for f in bench.rx_sent]
    for frame in bench.tx_made:
        inside = next((outcome for outcome in frame.outcomes if outcome.inside), None)
        if inside:
            data = padded(inside.data)
            found.append(Arrival(data, ("queue", frame.queue), frame.number, inside.port, frame.outcomes))
    for port, sent in bench.ps_sent.items():
        found += [
            Arrival(padded(f.data), ("ps", port), f.number, port, [f.outcome])
            for f in sent
            if f.outcome and f.outcome.inside
        ]
    return found


def rx_places(frame: Arrival, outcome: RxOutcome | TxOutcome, functions: int) -> Counter[Place]:
    def slot(delivery: Delivery) -> Slot:
        named = delivery.function is not None and delivery.function < functions
        return ("function", delivery.function or 0) if named else ("port", frame.port)

    places = Counter((slot(delivery), delivery.verdict) for delivery in outcome.host)
    if outcome.copying:
        places[("port", frame.port), "copying"] += 1
    return places


def copies_on_the_way(frame: Arrival) -> set[Place]:
    """A copy may have been listed before a change and have its queue looked up after it."""
    functions = {d.function for outcome in frame.outcomes if outcome.copying for d in outcome.host}
    verdicts = ("delivered", "disabled", "badQueue")
    return {(("function", f), verdict) for f in functions if f is not None for verdict in verdicts}


def what_is_told(completion: Completion) -> Told:
    """In the words of the golden model."""
    checksums = Checksums(completion.ip_checksum, completion.l4_checksum, completion.l4_kind)
    return Told(completion.hash, completion.hash_type, checksums, completion.vlan_tci)


def check_receive(bench: Bench, counts: Counts, lossless: bool) -> None:
    due_frames = arrivals(bench)
    by_data = {frame.data: frame for frame in due_frames}
    assert len(by_data) == len(due_frames), "the test's frames are not unique"
    by_data |= {d.data: frame for frame in due_frames for o in frame.outcomes for d in o.host if d.data}
    seen: dict[bytes, set[int]] = defaultdict(set)
    last: dict[tuple[int, tuple[str, int], bool], int] = {}
    number_told: Counter[Checksums] = Counter()
    delivered: Counter[int] = Counter()
    delivered_bytes: Counter[int] = Counter()
    for packet, event in enumerate(bench.seen.c2h, start=1):
        data, queue = bytes.fromhex(event["hex"]), event["queue"]
        frame = by_data.get(data)
        assert frame, f"queue {queue} got a frame that was never received: {data[:64].hex()}"
        allowed = [d.told for o in frame.outcomes for d in o.host if (d.queue, d.data) == (queue, data)]
        assert allowed, f"{frame} went to queue {queue}, {len(data)} bytes: {frame.outcomes}"
        assert queue not in seen[frame.data], f"queue {queue} got {frame} twice"
        seen[frame.data].add(queue)
        copies = {outcome.copying for outcome in frame.outcomes}
        if len(copies) == 1:
            kind = (queue, frame.source, copies.pop())
            assert frame.number > last.get(kind, -1), f"{frame} is out of order in queue {queue}"
            last[kind] = frame.number
        entry = event["completion"]
        assert entry >> 4 & 0xFFFF == len(data) and entry >> 32 & 0xFFFF == len(data), f"completion {entry:#x}"
        assert entry >> 48 == packet & 0xFFFF, f"completion {entry:#x} of packet {packet}"
        # A reset takes the queue's size away while the last frames leave.
        narrow = "completion_high" not in event
        assert narrow != bench.has_completion16(queue) or (narrow and bench.home_of(queue) in bench.reset_functions)
        if "completion_high" in event:
            found = what_is_told(Completion(entry | event["completion_high"] << 64))
            assert found in allowed, f"{frame} in queue {queue}: {found}, not {allowed}"
            number_told[found.checksums] += 1
        delivered[bench.home_of(queue)] += 1
        delivered_bytes[bench.home_of(queue)] += len(data)

    assert len(number_told) > 3 or number_told.total() < 300, f"of checksums, only {number_told} was seen"
    bounds = Bounds()
    uncopied: Counter[int] = Counter()
    for frame in due_frames:
        bounds.add([rx_places(frame, outcome, bench.geometry.functions) for outcome in frame.outcomes])
        if len(frame.outcomes) > 1:
            bounds.allow(copies_on_the_way(frame))
            continue
        outcome = frame.outcomes[0]
        due = {d.queue for d in outcome.host if d.verdict == "delivered"}
        found = seen[frame.data]
        if outcome.copying and due:
            assert found in (set(), due), f"{frame} was copied to {found} only, not to {due}"
            uncopied[frame.port] += not found
        elif lossless:
            assert found == due, f"{frame} is missing: {outcome}"

    cut = {port: counts.verdict("rx", ("port", port), "copyCut") for port in range(bench.geometry.ports)}
    if lossless:
        for port, number in uncopied.items():
            assert number <= cut[port], f"{number} frames were not copied, {cut[port]} were cut"
    for slot in counts.slot:
        for verdict in RX_VERDICTS:
            value = counts.verdict("rx", slot, verdict)
            least, most = bounds.least[slot, verdict], bounds.most[slot, verdict]
            if verdict == "copyCut":
                most = bounds.most[slot, "copying"]
            if verdict == "copying" and slot[0] == "port":
                value += cut[slot[1]]
            if not lossless or (any(cut.values()) and slot[0] == "function"):
                least = 0
            assert least <= value <= most, f"{slot} rx {verdict}: {value}, not {least} to {most}"
    for function in range(bench.geometry.functions):
        counters = counts.slot["function", function]
        assert counters["rx_delivered"] == delivered[function], f"function {function}"
        assert counters["rx_bytes"] == delivered_bytes[function], f"function {function}"

    # Conservation, from the registers alone but for the number of copies a frame was to have.
    switched = sum(c["tx_switched"] + c["tx_copies_switched"] for c in counts.slot.values())
    to_host = sum(counters["rx_to_host"] for counters in counts.port)
    overflow = sum(counters["rx_host_overflow"] for counters in counts.port)
    due = [[bool(outcome.host) for outcome in frame.outcomes] for frame in bench.rx_sent]
    assert sum(map(all, due)) <= to_host + overflow <= sum(map(any, due))
    told = counts.total("rx", RX_VERDICTS)
    copying = counts.total("rx", ["copying"])
    entered = to_host + switched + sum(c["tx_switched"] + c["tx_copies_switched"] for c in counts.ring)
    assert 0 <= told - entered <= copying * bench.geometry.functions, f"{told} verdicts on {entered} frames"
    if lossless:
        assert overflow == 0
    if lossless and not any(cut.values()) and all(len(frame.outcomes) == 1 for frame in due_frames):
        copies = sum(len(f.outcomes[0].host) for f in due_frames if f.outcomes[0].copying)
        assert told == entered + copies, f"{told} verdicts on {entered} frames and {copies} copies"


def check_ps_inside(bench: Bench, port: int, frames: list[PsFrame], lossless: bool) -> set[int]:
    """What the PS got of functions, which it returns: those bound to the port."""
    by_data = {padded(o.data): frame for frame in bench.tx_made for o in frame.outcomes if o.to_ps}
    last: dict[int, int] = {}
    found = set()
    for got in frames:
        frame = by_data.get(got.data)
        assert frame, f"the PS's port {port} got a frame that no function sent it: {got}"
        assert any(o.to_ps and o.port == port for o in frame.outcomes), f"the PS's port {port} got {frame.number}"
        assert frame.number > last.get(frame.queue, -1), f"frame {frame.number} is out of order, or twice, at the PS"
        last[frame.queue] = frame.number
        found.add(frame.number)
    if lossless:
        due = {f.number for f in bench.tx_made if f.outcomes and all(o.to_ps and o.port == port for o in f.outcomes)}
        assert found >= due, f"port {port}: the PS misses {sorted(due - found)[:5]} of the functions"
    return {number for number, function in bench.golden.functions.items() if function.port == port}


def check_limit(bench: Bench, port: int, due: list[RxSent], found: set[int], mac: dict[str, int]) -> None:
    """Holds the frames due to the PS to its limits, where nothing but these keeps any of them from it."""
    policed = Counter({False: mac["rx_ps_policed"], True: mac["rx_ps_ptp_policed"]})
    limit = bench.golden.ports[port].ps_limit
    if limit is not None:
        since = bench.limited_since[port]
        buckets = {kind: Bucket(rate, time_ns=since) for kind, rate in ((False, limit.others), (True, limit.ptp))}
        for frame in due:
            kind, passed = is_ptp(frame.data), frame.number in found
            possible = buckets[kind].saw(frame.end_ns, passed)
            assert possible, f"frame {frame.number}, PTP {kind}, passed {passed}: {buckets[kind]}"
            policed[kind] -= not passed
    assert not any(policed.values()), f"port {port}: {policed} frames were not over a limit"


def check_ps(bench: Bench, counts: Counts, lossless: bool) -> None:
    by_data = {frame.data: frame for frame in bench.rx_sent}
    for port, all_frames in bench.seen.ps.items():
        frames = [got for got in all_frames if not got.inside]
        of_functions = check_ps_inside(bench, port, [got for got in all_frames if got.inside], lossless)
        last = last_time = -1
        found = set()
        for got in frames:
            frame = by_data.get(got.data)
            assert frame and frame.port == port, f"the PS's port {port} got a frame it was not sent: {got}"
            assert any(outcome.to_ps for outcome in frame.outcomes), f"the PS got frame {frame.number}"
            assert frame.number > last, f"frame {frame.number} is out of order, or twice, at the PS"
            assert got.time_ns > last_time, f"frame {frame.number}: its timestamp goes back"
            last, last_time = frame.number, got.time_ns
            found.add(frame.number)
        mine = [frame for frame in bench.rx_sent if frame.port == port]
        due_frames = [frame for frame in mine if all(outcome.to_ps for outcome in frame.outcomes)]
        due = [frame.number for frame in due_frames]
        possible = sum(any(outcome.to_ps for outcome in frame.outcomes) for frame in mine)
        ring, mac = counts.ring[port], counts.port[port]
        dropped = sum(ring[f"rx_{why}"] for why in ("no_descriptor", "buffer_small", "disabled", "errors", "inside"))
        assert ring["rx_frames"] == len(all_frames)
        assert ring["rx_bytes"] == sum(len(got.data) for got in all_frames)
        inside = sum(counts.slot["function", f][name] for f in of_functions for name in ("tx_to_ps", "tx_copies_to_ps"))
        offered = mac["rx_to_ps"] + inside
        assert offered == len(all_frames) + dropped, f"port {port}: {dropped} dropped of {offered}"
        policed = mac["rx_ps_policed"] + mac["rx_ps_ptp_policed"]
        assert not policed or bench.golden.ports[port].ps_limit
        assert len(due) <= mac["rx_to_ps"] + mac["rx_ps_overflow"] + policed <= possible
        if lossless:
            missing = sorted(set(due) - found)
            assert len(missing) <= policed, f"port {port}: the PS misses {missing[:5]}, {policed} were over a limit"
            if len(due) == possible:
                check_limit(bench, port, due_frames, found, mac)
            assert dropped == 0 and mac["rx_ps_overflow"] == 0
        sent = bench.ps_sent[port]
        assert ring["tx_frames"] == len(sent)
        assert ring["tx_bytes"] == sum(len(frame.data) for frame in sent)
        alone = sum(not frame.outcome.on_wire for frame in sent if frame.outcome)
        copies = sum(frame.outcome.on_wire and frame.outcome.inside for frame in sent if frame.outcome)
        assert ring["tx_switched"] + ring["tx_veb_full"] == alone
        assert ring["tx_copies_switched"] + ring["tx_copies_veb_full"] == copies
        assert not (lossless and ring["tx_veb_full"] + ring["tx_copies_veb_full"])
        for name in ("rx_errors", "tx_bad_descriptor", "tx_bus_errors", "tx_aborted", "timestamps_lost", "bus_errors"):
            assert ring[name] == 0, f"port {port}: {name} is {ring[name]}"
        stamps = bench.seen.stamps[port]
        tags = [f.tag for f in sent if f.tag is not None and f.outcome and f.outcome.on_wire]
        assert [stamp.tag for stamp in stamps] == tags, f"port {port}"
        assert [s.time_ns for s in stamps] == sorted({s.time_ns for s in stamps}), f"port {port}: timestamps go back"


def check_inside(bench: Bench, counters: dict[str, int], function: int, wire_bytes: int, lossless: bool) -> None:
    """What a function's counters say of frames that stayed inside the card, alone or as copies of those sent."""
    mine = [(f, f.outcomes[0]) for f in bench.tx_made if bench.home_of(f.queue) == function and len(f.outcomes) == 1]
    if len(mine) != sum(bench.home_of(f.queue) == function for f in bench.tx_made):
        return
    copies = [o for _, o in mine if o.on_wire]
    for kind, full, due in (
        ("switched", "veb_full", sum(o.inside for o in copies)),
        ("to_ps", "ps_full", sum(o.to_ps for o in copies)),
    ):
        found, lost = counters[f"tx_copies_{kind}"], counters[f"tx_copies_{full}"]
        assert found + lost == due, f"function {function}: {found} copies {kind}, {lost} lost, {due} due"
        assert not (lossless and lost)
    least = wire_bytes
    most = least + sum(len(o.data) for _, o in mine if o.verdict in ("switched", "toPs"))
    assert least <= counters["tx_bytes"] <= most and (not lossless or counters["tx_bytes"] == most)


def check_transmit(bench: Bench, counts: Counts, lossless: bool) -> None:
    by_data: dict[bytes, TxSent] = {padded(frame.data): frame for frame in bench.tx_made if frame.data}
    sendable = [(f, {padded(o.data) for o in f.outcomes if o.on_wire}) for f in bench.tx_made]
    due = [data for _, forms in sendable for data in forms]
    assert len(set(due)) == len(due), "the test's frames are not unique"
    by_data |= {data: frame for frame, forms in sendable for data in forms}
    found: set[int] = set()
    frames: Counter[int] = Counter()
    size: Counter[int] = Counter()
    for port, events in bench.seen.wire.items():
        of_ps = 0
        sent = [frame for frame in bench.ps_sent[port] if frame.outcome and frame.outcome.on_wire]
        last: dict[int, int] = {}
        for event in events:
            data = bytes.fromhex(event["hex"])
            assert not event.get("aborted"), f"port {port} cut a frame"
            if of_ps < len(sent) and data == padded(sent[of_ps].data):
                assert event.get("ptp_tag") == sent[of_ps].tag, f"frame {of_ps} of the PS on port {port}"
                of_ps += 1
                continue
            frame = by_data.get(data)
            assert frame, f"port {port} sent a frame that nobody gave it: {data[:64].hex()}"
            forms = [o.data for o in frame.outcomes if o.on_wire and o.port == port and padded(o.data) == data]
            assert forms, f"port {port} sent frame {frame.number}: {data[:64].hex()}, not {frame.outcomes}"
            assert frame.number not in found, f"port {port} sent frame {frame.number} twice"
            assert frame.number > last.get(frame.queue, -1), f"frame {frame.number} of queue {frame.queue} is late"
            last[frame.queue] = frame.number
            found.add(frame.number)
            frames[bench.home_of(frame.queue)] += 1
            size[bench.home_of(frame.queue)] += len(forms[0])
        assert of_ps == len(sent), f"port {port} sent {of_ps} frames of the PS only"
        assert counts.port[port]["tx_from_ps"] == of_ps
        assert counts.port[port]["tx_from_host"] == len(events) - of_ps

    bounds = Bounds()
    skipped: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for frame in bench.tx_made:
        unfilled = [outcome.unfilled for outcome in frame.outcomes]
        skipped[bench.home_of(frame.queue)].append((all(unfilled), any(unfilled)))
        if all(outcome.on_wire for outcome in frame.outcomes):
            assert frame.number in found, f"frame {frame.number} of queue {frame.queue} was not sent: {frame.outcomes}"
        places = []
        for outcome in frame.outcomes:
            slot = ("port", 0) if outcome.function is None else ("function", outcome.function)
            places.append(Counter({(slot, outcome.verdict): 1}))
        bounds.add(places)
    for slot in counts.slot:
        for verdict in TX_VERDICTS:
            value = counts.verdict("tx", slot, verdict)
            least, most = bounds.least[slot, verdict], bounds.most[slot, verdict]
            lost = "vebFull" if verdict == "switched" else "psFull" if verdict == "toPs" else None
            if lost and not lossless:
                value += counts.verdict("tx", slot, lost)
            if verdict in ("vebFull", "psFull") and not lossless:
                continue
            assert least <= value <= most, f"{slot} tx {verdict}: {value}, not {least} to {most}"
    for function in range(bench.geometry.functions):
        counters = counts.slot["function", function]
        assert counters["tx_sent"] == frames[function], f"function {function}"
        check_inside(bench, counters, function, size[function], lossless)
        least, most = (sum(column) for column in zip((0, 0), *skipped[function], strict=True))
        found = counters["tx_offload_skipped"]
        assert found <= most and (found >= least or not lossless), f"function {function}: {found} not filled in"
    certain = sum(ABSENT not in frame.outcomes for frame in bench.tx_made)
    told = counts.total("tx", TX_VERDICTS)
    assert certain <= told <= len(bench.tx_made), f"{told} verdicts on {len(bench.tx_made)} frames of the host"
