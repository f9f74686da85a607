# SPDX-License-Identifier: Apache-2.0
"""meridian-selftest on the card's ARM side: it passes on a card that is well, and each planted fault makes exactly its
own line fail. QEMU's machine has no SYSMON: files stand for it. Modules are EEPROMs of QEMU's, which a guest may write.

The image of a PS has no Python, which the layer's has. It is unpacked into the machine, because its packages' scripts
compile all of it when they are installed, which takes minutes with an emulated processor.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from meridian_machine import PsHardware, Setting, Twin, tools
from meridian_machine.guest import Guest
from meridian_machine.modules import DIAGNOSIS, IDENTITY, diagnosis, identity
from meridian_twin.control import Control
from selftest_bench import STAND_IN, Bench, newer_map, stand_in

pytestmark = pytest.mark.qemu
PASSES = {"map", "bitstream", "module.0", "link.0", "ps", "phc", "pps"}
PULSE = "/sys/class/pps/pps0/assert"
#: Sets the clock's frequency off by so many ppm, as ptp4l does: clock_adjtime() with ADJ_FREQUENCY.
ADJUST = """python3 - <<'END'
import ctypes, os, struct
handle = os.open("/dev/ptp0", os.O_RDWR)
timex = ctypes.create_string_buffer(struct.pack("I4xqq", 2, 0, {ppm} << 16), 208)
assert ctypes.CDLL(None).clock_adjtime((~handle << 3) | 3, timex) >= 0
END"""

#: Where the device tree says which bus a port's cage is on.
CAGE = "/sys/bus/platform/devices/a0000000.ethernet/of_node/ethernet-ports/ethernet-port@{}/meridian,module-bus"
#: Writes two bytes into the memory at an address of the module in the first cage: I2C_SLAVE, then the offset and they, in
#: both halves of QEMU's memory (modules.SECTOR).
TELL = """python3 - <<'END'
import fcntl, os
handle = os.open("/dev/i2c-0", os.O_RDWR)
fcntl.ioctl(handle, 0x703, {address})
for before in range(2):
    os.write(handle, bytes([before]))
    os.write(handle, bytes([{offset}]) + ({value}).to_bytes(2, "big"))
END"""

#: What Linux's driver shows of a SYSMON that is well, at 39 degrees.
SYSMON = {
    "name": "xilinx-ams",
    "in_temp7_raw": "41073",
    "in_temp7_scale": "7.771514",
    "in_temp7_offset": "-36058",
    "in_temp7_label": "Temp_LPD",
    "in_voltage0_raw": "18568",
    "in_voltage0_scale": "0.045776",
    "in_voltage0_label": "VCC_PSINTLP",
}


def python(folder: Path) -> Path:
    """An archive of Debian's packages of Python and of the libraries that it needs, of the machine's suite."""
    archive = folder / "python.tar"
    for package in ("python3.13-minimal", "libpython3.13-minimal", "libpython3.13-stdlib", "libexpat1", "libffi8"):
        names = ["--suite", "trixie", "--binary", "--arch", "arm64", package]
        tree = tools.built("build/fetch-source", *names, minutes=5)
        subprocess.run(["tar", "-C", tree, "-rf", archive, "usr"], check=True, timeout=60)
    return archive


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("selftest")
    path = folder / "control"
    setting = Setting(hardware=None, ps=PsHardware(modules=1), card_options=("--control", str(path)))
    with Twin(setting, folder) as twin:
        twin.ps.files["python.tar"] = python(folder)
        with Control(path) as control, twin.ps_machine() as machine:
            bench = Bench(twin, Guest(machine), control)
            bench.guest.run("tar -C / --keep-directory-symlink -xf /run/twin/python.tar")
            bench.guest.run("ln -s python3.13 /usr/bin/python3")
            bench.guest.run("modprobe -a i2c-gpio i2c-dev")
            bench.guest.wait_link()
            yield bench
            bench.guest.check()


def test_a_card_that_is_well_passes(bench: Bench) -> None:
    lines = bench.run("--seconds 2")
    assert bench.names(lines, "PASS") == PASSES, lines
    assert lines["sensors"][0] == "SKIP" and "no SYSMON" in lines["sensors"][1]
    assert lines["bars"] == ("SKIP", "this is the host's: run meridian-selftest there")


def test_no_disturb_leaves_out_the_pulse(bench: Bench) -> None:
    lines = bench.run("--quick --no-disturb")
    assert lines["pps"] == ("SKIP", "it switches the pulse of ptp0 on: run it without --no-disturb")


def test_a_driver_with_a_newer_register_map_fails_the_check_of_the_map(bench: Bench) -> None:
    bench.fails_in("map", r"the driver's is 1\.99", program=newer_map(bench.guest))


def test_a_port_without_a_link_fails_its_line(bench: Bench) -> None:
    bench.control.ask("link", up=False)
    bench.guest.until("cat /sys/class/net/eth0/carrier", "^0")
    bench.fails_in("link.0", "eth0 has no link")
    bench.control.ask("link", up=True)
    bench.guest.wait_link()


@pytest.mark.parametrize(
    ("address", "offset", "value", "said"),
    [
        (DIAGNOSIS, 104, 50, r"receives -23\.0 dBm, its own limit is -15\.2 dBm"),
        (DIAGNOSIS, 110, 0x0200, r"says: it receives no signal \(-3\.0 dBm\)"),
        (DIAGNOSIS, 96, 80 << 8, "is at 80 C, its own limit is 75 C"),
        (IDENTITY, 20, 0x2121, "port 0's module has invalid data: the checksum of bytes 0 to 62"),
    ],
    ids=["dark", "no signal", "hot", "invalid"],
)
def test_a_module_that_is_not_well_fails_its_line(
    bench: Bench, address: int, offset: int, value: int, said: str
) -> None:
    was = int.from_bytes({IDENTITY: identity(), DIAGNOSIS: diagnosis()}[address][offset : offset + 2], "big")
    bench.guest.run(TELL.format(address=address, offset=offset, value=value))
    bench.fails_in("module.0", said)
    bench.guest.run(TELL.format(address=address, offset=offset, value=was))


def test_a_cage_without_a_module_fails_its_line(bench: Bench) -> None:
    """The port's is said to be on the bus of the second cage."""
    with stand_in(bench.guest, CAGE.format(0), f"cat {CAGE.format(1)} >{STAND_IN}"):
        bench.fails_in("module.0", "port 0 has no module: nothing answers on i2c-1")


