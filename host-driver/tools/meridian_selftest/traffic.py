# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Checks with a few frames: interrupts, and the time until the card says that a frame is done."""

from __future__ import annotations

import itertools
import statistics
import time

from . import frames, system
from .card import HOST_DRIVER, Function
from .context import Context
from .result import Fail, Skip

INTERRUPT_SECONDS = 1
#: Bound of the median, and after which a frame is lost.
LATENCY_SECONDS, LOST_SECONDS = 0.001, 1
FRAMES, QUICK_FRAMES = 200, 20
LOST = (
    "See whether MSI-X is enabled ('lspci -vv'), and start with the kernel's parameter pci=nocrs or intremap=off to see "
    "whether interrupt remapping loses them"
)


def _counts(words: list[str]) -> int:
    """Of a line of /proc/interrupts: by all processors."""
    numbers = itertools.takewhile(str.isdigit, words[1:])
    return sum(map(int, numbers))


def interrupts_of(interface: str, text: str) -> dict[int, int]:
    """How often each interrupt of an interface's queues has come, from /proc/interrupts, by its number there."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        name = words[-1] if words else ""
        end = name.rpartition("-")[2]
        if name in (f"{interface}-{end}", f"{interface}-shared-{end}") and end.isdigit():
            found[int(end)] = _counts(words)
    return found


def of_messages(function: Function) -> int | None:
    """How often the vector of a PF that is not for queue pairs has come: messages of its VFs, errors of the engine and
    interrupts of a user's module. None: Linux has no such vector.
    """
    numbers = set(system.names(function.path / "msi_irqs"))
    for line in system.read(system.PROC / "interrupts").splitlines():
        words = line.split()
        if words and words[0].rstrip(":") in numbers and words[-1] == HOST_DRIVER:
            return _counts(words)
    return None


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


def vectors(context: Context, interface: str) -> str:
    """How many of its queue pairs' fire. Fails if one does not that may."""
    found = _now(interface)
    if not found:
        raise Fail(
            f"Linux has no interrupt of {interface}", "'dmesg | grep meridian' says what the driver could not have"
        )
    senders = frames.senders(interface)
    if not senders:
        raise Skip(
            f"no processor that this program may use sends by a queue of {interface}: see 'taskset -p $$' and the files "
            f"{system.NET / interface}/queues/tx-*/xps_cpus"
        )
    if context.options.quick:  # one queue of those that share a vector
        senders = {queue: senders[queue] for queue in {queue % len(found): queue for queue in senders}.values()}
    silent = [queue for queue, processor in senders.items() if not _fires(context, interface, queue, processor)]
    if silent:
        raise Fail(
            f"no interrupt comes for queue(s) {', '.join(map(str, silent))} of {interface}",
            LOST,
        )
    reached = {queue % len(found) for queue in senders}
    left = f" ({len(found) - len(reached)} belong to no processor)" if len(reached) < len(found) else ""
    return f"{interface} {len(reached)} of {len(found)}{left}"


def interrupts(context: Context) -> str:
    """Every vector of the queue pairs of every interface that has a link fires."""

    def work(interface: str) -> str:
        with context.at_work(interface):
            return vectors(context, interface)

    said, skipped = context.of_each(context.host.interfaces or [context.host.first_interface()], work)
    return "; ".join([f"vectors of queue pairs that fired: {', '.join(said)}", *skipped])


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
