# SPDX-License-Identifier: Apache-2.0
"""The driver as a patch to DPDK: DPDK's own check of patches finds nothing but what is listed here with a reason."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 900
DRIVER = "drivers/net/meridian"
CONSTANTS = "Instructions take these arguments, which are constants."
# By type and file, with the reason. One that is not found any more fails the test, too.
EXCEPTIONS = {
    ("CONSTANT_COMPARISON", "meridian_compat.h"): "RTE_VERSION_NUM() is a constant, and checkpatch thinks it a call.",
    ("FUNCTION_ARGUMENTS", "meridian.h"): "MERIDIAN_STATS_ARGS are arguments, which differ between DPDK's versions.",
    ("CAMELCASE", "rxtx/meridian_rx.c"): "DPDK wants PRIx64, and checkpatch thinks it a name of the driver.",
    ("MACRO_ARG_REUSE", "rxtx/meridian_rx_avx2.c"): CONSTANTS,
    ("MACRO_ARG_REUSE", "rxtx/meridian_rx_neon.c"): CONSTANTS,
    ("MACRO_ARG_REUSE", "rxtx/meridian_rx_sse.c"): CONSTANTS,
}
FINDING = re.compile(r"^(?:ERROR|WARNING|CHECK):(\w+):.*\n#\d+: FILE: (\S+?):\d+:$", re.MULTILINE)
SUBJECT = "net/meridian: add driver"
MESSAGE = f"{SUBJECT}\n\nA poll mode driver for the PFs and VFs of Meridian cards."
AUTHOR = "Meridian Test <test@example.org>"


def run(*command: str | Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    return subprocess.run(
        words,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        cwd=folder,
        env={**os.environ, **environment},
    )


def output(*command: str | Path, folder: Path) -> str:
    done = run(*command, folder=folder)
    assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout.strip()


def commit(tree: Path, message: str) -> None:
    name, address = AUTHOR.rstrip(">").split(" <")
    output("git", "add", "--all", "--force", folder=tree)
    user = ("-c", f"user.name={name}", "-c", f"user.email={address}", "-c", "commit.gpgsign=false")
    output("git", *user, "commit", "--quiet", "--signoff", "--message", message, folder=tree)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What a patch and its check need of DPDK's tree, and the driver as the last commit."""
    output(ROOT / "scripts" / "setup", "--dpdk", folder=tmp_path)
    source = Path(output(ROOT / "scripts" / "build" / "fetch-source", "dpdk", folder=tmp_path))
    tree = tmp_path / "dpdk"
    (tree / "doc/guides/nics/features").mkdir(parents=True)
    (tree / "drivers/net").mkdir(parents=True)
    shutil.copytree(source / "devtools", tree / "devtools")
    for name in ("VERSION", ".mailmap", "drivers/net/meson.build"):
        shutil.copy(source / name, tree / name)
    output("git", "init", "--quiet", folder=tree)
    commit(tree, "base")
    output(ROOT / "host-driver" / "dpdk" / "in-tree" / "install", tree, folder=tree)
    # A first patch adds its author, too; with files of several folders its subject may name the driver alone.
    with (tree / ".mailmap").open("a") as names:
        names.write(f"{AUTHOR}\n")
    commit(tree, MESSAGE)
    return tree


def checkpatches(tree: Path) -> str:
    shell = "set -e; source scripts/lib/env.sh; source scripts/lib/checkpatch.sh; linux_scripts"
    scripts = Path(output("bash", "-c", shell, folder=ROOT))
    output("git", "format-patch", "-1", "--output", "../driver.patch", folder=tree)
    checks = {"DPDK_CHECKPATCH_PATH": str(scripts / "checkpatch.pl"), "DPDK_CHECKPATCH_CODESPELL": "no"}
    done = run("devtools/checkpatches.sh", "../driver.patch", folder=tree, **checks)
    assert not done.stderr, done.stderr
    return done.stdout


@pytest.mark.long
def test_checks_of_dpdk_find_only_what_is_listed(tree: Path) -> None:
    report = checkpatches(tree)
    assert "lines checked" in report, report
    found = FINDING.findall(report)
    assert {(kind, name.removeprefix(f"{DRIVER}/")) for kind, name in found} == set(EXCEPTIONS), report
    # Nothing is said in another form: neither a finding without a file nor what DPDK's other checks say.
    assert len(found) == len(re.findall(r"^(?:ERROR|WARNING|CHECK):", report, re.MULTILINE)), report
    (total,) = re.findall(r"^total: .* lines checked\n(.*)", report, re.MULTILINE | re.DOTALL)
    assert total.strip() == "0/1 valid patch", report
    log = run("devtools/check-git-log.sh", "-n1", folder=tree)
    assert log.stdout.strip() == "1/1 valid patch", log.stdout + log.stderr
