# SPDX-License-Identifier: Apache-2.0
"""The self-test program's check of a port's module: what modules tell of themselves, and where their buses are."""

from __future__ import annotations

import ctypes
import errno
import math
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fake_system import FakeSystem
from meridian_machine import modules as twin
from meridian_selftest.card import ArmCard
from meridian_selftest.context import Context, Options
from meridian_selftest.modules import check, optics
from meridian_selftest.modules.optics import DamagedError, Module, Read
from meridian_selftest.registers import Registers
from meridian_selftest.result import FAIL, PASS, SKIP, Skip

CARD = "a0000000.ethernet"
#: What 10G modules of Intel and Finisar tell, as a public report on 'ethtool -m' of two network cards shows it: the first's
#: identity, and the other's bounds and what it measured without a fibre.
INTEL = bytes.fromhex(
    "03 04 07 10 00 00 00 00 00 00 00 06 67 00 00 00 08 03 00 1e 49 6e 74 65 6c 20 43 6f 72 70 20 20"
    "20 20 20 20 00 00 1b 21 46 54 4c 58 38 35 37 34 44 33 42 4e 4c 2d 49 54 41 20 20 20 03 52 00 89"
    "00 1a 00 00 41 34 31 41 53 59 4b 20 20 20 20 20 20 20 20 20 32 30 30 37 30 36 20 20 68 f0 05 e4"
)
BOUNDS = bytes.fromhex(
    "5d 00 f3 00 58 00 f8 00 90 88 71 48 8c a0 75 30 19 64 07 d0 18 6a 09 c4 27 10 09 d0 1f 07 0c 5a"
    "27 10 00 64 1f 07 00 9e"
)
MEASURED = bytes.fromhex("1f 94 83 f9 0b d5 16 81 00 15 00 00 00 00 32 00")


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)


def memories(*of: bytes) -> Read:
    """A bus with memories at the addresses from 0x50 on."""

    def read(address: int, offset: int, count: int) -> bytes:
        if not 0 <= address - optics.IDENTITY < len(of):
            raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))
        data = of[address - optics.IDENTITY][offset : offset + count]
        assert len(data) == count
        return data

    return read


def changed(memory: bytes, offset: int, *values: int) -> bytes:
    return memory[:offset] + bytes(values) + memory[offset + len(values) :]


def summed(memory: bytes, first: int = 0) -> bytes:
    """With the sum that belongs to it."""
    return changed(memory, first + 63, sum(memory[first : first + 63]) & 0xFF)


def qsfp(technology: int = 0, **lower: int) -> bytes:
    """A QSFP28. lower: bytes of its lower page by bNUMBER."""
    memory = bytearray(256)
    memory[0] = memory[128] = 0x11
    memory[147] = technology
    memory[148:164], memory[168:184] = b"ACME".ljust(16), b"Q28".ljust(16)
    for name, value in lower.items():
        memory[int(name[1:])] = value
    return summed(bytes(memory), 128)


def test_a_module_of_another_maker_is_read_with_its_calibration() -> None:
    measured = BOUNDS.ljust(96, b"\0") + MEASURED
    found = optics.module(memories(INTEL, measured))
    assert (found.name, round(found.celsius or 0, 1), found.milliwatts) == ("Intel Corp FTLX8574D3BNL-IT", 31.6, 0.0021)
    assert (found.lowest, found.hottest, found.is_dark) == (0.01, 93.0, True)
    assert found.faults == ["it receives no signal"]


def test_the_twins_module_is_well() -> None:
    found = optics.module(memories(twin.identity(), twin.diagnosis()))
    assert found == Module("Twin SR-28", 41.5, 0.5, 0.03, 2.0, -5.0, 75.0) and not found.is_dark
    assert optics.dbm(0.5) == "-3.0 dBm" and optics.dbm(0) == "no light"


