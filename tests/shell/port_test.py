# SPDX-License-Identifier: Apache-2.0
"""The self-test of a port at the MAC's side, driven by its registers, and the wire outside that brings its frames back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from bench import Bench
from conftest import Start
from meridian_card import Shell
from test_isolation import BOB, PS, WIRE, frame

TYPE = b"\x88\xb5"
Wire = Callable[[int, bytes], Iterable[tuple[bytes, bool]]]
STATES = ("idle", "starting", "running", "waiting", "ending", "armed")


def straight(_: int, frame: bytes) -> Iterator[tuple[bytes, bool]]:
    """A wire that loses nothing: the frame, and whether its FCS is wrong."""
    yield frame, False


def self_test_bench(start: Start) -> Bench:
    """Of two ports. Function 0 gets what is sent to Bob and may send anything by port 0; the PS has an address on each."""
    bench = Bench(start(configuration=("--ports", "2", "--self-test", "true")), ring_log2=10)
    for port in range(2):
        bench.enable_host(port, True, True)
        bench.set_ps_filter(port, True, False, False, False)
        bench.add_ps_address(port, PS)
        bench.ps[port].start()
    bench.set_flags(0, False, False, False, trusted=True)
    bench.set_queues(0, 0, 1)
    bench.add_address(0, BOB, None, 0)
    bench.shell.set_buffer_size(0, 2048)
    bench.shell.post(0, 60_000, 2048)
    bench.step(5000)
    return bench


def other(destination: bytes, number: int, size: int = 200, source: bytes = WIRE) -> bytes:
    """A frame that is none of a test."""
    data = frame(destination, number, size, source)
    return data[:12] + b"\x88\xb6" + data[14:]


@dataclass
class PortTest:
    """One port's test; bus: who drives it, the PS or a PF."""

    shell: Shell
    port: int = 0
    bus: str = "ps"

    def _at(self, register: str) -> int:
        place = self.shell.regs.ps_address if self.bus == "ps" else self.shell.regs.address
        return place("PORT_TEST", register, self.port)

    def write(self, register: str, value: int) -> None:
        self.shell.write(self._at(register), value, bus=self.bus)

    def read(self, register: str) -> int:
        return self.shell.read(self._at(register), bus=self.bus)

    def start(
        self, size: int = 60, frames: int = 0, interval: int = 0, label: int = 0x77, patience: int = 50,
        generate: bool = True, check: bool = True, force: bool = False, delay: bool = False, rate: int = 0, burst: int = 0,
    ) -> None:  # fmt: skip
        self.write("SIZE", size | size << 16)
        self.write("SIZE_STEP", 0)
        self.write("INTERVAL", interval)
        self.write("RATE", rate)
        self.write("BURST", burst)
        self.write("FRAMES", frames)
        self.write("RUN", label | patience << 16)
        self.write("DESTINATION_LOW", 0x0000_0F02)
        self.write("DESTINATION_HIGH", 0xFF0F)
        self.write("MODE", generate | check << 1 | force << 2 | delay << 3)
        self.write("COMMAND", 1)

    def stop(self) -> None:
        self.write("COMMAND", 2)

    def off(self) -> None:
        self.write("COMMAND", 4)

    @property
    def state(self) -> str:
        return STATES[self.read("STATUS") & 7]

    def _named(self, kind: str, shift: int) -> str:
        return self.shell.regs.value_names(kind)[self.read("STATUS") >> shift & 0xFF]

    @property
    def refusal(self) -> str:
        return self._named("PORT_TEST_REFUSAL", 8)

    @property
    def end(self) -> str:
        return self._named("PORT_TEST_END", 16)

    def counts(self) -> dict[str, int]:
        """All counters that are not 0, without those of latency."""
        values = {
            name: self.shell.read64(self._at(f"COUNTER_{name.upper()}"), self.bus)
            for name in self.shell.regs.counters("PORT_TEST")
        }
        return {name: value for name, value in values.items() if value and name not in ("timed", "latency_sum")}


class Loop:
    """Brings test frames back to the ports that `way` says, through `wire`; all that comes out stays in bench.seen."""

    def __init__(self, bench: Bench, wire: Wire = straight, way: dict[int, int] | None = None) -> None:
        self.bench = bench
        self.wire = wire
        self.way = way or {port: port for port in bench.seen.wire}
        self._taken = dict.fromkeys(bench.seen.wire, 0)

    def step(self, ns: int) -> None:
        self.bench.step(ns)
        for port, events in self.bench.seen.wire.items():
            for number in range(self._taken[port], len(events)):
                frame = bytes.fromhex(events[number]["hex"])
                if frame[12:14] == TYPE and port in self.way:
                    for back, bad in self.wire(number, frame):
                        self.bench.shell.rx(back, self.way[port], bad)
            self._taken[port] = len(events)

    def until_idle(self, *tests: PortTest, ns: int = 20_000, rounds: int = 200) -> None:
        for _ in range(rounds):
            self.step(ns)
            if all(test.state == "idle" for test in tests):
                return
        raise AssertionError(f"the tests do not end: {[(test.state, test.counts()) for test in tests]}")


def of_test(bench: Bench, port: int = 0) -> list[dict]:
    """Test frames that left by a port."""
    return [event for event in bench.seen.wire[port] if bytes.fromhex(event["hex"])[12:14] == TYPE]
