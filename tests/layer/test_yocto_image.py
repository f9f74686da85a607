# SPDX-License-Identifier: Apache-2.0
"""make image without Yocto: what it refuses, and how it calls sdtgen, gen-machineconf and kas, which only note that here."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path

import pytest
from image_tree import ImageTree

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


class Tree(ImageTree):
    """What scripts/yocto-image is made of, apart, with all that it needs; sdtgen and kas note their words in calls."""

    def __init__(self, place: Path) -> None:
        super().__init__(place, "yocto-image", "meta-layer/kas", "scripts/requirements/layer.txt")
        self.calls, self.cache = place / "calls", place / "cache"
        self.made = 'XILINX_WITH_ESW = "sdt"'
        self.program("sdtgen", SDTGEN)
        self.program("locale", "#!/bin/sh\necho en_US.utf8\n")
        self.program("df", "#!/bin/sh\necho 200G\n")
        for name in ("chrpath", "cpio", "diffstat", "gawk", "file", "lz4c", "rpcgen", "pzstd", "wget"):
            self.program(name, "#!/bin/sh\n")
        sums = hashlib.sha256((self.place / "scripts/requirements/layer.txt").read_bytes()).hexdigest()
        venv = self.cache / "meridian" / f"venv-layer-{sums[:12]}"
        (venv / "bin").mkdir(parents=True)
        (venv / ".complete").touch()
        self.program("kas", KAS, venv / "bin")

    def environment(self) -> dict[str, str]:
        mine = {"XDG_CACHE_HOME": str(self.cache), "CALLS": str(self.calls), "MADE": self.made}
        return {**super().environment(), **mine}


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


def test_a_missing_key_bitstream_or_program_is_named(tree: Tree) -> None:
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
def test_a_machine_or_image_that_was_not_made_is_named(tree: Tree, made: str) -> None:
    kas = next((tree.cache / "meridian").glob("venv-*/bin/kas"))
    kas.write_text(kas.read_text().replace("  shell)" if made == "machine" else "  build)", "  none)"))
    status, said = tree.run("--keys", tree.key, "zcu106")
    assert status == 1 and f"made no {'machine meridian-zcu106-card' if made == 'machine' else ''}" in said
