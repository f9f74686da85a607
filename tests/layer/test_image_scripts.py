# SPDX-License-Identifier: Apache-2.0
"""make image and make petalinux without Yocto and PetaLinux: what they refuse, hand on, and find where it should be."""

from __future__ import annotations

import os
import re
import shutil
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
def test_wrong_words_are_told(script: str) -> None:
    assert run(ROOT / "scripts" / script)[0] == 2
    assert run(ROOT / "scripts" / script, "--wrong")[0] == 2
    status, said = run(ROOT / "scripts" / script, "kcu105")
    assert status == 1 and "no Linux for board 'kcu105': BOARD is one of fb4xxvg-z21d zcu106" in said
    assert run(ROOT / "scripts" / script, "--help")[0] == 0


TOOLS = {
    "petalinux-config": """
config=project-spec/configs/config
case "$*" in
  --get-hw-description*)
    # A choice of its own, in place of ours.
    sed -i '/ROOTFS_EXT4/d; s/^# CONFIG_SUBSYSTEM_ROOTFS_INITRD is not set/CONFIG_SUBSYSTEM_ROOTFS_INITRD=y/' $config
    echo 'CONFIG_SYSTEM_ZYNQMP=y' >>$config
    sed -i '/ADD_EXTRA_USERS/d' project-spec/configs/rootfs_config
    echo 'CONFIG_ADD_EXTRA_USERS="root:root"' >>project-spec/configs/rootfs_config ;;
esac
if [ -n "${STUBBORN:-}" ]; then sed -i "/$STUBBORN/d" $config; fi
""",
    "petalinux-build": "mkdir -p images/linux && touch images/linux/meridian-image-zynqmp.rootfs.wic.gz\n",
    "petalinux-package": 'if [ -z "${NO_BOOT:-}" ]; then touch images/linux/BOOT.BIN; fi\n',
}


class Tree:
    """What scripts/petalinux is made of, apart, with programs of PetaLinux' names that only note how they are called."""

    def __init__(self, place: Path) -> None:
        self.place, self.log = place / "tree", place / "log"
        for name in ("petalinux", "meta-layer/boards", "scripts/petalinux", "scripts/env.sh", "scripts/layer.sh",
                     "scripts/requirements.txt", "spinal/project/build.properties"):  # fmt: skip
            source, target = ROOT / name, self.place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        self.programs = place / "bin"
        self.programs.mkdir()
        for name, text in TOOLS.items():
            program = self.programs / name
            program.write_text(f'#!/usr/bin/env bash\nset -e\necho "{name} $*" >>{self.log}\n{text}')
            program.chmod(0o755)
        self.xsa = place / "board.xsa"
        self.xsa.touch()

    def run(self, *words: str | Path, **environment: str) -> tuple[int, str]:
        given = {"PATH": f"{self.programs}:{os.environ['PATH']}", "PETALINUX_VER": "2024.2", **environment}
        return run(self.place / "scripts/petalinux", *words, **given)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_petalinux_gets_ours_and_builds(tree: Tree) -> None:
    status, said = tree.run("fb4xxvg-z21d", tree.xsa)
    assert status == 0, said
    assert tree.log.read_text().splitlines() == [
        f"petalinux-config --get-hw-description={tree.xsa} --silentconfig",
        "petalinux-config --silentconfig",
        "petalinux-config -c rootfs --silentconfig",
        "petalinux-build -c meridian-image",
        "petalinux-package boot --u-boot --fpga --force",
    ]
    out = tree.place / "build/petalinux/fb4xxvg-z21d"
    assert f"output: {out}/images/linux/meridian-image-zynqmp.rootfs.wic.gz" in said
    config = (out / "project-spec/configs/config").read_text()
    assert 'CONFIG_YOCTO_INCLUDE_MACHINE_NAME="meridian-z21d"\n' in config
    assert f'CONFIG_USER_LAYER_1="{tree.place}/meta-layer/meta-meridian-bsp"\n' in config
    assert "CONFIG_SUBSYSTEM_ROOTFS_EXT4=y\n" in config and "ROOTFS_INITRD=y" not in config
    users = re.findall("CONFIG_ADD_EXTRA_USERS=.*", (out / "project-spec/configs/rootfs_config").read_text())
    assert users == ['CONFIG_ADD_EXTRA_USERS=""']


def test_what_petalinux_does_not_take_is_told(tree: Tree) -> None:
    status, said = tree.run("zcu106", tree.xsa, STUBBORN="USER_LAYER_1")
    assert (
        status == 1
        and "PetaLinux does not take, of petalinux/project-spec/configs/config:\nCONFIG_USER_LAYER_1=" in said
    )
    assert "petalinux-build" not in tree.log.read_text()
    status, said = tree.run("zcu106", tree.xsa, NO_BOOT="1")
    assert status == 1 and "petalinux-package made no" in said


def test_petalinux_says_what_is_missing(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "board.bit").touch()
    for words, environment, sentence in (
        (("zcu106",), {}, "run 'make bitstream BOARD=zcu106' first, or say XSA=FILE"),
        (("zcu106", tmp_path / "board.bit"), {}, "is no hand-off: Vivado's are called .xsa"),
        (("zcu106", tree.xsa), {"PATH": os.environ["PATH"]}, "no petalinux-config on PATH: install PetaLinux 2024.2"),
        (("zcu106", tree.xsa), {"PETALINUX_VER": "2023.1"}, "this is PetaLinux 2023.1, the project is for 2024.2"),
        (("zcu106", tree.xsa), {"PETALINUX_VER": ""}, "PetaLinux of a version that it does not tell"),
    ):
        status, said = tree.run(*words, **environment)
        assert status == 1 and sentence in said, said
    assert not tree.log.exists()
