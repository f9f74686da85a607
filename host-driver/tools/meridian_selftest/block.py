# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Checks that need the self-test block of the shell: a generator and a checker on each stream, and loops in each port.

A bitstream has the block if the bit CAPABILITY of its capabilities is set. The kernel's driver drives it, as no program
may map BAR2 meanwhile: 'ethtool -t INTERFACE offline'. The driver says in the kernel's log what it has found.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import nullcontext

from . import changes, ethtool, system
from .card import has_carrier, port_of
from .context import LINK_SECONDS, Context, Offline
from .result import Fail, Skip

CAPABILITY = 1 << 19
ABSENT = "this bitstream has no self-test block: build it with --self-test true"
ABSENT_THERE = (
    "the driver has no such test: this bitstream has no self-test block (build it with --self-test true), or the driver is "
    "older than meridian-tools"
)
OLD_DRIVER = "the driver does not know the self-test block: take driver and meridian-tools of one commit"
#: The driver's results, and what its sentences look like, which do not count FCS.
PATTERN, LOOPS = "dma_pattern", "port_loops"
OF_PATTERN, OF_LOOPS = "(?!port loops: )", "port loops: "
GOOD = re.compile(r"(\d+) bytes in (\d+) frames of .* each way through (\d+) queues in (\d+) ms")
ROUND = re.compile(r"(\d+) bytes in (\d+) frames of 60 to (\d+) bytes went round port \d+ \((.*)\) in (\d+) ms")
LEFT_OUT = "left out"
#: What the driver calls the loops outside of a port.
PLUG, CABLE = "external", "cable to port {}"
#: Of a card; each has a quarter of a second for each loop.
ROUNDS = 20
#: With --quick no further interface is begun once the tests have taken so long.
QUICK_SECONDS = 4


def _need_block(context: Context) -> None:
    if not context.dump().word("CAPABILITIES") & CAPABILITY:
        raise Skip(ABSENT)


def _sentence(log: str, interface: str, of: str) -> str:
    """The driver's last in the kernel's log. of: what its sentences begin with."""
    found = re.findall(rf" {re.escape(interface)}: self-test: {of}(.*)", log)
    return found[-1] if found else ""


def judged(interface: str, error: int | None, said: str) -> re.Match[str] | None:
    """What a result of the driver and its sentence come to: the words of one that is good, if the log still has it."""
    if error is None:
        raise Skip(OLD_DRIVER)
    if error:
        reason, _, remedy = said.rpartition(": ")
        if not reason:
            reason, remedy = f"'ethtool -t {interface} offline' fails (error {error})", "'dmesg' has the reason"
        raise Fail(f"{interface}: {reason}", remedy[:1].upper() + remedy[1:])
    if LEFT_OUT in said:
        raise Skip(f"{interface}: {said}")
    return GOOD.search(said) or ROUND.search(said)


def _offline(context: Context, interface: str, flags: int, up: bool) -> Offline:
    """The driver's tests, which are all run at once: with --quick, what one check has run is not run for another."""
    if context.options.quick and (interface, flags) in context.offline:
        return context.offline[interface, flags]
    spent = sum(done.seconds for done in context.offline.values())
    if context.options.quick and context.offline and spent >= context.bound(QUICK_SECONDS):
        raise context.no_more_time(interface)
    start = time.monotonic()
    with changes.interface_up(interface) if up else nullcontext(), system.kernel_log() as log:
        had_link = has_carrier(interface)
        results = ethtool.self_test(interface, ethtool.TEST_OFFLINE | flags)
        if had_link:  # the loops have taken it, and the checks behind this one need it
            system.until(lambda: has_carrier(interface), context.patience(LINK_SECONDS))
        context.offline[interface, flags] = Offline(results, log(), time.monotonic() - start)
    return context.offline[interface, flags]


def _run(context: Context, interface: str, test: str, of: str, flags: int = 0, up: bool = True) -> re.Match[str] | None:
    """up: the interface is, while it is tested."""
    done = _offline(context, interface, flags, up)
    return judged(interface, done.results.get(test), _sentence(done.log, interface, of))


def _pattern_of(context: Context, interface: str, flags: int = 0) -> str:
    found = _run(context, interface, PATTERN, OF_PATTERN, flags)
    if not found:
        return f"{interface} good ('dmesg' has how much)"
    count, frames, queues, milliseconds = found.groups()
    return f"{interface} {count} bytes in {frames} frames through {queues} queue(s) in {milliseconds} ms"


def _of_all(context: Context, names: list[str], what: str, of_one: Callable[[Context, str], str]) -> str:
    said, skipped = context.of_each(names, lambda name: of_one(context, name))
    return "; ".join([f"{what}: {', '.join(said)}", *skipped])


def pattern(context: Context) -> str:
    """256 MiB of a pattern, or as much as goes in 2 s, go by DMA both ways through every queue, without an error."""
    _need_block(context)
    interfaces = context.host.interfaces or [context.host.first_interface()]
    context.may_disturb("takes the traffic of each interface away for about 2 s")
    of_ports = _by_port(interfaces)

    def of_one(context: Context, name: str) -> str:
        """With --quick, as the loops of the port are wanted behind it."""
        is_shared = context.options.quick and of_ports[port_of(name)] == name
        return _pattern_of(context, name, _flags(context, name, of_ports) if is_shared else 0)

    return _of_all(context, interfaces, "a pattern went each way without an error", of_one)


