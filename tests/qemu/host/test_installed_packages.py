# SPDX-License-Identifier: Apache-2.0
"""A Debian system on a machine's disk has the packages of an earlier version; the machine upgrades, uses and removes them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from debian_chroot import AS_ROOT, Chroot, run
from driver_machine import Link, linked
from meridian_machine import Hardware, tools
from meridian_machine.guest import HERE, Guest

pytestmark = [pytest.mark.qemu, pytest.mark.long]
#: The packages are for the release that the tests run on, which is this one.
SUITE = "bookworm"
OLDER = "0.0.1"
PACKAGES = ("meridian-dkms", "meridian-dpdk", "meridian-tools")
#: What a host has that compiles modules and runs DPDK, and what meridian-selftest calls.
SYSTEM = ("dkms", "dpdk-dev", "kmod", "python3", "ethtool", "iproute2")
PLACE = "/run/system"
ENTER = f"chroot {PLACE} env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8"
#: DKMS compiles the driver in an emulated processor.
COMPILING = 3000


def packages(folder: Path, *options: str) -> list[Path]:
    """What scripts/build/build-deb makes, by the names of PACKAGES."""
    made = tools.built("build/build-deb", "--output", str(folder), *options, minutes=30).parent
    return [path for name in PACKAGES for path in made.glob(f"{name}_*.deb")]


@dataclass(frozen=True)
class Disk:
    """image: of the system, with the packages of the version before installed and those of this one in /packages. version: of
    these."""

    image: Path
    version: str


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Disk:
    folder = tmp_path_factory.mktemp("system")
    release = tools.Image.build(SUITE).release
    system = Chroot(folder, (*SYSTEM, f"linux-headers-{release}"))
    try:
        system.install(*packages(folder / "older", "--version", OLDER))
        run(*AS_ROOT, "mkdir", system.root / "packages")
        newer = packages(folder / "newer")
        run(*AS_ROOT, "cp", *newer, system.root / "packages")
        image = folder / "system.ext4"
        run(*AS_ROOT, "/sbin/mke2fs", "-q", "-t", "ext4", "-m", "0", "-d", system.root, image, "4G")
        run(*AS_ROOT, "chmod", "a+rw", image)
    finally:
        system.remove()
        shutil.rmtree(folder / "older", ignore_errors=True)
    return Disk(image, newer[0].name.split("_")[1].rpartition("-")[0])


@pytest.fixture(scope="module")
def link(disk: Disk) -> Iterator[Link]:
    """A machine that has the system at PLACE, and no driver of the card."""
    drive = ("-drive", f"if=none,id=system,file={disk.image},format=raw,cache=unsafe")
    hardware = Hardware(memory=2048, extra=(*drive, "-device", "virtio-blk-pci,drive=system"))
    with linked(SUITE, {}, hardware) as it:
        mounts = "".join(f" && mount --rbind /{each} {PLACE}/{each}" for each in ("dev", "proc", "sys"))
        it.guest.run(f"rmmod meridian && mkdir {PLACE} && mount /dev/vdb {PLACE}{mounts}")
        yield it


def driver_works(guest: Guest, version: str) -> None:
    """The installed module is loaded by its name, has this version, and brings frames."""
    guest.run(f"{ENTER} modprobe meridian && ip address add {HERE}/24 dev eth0 && ip link set eth0 up")
    guest.wait_link()
    assert f"version: {version}\n" in guest.run(f"{ENTER} ethtool -i eth0")
    guest.ping()


def test_packages_are_upgraded_used_and_purged_in_a_machine(link: Link, disk: Disk) -> None:
    guest = link.guest
    driver_works(guest, OLDER)
    log = guest.run(f"{ENTER} sh -c 'apt-get install -y /packages/*.deb'", COMPILING)
    assert "Unpacking meridian-dkms" in log and f"over ({OLDER}-" in log
    assert f"version: {OLDER}\n" in guest.run("ethtool -i eth0"), (
        "an upgrade does not take the driver from its interfaces"
    )
    guest.run("rmmod meridian")
    driver_works(guest, disk.version)
    tested = guest.run(f"{ENTER} meridian-selftest --quick --slow 500", 500)
    assert ", 0 FAIL, " in tested, tested
    guest.run(f"{ENTER} apt-get purge -y {' '.join(PACKAGES)}", 300)
    guest.ping()
    guest.run("rmmod meridian")
    status, text = guest.try_run(f"{ENTER} modprobe meridian")
    assert status and "not found" in text, text
    assert "meridian" not in guest.run(f"{ENTER} dpkg-query -W")
    assert guest.run(f"cd {PLACE} && find etc lib/modules var/lib/dkms usr/src -name '*meridian*'").strip() == ""
    guest.check()
