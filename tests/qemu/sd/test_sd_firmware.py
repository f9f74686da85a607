# SPDX-License-Identifier: Apache-2.0
"""The PS from power-on: TF-A, U-Boot with the layer's boot script, Linux; and which root that script starts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from meridian_machine import MachineError, PsHardware, SdCard, SdMachine, Setting, Twin
from meridian_machine.sd_card import SECTOR
from meridian_machine.sd_machine import default_firmware, default_image
from sd_power import broken, running, until_well, writes
from sd_small import ROOT_HAS, State, by_stand_in, by_uboot, idle_kernel, put

pytestmark = pytest.mark.qemu
# QEMU notes on standard error what the management unit refuses.
TRACED = PsHardware(extra=("-trace", "meridian_pmu_refused"))
NO_SUCH_CPU = re.compile(r"meridian_pmu_refused GET_NODE_STATUS \(3\) 0x[45]: status 2003")

STATES = [
    (State(None), 2),
    (State(2), 2),
    (State(3), 3),
    (State(2, trial=3), 2),
    (State(3, trial=1), 3),
    (State(3, trial=0), 2),
    (State(2, trial=0), 3),
    (State(3, trial=2, lacking=("Image",)), 2),
    (State(2, trial=1, lacking=("system.dtb",)), 3),
    (State(2, trial=1, lacking=("initrd",)), 2),
    (State(3, lacking=("Image",)), 2),
    (State(3, trial=2, empty=(3,)), 2),
    (State(3, empty=(3,)), 2),
    (State(2, trial=3, empty=(2, 3)), None),
    (State(2, script=False), None),
    # What nobody writes: a partition and a number of starts that are none.
    (State(7, trial=200), 2),
]


@pytest.fixture(scope="module")
def firmware() -> Path:
    return default_firmware()


@pytest.fixture(scope="module")
def boot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The boot script, and what a root has in /boot, but with a kernel that does nothing."""
    folder = tmp_path_factory.mktemp("boot")
    card = SdCard(default_image())
    for name in ROOT_HAS:
        card.file(2, f"/boot/{name}", folder / name)
    card.boot_script(folder / "boot.scr")
    (folder / "Image").write_bytes(idle_kernel())
    (folder / "initrd").write_bytes(bytes(1000))
    return folder


@pytest.mark.parametrize(("state", "root"), STATES, ids=str)
def test_uboot_and_the_twin_start_the_same_root(
    state: State, root: int | None, firmware: Path, boot: Path, tmp_path: Path
) -> None:
    theirs, ours = state.card(tmp_path / "theirs.img", boot), state.card(tmp_path / "ours.img", boot)
    before = bytes(theirs.first_sector())
    assert by_uboot(theirs, tmp_path / "uboot", firmware) == root
    assert by_stand_in(ours, tmp_path / "twin") == root
    assert theirs.first_sector() == ours.first_sector()
    # So when the power goes meanwhile, the sector is as before or as behind it.
    noted = [(first, len(data)) for first, data in writes(tmp_path / "uboot" / "writes")]
    assert bool(noted) == (theirs.first_sector() != before)
    assert set(noted) <= {(0, SECTOR)}


@pytest.fixture(scope="module")
def card_up(firmware: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SdMachine]:
    folder = tmp_path_factory.mktemp("firmware")
    place = folder / "ps"
    place.mkdir()
    card = SdCard.copy(default_image(), place / "sd.img")
    with (
        Twin(Setting(hardware=None), folder) as twin,
        SdMachine(card, place, twin.card.socket, TRACED, watch=twin.card.check, firmware=firmware) as machine,
    ):
        machine.wait_up()
        yield machine


def said(machine: SdMachine, script: str) -> str:
    return machine.run(script, check=True).text.strip()


def test_the_firmware_boots_linux_from_power_on_to_login(card_up: SdMachine, tmp_path: Path) -> None:
    text = card_up.text()
    places = [
        re.search(pattern, text)
        for pattern in (
            r"NOTICE:  BL31: v2\.\d+\.\d+\(release\)",
            r"U-Boot 20\d\d\.\d\d \(",
            r"Chip: +zu21dr",
            r"EL Level:\tEL2",
            r"Bootmode: SD_MODE1",
            r"Meridian: partition 2 of mmc 0\n",
            r"Starting kernel",
            r"Linux version 6\.",
            r"psci: PSCIv1\.\d+ detected in firmware",
            r"All CPU\(s\) started at EL2",
        )
    ]
    assert all(places), text
    assert [place.start() for place in places if place] == sorted(place.start() for place in places if place)
    assert running(card_up) == 2
    # The stand-in has the same line but for what it adds.
    ours = SdCard.copy(card_up.card.path, tmp_path / "ours.img").start(tmp_path)
    assert said(card_up, "cat /proc/cmdline") == ours.line
    assert said(card_up, "basename $(readlink /sys/class/net/port0/device/driver)") == "meridian_ps"


def test_the_management_unit_was_asked_what_it_knows(card_up: SdMachine) -> None:
    refused = [line for line in card_up.errors().splitlines() if "meridian_pmu_refused" in line]
    assert [line for line in refused if not NO_SUCH_CPU.search(line)] == []
    assert len(refused) == 2, "of the tree's four processors this machine has two"


def test_processors_go_off_and_on_by_tfa(card_up: SdMachine) -> None:
    assert said(card_up, "nproc") == "2"
    for _ in range(3):
        assert said(card_up, "echo 0 >/sys/devices/system/cpu/cpu1/online && nproc") == "1"
        assert said(card_up, "echo 1 >/sys/devices/system/cpu/cpu1/online && nproc") == "2"
    assert said(card_up, "taskset -c 1 sh -c 'echo here'") == "here"


def test_the_machine_goes_off_by_tfa(card_up: SdMachine) -> None:
    until_well(card_up)
    card_up.power_off()


@pytest.mark.long
def test_a_root_that_does_not_start_gives_way(firmware: Path, tmp_path: Path) -> None:
    """It has no first process, and one start on trial: Linux resets the card, and U-Boot takes the other root."""
    image = default_image()
    card = SdCard.copy(image, tmp_path / "sd.img")
    put(card, 3, broken(image, tmp_path, "rm /usr/lib/systemd/systemd"))
    card.mark(3, 1)
    # A reset is one, not the machine's end.
    hardware = PsHardware(extra=("-action", "reboot=reset"))
    with SdMachine(card, tmp_path, hardware=hardware, firmware=firmware) as machine:
        machine.wait_up()
        assert (card.marked(), card.trial()) == (2, None)
        assert running(machine) == 2
        text = machine.text()
        assert text.count("NOTICE:  BL31: v2.") == 2
        assert re.findall(r"Meridian: partition (\d) of mmc", text) == ["3", "2"]
        assert "starts left after this one: 0" in text and "Kernel panic" in text
        machine.power_off()


def test_nothing_is_added_to_the_boot_scripts_line(firmware: Path, boot: Path, tmp_path: Path) -> None:
    card = State(2).card(tmp_path / "sd.img", boot)
    with pytest.raises(MachineError, match="boot script"):
        SdMachine(card, tmp_path, firmware=firmware, line="quiet")
