# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the programs that a script of the card meets."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from card_programs import Programs

ROOT = Path(__file__).resolve().parents[1]
#: Of packages that the image has beside busybox: util-linux, e2fsprogs, openssh.
PACKAGED = ("blockdev", "findmnt", "sfdisk", "debugfs", "e2fsck", "ssh-keygen")


@pytest.fixture(scope="session")
def image_programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """busybox as scarthgap configures it, all its programs, and those of other packages; nothing else."""
    built = subprocess.run(
        [str(ROOT / "scripts/build/build-busybox")], capture_output=True, text=True, timeout=1200, check=True
    )
    busybox = Path(built.stdout.strip()) / "busybox"
    folder = tmp_path_factory.mktemp("programs")
    names = subprocess.run([str(busybox), "--list"], capture_output=True, text=True, timeout=20, check=True).stdout
    for name in names.split():
        (folder / name).symlink_to(busybox)
    for name in PACKAGED:
        found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
        assert found, f"this computer has no {name}"
        (folder / name).symlink_to(found)
    return Programs(str(folder), (str(folder / "sh"),))


@pytest.fixture(params=["image", "computer"])
def programs(request: pytest.FixtureRequest) -> Programs:
    if request.param == "computer":
        return Programs(f"{os.environ['PATH']}:/usr/sbin:/sbin", ("/bin/sh",))
    return request.getfixturevalue("image_programs")
