# SPDX-License-Identifier: Apache-2.0
"""What the repository's own scripts build: the card, QEMU, images, kernel modules."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from meridian_twin.patience import stretched

ROOT = Path(__file__).resolve().parents[3]
SUITES = ("trixie", "bookworm")
#: That whose kernel is the oldest that the host's driver is for. A mirror may lack it.
OLDEST = "bullseye"


class BuildError(Exception):
    """A script failed; it has said why on standard error."""


class MissingSuiteError(BuildError):
    """The mirror of the system's apt sources does not have what was asked for."""


def built(script: str, *arguments: str, minutes: int) -> Path:
    """The path that one of our scripts prints. What it says while it works goes to standard error."""
    command = [str(ROOT / "scripts" / script), *arguments]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60 * minutes, check=False)
    except subprocess.TimeoutExpired:
        raise BuildError(f"scripts/{script} is not done after {minutes} minutes") from None
    if done.returncode == 3:
        raise MissingSuiteError(f"scripts/{script} {' '.join(arguments)}: the mirror does not have it")
    if done.returncode != 0:
        raise BuildError(f"scripts/{script} failed")
    return Path(done.stdout.splitlines()[-1])


def qemu() -> Path:
    """For a host with the card in it."""
    return built("build/build-qemu", minutes=60)


def qemu_ps() -> Path:
    """For the card's own PS."""
    return qemu().with_name("qemu-system-aarch64")


@dataclass(frozen=True)
class Image:
    """What a machine boots: a Debian suite's kernel and root file system. machine: host, debug, selftests or ps."""

    folder: Path

    @classmethod
    def build(cls, suite: str, machine: str = "host") -> Image:
        if machine == "debug":
            return cls(built("build/build-debug-image", "--suite", suite, minutes=90))
        return cls(built("build-image", "--suite", suite, "--machine", machine, minutes=30))

    @property
    def patience(self) -> float:
        """How many times longer a machine may take: a kernel that checks itself is slow, as this computer may be."""
        return stretched(5 if self.release.endswith("-debug") else 1)

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def early(self) -> Path:
        """The part of the initial RAM disk that the image brings: busybox, drivers of the root file system."""
        return self.folder / "early.cpio"

    @property
    def root(self) -> Path:
        return self.folder / "root.ext4"

    @property
    def release(self) -> str:
        """Of the kernel, as uname -r has it."""
        return (self.folder / "release").read_text().strip()
