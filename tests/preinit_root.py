# SPDX-License-Identifier: Apache-2.0
"""The first program of the card's root, started in a root of its own with the image's busybox, on a data partition in a
file. It needs root and loop devices."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from card_programs import Programs

TEMPLATE = Path(__file__).resolve().parents[1] / "meta-layer/meta-meridian-bsp/files/meridian-preinit.sh.in"
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
# Behind each of these programs the data partition is copied as it is then, or with all that was written before.
NOTED = ("cp", "mkdir", "mount", "mv", "rm", "sync")
NOTE = """#!/bin/sh
/bin/busybox {name} "$@"
status=$?
[ ! -e /settled ] || /bin/busybox sync
[ ! -e /kept ] || /usr/bin/cp --sparse=always /dev/data "/kept/$(/bin/busybox ls /kept | /bin/busybox wc -l)"
exit $status
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

POSSIBLE = os.geteuid() == 0 and Path("/dev/loop-control").exists()


@dataclass
class PreinitRoot:
    """root: a folder; data: the file of the data partition."""

    root: Path
    data: Path

    @staticmethod
    def made(root: Path, data: Path, programs: Programs) -> PreinitRoot:
        """With the image's programs."""
        for name in ("bin", "sbin", "etc", "proc", "sys", "dev", "data", "mnt", "usr", "lib", "lib64"):
            (root / name).mkdir(parents=True)
        busybox = (Path(programs.path) / "sh").resolve()
        (root / "bin/busybox").write_bytes(busybox.read_bytes())
        (root / "bin/busybox").chmod(0o755)
        for program in Path(programs.path).iterdir():
            if program.resolve() == busybox:
                (root / "bin" / program.name).symlink_to("busybox")
        for name in NOTED:
            (root / "bin" / name).unlink()
        for name, text in {
            **{f"bin/{name}": NOTE.format(name=name) for name in NOTED},
            "sbin/preinit": TEMPLATE.read_text().format(**WORDS),
            "sbin/init": INIT,
            "sbin/mount": MOUNT,
            "etc/word": "the root's\n",
            "etc/motd": "",
            "etc/gone": "",
        }.items():
            (root / name).write_text(text)
            (root / name).chmod(0o755)
        return PreinitRoot(root, data)

    def start(self, partition: int, word: str = "", remove: str = "") -> tuple[str, str]:
        """What the system sees in /etc/word and /etc/motd; word: it writes that; remove: a file that it removes."""
        (self.root / "cmdline").write_text(f"root=PARTUUID=4d524431-0{partition} ro rootwait console=ttyPS0\n")
        command = ["unshare", "--mount", "sh", "-c", SCRIPT, "sh", str(self.root), str(self.data), word, remove]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done
        said = dict(line.split(": ", 1) for line in done.stdout.splitlines() if line[:6] in ("word: ", "motd: "))
        return said["word"], said["motd"]

    def cuts(self, partition: int, word: str, settled: bool) -> list[Path]:
        """The data partition as a power cut behind each step of such a start leaves it, in order. settled: the kernel has
        written everything by then; else what it has written by itself."""
        if settled:
            (self.root / "settled").touch()
        kept = self.root / "kept"
        kept.mkdir()
        self.start(partition, word)
        found = sorted(kept.iterdir(), key=lambda path: int(path.name))
        kept.rename(self.root.with_name("kept"))
        return [self.root.with_name("kept") / path.name for path in found]

    def change(self, *commands: str) -> None:
        """By debugfs, on the data partition."""
        for command in commands:
            done = subprocess.run(
                ["/sbin/debugfs", "-w", "-R", command, str(self.data)],
                check=True, timeout=60, capture_output=True, text=True,
            )  # fmt: skip
            assert len(done.stderr.splitlines()) < 2, done

    def files(self, folder: str) -> str:
        """What the data partition has there."""
        done = subprocess.run(
            ["/sbin/debugfs", "-R", f"ls -p {folder}", str(self.data)], capture_output=True, text=True, timeout=20, check=True
        )  # fmt: skip
        return done.stdout
