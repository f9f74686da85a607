# SPDX-License-Identifier: Apache-2.0
"""What the self-test program reads beside PCIe: interrupts, masks, boards, registers, sensors."""

from __future__ import annotations

import ast
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_system import FakeSystem
from meridian_selftest import block, boards, changes, clock, ethtool, frames, identity, ports, report, sensors, system
from meridian_selftest.card import ArmCard, Function
from meridian_selftest.checks import CHECKS
from meridian_selftest.context import Context, Options
from meridian_selftest.dump import PARTS, VERSION, Dump
from meridian_selftest.main import run
from meridian_selftest.registers import Registers
from meridian_selftest.result import FAIL, PASS, SKIP, Fail, Skip
from meridian_selftest.traffic import interrupts_of, of_messages

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "host-driver/tools"
DIAGNOSIS = ROOT / "host-driver/linux/netdev/meridian_diag.c"
INTERRUPTS = """           CPU0       CPU1
  0:         39          0  IO-APIC   2-edge      timer
 25:          3          4  PCI-MSIX-0000:01:00.0   0-edge      meridian
 26:         10          2  PCI-MSIX-0000:01:00.0   1-edge      eth1-0
 27:          0          7  PCI-MSIX-0000:01:00.0   2-edge      eth1-1
 28:          0          9  PCI-MSIX-0000:01:00.1   1-edge      eth10-0
NMI:          0          0   Non-maskable interrupts
"""


def test_interrupts_of_an_interface_are_summed_for_each_queue() -> None:
    assert interrupts_of("eth1", INTERRUPTS) == {0: 12, 1: 7}
    assert interrupts_of("eth1", INTERRUPTS.replace("eth1-", "eth1-shared-")) == {0: 12, 1: 7}
    assert interrupts_of("eth2", INTERRUPTS) == {}


def test_interrupts_of_a_function_are_told_from_those_of_its_queues(fake: FakeSystem) -> None:
    """Each PF has one, and the driver calls all of them the same."""
    other = "30: 8 8 PCI-MSIX-0000:01:00.1 0-edge meridian\n"
    (fake.root / "proc/interrupts").write_text(INTERRUPTS + other)
    for address, numbers, count in (("0000:01:00.0", (25, 26, 27), 7), ("0000:01:00.1", (28, 30), 16)):
        folder = fake.card(address) / "msi_irqs"
        assert of_messages(Function(folder.parent)) is None
        folder.mkdir()
        for number in numbers:
            (folder / str(number)).write_text("msix\n")
        assert of_messages(Function(folder.parent)) == count


def test_a_mask_of_processors_is_read_as_their_numbers() -> None:
    assert frames.processors("00000001,00000005") == {0, 2, 32}
    assert frames.processors("") == set()


def test_boards_are_those_of_the_builds() -> None:
    found = boards.all_boards()
    assert set(found) == {path.parent.name for path in (ROOT / "vivado/boards").glob("*/board.tcl")}
    assert found["zcu106"] == boards.Board(ports=2, line_rate=10, host_bytes=32, host_mhz=125, generation=3, lanes=4)


def test_the_speed_of_each_generation_is_that_of_the_builds() -> None:
    (words,) = re.findall(r"variable speeds \{(.*)\}", (ROOT / "vivado/tcl/board.tcl").read_text())
    numbers = list(map(float, words.split()))
    assert boards.SPEEDS == dict(zip(map(int, numbers[::2]), numbers[1::2], strict=True))


def test_the_map_is_that_of_the_drivers() -> None:
    registers = Registers()
    assert registers["MAGIC"] == 0x4D52444E
    assert registers.field("IDENT_VERSION_MAJOR", 0x00010008) == 1


def test_the_dump_is_that_of_the_driver() -> None:
    """Words of the driver's table, and its version."""
    text = DIAGNOSIS.read_text()
    assert sum(map(int, re.findall(r"\.words = (\d+)", text))) == sum(PARTS.values())
    assert int(re.findall(r"#define DUMP_VERSION\s+(\d+)", text)[0]) == VERSION


def test_a_dump_that_is_not_known_is_skipped() -> None:
    with pytest.raises(Skip, match="take driver and meridian-tools of one version"):
        Dump(Registers(), VERSION - 1, [0] * sum(PARTS.values()))