def test_a_clock_that_is_too_fast_fails_the_check_of_the_clock(bench: Bench) -> None:
    bench.guest.run(ADJUST.format(ppm=480))
    bench.fails_in("phc", r"ptp0 runs \+\d\d\d\.\d ppm .* more than 300 ppm", "--seconds 20")
    bench.guest.run(ADJUST.format(ppm=0))


def test_a_clock_of_a_mac_that_stands_still_fails_its_check(bench: Bench) -> None:
    bench.control.ask("clock", direction="tx", on=False)
    try:
        assert bench.guest.statistics()["port_tx_clock_still"] == 1
        bench.fails_in("phc", "the transmit clock of eth0 stands still")
    finally:
        bench.control.ask("clock", direction="tx", on=True)
    assert bench.guest.statistics()["port_tx_clock_still"] == 0


def test_a_pulse_that_does_not_come_fails_its_check(bench: Bench) -> None:
    with stand_in(bench.guest, PULSE):
        bench.fails_in("pps", "no pulse of ptp0 comes")


@contextmanager
def sysmon(guest: Guest, **files: str) -> Iterator[None]:
    """One that stands for the chip's. Linux makes no folder for a bus that it has no device of, so all buses are mounted
    anew, with links to what they were."""
    device = "/run/bus/iio/devices/iio:device0"
    text = "\n".join(f"echo '{value}' >{device}/{name}" for name, value in (SYSMON | files).items())
    guest.run(
        f"set -e; mkdir -p /run/whole {device}; mount -t sysfs sysfs /run/whole\n"
        f"ln -s /run/whole/bus/* /run/bus\n{text}\nmount --bind /run/bus /sys/bus"
    )
    try:
        yield
    finally:
        guest.run("umount /sys/bus && umount /run/whole && rm -r /run/bus")


def test_sensors_within_their_limits_pass(bench: Bench) -> None:
    with sysmon(bench.guest):
        lines = bench.run("--only sensors")
    assert lines["sensors"] == ("PASS", "39 C at most; 1 supplies as they should be, 1 read")


@pytest.mark.parametrize(
    ("file", "value", "said"),
    [
        ("in_temp7_raw", "50000", "Temp_LPD is at 108 C, the part is made for 0 to 100 C"),
        ("in_voltage0_raw", "16000", "VCC_PSINTLP is 0.732 V, not 0.85 V within 5 percent"),
    ],
    ids=["hot", "a supply"],
)
def test_a_sensor_beyond_its_limits_fails_the_check_of_sensors(bench: Bench, file: str, value: str, said: str) -> None:
    with sysmon(bench.guest, **{file: value}):
        bench.fails_in("sensors", said)


def test_rings_that_were_restarted_fail_their_check(bench: Bench) -> None:
    """The card's reads of memory got no answer for a while. The last one: what is counted stays counted."""
    bench.control.ask("ps_memory", on=False)
    bench.guest.try_run("ping -c 3 -i 0.2 -W 1 10.44.0.1")
    bench.guest.try_run("ip link set eth0 mtu 2000")
    bench.guest.until("dmesg", "the port is detached until it does", 60)
    bench.control.ask("ps_memory", on=True)
    bench.guest.until("ethtool -S eth0", r"restarts_\w+: [1-9]", 90)
    bench.guest.wait_link()
    bench.fails_in("ps", "eth0 counts errors: restarts_")
