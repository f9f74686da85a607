# SPDX-License-Identifier: Apache-2.0
"""The SD card of a PS without starting it: its layout is the layer's, its parts are the layer's, and nobody gets in."""

from __future__ import annotations

import os
import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from meridian_machine import SdCard, SdError, tools
from meridian_machine.sd_machine import default_image
from meridian_twin.patience import stretched

pytestmark = pytest.mark.qemu
LAYER = tools.ROOT / "meta-layer"
PTP = LAYER / "meta-meridian/recipes-connectivity/meridian-ptp/files"
UPDATE = LAYER / "meta-meridian-bsp/recipes-bsp/meridian-update/files"
MEBI = 1 << 20


@pytest.fixture(scope="module")
def card() -> SdCard:
    """Only read."""
    return SdCard(default_image())


def debugfs(card: SdCard, request: str, partition: int = 2) -> str:
    where = f"{card.path}?offset={card.partition(partition)[0]}"
    done = subprocess.run(
        ["/sbin/debugfs", "-R", request, where], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def content(card: SdCard, name: str, folder: Path) -> bytes:
    file = card.file(2, name, folder / "file")
    assert file, f"there is no {name}"
    return file.read_bytes()


def entries(card: SdCard, folder: str) -> list[str]:
    """Names in a folder."""
    lines = debugfs(card, f"ls -p {folder}").splitlines()
    return [line.split("/")[5] for line in lines if line.count("/") >= 6 and "/./" not in line and "/../" not in line]


def modes(card: SdCard, name: str) -> tuple[str, int, int]:
    """Permissions, user and group of a file."""
    found = re.search(r"(?s)Mode: +(\d+).*?\nUser: +(\d+) +Group: +(\d+)", debugfs(card, f"stat {name}"))
    assert found, f"there is no {name}"
    return found[1], int(found[2]), int(found[3])


def test_the_layout_is_that_of_the_layer(card: SdCard) -> None:
    lines = (LAYER / "meta-meridian-bsp/wic/meridian-sd.wks").read_text().splitlines()
    sizes = [int(re.search(r"--fixed-size (\d+)M", line)[1]) for line in lines if line.startswith("part ")]  # type: ignore[index]
    assert len(sizes) == 4
    places = [card.partition(number) for number in range(1, 5)]
    assert [size for _, size in places] == [mebi * MEBI for mebi in sizes]
    assert all(start % (4 * MEBI) == 0 for start, _ in places)
    assert all(a[0] + a[1] <= b[0] for a, b in pairwise(places))
    assert card.record() == (2, None)
    # U-Boot's distro boot runs the boot script of the active partition.
    sector = card.first_sector()
    assert [number for number in range(1, 5) if sector[446 + 16 * (number - 1)] & 0x80] == [1]


def test_file_systems_are_whole(card: SdCard, tmp_path: Path) -> None:
    for partition in (2, 4):
        start, size = card.partition(partition)
        copy = tmp_path / "partition"
        command = ["dd", f"if={card.path}", f"of={copy}", "bs=1M", f"skip={start // MEBI}", f"count={size // MEBI}"]
        subprocess.run([*command, "conv=sparse", "status=none"], check=True, timeout=60)
        done = subprocess.run(
            ["/sbin/e2fsck", "-fn", str(copy)], capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stdout
    listing = ["mdir", "-b", "-i", f"{card.path}@@{card.partition(1)[0]}", "::"]
    done = subprocess.run(listing, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["::/README.TXT", "::/boot.scr"]


def test_root_has_what_the_layer_has(card: SdCard, tmp_path: Path) -> None:
    for source, name in (
        *(
            (PTP / profile, f"/usr/share/meridian/ptp/{profile}")
            for profile in ("default.conf", "g8275-1.conf", "gptp.conf")
        ),
        *(
            (PTP / unit, f"/usr/lib/systemd/system/{unit}")
            for unit in ("meridian-ptp4l@.service", "meridian-phc2sys@.service")
        ),
        (PTP / "meridian-ptp-health", "/usr/sbin/meridian-ptp-health"),
        (UPDATE / "meridian-update", "/usr/sbin/meridian-update"),
        (UPDATE / "meridian-update-good.service", "/usr/lib/systemd/system/meridian-update-good.service"),
    ):
        assert content(card, name, tmp_path) == source.read_bytes()
        assert modes(card, name) == ("0755" if "sbin" in name else "0644", 0, 0)
    registers = (tools.ROOT / "host-driver/include/meridian_regs.h").read_text()
    major = re.search(r"MERIDIAN_MAP_MAJOR +(\d+)", registers)
    assert major and f"MAJOR={major[1]}\n" in content(card, "/usr/share/meridian/register-map", tmp_path).decode()
    release = entries(card, "/usr/lib/modules")
    assert entries(card, f"/usr/lib/modules/{release[0]}/updates") == ["meridian_ps.ko"]


def test_units_start_by_themselves(card: SdCard) -> None:
    system = "/etc/systemd/system"
    assert "ssh.socket" in entries(card, f"{system}/sockets.target.wants")
    assert "ssh.service" not in entries(card, f"{system}/multi-user.target.wants")
    assert "meridian-update-good.service" in entries(card, f"{system}/multi-user.target.wants")
    device = f"{system}/sys-subsystem-net-devices-port0.device.wants"
    assert "meridian-ptp4l@port0.service" in entries(card, device)
    follow = entries(card, f"{system}/meridian-ptp4l@port0.service.wants")
    assert {"meridian-phc2sys@port0.service", "meridian-ptp-health@port0.timer"} <= set(follow)


def test_nobody_gets_in_without_a_key(card: SdCard, tmp_path: Path) -> None:
    for line in content(card, "/etc/shadow", tmp_path).decode().splitlines():
        assert line.split(":")[1] in ("*", "!", "!*"), line
    assert entries(card, "/root/.ssh") == []
    assert not [name for name in entries(card, "/etc/ssh") if name.startswith("ssh_host")]
    assert b"PasswordAuthentication no" in content(card, "/etc/ssh/sshd_config.d/meridian.conf", tmp_path)
    assert b"BindToDevice=mgmt0" in content(card, "/usr/lib/systemd/system/ssh.socket.d/meridian.conf", tmp_path)
    # Each card makes its own.
    assert "Size: 0" in debugfs(card, "stat /etc/machine-id")


def test_a_key_that_is_given_is_in_it(tmp_path: Path) -> None:
    key = tmp_path / "key.pub"
    key.write_text("ssh-ed25519 AAAA test\n")
    keyed = SdCard(tools.built("build/build-sd", "--key", str(key), minutes=40) / "card.wic")
    assert content(keyed, "/root/.ssh/authorized_keys", tmp_path) == key.read_bytes()
    assert modes(keyed, "/root/.ssh/authorized_keys") == ("0600", 0, 0)
    assert modes(keyed, "/root/.ssh") == ("0700", 0, 0)


def test_the_device_tree_has_the_layers_node(card: SdCard, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.write_bytes(content(card, "/boot/system.dtb", tmp_path))
    text = subprocess.run(
        ["dtc", "-q", "-I", "dtb", "-O", "dts", str(tree)],
        capture_output=True,
        text=True,
        timeout=stretched(20),
        check=True,
    ).stdout
    assert re.search(r'ethernet@a0000000 \{\s+compatible = "meridian,shell-1", "meridian,shell"', text)
    assert "mmc@ff170000" in text


@pytest.mark.long
def test_the_same_bytes_come_again(card: SdCard, tmp_path: Path) -> None:
    cache = card.path.parents[1]
    other = tmp_path / "meridian"
    other.mkdir()
    for entry in cache.iterdir():
        if not re.match(r"sd-[0-9a-f]{16}", entry.name):
            (other / entry.name).symlink_to(entry)
    done = subprocess.run(
        [str(tools.ROOT / "scripts/build/build-sd")],
        capture_output=True,
        text=True,
        timeout=1800,
        check=True,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
    )
    again = Path(done.stdout.strip())
    assert again.parent == other
    for name in ("root.ext4", "card.wic"):
        subprocess.run(["cmp", str(again / name), str(card.path.with_name(name))], check=True, timeout=300)


def test_build_sd_refuses_unknown_options_and_missing_keys() -> None:
    script = str(tools.ROOT / "scripts/build/build-sd")
    for wrong in (["--wrong"], ["--key", "/nowhere/key.pub"]):
        assert subprocess.run([script, *wrong], capture_output=True, timeout=stretched(30), check=False).returncode == 2


def test_a_file_that_is_no_sd_card_is_refused(tmp_path: Path) -> None:
    twin = [str(tools.ROOT / "scripts/twin"), "ps", "--run-dir", str(tmp_path / "run"), "--image"]
    done = subprocess.run(
        [*twin, "/nowhere.wic", "--", "true"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 125
    assert "/nowhere.wic" in done.stderr
    with pytest.raises(SdError, match="no partition table"):
        empty = tmp_path / "empty"
        empty.write_bytes(bytes(1024))
        SdCard(empty).marked()
