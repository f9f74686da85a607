# SPDX-License-Identifier: Apache-2.0
"""The Debian packages in booted machines: DKMS's module drives the card, and DPDK finds the driver by itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import history
import pytest
from debian_chroot import Chroot
from driver_machine import linked
from meridian_machine import Hardware, tools
from meridian_machine.guest import PEER, PF_DEVICE
from meridian_machine.program import Program
from meridian_machine.testpmd import give_to, prepare_vfio, vf_name

pytestmark = pytest.mark.qemu
#: The packages are for the release that the tests run on, which is this one.
SUITE = "bookworm"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tools.built("build/build-deb", "--output", str(tmp_path_factory.mktemp("packages")), minutes=30).parent


@pytest.fixture(scope="module")
def module(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What DKMS builds for the machine's kernel when the package is installed, in a system that has its headers."""
    release = tools.Image.build(SUITE).release
    folder = tmp_path_factory.mktemp("system")
    system = Chroot(folder, ("dkms", "kmod", f"linux-headers-{release}"))
    try:
        (package,) = packages.glob("meridian-dkms_*.deb")
        system.install(package)
        return Path(shutil.copy(system.root / f"lib/modules/{release}/updates/dkms/meridian.ko", folder))
    finally:
        system.remove()


def test_the_module_that_dkms_built_drives_the_card(module: Path) -> None:
    with linked(SUITE, {"meridian.ko": module}) as link:
        assert f"version: {history.version()}" in link.guest.run("ethtool -i eth0")
        assert " 3 received" in link.guest.run(f"ping -c 3 -W 10 {PEER}")


def test_testpmd_finds_the_driver_without_being_told(packages: Path, module: Path) -> None:
    (package,) = packages.glob("meridian-dpdk_*.deb")
    files = {"meridian.ko": module, package.name: package}
    with linked(SUITE, files, Hardware(memory=2048, iommu=True)) as link:
        guest = link.guest
        guest.run(f"dpkg -i /run/twin/{package.name}")
        prepare_vfio(guest)
        guest.run(f"echo 0 >{PF_DEVICE}/sriov_drivers_autoprobe; echo 1 >{PF_DEVICE}/sriov_numvfs")
        function = vf_name(guest, 0)
        give_to(guest, function, "vfio-pci")
        command = ["stdbuf", "-o0", "dpdk-testpmd", "-a", function, "-l", "0-1", "-m", "128", "--no-telemetry", "--"]
        testpmd = Program(guest, "testpmd", [*command, "-i", "--total-num-mbufs=20000"], "testpmd> ", 60)
        assert "Driver name: net_meridian" in testpmd.command("show port info 0", 60)
        testpmd.say("quit")
        assert testpmd.wait_end() == 0
        guest.run("dpkg --purge meridian-dpdk")
        assert guest.run("ls /usr/lib/*/dpdk/pmds-*/librte_net_meridian* 2>/dev/null || true").strip() == ""