@pytest.mark.parametrize(
    ("options", "status", "faults"),
    [
        (0x30, 0x04, ["its transmitter has a fault"]),
        (0x30, 0x02, ["it receives no signal"]),
        (0x30, 0x06, ["its transmitter has a fault", "it receives no signal"]),
        (0x10, 0x04, []),
        (0x20, 0x02, []),
        (0x30, 0xF9, []),
    ],
)
def test_only_bits_that_a_module_has_are_faults(options: int, status: int, faults: list[str]) -> None:
    about = changed(twin.identity(), 93, options)
    assert optics.module(memories(about, twin.diagnosis(status=status))).faults == faults


@pytest.mark.parametrize("kind", [0x00, 0x6C], ids=["measures nothing", "elsewhere"])
def test_a_module_without_diagnostics_is_not_asked_for_them(kind: int) -> None:
    assert optics.module(memories(changed(twin.identity(), 92, kind))) == Module("Twin SR-28")


def test_numbers_without_a_unit_are_not_reported() -> None:
    """Of a module that the reader has to calibrate."""
    found = optics.module(memories(changed(twin.identity(), 92, 0x50), twin.diagnosis(status=2)))
    assert found == Module("Twin SR-28", faults=["it receives no signal"], reason=optics.UNCALIBRATED)


def test_limits_that_a_module_does_not_have_are_none() -> None:
    """Their memory is empty."""
    found = optics.module(memories(twin.identity(), changed(twin.diagnosis(), 0, *bytes(40))))
    assert (found.coldest, found.hottest) == (-math.inf, math.inf)
    assert (found.lowest, found.highest) == (0, math.inf)


@pytest.mark.parametrize("lane", range(4))
def test_each_port_reads_its_own_lane_of_a_qsfp(lane: int) -> None:
    powers = {f"b{34 + 2 * it}": it + 1 for it in range(4)}
    read = memories(qsfp(b3=1 << lane, b4=1 << lane, b22=35, b23=128, **powers))
    for port in range(4):
        found = optics.module(read, port)
        assert (found.name, found.celsius) == ("ACME Q28", 35.5)
        assert found.milliwatts == pytest.approx((port + 1) * 0.0256)
        assert len(found.faults) == 2 * (port == lane)


class Latching:
    """A QSFP whose flags stay until they are read; what lasts sets them again within 200 ms."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, lost: int, lasting: int) -> None:
        """lost, lasting: lanes without a signal until now, and from now on, by bit."""
        self.memory, self.lasting = bytearray(qsfp(b3=lost)), lasting
        monkeypatch.setattr(time, "sleep", self.wait)

    def wait(self, seconds: float) -> None:
        if seconds >= 0.2:
            self.memory[3] |= self.lasting

    def read(self, address: int, offset: int, count: int) -> bytes:
        data = bytes(memories(self.memory)(address, offset, count))
        if offset <= 3 < offset + count:
            self.memory[3] = 0
        return data


@pytest.mark.parametrize("lasting", [0b0000, 0b1011])
def test_a_qsfp_is_asked_what_lasts(monkeypatch: pytest.MonkeyPatch, lasting: int) -> None:
    """No port reports a loss that is over, and each its own, although the port before has cleared the flags of all lanes."""
    module = Latching(monkeypatch, 0b1111, lasting)
    losses = [bool(optics.module(module.read, lane).faults) for lane in range(4)]
    assert losses == [bool(lasting >> lane & 1) for lane in range(4)]


@pytest.mark.parametrize("flat", [False, True])
def test_another_page_of_a_qsfp_is_not_taken_for_its_identity(flat: bool) -> None:
    """Byte 127 selects what bytes 128 to 255 are, unless byte 2 says that the module has but one page."""
    read = memories(qsfp(b2=4 if flat else 0, b127=3))
    if flat:
        assert optics.module(read).name == "ACME Q28"
        return
    with pytest.raises(optics.PageError, match="its page 3 is selected"):
        optics.module(read)


def test_copper_measures_no_light() -> None:
    assert optics.module(memories(qsfp(technology=0xA0))) == Module("ACME Q28")


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        (changed(twin.identity(), 20, 0xFF), "the checksum of bytes 0 to 62"),
        (changed(qsfp(), 150, 0xFF), "the checksum of bytes 0 to 62"),
        (changed(twin.identity(), 0, 0x18), "its identifier is 0x18"),
        (bytes([0xFF] * 256), "its identifier is 0xff"),
    ],
)
def test_invalid_data_is_reported(memory: bytes, said: str) -> None:
    with pytest.raises(DamagedError, match=said):
        optics.module(memories(memory, twin.diagnosis()))


def test_a_module_that_claims_to_measure_and_does_not_is_damaged() -> None:
    with pytest.raises(DamagedError, match="it claims to measure, but 0x51 does not answer"):
        optics.module(memories(twin.identity()))


def test_no_transfer_has_more_bytes_than_modules_and_buses_are_known_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linux's sfp.c reads 16 bytes at once, because some modules fail at more."""
    memory, slaves, sizes = twin.identity(), [], []

    def ioctl(_: int, request: int, argument: object) -> None:
        if request == 0x0703:
            slaves.append(argument)
            return
        assert request == 0x0720 and isinstance(argument, optics._Transfer)
        assert (argument.read_write, argument.size) == (1, 8)
        data = (ctypes.c_uint8 * 34).from_address(argument.data)
        sizes.append(data[0])
        data[1 : 1 + data[0]] = list(memory[argument.command : argument.command + data[0]])

    (bus := tmp_path / "i2c-0").touch()
    monkeypatch.setattr(optics, "ioctl", ioctl)
    with optics.opened(bus) as read:
        assert read(optics.IDENTITY, 3, 93) == memory[3:96]
    assert slaves == [optics.IDENTITY] and sum(sizes) == 93 and max(sizes) <= 16


