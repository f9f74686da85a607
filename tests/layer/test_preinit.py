# SPDX-License-Identifier: Apache-2.0
"""The first program of the card's root, run in a root of its own with the image's busybox: what /etc is then."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from card_programs import Programs
from layer_fixtures import image_programs
from preinit_root import POSSIBLE, PreinitRoot

__all__ = ["image_programs"]

pytestmark = pytest.mark.skipif(not POSSIBLE, reason="mounts and loop devices are root's")


@pytest.fixture
def card(tmp_path: Path, image_programs: Programs) -> PreinitRoot:
    data = tmp_path / "data"
    data.write_bytes(b"")
    os.truncate(data, 40 << 20)
    subprocess.run(["/sbin/mke2fs", "-q", "-t", "ext4", str(data)], check=True, timeout=20)
    return PreinitRoot.made(tmp_path / "root", data, image_programs)


def test_changes_are_kept(card: PreinitRoot) -> None:
    assert card.start(2, "mine") == ("the root's", "")
    assert card.start(2) == ("mine", "")


def test_a_root_has_changes_of_its_own_and_begins_with_those_of_the_other(card: PreinitRoot) -> None:
    card.start(2, "mine", "/etc/gone")
    assert card.start(3, "bad") == ("mine", "")
    assert "/000000/000000/00/" not in card.files("/overlay-etc/root3/upper")
    assert "gone" in card.files("/overlay-etc/root3/upper"), "what was removed came back"
    assert card.start(3) == ("bad", "")
    # Going back undoes it.
    assert card.start(2) == ("mine", "")


def test_changes_that_both_roots_shared_come_along(card: PreinitRoot, tmp_path: Path) -> None:
    (tmp_path / "word").write_text("shared\n")
    card.change("mkdir overlay-etc", "mkdir overlay-etc/upper", f"write {tmp_path}/word overlay-etc/upper/word")
    assert card.start(3) == ("shared", "")


def test_a_copy_that_was_cut_short_is_made_again(card: PreinitRoot) -> None:
    card.start(2, "mine")
    card.change("mkdir overlay-etc/root3.new", "mkdir overlay-etc/root3.new/upper")
    assert card.start(3) == ("mine", "")


@pytest.mark.parametrize("settled", [False, True], ids=["unsettled", "settled"])
def test_a_power_cut_behind_any_step_of_a_first_start_loses_nothing(card: PreinitRoot, settled: bool) -> None:
    card.start(2, "mine")
    copied = set()
    for data in card.cuts(3, "theirs", settled):
        shutil.copyfile(data, card.data)
        had = [name for name in ("root3.new", "root3") if f"/{name}/" in card.files("/overlay-etc")]
        copied.add(" ".join(had))
        word, motd = card.start(3)
        assert word in ("mine", "theirs") and motd == "", data
        assert card.start(2) == ("mine", ""), data
        checked = subprocess.run(
            ["/sbin/e2fsck", "-fn", str(card.data)], capture_output=True, text=True, timeout=60, check=False
        )
        assert checked.returncode == 0, checked.stdout
    assert word == "theirs", "the last cut is behind the sync"
    assert {"", "root3.new", "root3"} <= copied, copied


def test_changes_that_find_no_room_for_a_copy_are_copied_at_a_later_start(card: PreinitRoot, tmp_path: Path) -> None:
    """Half a copy neither fills the data partition nor counts as the changes of the new root."""
    card.start(2, "mine")
    (tmp_path / "big").write_bytes(os.urandom(25 << 20))
    big = "/overlay-etc/root2/upper/big"
    card.change(f"write {tmp_path}/big {big}")
    word, motd = card.start(3, "theirs")
    assert word == "the root's" and "The changes of /etc of the other root cannot be copied" in motd
    assert "root3" not in card.files("/overlay-etc")
    card.change(f"rm {big}")
    assert card.start(3) == ("mine", "")


def test_a_damaged_data_partition_is_mended(card: PreinitRoot) -> None:
    card.start(2, "mine")
    # The first superblock; there is another one.
    with card.data.open("r+b") as file:
        file.seek(1024)
        file.write(bytes(1024))
    assert card.start(2) == ("mine", "")


def test_a_data_partition_that_the_kernel_found_wrong_is_put_right_before_it_is_used(card: PreinitRoot) -> None:
    """It can be mounted all the same, and would get worse with each start."""
    card.start(2, "mine")
    # The kernel's mark, and a file that it does not know of as used.
    card.change("set_super_value state 2", "freei /overlay-etc/root2/upper/word")
    assert card.start(2) == ("mine", "")
    state = subprocess.run(
        ["/sbin/e2fsck", "-nf", str(card.data)], capture_output=True, text=True, timeout=60, check=False
    )
    assert state.returncode == 0, state.stdout


@pytest.mark.parametrize("damage", ["bytes", "short"])
def test_without_a_data_partition_it_starts_and_says_so(card: PreinitRoot, damage: str) -> None:
    card.data.write_bytes(os.urandom(1 << 20) if damage == "bytes" else b"")
    word, motd = card.start(2, "mine")
    assert word == "the root's" and "The data partition /dev/data cannot be used" in motd
    assert card.start(2)[0] == "the root's"


def test_without_overlayfs_it_starts_and_says_so(card: PreinitRoot) -> None:
    (card.root / "no-overlay").touch()
    word, motd = card.start(2, "mine")
    assert word == "the root's" and "Changes of /etc cannot be kept" in motd
