# SPDX-License-Identifier: Apache-2.0
"""The self-test program's checks of ports, of the ARM side's rings, of its clock, and of the self-test block."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import pytest
from fake_system import FakeSystem
from meridian_selftest import arm, block, changes, clock, ethtool, ports, system
from meridian_selftest.card import ArmCard, Function
from meridian_selftest.context import Context, Options
from meridian_selftest.dump import PARTS, VERSION, Dump
from meridian_selftest.registers import Registers
from meridian_selftest.result import FAIL, PASS, SKIP, Fail, Skip

ARM = "a0000000.ethernet"


def dumped(monkeypatch: pytest.MonkeyPatch, **words: int) -> None:
    """Interfaces have this dump: NAME of a register without its page, as ident__GEOMETRY, or a word of a part."""
    registers = Registers()
    parts = {name: [0] * count for name, count in PARTS.items()}
    for name, value in words.items():
        part, _, register = name.partition("__")
        at = int(register) if register.isdigit() else registers[f"{part}_{register}".upper()] // 4
        parts[part][at] = value
    dump = Dump(registers, VERSION, [word for part in parts.values() for word in part])
    monkeypatch.setattr(Context, "dump", lambda self, interface="": dump)


def value(field: str, number: int) -> int:
    """A word whose field has that number."""
    registers = Registers()
    return next(number << shift for shift in range(32) if registers.field(field, number << shift) == number)


def interface(fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, name: str = "eth0", **files: str) -> Context:
    """A card whose PF has it."""
    fake.card()
    monkeypatch.setattr(Function, "interface", property(lambda _: name))
    (folder := system.NET / name).mkdir()
    for file, text in ({"dev_port": "0", "carrier": "1"} | files).items():
        (folder / file).write_text(f"{text}\n")
    return fake.context()


def of_arm(*names: str, **options: object) -> Context:
    return Context(ArmCard(ARM, list(names)), Options(**options), Registers())  # type: ignore[arg-type]


# Ports


UP = {"host_port__1": value("HOST_PORT_STATE_LINK_UP", 1), "port__0": value("PORT_LINK_STATUS_GIGABITS", 25)}
ONE_PORT = {"ident__GEOMETRY": value("IDENT_GEOMETRY_PORTS", 1)}


def test_a_link_passes_with_an_interface_and_without(fake: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    context = interface(fake, monkeypatch)
    dumped(monkeypatch, **ONE_PORT, **UP)
    (line,) = ports.host_links(context)
    assert (line.name, line.result) == ("link.0", PASS) and line.text.startswith("port 0 has a link, 25 Gb/s (eth0)")
    monkeypatch.setattr(Function, "interface", property(lambda _: ""))
    (line,) = ports.host_links(context)
    assert line.text.startswith("port 0 has a link, no PF is bound to it (no interface)")


def test_a_port_without_a_link_fails_and_may_be_left_out(fake: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.card()
    dumped(monkeypatch, **ONE_PORT)
    (line,) = ports.host_links(fake.context())
    assert line.result == FAIL and line.text.startswith("port 0 has no link. Plug in a cable")
    (line,) = ports.host_links(fake.context(ports=frozenset({1})))
    assert (line.result, line.text) == (SKIP, "--ports leaves it out")


@pytest.mark.parametrize(
    ("resets", "said"),
    [(2, "its receiver finds no signal (2 resets in a second)"), (0, "its receiver is locked, the MAC is not aligned")],
)
def test_a_port_without_a_link_says_what_its_receiver_finds(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, resets: int, said: str
) -> None:
    context = interface(fake, monkeypatch)
    counts = iter([7, 7 + resets])
    looked = SimpleNamespace(ports=1, link_up=lambda _: False)
    monkeypatch.setattr(
        Context, "dump", lambda _, name="": SimpleNamespace(receiver_resets=next(counts)) if name else looked
    )
    monkeypatch.setattr(ports.time, "sleep", lambda seconds: None)
    (line,) = ports.host_links(context)
    assert line.result == FAIL and said in line.text


def test_links_seen_from_the_arm_side_pass_fail_or_are_skipped(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, carrier in enumerate("101"):
        (folder := system.NET / f"port{number}").mkdir(parents=True)
        for file, text in {"dev_port": str(number), "carrier": carrier, "speed": "25000"}.items():
            (folder / file).write_text(text)
    monkeypatch.setattr(ethtool, "is_up", lambda name: name != "port2")
    monkeypatch.setattr(ethtool, "driver", lambda name: ("meridian_ps", "", ""))
    monkeypatch.setattr(system, "until", lambda holds, *_: holds())
    lines = ports.arm_links(of_arm("port2", "port1", "port0"))
    assert [(line.name, line.result) for line in lines] == [("link.0", PASS), ("link.1", FAIL), ("link.2", SKIP)]
    assert lines[0].text.startswith("port0 has a link, 25000 Mb/s") and "ip link set port2 up" in lines[2].text
    with pytest.raises(Skip, match="modprobe meridian_ps"):
        ports.arm_links(of_arm())


# Rings of the ARM side

RUNS = {f"ps_ring__{side}_STATUS": value(f"PS_RING_{side}_STATUS_RUNNING", 1) for side in ("RX", "TX")}


def test_rings_that_stopped_fail_on_the_host_with_their_error(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = interface(fake, monkeypatch)
    dumped(monkeypatch, **RUNS)
    assert arm.host_rings(context) == "the ARM side's rings run on the port(s) of eth0"
    dumped(monkeypatch)
    with pytest.raises(Skip, match="no ring of the ARM side runs"):
        arm.host_rings(context)
    for error, said in arm.ERRORS.items():
        dumped(monkeypatch, **RUNS | {"ps_ring__TX_STATUS": value("PS_RING_TX_STATUS_ERROR", error)})
        with pytest.raises(Fail, match=f"the ARM side's TX ring of the port of eth0 has stopped: {said}"):
            arm.host_rings(context)


def test_rings_with_errors_fail_on_the_arm_side(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"card_rx_frames": 5, "card_tx_frames": 6, **dict.fromkeys(arm.FAULTS, 0)}
    monkeypatch.setattr(ethtool, "statistics", lambda name: counts)
    monkeypatch.setattr(ethtool, "is_up", lambda name: name == "port0")
    assert arm.arm_rings(of_arm("port0", "port1")) == "rings without an error: port0 5 in, 6 out"
    with pytest.raises(Skip, match="no interface of the card is up here"):
        arm.arm_rings(of_arm("port1"))
    counts["restarts_failed"] = 2
    with pytest.raises(Fail, match="port1 counts errors: restarts_failed 2"):
        arm.arm_rings(of_arm("port1"))


# The clock


def with_clock(fake: FakeSystem, name: str = "ptp7") -> None:
    (fake.root / f"sys/bus/platform/devices/{ARM}/ptp/{name}").mkdir(parents=True)
    (fake.root / "dev").mkdir()
    (fake.root / "dev" / name).touch()


@pytest.mark.parametrize(
    ("gained", "verdict", "said"),
    [
        (10**9 + 50_000, None, "ptp7 runs +50.0 ppm against this machine over 1 s, at most 204 ppm"),
        (0, Fail, "ptp7 stands still. The logic's clock is missing"),
        (10**9 + 500_000, Fail, "ptp7 runs +500.0 ppm against this machine over 1 s, more than 204 ppm"),
    ],
    ids=["right", "still", "too fast"],
)
def test_a_clock_that_stands_still_or_drifts_too_far_fails(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, gained: int, verdict: type[Exception] | None, said: str
) -> None:
    with_clock(fake)
    pairs = iter([(0, 500), (10**9, 500 + gained)])
    monkeypatch.setattr(clock, "pair", lambda handle: next(pairs))
    monkeypatch.setattr(clock.time, "sleep", lambda seconds: None)
    with pytest.raises(verdict, match=re.escape(said)) if verdict else nullcontext():
        assert clock.drift(of_arm(seconds=1)) == said


AGAINST_MACS = "; the MACs' clocks against it, in ppm: "
FAST = 390_625_000
#: Cycles in the second that is counted.
WELL = {"tx": FAST + 20_000, "rx": FAST - 15_625}


def counts_of(second: int, cycles: dict[str, int], step_ns: int = 0, **others: int) -> dict[str, int]:
    """What the driver tells at the begin and at the end of the second, in which counters and seconds wrap."""
    seconds, nanoseconds = divmod(second * 10**9 + 999_999_990 + step_ns * second, 10**9)
    clocks = {f"port_{name}_clock": (second * count + 2**32 - 7) % 2**32 for name, count in cycles.items()}
    times = {"port_clock_seconds": (2**32 - 1 + seconds) % 2**32, "port_clock_nanoseconds": nanoseconds}
    still = dict.fromkeys((f"port_{name}_clock_still" for name in cycles), 0)
    return {**clocks, **still, **times, "port_clock_unknown": 0} | others


def tells(monkeypatch: pytest.MonkeyPatch, *answers: dict[str, int] | Exception) -> None:
    """The driver's statistics, one reading after the other."""
    left = iter(answers)

    def statistics(_: str) -> dict[str, int]:
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(ethtool, "statistics", statistics)


