# SPDX-License-Identifier: Apache-2.0
"""Power cuts at every write of an update, and in the trial behind it, each from what a machine has really written: the card
starts a whole root, by the root's own first program, with the changes of /etc that it should have.

The machine runs the layer's meridian-update and first program on Debian. A cut leaves the sectors that were written before
it: each sector of a root or of the record is one, of those of the data partition some, at random. A card that forgets what
it has acknowledged is not shown. For each cut the card is judged without a machine: which root the boot script's stand-in
takes (test_sd_firmware.py holds the two together), whether that root is the image byte by byte, what its first program
makes of the data partition, and e2fsck of that. What is not touched since the cut before is not looked at again. Of each
record that the cuts have left, the last one is started in a machine, too.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from card_programs import Programs
from layer_fixtures import image_programs
from meridian_machine.sd_machine import default_image
from preinit_root import POSSIBLE
from sd_cuts import WORD, Judge, Record, Recording, change_etc, copy_of, record_update
from sd_power import Rig, running, until_well

__all__ = ["image_programs"]

pytestmark = [
    pytest.mark.qemu,
    pytest.mark.long,
    pytest.mark.skipif(not POSSIBLE, reason="mounts and loop devices are root's"),
]
SEED, DATA_CUTS, COUNT = 20261123, 250, 500
DECISIONS = {((2, None), 2): "update", ((3, 3), 3): "update", ((3, 2), 3): "trial", ((3, None), 3): "trial"}


def start(recording: Recording, told: dict[int, tuple[Record, int]], rig: Rig, folder: Path) -> None:
    """Each of these cuts in a machine."""
    for at, card, _ in recording.replay(told, folder / "replayed.img"):
        place = folder / f"behind-{at}"
        place.mkdir()
        again = Rig(rig.image, place, card=copy_of(card, place / "sd.img"))
        with again.up() as machine:
            assert running(machine) == told[at][1], f"the power goes behind {at} sectors"
            assert machine.run("cat /etc/word", check=True).text == f"{WORD}\n"
            until_well(machine)
        again.card.path.unlink()


def test_a_whole_root_starts_after_a_power_cut_at_any_recorded_write(image_programs: Programs, tmp_path: Path) -> None:
    rig = Rig(default_image(), tmp_path)
    change_etc(rig)
    seen: Counter[tuple[Record, int]] = Counter()
    for name, recording in record_update(rig, tmp_path).items():
        judge = Judge(tmp_path / f"{name}-judge", rig.root, image_programs)
        place = recording.card.path.parent
        started: dict[int, tuple[Record, int]] = {}
        for at, card, touched in recording.replay(recording.moments(DATA_CUTS, SEED), place / "cut.img"):
            try:
                started[at] = judge.started(card, touched)
            except AssertionError as error:
                raise AssertionError(f"{name}: the power goes behind {at} sectors: {error}") from error
        decisions = Counter(started.values())
        assert set(decisions) == {decision for decision, part in DECISIONS.items() if part == name}
        last = {decision: at for at, decision in started.items()}
        start(recording, {at: decision for decision, at in last.items()}, rig, place)
        print(f"{name}: {len(started)} power cuts, {len(last)} of them started in a machine; records {decisions}")
        seen += decisions
    assert seen.total() >= COUNT
