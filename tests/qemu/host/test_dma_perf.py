# SPDX-License-Identifier: Apache-2.0
"""dma-perf of Xilinx's kernel driver, with the driver and the configurations beside it, unchanged, on a card with the
self-test block. The variable DMA_IP_DRIVERS names a checkout of dma_ip_drivers, which is not part of this repository.

A row is printed for each configuration. DMA_PERF_SIZES has the packet sizes to run, as 64,1024,4096, or `all` of the 64.
A configuration runs for 30 s and some more, so all of them take a night. Packets a second are those of the simulation.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from meridian_machine import Hardware, Image, Setting, Twin
from meridian_machine.guest import Guest

CHECKOUT = os.environ.get("DMA_IP_DRIVERS", "")
pytestmark = [
    pytest.mark.qemu,
    pytest.mark.long,
    pytest.mark.skipif(not CHECKOUT, reason="the variable DMA_IP_DRIVERS names no checkout of dma_ip_drivers"),
]
SOURCES = Path(CHECKOUT).resolve() / "QDMA" / "linux-kernel"
CONFIGURATIONS = SOURCES / "apps" / "dma-perf" / "dmaperf_config"
SIZES = os.environ.get("DMA_PERF_SIZES", "64,1024,4096")
#: Their driver fits Linux 6.1.
SUITE = "bookworm"
#: In the image's chroot, with their folder in it: the sources of Debian's kernels are in two folders, and the name of the
#: file of symbols is what their topmost Makefile gives.
BUILD = r"""
mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && mount --bind "$2" "$1/source/meridian" &&
exec chroot "$1" make -C /source/meridian/driver mod_pf modulesymfile=/source/meridian/driver/src/Module.symvers \
  KSRC="/lib/modules/$3/source" KOBJ="/lib/modules/$3/build"
"""
DEVICE = "qdma01000"
QUEUES, CREDIT_ENFORCE, TEST = 0x1000, 0x110030, 0x117000
#: Registers of the self_test page, and their bits.
COMMAND, MODE, FUNCTION, TEST_QUEUES, SIZE, STATUS = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x40
START, STOP, OFF = 1, 2, 4
GENERATE, CHECK, TAKE = 1, 2, 4
MODES = {"c2h": GENERATE, "h2c": CHECK | TAKE, "bi": GENERATE | CHECK | TAKE}
RESULT = re.compile(r"^(WRITE|READ): total pps = (\d+) BW = ([\d.]+) (\S+)", re.MULTILINE)
WAYS = {"c2h": {"READ"}, "h2c": {"WRITE"}, "bi": {"READ", "WRITE"}}
#: Of each thread at its end. The rate counts what was completed in the time of the configuration, which in an emulated
#: machine can be nothing: a read of 64 frames ends with its last one. `req_completed` has the rest, too.
THREAD = re.compile(r"^Exit Check: .* req_completed=(\d+) dir=(C2H|H2C),", re.MULTILINE)
OF_THREADS = {"C2H": "READ", "H2C": "WRITE"}
#: What it prints if it has lost packets or a queue.
WRONG = re.compile(r"^(force exit|Error: |invalid buffer|Failed: |Q_\w+ failed)", re.MULTILINE)


@dataclass(frozen=True)
class Configuration:
    """A file of theirs."""

    text: str

    def __getitem__(self, key: str) -> str:
        return re.search(rf"^{key}=(.*)$", self.text, re.MULTILINE)[1].strip()

    @property
    def queues(self) -> int:
        first, last = map(int, self["q_range"].split(":"))
        assert first == 0
        return last + 1

    @property
    def label(self) -> str:
        return f"{self['dir']}-{self.queues}-{self['pkt_sz']}"


def configurations() -> list[Configuration]:
    """Those of a streaming queue of PF 0 of the card's slot, of the sizes that are asked for: the card of the twin is at
    01:00.0, as theirs is."""
    found = []
    for archive in sorted(CONFIGURATIONS.glob("*.zip")):
        with zipfile.ZipFile(archive) as files:
            found += [Configuration(files.read(it).decode()) for it in files.infolist() if not it.is_dir()]
    fitting = [
        it
        for it in found
        if (it["mode"], it["pf_range"], it["pci_bus"], it["pci_device"], it["vf_perf"])
        == ("st", "0:0", "01", "00", "0")
        and (SIZES == "all" or it["pkt_sz"] in SIZES.split(","))
    ]
    return sorted(fitting, key=lambda it: (it["dir"], it.queues, int(it["pkt_sz"])))


def as_root() -> list[str]:
    return [] if os.geteuid() == 0 else ["sudo"]


def done(command: list[str], log: Path) -> None:
    with log.open("w") as file:
        ended = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, timeout=3600, check=False)
    assert ended.returncode == 0, f"{' '.join(command)} failed:\n{log.read_text()[-3000:]}"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Their driver and their programs, built from a copy of the checkout by its own Makefiles."""
    folder = tmp_path_factory.mktemp("dma_ip_drivers")
    assert CONFIGURATIONS.is_dir(), f"DMA_IP_DRIVERS is no checkout of dma_ip_drivers: there is no {CONFIGURATIONS}"
    assert Path("/usr/include/libaio.h").is_file(), "dma-perf needs Debian's package libaio-dev: install it"
    copy = folder / "linux-kernel"
    shutil.copytree(SOURCES, copy, symlinks=True)
    (copy / "bin").mkdir(exist_ok=True)
    image = Image.build(SUITE)
    root = image.folder / "build"
    done([*as_root(), "mkdir", "-p", str(root / "source" / "meridian")], folder / "mkdir.log")
    chroot = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", BUILD, "sh"]
    done([*as_root(), *chroot, str(root), str(copy), image.release], folder / "driver.log")
    for name in ("dma-perf", "dma-ctl"):
        done(["make", "-C", str(copy / "apps" / name), "CC=gcc -static"], folder / f"{name}.log")
    files = {name: copy / "apps" / name / name for name in ("dma-perf", "dma-ctl")}
    files["qdma-pf.ko"] = copy / "bin" / "qdma-pf.ko"
    missing = [str(file) for file in files.values() if not file.is_file()]
    assert not missing, f"the build has made no {missing}"
    return files