def with_port(fake: FakeSystem, **files: str) -> None:
    (folder := fake.root / "sys/class/net/port0").mkdir()
    for name, text in files.items():
        (folder / name).write_text(f"{text}\n")


def measured(monkeypatch: pytest.MonkeyPatch, step_ns: int = 0, is_counted: bool = True) -> Context:
    """10 s. In the last of them the MACs' clocks are counted, and the clock is stepped by so much."""
    middle = [(9 * 10**9, 9 * 10**9 + 500)] if is_counted else []
    times = iter([(0, 500), *middle, (10**10, 10**10 + 500 + step_ns)])
    monkeypatch.setattr(clock, "pair", lambda handle: next(times))
    monkeypatch.setattr(clock.time, "sleep", lambda seconds: None)
    return of_arm("port0", seconds=10)


RUNS_WELL = "ptp7 runs +0.0 ppm against this machine over 10 s, at most 200 ppm"


@pytest.mark.parametrize(
    ("cycles", "end", "carrier", "speed", "verdict", "said"),
    [
        (WELL, {}, "1", "25000", None, AGAINST_MACS + "port0 transmit +51.2, port0 receive -40.0"),
        (WELL, {"port_rx_clock_still": 1}, "0", "-1", None, AGAINST_MACS + "port0 transmit +51.2"),
        ({"tx": 156_250_000, "rx": 5}, {}, "0", "-1", None, AGAINST_MACS + "port0 transmit +0.0"),
        (WELL, {"port_tx_clock_still": 1}, "0", "-1", Fail, "the transmit clock of port0 stands still. See 'Clocks'"),
        (WELL, {"port_rx_clock_still": 1}, "1", "25000", Fail, "the receive clock of port0 stands still"),
        (
            WELL | {"tx": FAST - 100_000},
            {},
            "1",
            "25000",
            Fail,
            "the transmit clock of port0 runs -256.0 ppm against ptp7, more than 200 ppm. See 'Clocks'",
        ),
        (WELL | {"rx": FAST + 80_000}, {}, "1", "25000", Fail, "the receive clock of port0 runs +204.8 ppm against"),
        (WELL, {}, "1", "10000", Fail, "the transmit clock of port0 runs +1500128.0 ppm"),
        (WELL, {"port_clock_unknown": 1}, "1", "25000", Fail, "the clocks of port0 have counted. If a program"),
    ],
    ids=[
        "well",
        "a receiver without a link",
        "10 Gb/s",
        "a transmit clock that stands still",
        "a receive clock that stands still",
        "slow",
        "fast",
        "of another rate",
        "no latch",
    ],
)
def test_the_ptp_clock_is_compared_with_the_clocks_of_the_macs(
    fake: FakeSystem,
    monkeypatch: pytest.MonkeyPatch,
    cycles: dict[str, int],
    end: dict[str, int],
    carrier: str,
    speed: str,
    verdict: type[Exception] | None,
    said: str,
) -> None:
    with_clock(fake)
    with_port(fake, carrier=carrier, speed=speed)
    tells(monkeypatch, *[counts_of(0, cycles)] * 2, counts_of(1, cycles, **end))
    with pytest.raises(verdict, match=re.escape(said)) if verdict else nullcontext():
        assert clock.drift(measured(monkeypatch)) == RUNS_WELL + said


