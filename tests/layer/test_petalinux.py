# SPDX-License-Identifier: Apache-2.0
"""make petalinux without PetaLinux: what it refuses, how it calls PetaLinux' programs, which only note that here, and what
it makes of the image that they leave."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from image_tree import KEY, ImageTree

FAT = 1 << 20
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
    "petalinux-build": """
mkdir -p images/linux && cd images/linux
truncate -s 8M card
echo "2048,8192,c,*" | PATH=$PATH:/sbin:/usr/sbin sfdisk -q card
mformat -i card@@1M -T 8192 ::
echo script >boot.scr
if [ -z "${NO_SCRIPT:-}" ]; then mcopy -i card@@1M boot.scr ::; fi
if [ -z "${NO_IMAGE:-}" ]; then gzip <card >meridian-image-zynqmp.rootfs.wic.gz; fi
""",
    "petalinux-package": 'if [ -z "${NO_BOOT:-}" ]; then echo "all that boots" >images/linux/BOOT.BIN; fi\n',
}


class Tree(ImageTree):
    """What scripts/petalinux is made of, apart, with PetaLinux' programs, which note their words in log."""

    def __init__(self, place: Path) -> None:
        super().__init__(place, "petalinux", "petalinux")
        self.log = place / "log"
        for name, text in TOOLS.items():
            self.program(name, f'#!/usr/bin/env bash\nset -e\necho "{name} $*" >>{self.log}\n{text}')

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "PETALINUX_VER": "2024.2"}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_the_whole_way_from_the_hand_off_to_a_card_that_has_all(tree: Tree, tmp_path: Path) -> None:
    status, said = tree.run("--keys", tree.key, "zcu106")
    assert status == 0, said
    assert tree.log.read_text().splitlines() == [
        f"petalinux-config --get-hw-description={tree.built}/meridian-zcu106.xsa --silentconfig",
        "petalinux-config --silentconfig",
        "petalinux-config -c rootfs --silentconfig",
        "petalinux-build -c meridian-image",
        "petalinux-package boot --u-boot --fpga --force",
    ]
    out = tree.place / "build/petalinux/zcu106"
    config = (out / "project-spec/configs/config").read_text()
    assert 'CONFIG_YOCTO_INCLUDE_MACHINE_NAME="meridian-zcu106"\n' in config
    assert f'CONFIG_USER_LAYER_1="{tree.place}/meta-layer/meta-meridian-bsp"\n' in config
    assert "CONFIG_SUBSYSTEM_ROOTFS_EXT4=y\n" in config and "ROOTFS_INITRD=y" not in config
    users = re.findall("CONFIG_ADD_EXTRA_USERS=.*", (out / "project-spec/configs/rootfs_config").read_text())
    assert users == ['CONFIG_ADD_EXTRA_USERS=""']
    settings = (out / "project-spec/meta-user/conf/petalinuxbsp.conf").read_text()
    for line in (
        f'MERIDIAN_BITSTREAM = "{tree.built}/meridian-zcu106.bit.bin"',
        'MERIDIAN_BITSTREAM_MAP = "1.3"',
        f'MERIDIAN_AUTHORIZED_KEYS = "{tree.key}"',
        'MERIDIAN_UPDATE_KEYS = ""',
        'MERIDIAN_UPDATE_VERSION = "0"',
    ):
        assert f"{line}\n" in settings

    card = out / "images/linux/meridian-zcu106.wic"
    assert f"output: {card}; make flash SD=/dev/sdX IMAGE={card}\n" in said
    had = gzip.decompress((out / "images/linux/meridian-image-zynqmp.rootfs.wic.gz").read_bytes())
    has = card.read_bytes()
    assert len(has) == len(had) and has[:FAT] == had[:FAT]
    for name, text in (("boot.bin", "all that boots\n"), ("boot.scr", "script\n")):
        found = subprocess.run(
            ["mtype", "-i", f"{card}@@{FAT}", f"::{name}"], capture_output=True, text=True, timeout=20, check=True
        )
        assert found.stdout == text
    # Once more, into the folder that is there, with other keys.
    (tmp_path / "other.pub").write_text(KEY)
    assert tree.run("--keys", tree.key, "--update-keys", tmp_path / "other.pub", "zcu106")[0] == 0
    settings = (out / "project-spec/meta-user/conf/petalinuxbsp.conf").read_text()
    assert re.findall("^MERIDIAN_UPDATE_KEYS.*", settings, re.MULTILINE) == [
        f'MERIDIAN_UPDATE_KEYS = "{tmp_path}/other.pub"'
    ]