class Card:
    """A machine whose card their driver has, set up by their dma-ctl alone."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest

    def write(self, address: int, value: int) -> None:
        self.guest.run(f"dma-ctl {DEVICE} reg write bar 2 {address:#x} {value:#x}")

    def read(self, address: int) -> int:
        text = self.guest.run(f"dma-ctl {DEVICE} reg read bar 2 {address:#x}")
        return int(re.findall(r"0x[0-9a-fA-F]+", text)[-1], 16)

    def end(self) -> None:
        for command in (STOP, OFF):
            self.write(TEST + COMMAND, command)

    def begin(self, configuration: Configuration) -> None:
        size, queues = int(configuration["pkt_sz"]), configuration.queues
        for register, value in (
            (MODE, MODES[configuration["dir"]]),
            (FUNCTION, 0),
            (TEST_QUEUES, queues << 16),
            (SIZE, size << 16 | size),
            (COMMAND, START),
        ):
            self.write(TEST + register, value)
        status = self.read(TEST + STATUS)
        assert status >> 8 & 0xF == 0, f"the test is refused: status {status:#x}"


@pytest.fixture(scope="module")
def card(programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Card]:
    setting = Setting(suite=SUITE, hardware=Hardware(memory=2048), driver=None, shell=("--self-test", "true"))
    with Twin(setting, tmp_path_factory.mktemp("dma-perf")) as twin:
        twin.host.files.update(programs)
        with twin.machine() as machine:
            guest = Guest(machine)
            guest.run("chmod +x /run/twin/dma-* && cp /run/twin/dma-* /usr/bin && insmod /run/twin/qdma-pf.ko")
            guest.run("echo 8 >/sys/bus/pci/devices/0000:01:00.0/qdma/qmax")
            made = Card(guest)
            made.write(QUEUES, 8)
            made.write(CREDIT_ENFORCE, 1)
            yield made
            guest.run("rmmod qdma-pf")
            guest.check()


@pytest.mark.parametrize("configuration", configurations() if CHECKOUT else [], ids=lambda it: it.label)
def test_a_configuration_of_dma_perf_runs_without_an_error(
    card: Card, configuration: Configuration, capsys: pytest.CaptureFixture[str]
) -> None:
    guest = card.guest
    guest.run(f"cat >/tmp/configuration <<'END'\n{configuration.text}\nEND")
    card.begin(configuration)
    try:
        text = guest.run("cd /tmp && dma-perf -c configuration", 600)
    finally:
        card.end()
    wrong = WRONG.search(text)
    assert not wrong, f"{wrong[0]}: {text[-3000:]}"
    rates = {way: (int(packets), f"{rate} {unit}") for way, packets, rate, unit in RESULT.findall(text)}
    ways = WAYS[configuration["dir"]]
    with capsys.disabled():
        told = ", ".join(
            f"{way} {rates[way][0]} packets/s, {rates[way][1]}" if way in rates else f"{way} none in its time"
            for way in sorted(ways)
        )
        print(
            f"\ndma-perf {configuration['dir']}, {configuration.queues} queues, {configuration['pkt_sz']} bytes: {told}"
        )
    completed = dict.fromkeys(ways, 0)
    for requests, side in THREAD.findall(text):
        completed[OF_THREADS[side]] += int(requests)
    assert set(rates) <= ways and set(completed) == ways and all(completed.values()), f"{completed}: {text[-3000:]}"
