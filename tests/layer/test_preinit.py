# SPDX-License-Identifier: Apache-2.0
"""The first program of the card's root, run in a root of its own with the image's busybox: what /etc is then."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from card_programs import Programs
from layer_fixtures import image_programs

__all__ = ["image_programs"]

TEMPLATE = Path(__file__).resolve().parents[2] / "meta-layer/meta-meridian-bsp/files/meridian-preinit.sh.in"
WORDS = {
    "OVERLAYFS_ETC_MOUNT_POINT": "/data",
    "OVERLAYFS_ETC_DEVICE": "/dev/data",
    "OVERLAYFS_ETC_FSTYPE": "ext4",
    "OVERLAYFS_ETC_MOUNT_OPTIONS": "defaults",
    "SBIN_INIT_NAME": "/sbin/init",
}
# What the system would be: it says what it sees, and changes a file as it is told.
INIT = """#!/bin/sh
echo "word: $(cat /etc/word)"
echo "motd: $(cat /etc/motd)"
[ -z "$1" ] || echo "$1" >/etc/word
[ -z "$2" ] || rm "$2"
sync
"""
# The root that runs is told by a command line of its own; a kernel may be without overlayfs.
MOUNT = """#!/bin/sh
case "$*" in
  *"-t overlay"*) [ ! -e /no-overlay ] || exit 1 ;;
esac
/bin/mount "$@" || exit
case "$*" in
  *"proc /proc") /bin/mount --bind /cmdline /proc/cmdline ;;
esac
"""
# In a mount namespace: programs and libraries of this computer for busybox and e2fsck, loop devices, the data partition.
SCRIPT = """
set -eu
cd "$1"
for folder in usr lib lib64; do [ ! -e "/$folder" ] || mount --rbind "/$folder" "$folder"; done
mount -t tmpfs tmpfs dev
mknod dev/loop-control c 10 237
for n in $(seq 0 63); do mknod "dev/loop$n" b 7 "$n"; done
touch dev/data dev/console
mount --bind "$2" dev/data
mknod dev/null c 1 3
exec chroot . /bin/sh /sbin/preinit "$3" "$4"
"""

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/dev/loop-control").exists(), reason="mounts and loop devices are root's"
)


@dataclass
class Card:
    root: Path
    data: Path

    def start(self, partition: int, word: str = "", remove: str = "") -> tuple[str, str]:
        """What the system sees in /etc/word and /etc/motd; word: it writes that; remove: a file that it removes."""
        (self.root / "cmdline").write_text(f"root=PARTUUID=4d524431-0{partition} ro rootwait console=ttyPS0\n")
        command = ["unshare", "--mount", "sh", "-c", SCRIPT, "sh", str(self.root), str(self.data), word, remove]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done
        said = dict(line.split(": ", 1) for line in done.stdout.splitlines() if line[:6] in ("word: ", "motd: "))
        return said["word"], said["motd"]

    def files(self, folder: str) -> str:
        """What the data partition has there."""
        done = subprocess.run(
            ["/sbin/debugfs", "-R", f"ls -p {folder}", str(self.data)], capture_output=True, text=True, timeout=20, check=True
        )  # fmt: skip
        return done.stdout


@pytest.fixture
def card(tmp_path: Path, image_programs: Programs) -> Card:
    root, data = tmp_path / "root", tmp_path / "data"
    for name in ("bin", "sbin", "etc", "proc", "sys", "dev", "data", "mnt", "usr", "lib", "lib64"):
        (root / name).mkdir(parents=True)
    busybox = (Path(image_programs.path) / "sh").resolve()
    (root / "bin/busybox").write_bytes(busybox.read_bytes())
    (root / "bin/busybox").chmod(0o755)
    for program in Path(image_programs.path).iterdir():
        if program.resolve() == busybox:
            (root / "bin" / program.name).symlink_to("busybox")
    for name, text in {
        "sbin/preinit": TEMPLATE.read_text().format(**WORDS),
        "sbin/init": INIT,
        "sbin/mount": MOUNT,
        "etc/word": "the root's\n",
        "etc/motd": "",
        "etc/gone": "",
    }.items():
        (root / name).write_text(text)
        (root / name).chmod(0o755)
    data.write_bytes(b"")
    os.truncate(data, 40 << 20)
    subprocess.run(["/sbin/mke2fs", "-q", "-t", "ext4", str(data)], check=True, timeout=20)
    return Card(root, data)


def test_changes_are_kept(card: Card) -> None:
    assert card.start(2, "mine") == ("the root's", "")
    assert card.start(2) == ("mine", "")


def test_a_root_has_changes_of_its_own_and_begins_with_those_of_the_other(card: Card) -> None:
    card.start(2, "mine", "/etc/gone")
    assert card.start(3, "bad") == ("mine", "")
    assert "/000000/000000/00/" not in card.files("/overlay-etc/root3/upper")
    assert "gone" in card.files("/overlay-etc/root3/upper"), "what was removed came back"
    assert card.start(3) == ("bad", "")
    # Going back undoes it.
    assert card.start(2) == ("mine", "")


def test_changes_that_both_roots_shared_come_along(card: Card, tmp_path: Path) -> None:
    (tmp_path / "word").write_text("shared\n")
    commands = ["mkdir overlay-etc", "mkdir overlay-etc/upper", f"write {tmp_path}/word overlay-etc/upper/word"]
    for command in commands:
        subprocess.run(
            ["/sbin/debugfs", "-w", "-R", command, str(card.data)], check=True, timeout=20, capture_output=True
        )
    assert card.start(3) == ("shared", "")


def test_a_copy_that_was_cut_short_is_made_again(card: Card) -> None:
    card.start(2, "mine")
    for command in ("mkdir overlay-etc/root3.new", "mkdir overlay-etc/root3.new/upper"):
        subprocess.run(
            ["/sbin/debugfs", "-w", "-R", command, str(card.data)], check=True, timeout=20, capture_output=True
        )
    assert card.start(3) == ("mine", "")


def test_a_damaged_data_partition_is_mended(card: Card) -> None:
    card.start(2, "mine")
    # The first superblock; there is another one.
    with card.data.open("r+b") as file:
        file.seek(1024)
        file.write(bytes(1024))
    assert card.start(2) == ("mine", "")


@pytest.mark.parametrize("damage", ["bytes", "short"])
def test_without_a_data_partition_it_starts_and_says_so(card: Card, damage: str) -> None:
    card.data.write_bytes(os.urandom(1 << 20) if damage == "bytes" else b"")
    word, motd = card.start(2, "mine")
    assert word == "the root's" and "The data partition /dev/data cannot be used" in motd
    assert card.start(2)[0] == "the root's"


def test_without_overlayfs_it_starts_and_says_so(card: Card) -> None:
    (card.root / "no-overlay").touch()
    word, motd = card.start(2, "mine")
    assert word == "the root's" and "Changes of /etc cannot be kept" in motd