def test_a_card_whose_registers_are_all_ones_does_not_answer() -> None:
    """It has neither ports nor links."""
    with pytest.raises(Fail, match="the card does not answer: its registers read as ones"):
        Dump(Registers(), VERSION, [0xFFFFFFFF] * sum(PARTS.values()))


@pytest.mark.parametrize(
    ("check", "capabilities", "said"),
    [
        (block.pattern, 0, block.ABSENT),
        (block.loops, 0, block.ABSENT),
    ],
)
def test_checks_of_the_self_test_block_are_skipped_if_the_card_has_none(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, check: Callable[[Context], str], capabilities: int, said: str
) -> None:
    words = [0] * sum(PARTS.values())
    words[Registers()["IDENT_CAPABILITIES"] // 4] = capabilities
    fake.card()
    monkeypatch.setattr(Context, "dump", lambda self: Dump(self.map, VERSION, words))
    with pytest.raises(Skip, match=re.escape(said)):
        check(fake.context())


GOOD = "268435456 bytes in 341073 frames of 60 to 1514 bytes went each way through 8 queues in 400 ms, all good"
DAMAGED = "1 of 256 frames (1 bit errors) were damaged: look at PCIe's errors by 'lspci -vv'"


def test_a_good_pattern_passes_with_its_bytes_frames_queues_and_time() -> None:
    said = block.judged("eth0", 0, GOOD)
    assert said and said.groups() == ("268435456", "341073", "8", "400")


ROUND = (
    "3000 bytes in 7 frames of 60 to 9596 bytes went round port 1 (near-pcs, near-pma, external) in 2001 ms, all good"
)


def test_a_check_of_the_block_ends_with_the_link_that_it_took(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real receiver takes longer than the driver's test, and the next check sends frames."""
    fake.card()
    looks = iter([True, False, False, True])

    @contextmanager
    def log() -> Iterator[Callable[[], str]]:
        yield lambda: f" eth7: self-test: {GOOD}\n"

    monkeypatch.setattr(ethtool, "self_test", lambda interface, flags: {"dma_pattern": 0})
    monkeypatch.setattr(system, "kernel_log", log)
    monkeypatch.setattr(changes, "interface_up", lambda interface: nullcontext())
    monkeypatch.setattr(block, "has_carrier", lambda interface: next(looks))
    assert "268435456 bytes" in block._pattern_of(fake.context(), "eth7")
    assert next(looks, "all looks were taken") == "all looks were taken"


@pytest.mark.parametrize(
    ("options", "flags", "size"),
    [({}, 1, 60000), ({"quick": True}, 1, 3000), ({"slow": 9, "loop_plugs": frozenset({1})}, 5, 3000)],
    ids=["twenty rounds", "quick", "a loop plug and a slow card"],
)
def test_the_loops_of_a_port_are_asked_for_with_the_users_options(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, options: dict[str, object], flags: int, size: int
) -> None:
    fake.card()
    asked = []

    def self_test(interface: str, flags: int) -> dict[str, int]:
        asked.append((interface, flags))
        return {"dma_pattern": 0, "port_loops": 0}

    @contextmanager
    def log() -> Iterator[Callable[[], str]]:
        yield lambda: f" eth7: self-test: port loops: {ROUND}\n eth7: self-test: {GOOD}\n"

    monkeypatch.setattr(ethtool, "self_test", self_test)
    monkeypatch.setattr(system, "kernel_log", log)
    monkeypatch.setattr(changes, "interface_up", lambda interface: nullcontext())
    monkeypatch.setattr(block, "port_of", lambda interface: 1)
    said = block._loops_of(fake.context(**options), "eth7", {1: "eth7"})
    rounds = size // 3000
    assert asked == [("eth7", flags)] * rounds
    assert said == (
        f"port 1 {size} bytes in {7 * rounds} frames of 60 to 9596 bytes (near-pcs, near-pma, external) "
        f"in {2001 * rounds} ms"
    )


CABLES = {"cables": ((0, 1), (2, 3))}


@pytest.mark.parametrize(
    ("options", "port", "wanted"),
    [
        (CABLES, 0, "cable to port 1"),
        (CABLES, 1, ""),
        (CABLES, 3, "cable to port 2"),
        (CABLES | {"loop_plugs": frozenset({4})}, 4, "external"),
        ({}, 0, ""),
    ],
    ids=["first end", "second end", "the first end has no interface", "a loop plug", "nothing"],
)
def test_a_cable_is_tested_from_one_of_its_ends(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, options: dict[str, object], port: int, wanted: str
) -> None:
    fake.card()
    monkeypatch.setattr(block, "port_of", lambda interface: port)
    of_ports = {number: f"eth{number}" for number in (0, 1, 3, 4)}
    assert block._external(fake.context(**options), f"eth{port}", of_ports) == wanted


@pytest.mark.parametrize(
    ("wanted", "found", "said"),
    [
        ("cable to port 1", "external", "the frames of port 0 come back to it, so it has no cable to port 1"),
        ("cable to port 1", "cable to port 2", "port 0 has no cable to port 1, but a cable to port 2"),
        ("external", "cable to port 1", "port 0 has no loop plug, but a cable to port 1. Name the ports by --cables"),
    ],
)
def test_a_cable_or_loop_plug_that_was_not_named_fails(
    monkeypatch: pytest.MonkeyPatch, wanted: str, found: str, said: str
) -> None:
    monkeypatch.setattr(block, "port_of", lambda interface: 0)
    block._found_outside("eth0", wanted, wanted)
    block._found_outside("eth0", "", found)
    with pytest.raises(Fail, match=re.escape(f"eth0: {said}")):
        block._found_outside("eth0", wanted, found)


def test_loops_from_the_arm_side_leave_a_port_that_is_up_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """So does one whose driver has no such test."""
    asked = []
    results = {"link": 0, "port_loops": 0}

    def self_test(interface: str, flags: int = 0) -> dict[str, int]:
        asked.append((interface, flags))
        return results

    @contextmanager
    def log() -> Iterator[Callable[[], str]]:
        yield lambda: f" eth1: self-test: port loops: {ROUND}\n"

    context = Context(ArmCard("card", ["eth1", "eth0"]), Options(quick=True), Registers())
    monkeypatch.setattr(ethtool, "self_test", self_test)
    monkeypatch.setattr(ethtool, "is_up", lambda interface: interface == "eth0")
    monkeypatch.setattr(system, "kernel_log", log)
    monkeypatch.setattr(block, "has_carrier", lambda interface: False)
    monkeypatch.setattr(block, "port_of", lambda interface: int(interface[-1]))
    said = block.arm_loops(context)
    assert "port 1 3000 bytes" in said and "not tested: eth0 is up, and ptp4l would lose its clock" in said
    assert asked == [("eth0", 0), ("eth1", 0), ("eth1", ethtool.TEST_OFFLINE)]
    del results["port_loops"]
    with pytest.raises(Skip, match="this bitstream has no self-test block"):
        block.arm_loops(context)


@pytest.mark.parametrize(
    ("error", "sentence", "verdict", "said"),
    [
        (None, "", Skip, block.OLD_DRIVER),
        (0, "the pattern is left out, as XDP has the queues: detach it", Skip, "eth0: the pattern is left out, as XDP"),
        (74, DAMAGED, Fail, "eth0: 1 of 256 frames (1 bit errors) were damaged. Look at PCIe's errors by 'lspci -vv'"),
        (110, "", Fail, "'ethtool -t eth0 offline' fails (error 110). 'dmesg' has the reason"),
    ],
    ids=["a driver without it", "left out", "damaged", "no sentence"],
)
def test_a_pattern_that_was_left_out_is_skipped_and_a_bad_one_fails(
    error: int | None, sentence: str, verdict: type[Exception], said: str
) -> None:
    with pytest.raises(verdict, match=re.escape(said)):
        block.judged("eth0", error, sentence)


def test_the_kernels_log_since_the_start_is_read_for_one_interface(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe stands for /dev/kmsg, which starts at its end and does not wait."""
    log = tmp_path / "kmsg"
    os.mkfifo(log)
    monkeypatch.setattr(system, "KMSG", log)
    monkeypatch.setattr(os, "lseek", lambda *_: 0)
    with system.kernel_log() as said, log.open("w") as kernel:
        kernel.write("6,1,2,-;meridian 0000:01:00.0 eth0: self-test: good\n SUBSYSTEM=pci\n")
        kernel.flush()
        assert block._sentence(said(), "eth0", block.OF_PATTERN) == "good"
        assert block._sentence(said(), "eth0", block.OF_PATTERN) == ""
        kernel.write("6,1,2,-;meridian 0000:01:00.0 eth0: self-test: port loops: left out\n")
        kernel.write("6,1,2,-;meridian 0000:01:00.0 eth1: self-test: bad\n")
        kernel.flush()
        assert block._sentence(text := said(), "eth0", block.OF_LOOPS) == "left out"
        assert block._sentence(text, "eth0", block.OF_PATTERN) == ""


def test_the_drift_of_a_clock_is_computed_in_ppm() -> None:
    assert clock.drift_ppm((0, 500), (10**9, 500 + 10**9 + 50_000)) == pytest.approx(50)
    assert clock.drift_ppm((7, 0), (7 + 10**9, 0)) == pytest.approx(-1e6)


def test_a_look_at_the_clock_that_is_late_or_long_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is 1000 ns ahead. Most answers are 700 ns old; one look was interrupted, which makes the clock look ahead."""
    old, good, interrupted = (500, 700, 500), (500, 0, 500), (20_000, 0, 500)
    looks = iter([old, old, interrupted, good, *[old] * (clock.SAMPLES - 4)])
    machine = 0

    def now(source: int) -> int:
        nonlocal machine
        if source == time.CLOCK_MONOTONIC_RAW:
            return machine
        before, age, after = next(looks)
        machine += before + after
        return machine - after + 1000 - age

    monkeypatch.setattr(time, "clock_gettime_ns", now)
    of_machine, of_clock = clock.pair(3)
    assert of_clock - of_machine == 1000


def ams(**files: str) -> None:
    device = system.ROOT / "sys/bus/iio/devices/iio:device0"
    device.mkdir(parents=True)
    for name, text in ({"name": "xilinx-ams"} | files).items():
        (device / name).write_text(f"{text}\n")


#: 39 degrees by the scale and offset that the driver gives (drivers/iio/adc/xilinx-ams.c).
WARM = {
    "in_temp7_raw": "41073",
    "in_temp7_scale": "7.771514",
    "in_temp7_offset": "-36058",
    "in_temp7_label": "Temp_LPD",
}
SUPPLY = {"in_voltage0_raw": "18568", "in_voltage0_scale": "0.045776", "in_voltage0_label": "VCC_PSINTLP"}


def test_the_check_of_sensors_is_skipped_without_a_sysmon(fake: FakeSystem) -> None:
    fake.card()
    with pytest.raises(Skip, match="Linux has no SYSMON here"):
        sensors.sensors(fake.context())


def test_sensors_within_their_limits_pass(fake: FakeSystem) -> None:
    fake.card()
    ams(**WARM, **SUPPLY)
    assert sensors.sensors(fake.context()) == "39 C at most; 1 supplies as they should be, 1 read"


@pytest.mark.parametrize(
    ("file", "value", "said"),
    [
        ("in_temp7_raw", "50000", "Temp_LPD is at 108 C"),
        ("in_voltage0_raw", "16000", "VCC_PSINTLP is 0.732 V, not 0.85 V within 5 percent"),
    ],
)
def test_a_sensor_beyond_its_limits_fails_the_check_of_sensors(
    fake: FakeSystem, file: str, value: str, said: str
) -> None:
    fake.card()
    ams(**(WARM | SUPPLY | {file: value}))
    with pytest.raises(Fail, match=said):
        sensors.sensors(fake.context())


@pytest.mark.parametrize("file", sorted(TOOLS.glob("meridian_selftest/*.py")), ids=lambda file: file.name)
def test_the_oldest_python_parses_each_file_of_the_program(file: Path) -> None:
    """Of bullseye, the oldest Debian that the driver is built for."""
    ast.parse(file.read_text(), feature_version=(3, 9))


def test_a_detached_interface_of_the_arm_side_fails_one_line_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line fails, the others are skipped."""

    def refuse(interface: str, *_: object) -> bytes:
        raise ethtool.Detached(interface)

    monkeypatch.setattr(ethtool, "_ask", refuse)
    monkeypatch.setattr(ethtool, "is_up", lambda _: True)
    context = Context(ArmCard("a0000000.ethernet", ["port0"]), Options(), Registers())
    lines = [
        line for check in CHECKS if check.name in ("map", "bitstream", "link", "ps") for line in check.run(context)
    ]
    assert [(line.name, line.result) for line in lines if line.result != SKIP] == [("ps", FAIL)]
    assert "driver" in report.facts(context.card)


def test_an_interface_that_is_detached_later_fails_the_next_line(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By then the line of driver has passed, or was not asked for."""
    fake.card()
    monkeypatch.setattr(Function, "driver", property(lambda _: "meridian"))
    monkeypatch.setattr(Function, "interface", property(lambda _: "eth0"))
    monkeypatch.setattr(ethtool, "driver", lambda _: ("meridian", "0", ""))

    def refuse(interface: str, *_: object) -> bytes:
        raise ethtool.Detached(interface)

    monkeypatch.setattr(ethtool, "_ask", refuse)
    chosen = [check for check in CHECKS if check.name in ("driver", "registers")]
    lines = run(fake.context(), chosen, tell=False)
    assert [(line.name, line.result) for line in lines] == [("driver", PASS), ("registers", FAIL)]
    assert lines[1].text.startswith("eth0 is detached: the driver resets it, or has given the card up. 'dmesg")
    assert [line.result for line in run(fake.context(), chosen[1:], tell=False)] == [FAIL]
    monkeypatch.setattr(ethtool, "driver", refuse)
    assert [line.result for line in run(fake.context(), chosen, tell=False)] == [FAIL, SKIP]


def test_a_second_interface_that_is_detached_fails_in_the_line_of_its_port(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the line of the driver, which would tell it, was not asked for."""
    fake.card()

    def refuse(_: Context, port: int) -> str:
        if port == 1:
            raise ethtool.Detached("eth1")
        return "port 0 has a link"

    monkeypatch.setattr(ports, "_host_port", refuse)
    monkeypatch.setattr(Context, "dump", lambda *_: SimpleNamespace(ports=2))
    (link,) = (check for check in CHECKS if check.name == "link")
    lines = run(fake.context(), [link], tell=False)
    assert [(line.name, line.result) for line in lines] == [("link.0", PASS), ("link.1", FAIL)]
    assert lines[1].text.startswith("eth1 is detached: the driver resets it, or has given the card up. 'dmesg")
    lines = link.run(fake.context(), told=True)
    assert [line.result for line in lines] == [PASS, SKIP] and lines[1].text.endswith("see the line of driver")


@pytest.mark.parametrize(("period", "switched"), [(4, 0), (1000, 1)])
def test_a_pulse_that_is_slow_is_not_switched(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, period: float, switched: int
) -> None:
    """A machine whose time is slow has it so seldom; its end would switch off what somebody has switched on."""
    fake.card()
    context = fake.context(slow=5)
    now, switches = [0.0], []
    monkeypatch.setattr(clock, "_clock", lambda _: "ptp0")
    monkeypatch.setattr(clock, "_pulses", lambda _: Path("pulses"))
    monkeypatch.setattr(clock, "_opened", lambda _: nullcontext(0))
    monkeypatch.setattr(clock.fcntl, "ioctl", lambda *words: switches.append(words[2]))
    monkeypatch.setattr(system, "read", lambda *_: str(int(now[0] / period) + (now[0] > 0) * len(switches)))
    monkeypatch.setattr(system.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(system.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    assert "ptp0" in clock.pulse(context)
    assert switches == switched * [1, 0]


def test_a_driver_without_tests_has_not_passed_them(fake: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.card()
    monkeypatch.setattr(Function, "interface", property(lambda _: "eth0"))
    monkeypatch.setattr(ethtool, "self_test", lambda _: {"link": 0})
    with pytest.raises(Skip, match="the driver of eth0 has no tests"):
        identity.registers(fake.context())


def test_ports_of_the_arm_side_are_those_of_the_card(fake: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever their interfaces are called, and if one has none."""
    for name, port in (("lan", 3), ("wan", 1)):
        place = fake.root / "sys/class/net" / name
        place.mkdir()
        (place / "dev_port").write_text(f"{port}\n")
    monkeypatch.setattr(ports, "_arm_port", lambda _, name: name)
    context = Context(ArmCard("a0000000.ethernet", ["lan", "wan"]), Options(ports=frozenset([1])), Registers())
    said = [(line.name, line.result, line.text) for line in ports.arm_links(context)]
    assert said == [("link.1", PASS, "wan"), ("link.3", SKIP, "--ports leaves it out")]
