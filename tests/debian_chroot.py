# SPDX-License-Identifier: Apache-2.0
"""A Debian system of this machine's release in a folder, in which packages are installed and removed."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "meridian"
AS_ROOT = [] if os.geteuid() == 0 else ["sudo"]
MINUTES = 15
#: Processes and mounts end with the command.
ENTER = """mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" && exec chroot "$0" /usr/bin/env -i \
PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -c "$1" """
#: "$0": the archive of a system with the packages "$1", which is made once.
MAKE = """set -euo pipefail
source scripts/lib/apt.sh
sources=$(mktemp -d)
trap 'rm -rf "$sources"' EXIT
debian_sources "$sources" deb "$(. /etc/os-release && printf %s "$VERSION_CODENAME")"
mmdebstrap --quiet --mode=root --variant=apt --include="$1" --aptopt='APT::Install-Recommends "false"' \
  --dpkgopt='path-exclude=/usr/share/locale/*' "$(. /etc/os-release && printf %s "$VERSION_CODENAME")" "$0" "$sources"/*"""


def run(*words: str | Path, folder: Path = ROOT) -> str:
    """What a command prints, which must succeed."""
    command = ["nice", "-n", "19", *(str(word) for word in words)]
    done = subprocess.run(
        command,
        cwd=folder,
        text=True,
        timeout=60 * MINUTES,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, f"{shlex.join(command)}: {done.stdout[-5000:]}"
    return done.stdout


class Chroot:
    """The system with these packages, as new, below the folder. remove() deletes it."""

    def __init__(self, folder: Path, packages: Sequence[str]) -> None:
        run(ROOT / "scripts" / "setup", "--images")
        key = hashlib.sha256(f"{packages}{MAKE}".encode()).hexdigest()[:16]
        archive = CACHE / f"packages-{key}.tar"
        archive.parent.mkdir(parents=True, exist_ok=True)
        # One makes it, others wait.
        with archive.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not archive.exists():
                half = archive.with_suffix(".new.tar")
                run(*AS_ROOT, "bash", "-c", MAKE, half, ",".join(packages))
                half.rename(archive)
        self.root = folder / "root"
        self.root.mkdir()
        run(*AS_ROOT, "tar", "-C", self.root, "-xf", archive)

    def run(self, command: str) -> str:
        return run(
            *AS_ROOT, "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, self.root, command
        )

    def install(self, *packages: Path) -> str:
        """By apt, which has no network: all that they need is there."""
        for package in packages:
            run(*AS_ROOT, "cp", package, self.root / "tmp")
        names = " ".join(f"/tmp/{package.name}" for package in packages)
        return self.run(f"apt-get install -y --no-install-recommends {names}")

    def files(self, pattern: str) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in self.root.glob(pattern))

    def remove(self) -> None:
        run(*AS_ROOT, "rm", "-rf", "--one-file-system", self.root)