@pytest.mark.parametrize("step_ns", [300_000, -300_000])
def test_a_step_of_the_clock_says_nothing_against_those_of_the_macs(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, step_ns: int
) -> None:
    with_clock(fake)
    with_port(fake, carrier="1", speed="25000")
    tells(monkeypatch, *[counts_of(0, WELL)] * 2, counts_of(1, WELL, step_ns))
    ppm = step_ns / 1000
    assert clock.drift(measured(monkeypatch, step_ns)) == (
        f"ptp7 runs {ppm / 10:+.1f} ppm against this machine over 10 s, at most 200 ppm; not compared with the MACs' "
        f"clocks: ptp7 was set or steered while they were counted ({ppm:+.1f} ppm, before +0.0 ppm)"
    )


def test_the_clocks_of_the_macs_are_left_out_if_nobody_tells_them(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older driver or bitstream; an interface that is detached at the begin, or while they are counted."""
    with_clock(fake)
    with_port(fake, carrier="1", speed="25000")
    gone, well = ethtool.Detached("port0"), counts_of(0, WELL)
    for answers in ([{"rx_no_memory": 0}], [gone], [well, gone, gone], [well, well, gone]):
        tells(monkeypatch, *answers)
        assert clock.drift(measured(monkeypatch, is_counted=len(answers) > 1)) == RUNS_WELL


def test_a_missing_clock_fails_and_a_missing_source_of_pulses_skips(fake: FakeSystem) -> None:
    with pytest.raises(Fail, match="the card's driver has no PTP clock"):
        clock.drift(of_arm())
    with_clock(fake)
    with pytest.raises(Skip, match="the kernel has no source of pulses for ptp7"):
        clock.pulse(of_arm())


def test_a_pulse_that_never_comes_is_told_and_switched_off(fake: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    with_clock(fake)
    (source := fake.root / "sys/class/pps/pps3").mkdir(parents=True)
    (source / "name").write_text("ptp7\n")
    (source / "assert").write_text("0\n")
    switched = []
    monkeypatch.setattr(clock.fcntl, "ioctl", lambda *words: switched.append(words[2]))
    monkeypatch.setattr(system, "until", lambda holds, *_: holds())
    with pytest.raises(Skip, match="it switches the pulse of ptp7 on: run it without --no-disturb"):
        clock.pulse(of_arm(disturb=False))
    with pytest.raises(Fail, match="no pulse of ptp7 comes in 3 s"):
        clock.pulse(of_arm())
    assert switched == [1, 0]


# The self-test block

GOOD = "4096 bytes in 9 frames of 60 to 1514 bytes went each way through 2 queues in 40 ms, all good"
ROUND = "3000 bytes in 7 frames of 60 to 9596 bytes went round port 0 (near-pcs, near-pma) in 20 ms, all good"
HAS_BLOCK = {"ident__CAPABILITIES": block.CAPABILITY}


@pytest.fixture
def tested(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the kernel's log has of each test, by what the sentence begins with."""
    said = {"": GOOD, "port loops: ": ROUND}

    @contextmanager
    def log() -> Iterator[Callable[[], str]]:
        yield lambda: "".join(f" eth0: self-test: {of}{text}\n" for of, text in said.items() if text)

    monkeypatch.setattr(ethtool, "self_test", lambda name, flags=0: {"dma_pattern": 0, "port_loops": 0})
    monkeypatch.setattr(system, "kernel_log", log)
    monkeypatch.setattr(changes, "interface_up", lambda name: nullcontext())
    return said


def test_pattern_and_loops_of_a_card_pass_with_what_the_log_has(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, tested: dict[str, str]
) -> None:
    context = interface(fake, monkeypatch)
    dumped(monkeypatch, **HAS_BLOCK, **ONE_PORT)
    assert block.pattern(context) == (
        "a pattern went each way without an error: eth0 4096 bytes in 9 frames through 2 queue(s) in 40 ms"
    )
    assert block.loops(context) == (
        "frames went round without an error: port 0 60000 bytes in 140 frames of 60 to 9596 bytes (near-pcs, near-pma) "
        "in 400 ms"
    )
    tested.clear()  # the log was full
    assert block.pattern(context).endswith("eth0 good ('dmesg' has how much)")
    assert block.loops(context).endswith("port 0 good ('dmesg' has how much)")


@pytest.mark.parametrize(
    ("quick", "asked"),
    [(True, [ethtool.TEST_OFFLINE | ethtool.TEST_EXTERNAL]), (False, [ethtool.TEST_OFFLINE] + block.ROUNDS * [5])],
    ids=["quick", "whole"],
)
def test_quick_runs_the_driver_s_tests_once_for_both_lines(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, tested: dict[str, str], quick: bool, asked: list[int]
) -> None:
    """As the loops want them, here of a port with a loop plug; an error of one is not the other's."""
    interface(fake, monkeypatch)
    dumped(monkeypatch, **HAS_BLOCK, **ONE_PORT)
    flags = []

    def self_test(name: str, wanted: int = 0) -> dict[str, int]:
        flags.append(wanted)
        return {"dma_pattern": 5, "port_loops": 0}

    monkeypatch.setattr(ethtool, "self_test", self_test)
    tested |= {"": "1 of 9 frames was lost: look", "port loops: ": ROUND.replace("pma)", "pma, external)")}
    context = fake.context(quick=quick, loop_plugs=frozenset({0}))
    with pytest.raises(Fail, match="eth0: 1 of 9 frames was lost. Look"):
        block.pattern(context)
    assert "near-pma, external" in block.loops(context)
    assert flags == asked


def test_the_block_is_left_alone_by_who_does_not_want_to_be_disturbed(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, tested: dict[str, str]
) -> None:
    interface(fake, monkeypatch)
    dumped(monkeypatch, **HAS_BLOCK, **ONE_PORT)
    for check in (block.pattern, block.loops):
        with pytest.raises(Skip, match="run it without --no-disturb"):
            check(fake.context(disturb=False))
    with pytest.raises(Skip, match="run it without --no-disturb"):
        block.arm_loops(of_arm("port0", disturb=False))
    with pytest.raises(Skip, match="modprobe meridian_ps"):
        block.arm_loops(of_arm())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"loop_plugs": frozenset({3})}, "--loop-plugs or --cables names port 3, and the card's last port is 1"),
        ({"cables": ((0, 5),)}, "names port 5, and the card's last port is 1"),
    ],
)
def test_ports_that_the_card_does_not_have_fail(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, options: dict[str, object], said: str
) -> None:
    interface(fake, monkeypatch)
    dumped(monkeypatch, **HAS_BLOCK, ident__GEOMETRY=value("IDENT_GEOMETRY_PORTS", 2))
    with pytest.raises(Fail, match=re.escape(said)):
        block.loops(fake.context(**options))


def test_a_cable_without_an_interface_at_either_end_fails(fake: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    interface(fake, monkeypatch)
    dumped(monkeypatch, **HAS_BLOCK, ident__GEOMETRY=value("IDENT_GEOMETRY_PORTS", 4))
    with pytest.raises(Fail, match="neither port 2 nor port 3 has an interface here. Bind a PF of one of them"):
        block.loops(fake.context(cables=((2, 3),)))