def _by_port(interfaces: list[str]) -> dict[int, str]:
    """One for each port, as PFs may share a port."""
    return {port_of(name): name for name in reversed(interfaces)}


def _external(context: Context, interface: str, of_ports: dict[int, str]) -> str:
    """What the driver has to find outside of the port, in its words; "" if that is not tested from here."""
    port, options = port_of(interface), context.options
    if options.loop_plugs is not None and port in options.loop_plugs:
        return PLUG
    for ends in options.cables:
        first = next((end for end in ends if end in of_ports), None)
        if port == first:  # the test goes both ways
            return CABLE.format(sum(ends) - port)
    return ""


def _flags(context: Context, interface: str, of_ports: dict[int, str]) -> int:
    return ethtool.TEST_EXTERNAL if _external(context, interface, of_ports) else 0


def _found_outside(interface: str, wanted: str, found: str) -> None:
    """It is what the user says it is."""
    if not wanted or found == wanted:
        return
    port = port_of(interface)
    if found == PLUG:
        raise Fail(
            f"{interface}: the frames of port {port} come back to it, so it has no {wanted}",
            "Name a loop plug by --loop-plugs",
        )
    raise Fail(
        f"{interface}: port {port} has no {wanted.replace('external', 'loop plug')}, but a {found}",
        "Name the ports by --cables, or change the cable",
    )


def _loops_of(context: Context, interface: str, of_ports: dict[int, str], up: bool = True) -> str:
    """Several short tests, as the kernel's lock of all interfaces is held in each."""
    options = context.options
    outside = _external(context, interface, of_ports)
    rounds = 1 if options.quick or options.slow > 1 else ROUNDS
    total = [0, 0, 0]
    loops, largest = "", ""
    for _ in range(rounds):
        found = _run(context, interface, LOOPS, OF_LOOPS, _flags(context, interface, of_ports), up)
        if found:
            size, frames, largest, loops, milliseconds = found.groups()
            _found_outside(interface, outside, loops.rpartition(", ")[2])
            total = [one + int(more) for one, more in zip(total, (size, frames, milliseconds))]
    if not loops:
        return f"port {port_of(interface)} good ('dmesg' has how much)"
    size, frames, milliseconds = total
    return f"port {port_of(interface)} {size} bytes in {frames} frames of 60 to {largest} bytes ({loops}) in {milliseconds} ms"


def _need_ports(context: Context, of_ports: dict[int, str]) -> None:
    """The card has the ports that the user has named, and each cable has an end from which it can be tested."""
    named = [*(context.options.loop_plugs or ()), *(end for cable in context.options.cables for end in cable)]
    ports = context.dump().ports
    if named and max(named) >= ports:
        raise Fail(
            f"--loop-plugs or --cables names port {max(named)}, and the card's last port is {ports - 1}",
            "Name a port of the card",
        )
    for cable in context.options.cables:
        if not of_ports.keys() & set(cable):
            one, other = cable
            raise Fail(
                f"neither port {one} nor port {other} has an interface here", "Bind a PF of one of them to the driver"
            )


def _arm_loops_of(context: Context, interface: str) -> str:
    """Of a port that the ARM side has given up, as its driver would take it from ptp4l without a question."""
    if LOOPS not in ethtool.self_test(interface):
        raise Skip(ABSENT_THERE)
    if ethtool.is_up(interface):
        raise Skip(f"{interface} is up, and ptp4l would lose its clock: 'ip link set {interface} down', then try again")
    # Its driver does not look for cables.
    return _loops_of(context, interface, {}, up=False)


def arm_loops(context: Context) -> str:
    """The same as loops, from the card's ARM side."""
    if not context.arm.interfaces:
        raise Skip("no driver has made an interface of the card: 'modprobe meridian_ps', and look at 'dmesg'")
    context.may_disturb("takes each port from the host for some seconds")
    return _of_all(
        context, sorted(context.arm.interfaces, key=port_of), "frames went round without an error", _arm_loops_of
    )


def loops(context: Context) -> str:
    """Frames of 64 to 9600 bytes go round in each loop of each port, and both ways through each cable, without an error."""
    _need_block(context)
    interfaces = context.host.interfaces or [context.host.first_interface()]
    of_ports = _by_port(interfaces)
    _need_ports(context, of_ports)
    context.may_disturb("takes each port from the host for some seconds")
    had_link = [name for name in interfaces if has_carrier(name)]
    try:
        return _of_all(
            context,
            [of_ports[port] for port in sorted(of_ports)],
            "frames went round without an error",
            lambda context, name: _loops_of(context, name, of_ports),
        )
    finally:  # the loops of a port have taken the link of the other end of its cable, too
        system.until(lambda: all(has_carrier(name) for name in had_link), context.patience(LINK_SECONDS))
