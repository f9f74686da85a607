# SPDX-License-Identifier: Apache-2.0
"""The driver in DPDK's own tree: its meson builds it and checks the symbols it exports, and testpmd loads it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from sessions import Testpmd

ROOT = Path(__file__).resolve().parents[3]
MINUTES = 10
DRIVERS = "-Denable_drivers=bus/pci,bus/vdev,mempool/ring,net/meridian"
# Debian's meson has its Python beside it, not in a venv.
SYSTEM = {**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def output(*command: str | Path, folder: Path | None = None) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=60 * MINUTES, check=False, cwd=folder, env=SYSTEM
    )
    assert done.returncode == 0, f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout.strip()


@pytest.mark.long
def test_dpdks_own_tree_builds_the_driver_and_testpmd_loads_it(tmp_path: Path) -> None:
    output(ROOT / "scripts" / "setup", "--dpdk")
    tree = tmp_path / "dpdk"
    source = Path(output(ROOT / "scripts" / "build" / "fetch-source", "dpdk"))
    shutil.copytree(source, tree, symlinks=True, ignore=shutil.ignore_patterns("examples"))
    (tree / "examples").mkdir()
    shutil.copy(source / "examples" / "meson.build", tree / "examples")
    output(ROOT / "host-driver" / "dpdk" / "in-tree" / "install", tree)
    output(
        "meson", "setup", "build", DRIVERS, "-Dtests=false", "-Dwerror=true", "-Ddeveloper_mode=enabled", folder=tree
    )
    targets = output("ninja", "-C", "build", "-t", "targets", "all", folder=tree)
    names = {line.split(":")[0] for line in targets.splitlines()}
    (library,) = (name for name in names if name.startswith("drivers/librte_net_meridian.so") and name[-1].isdigit())
    output("ninja", "-C", "build", library, folder=tree)
    testpmd = Testpmd(tree / "build" / library, f"meridian{os.getpid()}")
    assert "Driver name: net_meridian_null" in testpmd.run(["net_meridian_null0"], script=["show port info 0"])
