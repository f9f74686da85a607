# SPDX-License-Identifier: Apache-2.0
"""--quick ends within ten seconds on a card that is well, by the sum of what its checks and the driver's tests wait for."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_system import FakeSystem
from meridian_selftest import block, changes, clock, ethtool, system, traffic, vf
from meridian_selftest.card import ArmCard, Function
from meridian_selftest.checks import CHECKS
from meridian_selftest.context import Context, Options
from meridian_selftest.main import run
from meridian_selftest.registers import Registers
from meridian_selftest.result import PASS, Line

DRIVER = Path(__file__).resolve().parents[2] / "host-driver"
TEN_SECONDS = 10
#: Of the checks that wait for nothing, and of the program's start.
REST = 0.4
PROCESSORS, VECTORS, PFS = 64, 7, 4
#: Until an interrupt is seen, with a look at /proc/interrupts before.
INTERRUPT = 0.02
#: A receiver has its link again after a loopback has changed, which it does three times.
RELOCK, CHANGES = 0.1, 3
#: Linux waits so long when it makes a VF, resets and ends it (drivers/pci/iov.c and pci.c); the rest of its life.
VF_WAITS, VF_REST = 0.1 + 0.1 + 1.0, 0.3
#: Preamble, FCS and gap of a frame.
AROUND = 24


def constant(file: str, name: str) -> float:
    """Of the driver."""
    (value,) = re.findall(rf"#define {name}\s+(\d+)", (DRIVER / file).read_text())
    return float(value)


def loop_seconds(gigabits: int) -> float:
    """Of one loop: batches grow, and the one in which the time is over is the last."""
    names = ("RUN_MSECS", "BATCH_FIRST", "BATCH_MOST", "BATCH_LEAST_MSECS")
    least, batch, most, long = (constant("include/meridian_port_run.h", f"MERIDIAN_PORT_{name}") for name in names)
    milliseconds = 0.0
    while milliseconds < least:
        taken = batch * 8 * ((60 + 9596) / 2 + AROUND) / (1e6 * gigabits)
        milliseconds += taken
        if taken < long:
            batch = min(4 * batch, most)
    return milliseconds / 1000


class Clock:
    """Time that passes only where somebody waits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self.wait)

    def wait(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def drive(monkeypatch: pytest.MonkeyPatch, waits: Clock, seconds: float) -> None:
    """They last so long and find nothing."""
    tested = [""]
    good = (
        "4096 bytes in 9 frames of 60 to 1514 bytes went each way through 2 queues in 40 ms, all good",
        "port loops: 3000 bytes in 7 frames of 60 to 9596 bytes went round port 0 (near-pcs, near-pma) in 20 ms, all good",
    )

    def self_test(interface: str, flags: int = 0) -> dict[str, int]:
        if flags & ethtool.TEST_OFFLINE:
            waits.wait(seconds)
        tested[0] = interface
        return {"dma_pattern": 0, "port_loops": 0}

    @contextmanager
    def log() -> Iterator[Callable[[], str]]:
        yield lambda: "".join(f" {tested[0]}: self-test: {text}\n" for text in good)

    monkeypatch.setattr(ethtool, "self_test", self_test)
    monkeypatch.setattr(system, "kernel_log", log)
    monkeypatch.setattr(changes, "interface_up", lambda _: nullcontext())


def interfaces(fake: FakeSystem, names: list[str], ports: int) -> None:
    """Each has a link, and queues that share vectors."""
    lines = []
    for number, name in enumerate(names):
        place = fake.root / "sys/class/net" / name
        for queue in range(PROCESSORS):
            (place / f"queues/tx-{queue}").mkdir(parents=True)
            (place / f"queues/tx-{queue}/xps_cpus").write_text("1\n")
        (place / "carrier").write_text("1\n")
        (place / "dev_port").write_text(f"{number % ports}\n")
        lines += [f"{number}{vector}: 0 PCI-MSIX 0-edge {name}-shared-{vector}\n" for vector in range(VECTORS)]
    (fake.root / "proc/interrupts").write_text("".join(lines))


def lines_of(context: Context, *names: str) -> dict[str, Line]:
    lines = run(context, [check for check in CHECKS if check.name in names], tell=False)
    assert {line.result for line in lines} == {PASS}, lines
    return {line.name: line for line in lines}


def host(fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, waits: Clock, ports: int) -> None:
    """A card with four PFs, whose VFs take as long as Linux and the program make them."""
    for number in range(PFS):
        place = fake.card(f"0000:3b:00.{number}", f"0x9{number}3f")
        (place / "sriov_totalvfs").write_text("3\n")
        (place / "sriov_numvfs").write_text("0\n")
    interfaces(fake, [f"eth{number}" for number in range(PFS)], ports)
    dump = SimpleNamespace(ports=ports, word=lambda _: block.CAPABILITY)

    def fires(*_: object) -> bool:
        waits.wait(INTERRUPT)
        return True

    def life(_: Context, pf: Function) -> str:
        waits.wait(VF_WAITS + vf.LOOKS * vf.LOOK_SECONDS + 2 * vf.QUICK_LOAD_SECONDS + VF_REST)
        return f"VF 0 of {pf.interface} was back"

    monkeypatch.setattr(Context, "dump", lambda *_: dump)
    monkeypatch.setattr(Function, "interface", property(lambda pf: f"eth{pf.address[-1]}"))
    monkeypatch.setattr(ethtool, "is_up", lambda _: True)
    monkeypatch.setattr(traffic, "_fires", fires)
    monkeypatch.setattr(vf, "_with_a_vf", life)


@pytest.mark.parametrize(("ports", "gigabits"), [(4, 25), (2, 10)], ids=["four ports", "two ports"])
def test_quick_takes_less_than_ten_seconds_on_a_host(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, waits: Clock, ports: int, gigabits: int
) -> None:
    """However long the pattern takes; if that is more than 0.3 s, the last interfaces are left out, and the lines say so."""
    host(fake, monkeypatch, waits, ports)
    most = constant("linux/selftest/meridian_pattern.c", "PATTERN_MSECS") / 1000
    loops = 2 * loop_seconds(gigabits) + CHANGES * RELOCK
    for hundredths in range(5, 10 + int(100 * most), 5):
        drive(monkeypatch, waits, hundredths / 100 + loops)
        start = waits.now
        lines = lines_of(fake.context(quick=True), "interrupts", "vf", "dma-pattern", "port-loops")
        assert waits.now - start < TEN_SECONDS - REST, hundredths
        is_late = hundredths > 35
        assert ("--quick has no more time for it" in lines["dma-pattern"].text) == is_late, hundredths
        assert ("--quick has no more time for it" in lines["port-loops"].text) == (is_late and ports > 2), hundredths
        assert "VF 0 of eth0 was back; not tested: eth1: --quick has no more time for it" in lines["vf"].text
        vectors = ", ".join(f"eth{number} {VECTORS} of {VECTORS}" for number in range(PFS))
        assert lines["interrupts"].text.endswith(vectors)


def test_without_quick_nothing_is_left_out(fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, waits: Clock) -> None:
    host(fake, monkeypatch, waits, PFS)
    drive(monkeypatch, waits, 2)
    context = fake.context(quick=False)
    lines = lines_of(context, "interrupts", "vf", "dma-pattern", "port-loops")
    assert "not tested" not in "".join(line.text for line in lines.values())
    assert waits.now > PFS * (1 + block.ROUNDS) * 2 + PFS * PROCESSORS * INTERRUPT


def test_frames_go_round_each_port_for_ten_seconds() -> None:
    """With two loops in each round."""
    assert block.ROUNDS * 2 * constant("include/meridian_port_run.h", "MERIDIAN_PORT_RUN_MSECS") == 10_000


def test_quick_takes_less_than_ten_seconds_on_the_arm_side(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, waits: Clock
) -> None:
    """Whose clock has its pulse off."""
    names = [f"port{number}" for number in range(4)]
    interfaces(fake, names, len(names))
    drive(monkeypatch, waits, 2 * loop_seconds(25) + CHANGES * RELOCK)
    on: list[float] = []

    def statistics(_: str) -> dict[str, int]:
        """The clocks of the MACs."""
        seconds, nanoseconds = divmod(round(1e9 * waits.now), 10**9)
        cycles, names = round(390_625_000 * waits.now), ("port_rx_clock", "port_tx_clock")
        clocks = dict.fromkeys(names, cycles) | {f"{name}_still": 0 for name in names}
        times = {"port_clock_seconds": seconds, "port_clock_nanoseconds": nanoseconds, "port_clock_unknown": 0}
        return clocks | times

    monkeypatch.setattr(ethtool, "statistics", statistics)
    monkeypatch.setattr(ethtool, "is_up", lambda _: False)
    monkeypatch.setattr(clock, "_clock", lambda _: "ptp0")
    monkeypatch.setattr(clock, "_pulses", lambda _: fake.root / "assert")
    monkeypatch.setattr(clock, "_opened", lambda _: nullcontext(0))
    monkeypatch.setattr(clock, "pair", lambda _: 2 * (round(1e9 * waits.now),))
    monkeypatch.setattr(clock.fcntl, "ioctl", lambda *_: on.append(waits.now))
    read = system.read
    monkeypatch.setattr(
        system,
        "read",
        lambda path, otherwise="": (
            str(int(bool(on) and waits.now >= on[0] + 1)) if path.name == "assert" else read(path, otherwise)
        ),
    )
    context = Context(ArmCard("a0000000.ethernet", names), Options(quick=True), Registers())
    lines = lines_of(context, "phc", "pps", "port-loops")
    assert waits.now < TEN_SECONDS - REST
    assert lines["phc"].text.count("transmit +0.0") == len(names)
    assert lines["port-loops"].text.count("port ") == len(names) and "not tested" not in lines["port-loops"].text
