# SPDX-License-Identifier: Apache-2.0
"""make image without Yocto: what it refuses, and how it calls sdtgen, gen-machineconf and kas, which only note that here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG somebody\n"
SDTGEN = """#!/bin/sh
echo "sdtgen $*" >>"$CALLS"
"""
# What bitbake and gen-machineconf would leave is made here.
KAS = """#!/usr/bin/env bash
echo "kas $*" >>"$CALLS"
build=$KAS_WORK_DIR/build
case "$1" in
  shell)
    mkdir -p "$build/conf/machine"
    echo "$MADE" >"$build/conf/machine/$(sed 's/.*--machine-name \\([^ ]*\\).*/\\1/' <<<"$*").conf" ;;
  build)
    cat "${2##*:}" >>"$CALLS"
    mkdir -p "$build/tmp/deploy/images/meridian-zcu106-card"
    touch "$build/tmp/deploy/images/meridian-zcu106-card/meridian-image-meridian-zcu106-card.rootfs.wic.gz" ;;
esac
"""


class Tree:
    """What scripts/yocto-image is made of, apart, with all that it needs."""

    def __init__(self, place: Path) -> None:
        self.place, self.calls = place / "tree", place / "calls"
        self.made = 'XILINX_WITH_ESW = "sdt"'
        for name in ("meta-layer/boards", "meta-layer/kas", "scripts/yocto-image", "scripts/env.sh", "scripts/layer.sh",
                     "scripts/requirements.txt", "scripts/requirements-layer.txt", "spinal/project/build.properties"):  # fmt: skip
            source, target = ROOT / name, self.place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        self.programs = place / "bin"
        self.programs.mkdir()
        self.program("sdtgen", SDTGEN)
        self.program("locale", "#!/bin/sh\necho en_US.utf8\n")
        self.program("df", "#!/bin/sh\necho 200G\n")
        for name in ("chrpath", "cpio", "diffstat", "gawk", "file", "lz4c", "rpcgen", "pzstd", "wget"):
            self.program(name, "#!/bin/sh\n")
        sums = subprocess.run(
            ["sha256sum", str(self.place / "scripts/requirements-layer.txt")],
            capture_output=True,
            text=True,
            check=True,
        )
        venv = place / "cache/meridian" / f"venv-layer-{sums.stdout[:12]}"
        (venv / "bin").mkdir(parents=True)
        (venv / ".complete").touch()
        self.program("kas", KAS, venv / "bin")
        self.built = self.place / "build/vivado/zcu106"
        self.built.mkdir(parents=True)
        for ending in ("xsa", "bit.bin"):
            (self.built / f"meridian-zcu106.{ending}").touch()
        (self.built / "meridian-zcu106.txt").write_text("sha256 of all\nmap 1.3\n")
        self.key = place / "key.pub"
        self.key.write_text(KEY)

    def program(self, name: str, text: str, folder: Path | None = None) -> None:
        file = (folder or self.programs) / name
        file.write_text(text)
        file.chmod(0o755)

    def run(self, *words: str | Path, root: bool = False) -> tuple[int, str]:
        """As another user than root, as bitbake wants it; the files are still root's own."""
        environment = {
            **os.environ,
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "XDG_CACHE_HOME": str(self.place.parent / "cache"),
            "CALLS": str(self.calls),
            "MADE": self.made,
        }
        somebody = [] if root or os.geteuid() else ["unshare", "--user", "--map-user=1000"]
        done = subprocess.run(
            [*somebody, str(self.place / "scripts/yocto-image"), *map(str, words)],
            capture_output=True, text=True, timeout=60, check=False, env=environment,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_the_whole_way_from_the_hand_off_to_the_image(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_text("header:\n  version: 16\n")
    updates = ("--update-keys", tree.key, "--update-version", "7")
    status, said = tree.run("--keys", tree.key, *updates, "zcu106", tmp_path / "mine.yml")
    assert status == 0, said
    work = tree.place / "build/yocto"
    sdt, shell, build, *settings = tree.calls.read_text().splitlines()
    assert sdt == f"sdtgen -xsa {tree.built}/meridian-zcu106.xsa -dir {work}/hand-off/zcu106/sdt -board_dts zcu106-reva"
    files = f"{tree.place}/meta-layer/kas/meridian-zcu106.yml:{work}/hand-off/zcu106/0/mine.yml"
    assert shell.startswith("kas shell -c ") and shell.endswith(f" parse-sdt {files}")
    for words in (
        f"--hw-description '{work}/hand-off/zcu106/sdt'",
        "--machine-name meridian-zcu106-card --require-machine meridian-zcu106",
        f"--config-dir '{work}/build/conf'",
    ):
        assert words in shell
    assert build == f"kas build {files}:{work}/hand-off/zcu106/card.yml"
    assert [line.strip() for line in settings] == [
        "header:",
        "version: 16",
        "machine: meridian-zcu106-card",
        "local_conf_header:",
        "card: |",
        f'MERIDIAN_BITSTREAM = "{tree.built}/meridian-zcu106.bit.bin"',
        'MERIDIAN_BITSTREAM_MAP = "1.3"',
        f'MERIDIAN_AUTHORIZED_KEYS = "{tree.key}"',
        f'MERIDIAN_UPDATE_KEYS = "{tree.key}"',
        'MERIDIAN_UPDATE_VERSION = "7"',
    ]
    assert f"output: {work}/build/tmp/deploy/images/meridian-zcu106-card/" in said


def test_a_machine_without_firmware_is_refused(tree: Tree) -> None:
    """gen-machineconf of another release makes one, and the card would have no boot.bin."""
    tree.made = "require conf/machine/meridian-zcu106.conf"
    status, said = tree.run("--keys", tree.key, "zcu106")
    assert status == 1 and "no firmware (XILINX_WITH_ESW)" in said, said
    assert "kas build" not in tree.calls.read_text()


def test_settings_of_ones_own_are_all_there_whatever_their_files_are_called(tree: Tree, tmp_path: Path) -> None:
    texts = {}
    for name in ("a/mine.yml", "b/mine.yml", "card.yml"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        texts[file] = f"header:\n  version: 16\n# of {name}\n"
        file.write_text(texts[file])
    status, said = tree.run("--keys", tree.key, "zcu106", *texts)
    assert status == 0, said
    build = next(line for line in tree.calls.read_text().splitlines() if line.startswith("kas build "))
    _, *given, card = map(Path, build.removeprefix("kas build ").split(":"))
    assert [file.read_text() for file in given] == list(texts.values())
    assert "MERIDIAN_BITSTREAM = " in card.read_text()


def test_what_a_card_that_boots_needs_is_told(tree: Tree) -> None:
    def missing(*words: str | Path) -> str:
        status, said = tree.run(*words)
        assert status == 1 and not tree.calls.exists(), said
        return said

    assert "keys: nobody could log in, as there is no password; say KEYS=FILE" in missing("zcu106")
    (tree.place / "empty.pub").write_text("# nobody\n")
    assert "keys: there is no public key in" in missing("--keys", tree.place / "empty.pub", "zcu106")
    assert "update keys: there is no public key" in missing("--keys", tree.key, "--update-keys", "/nowhere", "zcu106")
    assert "'1.2' is no whole number" in missing("--keys", tree.key, "--update-version", "1.2", "zcu106")
    (tree.built / "meridian-zcu106.txt").unlink()
    assert "'' is not MAJOR.MINOR; 'make bitstream' prints it" in missing("--keys", tree.key, "zcu106")
    said = missing("--keys", tree.key, "fb4xxvg-z21d")
    assert re.search("hand-off: no .*fb4xxvg-z21d.xsa; run 'make bitstream BOARD=fb4xxvg-z21d' first", said)
    assert re.search("bitstream: no .*fb4xxvg-z21d.bit.bin; .* say BITSTREAM=FILE MAP=1.2", said)
    (tree.programs / "sdtgen").unlink()
    assert "sdtgen, which reads the hand-off: 'source .../settings64.sh'" in missing("--keys", tree.key, "zcu106")
    status, said = tree.run("--keys", tree.key, "zcu106", "/nowhere.yml")
    assert status == 1 and "no /nowhere.yml" in said
    if os.geteuid() == 0:
        assert "bitbake does not run as root" in tree.run("zcu106", root=True)[1]


def test_packages_that_are_missing_are_named(tree: Tree) -> None:
    (tree.programs / "chrpath").unlink()
    (tree.programs / "diffstat").unlink()
    status, said = tree.run("--check", "--keys", tree.key, "zcu106")
    found = [name for name in ("chrpath", "diffstat") if not shutil.which(name)]
    assert not found or (status == 1 and f"apt-get install {' '.join(found)}" in said)
    assert "kas build " + str(tree.place / "meta-layer/kas/meridian-zcu106.yml") in said


@pytest.mark.parametrize("made", ["machine", "image"])
def test_what_was_not_made_is_told(tree: Tree, made: str) -> None:
    kas = next((tree.place.parent / "cache/meridian").glob("venv-*/bin/kas"))
    kas.write_text(kas.read_text().replace("  shell)" if made == "machine" else "  build)", "  none)"))
    status, said = tree.run("--keys", tree.key, "zcu106")
    assert status == 1 and f"made no {'machine meridian-zcu106-card' if made == 'machine' else ''}" in said