def test_a_setting_or_file_that_petalinux_does_not_take_or_make_is_named(tree: Tree) -> None:
    status, said = tree.run("--keys", tree.key, "zcu106", STUBBORN="USER_LAYER_1")
    assert status == 1
    assert "PetaLinux does not take, of petalinux/project-spec/configs/config:\nCONFIG_USER_LAYER_1=" in said
    assert "petalinux-build" not in tree.log.read_text()
    status, said = tree.run("--keys", tree.key, "zcu106", NO_BOOT="1")
    assert status == 1 and "petalinux-package made no" in said
    status, said = tree.run("--keys", tree.key, "zcu106", NO_SCRIPT="1")
    assert status == 1 and "has no boot.scr in its first partition" in said


def test_boot_files_of_the_build_before_are_not_taken(tree: Tree) -> None:
    words = ("--keys", tree.key, "zcu106")
    assert tree.run(*words)[0] == 0
    status, said = tree.run(*words, NO_BOOT="1")
    assert status == 1 and "petalinux-package made no" in said, said
    assert not (tree.place / "build/petalinux/zcu106/images/linux/meridian-zcu106.wic").exists()
    assert tree.run(*words, NO_IMAGE="1")[0] == 0, "bitbake leaves an image that has not changed as it is"


def test_all_that_is_missing_is_named_at_once(tree: Tree) -> None:
    shutil.rmtree(tree.built)
    here = {"PATH": os.environ["PATH"], "PETALINUX_VER": "2023.1"}
    for words in (("fb4xxvg-z21d",), ("--check", "fb4xxvg-z21d")):
        status, said = tree.run(*words, **here)
        assert status == 1
        for sentence in (
            "run 'make bitstream BOARD=fb4xxvg-z21d' first, or say XSA=FILE",
            "missing bitstream: no ",
            "'' is not MAJOR.MINOR; 'make bitstream' prints it",
            "keys: nobody could log in",
            "missing petalinux-config: install PetaLinux 2024.2",
            "missing PetaLinux 2024.2: found 2023.1",
        ):
            assert sentence in said, said
        assert ("petalinux-build -c meridian-image\n" in said) == (len(words) == 2)
    assert not (tree.place / "build/petalinux").exists() and not tree.log.exists()


def test_each_thing_that_is_missing_is_named_alone(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "board.bit").touch()
    keys = ("--keys", tree.key, "zcu106")
    for words, environment, sentence in (
        (("--xsa", tmp_path / "board.bit", *keys), {}, "is not an .xsa file of Vivado"),
        (keys, {"PETALINUX_VER": ""}, "PetaLinux 2024.2: found no version"),
        (("--update-keys", "/nowhere", *keys), {}, "update keys: there is no public key in /nowhere"),
    ):
        status, said = tree.run(*words, **environment)
        assert status == 1 and said.count("missing") == 1 and sentence in said, said
    if os.geteuid() == 0:
        assert "bitbake does not run as root" in tree.run(*keys, root=True)[1]
    assert tree.run(*keys, "more")[0] == 2
    assert not tree.log.exists()
    status, said = tree.run("--check", *keys)
    assert status == 0 and said.count("petalinux-") == 3 and not tree.log.exists(), said
