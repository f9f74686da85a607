# SPDX-License-Identifier: Apache-2.0
"""make image and make petalinux without Yocto and PetaLinux: what they refuse, hand on, and find where it should be."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ROOT / "petalinux"
CONFIGS = PROJECT / "project-spec/configs"
BOARDS = {
    line.split()[0]: line.split()[1]
    for line in (ROOT / "meta-layer/boards").read_text().splitlines()
    if line[:1] != "#"
}


def run(script: Path, *words: str | Path, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        [str(script), *map(str, words)],
        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **environment},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def options(file: Path) -> dict[str, str]:
    """Options of a Kconfig file that is ours; "n" for those that are off."""
    found: dict[str, str] = {}
    for line in file.read_text().splitlines():
        off = re.fullmatch(r"# CONFIG_(\S+) is not set", line)
        on = re.fullmatch(r'CONFIG_([^=]+)=(y|".*")', line)
        assert off or on or line.startswith("# "), line
        name, value = (off[1], "n") if off else (on[1], on[2]) if on else ("", "")
        assert name not in found or not name, f"{name} twice"
        if name:
            found[name] = value
    return found


@pytest.mark.parametrize("file", ["config", "rootfs_config"])
def test_petalinux_has_the_options_that_are_set(file: str) -> None:
    known = dict(line.split() for line in (PROJECT / "names").read_text().splitlines() if line[:1] != "#")
    for name, value in options(CONFIGS / file).items():
        assert name in known, f"{name} is no option of PetaLinux {known.keys()}"
        assert value in ("y", "n") if known[name] == "bool" else value[0] == value[-1] == '"'


def test_the_project_names_what_is_there() -> None:
    layers = [value.strip('"') for name, value in options(CONFIGS / "config").items() if name.startswith("USER_LAYER_")]
    folders = [Path(layer.replace("${PROOT}", str(PROJECT))) for layer in layers]
    assert {folder.resolve() for folder in folders} == {
        conf.parents[1] for conf in ROOT.glob("meta-layer/*/conf/layer.conf")
    }
    assert all((folder / "conf/layer.conf").exists() for folder in folders)
    kept = subprocess.run(["git", "ls-files", "petalinux"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in (".petalinux/metadata", "config.project", "project-spec/meta-user/conf/petalinuxbsp.conf"):
        assert f"petalinux/{name}\n" in kept
    metadata = (PROJECT / ".petalinux/metadata").read_text()
    kas = (ROOT / "meta-layer/kas/xilinx.yml").read_text()
    version = re.search(r"PETALINUX_VER=(\S+)", metadata)
    assert version and f"rel-v{version[1]}" in kas, "PetaLinux and the kas files are of one release"


def test_boards_have_machines() -> None:
    for board, machine in BOARDS.items():
        assert (ROOT / "vivado/boards" / board / "board.tcl").exists()
        assert (ROOT / "meta-layer/kas" / f"{machine}.yml").exists()
        assert (ROOT / "meta-layer/meta-meridian-bsp/conf/machine" / f"{machine}.conf").exists()


@pytest.mark.parametrize("script", ["yocto-image", "petalinux"])
def test_a_wrong_option_or_an_unknown_board_is_refused(script: str) -> None:
    assert run(ROOT / "scripts" / script)[0] == 2
    assert run(ROOT / "scripts" / script, "--wrong")[0] == 2
    status, said = run(ROOT / "scripts" / script, "kcu105")
    assert status == 1 and "no Linux for board 'kcu105': BOARD is one of fb4xxvg-z21d zcu106" in said
    assert run(ROOT / "scripts" / script, "--help")[0] == 0
