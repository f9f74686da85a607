# SPDX-License-Identifier: Apache-2.0
"""Update of a card's SD card, and the power going at any moment of it or of a start: there is always one that starts.

The power cut is QEMU killed, so what Linux had not handed to the card is lost, and what the card had taken is not: QEMU's
SD card has no cache, and tells Linux so, as most real ones do. A card that forgets what it has acknowledged is not shown.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from meridian_machine import tools
from meridian_machine.sd_card import NO_TRIAL, RECORD, RECORD_MAGIC, SECTOR
from meridian_machine.sd_machine import default_image
from sd_power import UPDATE, UPDATE_SECONDS, Cut, Rig, broken, noting, running, until_well, writes, written

pytestmark = pytest.mark.qemu
SEED = 20261121
GIVEN_UP_SECONDS = 60
GOOD = tools.ROOT / "meta-layer/meta-meridian-bsp/recipes-bsp/meridian-update/files/meridian-update-good.service"
MAGIC_AT = 1080 // SECTOR


@pytest.fixture
def image() -> Path:
    return default_image()


def check_every_moment(rig: Rig, before: bytes, log: Path) -> None:
    """After each write: the marked root is whole, and what has the head of a file system is whole."""
    (old, _), (new, length) = rig.card.partition(2), rig.card.partition(3)
    image = rig.update.read_bytes()
    table, moments, marks = before, 0, []
    # Of the other root, sectors that are not yet as in the image; it was empty.
    empty = bytes(SECTOR)
    wrong = {n for n in range(len(image) // SECTOR) if image[n * SECTOR : (n + 1) * SECTOR] != empty}
    has_head = False
    for first, data in writes(log):
        for number in range(len(data) // SECTOR):
            sector, content = first + number, data[number * SECTOR : (number + 1) * SECTOR]
            assert not old <= sector * SECTOR < old + len(image), "the root that runs was written"
            if sector == 0:
                table = content
            if 0 <= sector * SECTOR - new < length:
                place = sector - new // SECTOR
                (wrong.discard if content == image[place * SECTOR : (place + 1) * SECTOR] else wrong.add)(place)
                if place == MAGIC_AT:
                    has_head = content[1080 % SECTOR :][:2] == b"\x53\xef"
            moments += 1
            record = table[RECORD : RECORD + 4]
            marked = [record[2] if record[:2] == RECORD_MAGIC else 2]
            assert not wrong or (marked == [2] and (record[:2] != RECORD_MAGIC or record[3] == NO_TRIAL))
            # A head is one write of several sectors.
            assert not has_head or max(wrong, default=0) < 4096 // SECTOR
            marks += marked if marks[-1:] != marked else []
    assert moments > len(image) // SECTOR, moments
    assert marks == [2, 3]


def test_the_marked_root_is_whole_at_every_write_of_an_update(image: Path, tmp_path: Path) -> None:
    """Each write to the card is noted: wherever the power had gone, the marked root was whole. Then the new one runs."""
    rig = Rig(image, tmp_path)
    before = bytes(rig.card.first_sector())
    log = tmp_path / "writes"
    with rig.up(noting(rig.card, log)) as machine:
        assert running(machine) == 2
        machine.run(UPDATE, UPDATE_SECONDS, check=True)
        machine.power_off()
    check_every_moment(rig, before, log)
    assert rig.card.record() == (3, 3)
    with rig.up() as machine:
        assert running(machine) == 3
        until_well(machine)
        assert rig.card.marked() == 3
        assert machine.run("meridian-update --back").text == "partition 2 is started next, on trial\n"
        machine.power_off()
    assert rig.card.record() == (2, 3)


def test_a_root_that_does_not_start_gives_way(image: Path, tmp_path: Path) -> None:
    """It has no first process: three starts, then the one before is back."""
    rig = Rig(image, tmp_path, broken(image, tmp_path, "rm /usr/lib/systemd/systemd"))
    with rig.up() as machine:
        machine.run(UPDATE, UPDATE_SECONDS, check=True)
        machine.power_off()
    for left in (2, 1, 0):
        assert rig.card.marked() == 3
        with rig.machine() as machine:
            machine.wait_end(120)
            assert "Kernel panic" in machine.text()
        assert rig.card.trial() == left
    with rig.up() as machine:
        assert running(machine) == 2
        assert (rig.card.marked(), rig.card.trial()) == (2, None)
        machine.power_off()


@pytest.mark.long
def test_a_root_that_nobody_can_log_in_to_gives_way(image: Path, tmp_path: Path) -> None:
    """Its ssh waits for an interface that does not come. It is given up after a minute in place of ten."""
    conf = tmp_path / "conf"
    conf.write_text("[Socket]\nBindToDevice=nowhere0\n")
    place = "/usr/lib/systemd/system/ssh.socket.d/meridian.conf"
    good = tmp_path / "good"
    good.write_text(GOOD.read_text().replace("JobTimeoutSec=600\n", f"JobTimeoutSec={GIVEN_UP_SECONDS}\n"))
    unit = f"/usr/lib/systemd/system/{GOOD.name}"
    changes = [(conf, place), (good, unit)]
    requests = [request for file, to in changes for request in (f"rm {to}", f"write {file} {to}")]
    rig = Rig(image, tmp_path, broken(image, tmp_path, *requests))
    with rig.up() as machine:
        machine.run(f"{UPDATE.replace(' ', ' --tries 1 ', 1)}", UPDATE_SECONDS, check=True)
        machine.power_off()
    assert rig.card.trial() == 1
    with rig.machine() as machine:
        machine.wait_end(GIVEN_UP_SECONDS + 300)
        assert "reboot: Restarting system" in machine.text()
    assert rig.card.trial() == 0
    with rig.up() as machine:
        assert running(machine) == 2
        machine.power_off()


def power_cuts(image: Path, folder: Path, count: int) -> None:
    rig = Rig(image, folder)
    ran, cuts = [], Cut.some(count, SEED)
    with ExitStack() as stack:
        machine = stack.enter_context(rig.up())
        machine.run("true", check=True)
        before = written(machine)
        machine.run(UPDATE, UPDATE_SECONDS, check=True)
        update = written(machine) - before
        # The first cut's update needs a card that is not on trial.
        machine.run("meridian-update --back", check=True)
        for number, cut in enumerate(cuts):
            cut.make(rig, machine, update)
            told = f"try {number}, {cut}"
            assert rig.is_whole(rig.card.marked()), told
            machine = stack.enter_context(rig.up())
            ran.append(running(machine))
            assert ran[-1] == rig.card.marked(), told
            assert machine.run("test -w /data && touch /etc/changed && cat /etc/machine-id").text.strip(), told
            until_well(machine)
            print(f"{told}: root {ran[-1]}, {rig.starts[-1]:.0f} s", flush=True)
    print(
        f"{count} power cuts: roots {ran}, {sum(rig.starts) / len(rig.starts):.0f} s a start, update {update >> 20} MiB"
    )
    assert count < 20 or set(ran) == {2, 3}, "one was never started"


def test_a_root_starts_after_each_of_four_power_cuts(image: Path, tmp_path: Path) -> None:
    power_cuts(image, tmp_path, 4)


@pytest.mark.long
def test_a_root_starts_after_each_of_fifty_power_cuts(image: Path, tmp_path: Path) -> None:
    power_cuts(image, tmp_path, 50)