# The check


class Tree:
    """The device tree's nodes and Linux's buses as sysfs shows them."""

    def __init__(self, fake: FakeSystem) -> None:
        self.root = fake.root

    def port(self, number: int, bus: int | None, lane: int | None = None) -> None:
        (interface := self.root / f"sys/class/net/eth{number}").mkdir()
        (interface / "dev_port").write_text(f"{number}\n")
        node = self.root / f"sys/bus/platform/devices/{CARD}/of_node/ethernet-ports/ethernet-port@{number}"
        node.mkdir(parents=True)
        for name, value in (("meridian,module-bus", bus), ("meridian,module-lane", lane)):
            if value is not None:
                (node / name).write_bytes(value.to_bytes(4, "big"))

    def bus(self, number: int, phandle: int, device: bool = True) -> None:
        (node := self.root / f"sys/bus/i2c/devices/i2c-{number}/of_node").mkdir(parents=True)
        (node / "phandle").write_bytes(phandle.to_bytes(4, "big"))
        if device:
            (folder := self.root / "dev").mkdir(exist_ok=True)
            (folder / f"i2c-{number}").touch()


def lines_of(*ports: int, **options: object) -> dict[str, tuple[str, str]]:
    context = Context(ArmCard(CARD, [f"eth{it}" for it in ports]), Options(**options), Registers())  # type: ignore[arg-type]
    return {line.name: (line.result, line.text) for line in check.modules(context)}


def line_of(tree: Tree, monkeypatch: pytest.MonkeyPatch, read: Read) -> tuple[str, str]:
    """Of port 0, whose module is read so."""
    tree.port(0, bus=1)
    tree.bus(0, 1)
    buses(monkeypatch, i2c0=read)
    (line,) = lines_of(0).values()
    return line


@pytest.fixture
def tree(fake: FakeSystem) -> Tree:
    return Tree(fake)


def buses(monkeypatch: pytest.MonkeyPatch, **of: Read) -> None:
    """What is on each bus, by its name without the number's dash."""

    @contextmanager
    def opened(path: Path) -> Iterator[Read]:
        yield of[path.name.replace("-", "")]

    monkeypatch.setattr(optics, "opened", opened)


