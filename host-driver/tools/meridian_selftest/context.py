# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""What every check is given: the card, what the user has chosen, and the registers as the driver dumps them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from . import changes, ethtool, system
from .card import ArmCard, HostCard, has_carrier, port_of
from .dump import Dump
from .registers import Registers
from .result import Skip

LINK_SECONDS = 3
MOST_PATIENCE = 5


@dataclass(frozen=True)
class Options:
    """quick: less of everything. disturb: VFs, resets and interfaces that are set up are allowed. slow: by how much
    bounds of time are longer. seconds: of the measurement of the clock. board: that the card is to be. ports: that
    have a cable; None: all. loop_plugs: ports that have a loop plug; None: none. cables: pairs of ports that a cable joins.
    """

    quick: bool = False
    disturb: bool = True
    slow: float = 1
    seconds: float = 10
    board: str = ""
    ports: frozenset[int] | None = None
    loop_plugs: frozenset[int] | None = None
    cables: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Offline:
    """What the driver's offline tests have found: 0 or an error by the test's name, and the kernel's log meanwhile; and how
    many seconds they took.
    """

    results: dict[str, int]
    log: str
    seconds: float


@dataclass(frozen=True)
class Context:
    """offline: the last of each interface and flags of ethtool."""

    card: HostCard | ArmCard
    options: Options
    map: Registers
    offline: dict[tuple[str, int], Offline] = field(default_factory=dict)

    @property
    def host(self) -> HostCard:
        """The card of a check that is for hosts."""
        assert isinstance(self.card, HostCard)
        return self.card

    @property
    def arm(self) -> ArmCard:
        assert isinstance(self.card, ArmCard)
        return self.card

    def bound(self, of_a_card: float) -> float:
        """A bound of what is measured, so much longer as the user has chosen."""
        return of_a_card * self.options.slow

    def patience(self, of_a_card: float) -> float:
        """How many seconds to wait for what has to come: longer, too, and not without end."""
        return of_a_card * min(self.options.slow, MOST_PATIENCE)

    def dump(self, interface: str = "") -> Dump:
        """The registers of the card and of an interface's function; of the first interface if none is named."""
        return Dump(self.map, *ethtool.registers(interface or self.host.first_interface()))

    def of_each(self, names: Iterable[str], work: Callable[[str], str]) -> tuple[list[str], list[str]]:
        """What is said of each interface, and sentences of those that were left out. Skips if all were."""
        said: list[str] = []
        skipped: list[Skip] = []
        for name in names:
            try:
                said.append(work(name))
            except Skip as reason:
                skipped.append(reason)
        if not said and skipped:
            raise skipped[0]
        return said, [f"not tested: {reason}" for reason in skipped]

    def no_more_time(self, name: str) -> Skip:
        """--quick leaves an interface out."""
        return Skip(f"{name}: --quick has no more time for it")

    def may_disturb(self, what: str) -> None:
        """Skips what changes something if the user does not want it."""
        if not self.options.disturb:
            raise Skip(f"it {what}: run it without --no-disturb")

    @contextmanager
    def at_work(self, interface: str) -> Iterator[None]:
        """An interface that can send, up for as long as the context lasts."""
        was_up = ethtool.is_up(interface)
        if not was_up:
            self.may_disturb(f"sets {interface} up, which is down")
        with changes.interface_up(interface):
            if not system.until(lambda: has_carrier(interface), 0 if was_up else self.patience(LINK_SECONDS)):
                raise Skip(f"{interface} has no link, so nothing can be sent: see link.{port_of(interface)}")
            yield
