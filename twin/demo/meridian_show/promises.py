# SPDX-License-Identifier: Apache-2.0
"""What the demo promises, and whether it held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from meridian_demo.reasons import REASONS

from .captured import Captured
from .record import IDLE, LOADED, Counters, Offset, Record, peak, rms

WORSE_NS = 0.5  # of the r.m.s., from one minute to the next without any load
OF_PS = ("rx_ps_overflow", "rx_ps_policed", "rx_ps_ptp_policed")
OF_HOST = ("rx_host_overflow",)


@dataclass(frozen=True)
class Promise:
    """name: two words for a terminal; text: what was promised; found: what was seen. All sentences but the name."""

    name: str
    text: str
    kept: bool
    found: str


def promises(record: Record, captured: Captured) -> list[Promise]:
    return [
        _clock(record),
        _load(captured),
        _ps(record, captured),
        _functions(record, captured),
        _passthrough(record),
        _network(record),
    ]


def verdict(found: Sequence[Promise]) -> list[str]:
    """Three lines."""
    broken = [it.name for it in found if not it.kept]
    clock, load, ps, functions, *_ = found
    head = f"{len(broken)} of {len(found)} promises did not hold: {', '.join(broken)}" if broken else ""
    return [
        head or f"all {len(found)} promises held: {', '.join(it.name for it in found)}",
        f"{clock.found} {load.found}",
        f"{ps.found} {functions.found}",
    ]


def _clock(record: Record) -> Promise:
    idle, loaded = record.offsets_in(IDLE), record.offsets_in(LOADED)
    away = sum(it.state != "s2" for it in loaded)
    kept = bool(idle and loaded) and not away and rms(loaded) <= rms(idle) + WORSE_NS
    held = f"It left the locked state (s2) for {away} Sync messages." if away else "It stayed locked (s2)."
    return Promise(
        "clock",
        "The card's ptp4l keeps its offset from the grandmaster under load: it stays locked, and the r.m.s. grows by at"
        f" most {WORSE_NS} ns.",
        kept,
        f"Offset {_offset(idle)} idle, {_offset(loaded)} under load. {held}"
        if loaded
        else "ptp4l said nothing under load.",
    )


def _offset(found: list[Offset]) -> str:
    return f"{rms(found):.2f} ns r.m.s. (peak {peak(found)} ns)" if found else "unknown"


def _load(captured: Captured) -> Promise:
    syncs, among = captured.syncs
    return Promise(
        "load",
        "The load is there when it matters: most Sync messages come in the middle of a train of frames at line rate.",
        2 * among > syncs,
        f"{among} of {syncs} Sync messages under load came in the middle of a train.",
    )


def _ps(record: Record, captured: Captured) -> Promise:
    came, reached = captured.to_ps
    sent, left = captured.from_ps
    dropped = {name: _grown(record, lambda it, name=name: it.drops.get(name, 0)) for name in OF_PS}
    counted = "".join(
        f" {count} {'frame was' if count == 1 else 'frames were'} dropped: {REASONS[name].words}."
        for name, count in dropped.items()
        if count
    )
    return Promise(
        "PS frames",
        "The PS loses no frame under load: each PTP message from the wire reaches its memory, and each of its own reaches"
        " the wire.",
        came > 0 and reached == came and left == sent and not counted,
        f"{reached} of {came} PTP messages reached the PS, {left} of {sent} of its own reached the wire.{counted}",
    )


def _functions(record: Record, captured: Captured) -> Promise:
    words, kept = [], bool(record.receivers)
    spare = sum(_grown(record, lambda it, name=name: it.drops.get(name, 0)) for name in OF_HOST)
    for name, address in record.receivers.items():
        came, got = captured.trains.get(address, (0, 0))
        full = _grown(record, lambda it, name=name: it.full.get(name, 0))
        lost = max(came - got - full, 0)
        kept &= got > 0 and lost <= spare
        spare = max(spare - lost, 0)
        words.append(f"{name} {got:,} of {came:,}" + (f" ({came - got:,} found no free buffer)" if came > got else ""))
    return Promise(
        "frames of functions",
        "Each function gets its frames of the trains; one that its software has no free buffer for is counted.",
        kept,
        f"Frames of trains: {', '.join(words)}." if words else "No train was sent to a function.",
    )


def _passthrough(record: Record) -> Promise:
    it = record.programs
    found = "The programs behind the VFs were not asked."
    if it:
        found = (
            f"The virtual machine got answers to {it.answered} pings through its VF; testpmd received {it.received:,} frames"
            f" on the other VF and sent {it.sent:,}."
        )
    return Promise(
        "passthrough",
        "VFs work when they are passed through by VFIO: one to a virtual machine, one to testpmd.",
        bool(it and it.answered and it.received and it.sent),
        found,
    )


def _network(record: Record) -> Promise:
    return Promise(
        "host's network",
        "Linux on the PF reaches the far end of the wire meanwhile.",
        bool(record.pings),
        f"{len(record.pings)} pings of the PF were answered.",
    )


def _grown(record: Record, of) -> int:
    """A counter from the last look before the load to the last of all."""
    looks: list[Counters] = record.counters
    if not looks or not record.had(LOADED):
        return 0
    began, _ = record.span(LOADED)
    before = [it for it in looks if it.at < began]
    return of(looks[-1]) - (of(before[-1]) if before else 0)
