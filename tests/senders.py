# SPDX-License-Identifier: Apache-2.0
"""Functions of a host that always have something to send, on a card in lockstep; rates in the card's own time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from meridian_twin import CardProcess, Host, QueueSetting
from meridian_twin.control import Control
from meridian_twin.driver import Queues

PACED = QueueSetting(ring=513, paced=True)
PLAIN = QueueSetting(ring=513)
US = 10**6  # in ps
OVERHEAD = 24  # FCS, preamble and gap of a frame, in bytes


def mac(function: int) -> bytes:
    return bytes([2, 0, 0, 0, 1, function])


class World:
    """A card whose functions always have something to send."""

    STEP_PS = 40_000_000  # a ring does not run empty meanwhile

    def __init__(self, card: CardProcess) -> None:
        self.host = Host.connect(card.socket, lockstep=True, memory=128 << 20)
        self.sizes: dict[int, int] = {}  # of the frames, by function
        self.tags: dict[int, int] = {}  # control information (TCI) of their 802.1Q tag, of those that have one

    def start(self, setting: QueueSetting, functions: range, vf: QueueSetting | None = None, queues: int = 2) -> None:
        self.host.bring_up(2, setting=setting)
        for number, function in enumerate(functions):
            self.host.bring_up_vf(function, queues, 64 + queues * number, vf or setting)
            self.host.add_mac(mac(function), function)
        self.host.settle()

    def fill(self) -> None:
        for function, size in self.sizes.items():
            queues: Queues = self.host.functions[function] if function else self.host
            tag = b"\x81\x00" + self.tags[function].to_bytes(2, "big") if function in self.tags else b""
            frame = (mac(99) + mac(function) + tag + b"\x88\xb5").ljust(size, b"\x5a")
            for pair in queues.pairs:
                room = pair.h2c.room()
                for _ in range(room):
                    pair.h2c.post(frame)
                if room:
                    pair.h2c.ring()

    def run(self, ps: int) -> int:
        now = self.host.link.advance(0)
        end = now + ps
        while now < end:
            self.fill()
            now = self.host.link.advance(min(self.STEP_PS, end - now))
        return now

    def count(self, name: str) -> dict[int, int]:
        return {function: self.host.card.counters("FUNCTION", function)[name] for function in self.sizes}

    def rates(self, ps: int) -> dict[int, float]:
        """Mb/s of each function in that time."""
        began, before = self.host.link.advance(0), self.count("tx_bytes")
        self.run(ps)
        ended, after = self.host.link.advance(0), self.count("tx_bytes")
        return {f: (after[f] - before[f]) * 8e6 / (ended - began) for f in self.sizes}


@dataclass(frozen=True)
class Load:
    """A function that sends all it can: to which port, by how many queues, frames of how many bytes."""

    function: int
    port: int
    queues: int
    size: int
    paced: bool = True


class Ports(World):
    """A card whose functions send to several ports, measured at the wires. The card runs with --control."""

    STEP_PS = 10_000_000  # 512 of the smallest frames in one ring last longer

    def __init__(self, card: CardProcess, control: Path, loads: list[Load]) -> None:
        super().__init__(card)
        self.control = Control(control)
        ports = self.host.card.geometry.ports
        self.host.bring_up(1, ports=range(ports), setting=PLAIN)
        base = 64
        for load in loads:
            setting = PACED if load.paced else PLAIN
            self.host.card.set_function_port(load.function, load.port)
            self.host.bring_up_vf(load.function, load.queues, base, setting)
            self.host.add_mac(mac(load.function), load.function, load.port)
            base += load.queues
        self.host.settle()

    def close(self) -> None:
        self.control.close()
        self.host.close()

    def go(self, *loads: Load) -> None:
        """These send from now on; what was posted for others still goes out."""
        self.sizes = {load.function: load.size for load in loads}

    def beside(self, full: Load, other: Load) -> tuple[float, float, float]:
        """Gb/s on the lines of both ports at once, and before on that of `other` when nobody else sends."""
        alone = self.measure(other)[other.port]
        wires = self.measure(full, other)
        return wires[full.port], wires[other.port], alone

    def measure(self, *loads: Load) -> list[float]:
        """Gb/s on the line of each port, when these have been at it for a while.

        The longest frame takes 3 us of the line, and one of each port may count or not.
        """
        self.go(*loads)
        self.run(60 * US)
        return self.wires((400 if max(load.size for load in loads) > 2000 else 120) * US)

    def wires(self, ps: int) -> list[float]:
        """Gb/s on the line of each port in that time, preambles and gaps included."""
        before = self.control.ask("stats")
        began = self.host.link.advance(0)
        self.run(ps)
        after = self.control.ask("stats")
        ended = self.host.link.advance(0)
        return [
            8e3 * (self._cost(new["tx"]) - self._cost(old["tx"])) / (ended - began)
            for old, new in zip(before["ports"], after["ports"], strict=True)
        ]

    @staticmethod
    def _cost(counters: dict[str, int]) -> int:
        return counters["bytes"] + OVERHEAD * counters["frames"]


@contextmanager
def sending(program: Path, folder: Path, *loads: Load, ports: int = 2) -> Iterator[Ports]:
    """Runs a card of so many ports, whose wires nobody has. Its control socket is in the folder."""
    wires = [word for port in range(ports) for word in ("--wire", f"{port}=none")]
    control = folder / "control"
    options = ("--time", "lockstep", "--seed", "1", "--control", str(control), *wires)
    with CardProcess(program, *options) as card, closing(Ports(card, control, list(loads))) as world:
        yield world