def test_each_port_has_the_module_of_its_own_bus(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.port(0, bus=0x21)
    tree.port(1, bus=0x22)
    tree.bus(7, 0x22)
    tree.bus(10, 0x21)
    well = memories(twin.identity(), twin.diagnosis())
    buses(monkeypatch, i2c10=well, i2c7=memories())
    lines = lines_of(0, 1)
    assert lines["module.0"] == (PASS, "port 0's module (Twin SR-28) receives -3.0 dBm and is at 42 C")
    assert lines["module.1"][0] == FAIL
    assert lines["module.1"][1].startswith("port 1 has no module: nothing answers on i2c-7. Push a module in")
    assert lines_of(0, 1, ports=frozenset([0]))["module.1"] == (SKIP, "--ports leaves it out")


def test_ports_of_one_module_have_lanes(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    for port in range(4):
        tree.port(port, bus=5, lane=port)
    tree.bus(0, 5)
    buses(monkeypatch, i2c0=memories(qsfp(b3=0b0100, b35=100, b37=100, b41=100)))
    lines = lines_of(*range(4))
    assert [lines[f"module.{port}"][0] for port in range(4)] == [PASS, PASS, FAIL, PASS]
    assert "port 2's module (ACME Q28) says: its lane 2 receives no signal (no light)" in lines["module.2"][1]


@pytest.mark.parametrize(
    ("identity", "diagnosis", "said"),
    [
        (twin.identity(), twin.diagnosis(microwatts=10), "receives -20.0 dBm, its own limit is -15.2 dBm"),
        (twin.identity(), twin.diagnosis(celsius=80), "is at 80 C, its own limit is 75 C"),
        (
            twin.identity(),
            twin.diagnosis(microwatts=2500),
            r"receives 4.0 dBm, its own limit is 3.0 dBm. .* attenuator",
        ),
        (twin.identity(), twin.diagnosis(celsius=-20), "is at -20 C, its own limit is -5 C"),
        (twin.identity(), twin.diagnosis(status=4), r"says: its transmitter has a fault \(-3.0 dBm\)"),
        (
            changed(twin.identity(), 25, 1),
            twin.diagnosis(),
            "port 0's module has invalid data: the checksum of bytes 0 to 62",
        ),
    ],
    ids=["dark", "hot", "bright", "cold", "fault", "invalid"],
)
def test_a_module_beyond_its_own_limits_fails(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, identity: bytes, diagnosis: bytes, said: str
) -> None:
    line = line_of(tree, monkeypatch, memories(identity, diagnosis))
    assert line[0] == FAIL
    assert re.search(said, line[1]), line


@pytest.mark.parametrize(
    ("code", "result", "said"),
    [
        (errno.EREMOTEIO, FAIL, "port 0 has no module: nothing answers on i2c-0"),
        (errno.ETIMEDOUT, FAIL, "port 0's module cannot be read on i2c-0: Connection timed out"),
        (errno.EACCES, FAIL, "port 0's module cannot be read on i2c-0: Permission denied"),
        (errno.EBUSY, SKIP, "a driver of Linux has the module of port 0 (i2c-0)"),
    ],
)
def test_errors_of_the_bus_are_told_apart(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, code: int, result: str, said: str
) -> None:
    def refuse(*_: int) -> bytes:
        raise OSError(code, os.strerror(code))

    line = line_of(tree, monkeypatch, refuse)
    assert line[0] == result and line[1].startswith(said), line


def test_a_qsfp_whose_other_page_is_selected_is_left_alone(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    line = line_of(tree, monkeypatch, memories(qsfp(b127=3)))
    assert line[0] == SKIP
    assert line[1].startswith("port 0's module (i2c-0): its page 3 is selected, and its identity is on page 0. ")


@pytest.mark.parametrize(
    ("code", "result", "said"),
    [
        (errno.ENXIO, FAIL, "port 0's module has invalid data: it claims to measure, but 0x51 does not answer"),
        (errno.EBUSY, SKIP, "a driver of Linux has the module of port 0 (i2c-0)"),
        (errno.ETIMEDOUT, FAIL, "port 0's module cannot be read on i2c-0: Connection timed out"),
    ],
)
def test_errors_of_the_second_memory_are_told_apart(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, code: int, result: str, said: str
) -> None:
    """A driver may have one of a module's two addresses, and a bus may fail between them."""

    def read(address: int, offset: int, count: int) -> bytes:
        if address == optics.DIAGNOSIS:
            raise OSError(code, os.strerror(code))
        return memories(twin.identity())(address, offset, count)

    line = line_of(tree, monkeypatch, read)
    assert line[0] == result and line[1].startswith(said), line


def test_a_lane_that_no_module_has_is_reported(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bits and bytes behind those of the last lane mean something else."""
    tree.port(0, bus=1, lane=4)
    tree.bus(0, 1)
    buses(monkeypatch, i2c0=memories(qsfp(b4=0x10)))
    assert lines_of(0)["module.0"] == (
        FAIL,
        "the device tree says lane 4 of port 0's module, which has 0 to 3. Correct meridian,module-lane",
    )


def test_a_card_without_interfaces_has_a_line(tree: Tree) -> None:
    with pytest.raises(Skip, match="no driver has made an interface of the card"):
        lines_of()


@pytest.mark.parametrize(
    ("identity", "diagnosis", "result", "said"),
    [
        (changed(twin.identity(), 92, 0x50), twin.diagnosis(), PASS, "answers; its numbers need a calibration"),
        (changed(twin.identity(), 92, 0), twin.diagnosis(), PASS, "answers; it measures no light, as copper does not"),
        (twin.identity(), twin.diagnosis(microwatts=0, status=1), SKIP, "has not measured anything yet"),
        (qsfp(b2=1), b"", SKIP, "has not measured anything yet"),
    ],
    ids=["uncalibrated", "copper", "an SFP that starts", "a QSFP that starts"],
)
def test_a_module_that_reports_no_light_has_a_reason(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, identity: bytes, diagnosis: bytes, result: str, said: str
) -> None:
    line = line_of(tree, monkeypatch, memories(identity, diagnosis))
    assert line[0] == result and said in line[1], line


def laser(microwatts: int, *limits: int) -> bytes:
    """What an SFP measures whose transmitter has this power, and that has these limits of it, highest and lowest, in uW."""
    memory = changed(twin.diagnosis(), 102, *(10 * microwatts).to_bytes(2, "big"))
    return changed(memory, 24, *b"".join((10 * it).to_bytes(2, "big") for it in limits))


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ((twin.identity(), laser(0, 1000, 200)), "sends no light. Its laser"),
        ((twin.identity(), laser(100, 1000, 200)), "sends -10.0 dBm, its own limit is -7.0 dBm"),
        ((twin.identity(), laser(200, 1000, 200)), ""),
        ((twin.identity(), laser(0, 0, 0)), ""),
        ((qsfp(b34=10, b220=4, b52=10),), "sends no light. Its laser"),
        ((qsfp(b34=10, b220=4, b50=10),), ""),
        ((qsfp(b34=10),), ""),
    ],
    ids=["off", "weak", "well", "no limits", "lane off", "lane on", "does not measure it"],
)
def test_a_laser_that_is_off_or_too_weak_fails(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, memory: tuple[bytes, ...], said: str
) -> None:
    line = line_of(tree, monkeypatch, memories(*memory))
    assert line[0] == (FAIL if said else PASS), line
    assert said in line[1] and ("TX_DISABLE" in line[1]) == bool(said)


def test_a_missing_bus_or_driver_of_a_cage_is_reported(tree: Tree) -> None:
    tree.port(0, bus=None)
    tree.port(1, bus=9)
    tree.port(2, bus=8)
    tree.bus(3, 8, device=False)
    lines = lines_of(0, 1, 2)
    assert {result for result, _ in lines.values()} == {SKIP}
    assert "names no I2C bus of port 0's cage" in lines["module.0"][1]
    assert "Linux has no driver for the I2C bus of port 1's cage" in lines["module.1"][1]
    assert "'modprobe i2c-dev'" in lines["module.2"][1]
