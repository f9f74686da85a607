# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Checks with a few frames: interrupts, and the time until the card says that a frame is done."""

from __future__ import annotations

import statistics
import time

from . import frames, system
from .context import Context
from .result import Fail, Skip

INTERRUPT_SECONDS = 1
#: Bound of the median, and after which a frame is lost.
LATENCY_SECONDS, LOST_SECONDS = 0.001, 1
FRAMES, QUICK_FRAMES = 200, 20


def interrupts_of(interface: str, text: str) -> dict[int, int]:
    """How often each interrupt of an interface's queues has come, from /proc/interrupts, by its number there."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        name = words[-1] if words else ""
        end = name.rpartition("-")[2]
        if name in (f"{interface}-{end}", f"{interface}-shared-{end}") and end.isdigit():
            counts = []
            for word in words[1:]:
                if not word.isdigit():
                    break
                counts.append(int(word))
            found[int(end)] = sum(counts)
    return found


def _now(interface: str) -> dict[int, int]:
    return interrupts_of(interface, system.read(system.PROC / "interrupts"))


def _send(context: Context, socket: frames.Frames, number: int, where: str) -> None:
    """A queue that is full takes a frame when the card has done others."""
    if not system.until(lambda: socket.send(number), context.patience(LOST_SECONDS)):
        raise Fail(
            f"Linux takes no frame {where} ({socket.refusal})",
            "A queue that is full or stands still refuses frames: 'ethtool -S' (tx_stopped, tx_dropped) and 'dmesg' tell of it",
        )


def _fires(context: Context, interface: str, queue: int, processor: int) -> bool:
    """Whether a frame that is sent by a queue brings the interrupt of its vector."""
    before = _now(interface)
    vector = queue % len(before)
    with frames.on_processor(processor), frames.opened(interface, bypass=True) as socket:
        _send(context, socket, queue, f"by queue {queue} of {interface}")
        return system.until(
            lambda: _now(interface).get(vector, 0) > before.get(vector, 0), context.patience(INTERRUPT_SECONDS)
        )


def _interrupts_of(context: Context, interface: str) -> str:
    vectors = _now(interface)
    if not vectors:
        raise Fail(
            f"Linux has no interrupt of {interface}", "'dmesg | grep meridian' says what the driver could not have"
        )
    senders = frames.senders(interface)
    if not senders:
        raise Skip(
            f"no processor that this program may use sends by a queue of {interface}: see 'taskset -p $$' and the files "
            f"{system.NET / interface}/queues/tx-*/xps_cpus"
        )
    silent = [queue for queue, processor in senders.items() if not _fires(context, interface, queue, processor)]
    if silent:
        raise Fail(
            f"no interrupt comes for queue(s) {', '.join(map(str, silent))} of {interface}",
            "See whether MSI-X is enabled ('lspci -vv'), and start with the kernel's parameter pci=nocrs or "
            "intremap=off to see whether interrupt remapping loses them",
        )
    reached = {queue % len(vectors) for queue in senders}
    left = f" ({len(vectors) - len(reached)} belong to no processor)" if len(reached) < len(vectors) else ""
    return f"{interface} {len(reached)} of {len(vectors)}{left}"


def interrupts(context: Context) -> str:
    """Every vector of every interface that has a link fires."""

    def work(interface: str) -> str:
        with context.at_work(interface):
            return _interrupts_of(context, interface)

    said, skipped = context.of_each(context.host.interfaces or [context.host.first_interface()], work)
    return "; ".join([f"vectors that fired: {', '.join(said)}", *skipped])


def _measure(context: Context, interface: str, count: int) -> list[float]:
    """Seconds from send() until the frame is done, of each."""
    taken = []
    with frames.opened(interface) as socket:
        for number in range(count):
            start = time.monotonic()
            _send(context, socket, number, f"of {interface}")
            if not socket.sent(context.patience(LOST_SECONDS)):
                raise Fail(
                    f"frame {number + 1} of {count} of {interface} is not done after {context.patience(LOST_SECONDS):g} s",
                    "'ethtool -S' and 'dmesg' tell of a queue that stands still; the line of interrupts may say why",
                )
            taken.append(time.monotonic() - start)
    return taken


def latency(context: Context) -> str:
    """The card says soon that a frame is done, of each interface that has a link."""
    interfaces = context.host.interfaces or [context.host.first_interface()]
    said, skipped = context.of_each(interfaces, lambda interface: _latency_of(context, interface))
    return "; ".join([*said, *skipped])


def _latency_of(context: Context, interface: str) -> str:
    count = QUICK_FRAMES if context.options.quick else FRAMES
    with context.at_work(interface), frames.by_first_queue(interface):
        taken = _measure(context, interface, count)
    median, bound = statistics.median(taken), context.bound(LATENCY_SECONDS)
    words = f"{interface} {1e6 * median:.0f} us from send() to completion (median of {count}, longest {1e6 * max(taken):.0f} us)"
    if median > bound:
        raise Fail(
            f"{words}, more than {1e6 * bound:.0f} us",
            f"Look at 'ethtool -c {interface}' (tx-usecs), at 'tc qdisc show dev {interface}', and at the processor's "
            "sleep states",
        )
    return f"{words}, at most {1e6 * bound:.0f} us"
