# SPDX-License-Identifier: Apache-2.0
"""A release is made twice with the same bytes; its packages are installed, upgraded, removed and purged."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import documents
import history
import pytest
from debian_chroot import AS_ROOT, ROOT, Chroot, run

pytestmark = pytest.mark.long
SYSTEM = ("dkms", "dpdk-dev", "kmod", "linux-headers-amd64")
PAGE = ROOT / "docs" / "packages.md"
OLDER = "0.0.1"
MODULES = "lib/modules/*/updates/dkms/meridian.ko*"
PLUGIN = "usr/lib/*/dpdk/pmds-*/librte_net_meridian.so"
NULL_PORT = (
    "printf 'show port info 0\\nquit\\n' | timeout 120 dpdk-testpmd -l 0,1 --no-huge --no-shconf --no-pci --no-telemetry "
    "-m 256 --vdev=net_meridian_null0 -- -i --total-num-mbufs=4096"
)


def build(folder: Path, script: str, *options: str, **changed: str) -> Path:
    """What a script of a fresh clone of the last commit makes, for a user who has these variables."""
    run("git", "clone", "-q", ROOT, folder / "clone")
    command = [
        "nice",
        "-n",
        "19",
        str(folder / "clone" / "scripts" / script),
        "--output",
        str(folder / "made"),
        *options,
    ]
    done = subprocess.run(
        command, env={**os.environ, **changed}, capture_output=True, text=True, timeout=1800, check=False, umask=0o077
    )
    assert done.returncode == 0, done.stderr
    return folder / "made"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = build(tmp_path_factory.mktemp("release"), "build/build-release", "--no-verilog")
    return made / f"meridian-{history.version()}"


@pytest.fixture(scope="module")
def packages(release: Path) -> Path:
    return release / "packages"


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("older"), "build/build-deb", "--version", OLDER)


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chroot]:
    made = Chroot(tmp_path_factory.mktemp("system"), SYSTEM)
    yield made
    made.remove()


def the(folder: Path, package: str) -> Path:
    (found,) = folder.glob(f"{package}_*.deb")
    return found


def contents(folder: Path) -> dict[str, tuple[str, float]]:
    """Sum and time of each file below the folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        str(file.relative_to(folder)): (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime)
        for file in files
    }


def test_the_same_commit_gives_the_same_bytes(release: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "tmp"
    elsewhere.mkdir()
    again = build(tmp_path, "build/build-release", "--no-verilog", TMPDIR=str(elsewhere), TZ="Asia/Tokyo", LC_ALL="C")
    assert contents(again / release.name) == contents(release)
    assert not list(elsewhere.iterdir()), "the build left files behind"


def test_the_sums_are_of_all_files(release: Path) -> None:
    run("sha256sum", "--quiet", "--strict", "-c", "SHA256SUMS", folder=release)
    named = {line.split(None, 1)[1] for line in (release / "SHA256SUMS").read_text().splitlines()}
    assert named == set(contents(release)) - {"SHA256SUMS"}


def test_the_archive_has_the_committed_files(release: Path, tmp_path: Path) -> None:
    run("tar", "-C", tmp_path, "-xf", release / f"{release.name}.tar.xz")
    unpacked = {str(path.relative_to(tmp_path / release.name)) for path in tmp_path.rglob("*") if not path.is_dir()}
    assert unpacked == set(history.git(ROOT, "ls-tree", "-r", "--name-only", "HEAD").splitlines())


def test_edits_that_are_not_committed_are_refused(tmp_path: Path) -> None:
    run("git", "clone", "-q", ROOT, tmp_path / "clone")
    (tmp_path / "clone" / "README.md").write_text("edited")
    command = [str(tmp_path / "clone" / "scripts" / "build" / "build-release"), "--no-verilog"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "commit them first" in done.stderr


def test_packages_are_installed_upgraded_and_removed(packages: Path, older: Path, system: Chroot) -> None:
    """The page's command installs them. DKMS builds the module for the headers; testpmd finds the driver by itself."""
    before = system.files("etc/**/*")
    system.install(the(older, "meridian-dkms"), the(older, "meridian-dpdk"))
    (module,) = system.files(MODULES)
    assert system.run(f"modinfo -F version /{module}").strip() == OLDER
    (command,) = (each for each in documents.chapter(PAGE, "Installing") if each.startswith("apt"))
    run(*AS_ROOT, "mkdir", "-p", system.root / "build")
    run(*AS_ROOT, "cp", "-r", packages, system.root / "build" / "deb")
    system.run(f"cd / && {command}")
    (module,) = system.files(MODULES)
    assert system.run(f"modinfo -F version /{module}").strip() == history.version()
    assert "pci:v000010EEd0000903F" in system.run(f"modinfo -F alias /{module}")
    assert system.files("usr/src/meridian-*") == [f"usr/src/meridian-{history.version()}"]
    assert len(system.run("dkms status meridian").splitlines()) == 1
    assert len(system.files(PLUGIN)) == 1
    assert "Driver name: net_meridian_null" in system.run(NULL_PORT)
    assert system.run("meridian-selftest --version").split() == ["meridian-selftest", history.version()]
    assert "zcu106" in system.run("meridian-selftest --help")
    assert system.run("meridian-eye --version").split() == ["meridian-eye", history.version()]
    system.run("apt-get remove -y meridian-dkms meridian-tools && apt-get purge -y meridian-dpdk")
    assert "meridian" not in system.run("dpkg-query -W"), "something is left to purge"
    assert system.files(MODULES) == system.files("usr/src/meridian-*") == system.files("var/lib/dkms/meridian*") == []
    assert system.files(PLUGIN) == system.files("usr/share/meridian-tools/**/*") == []
    assert system.files("etc/**/*") == before
    assert "Driver name: net_meridian_null" not in system.run(f"{NULL_PORT} || true")


def test_dkms_reads_the_version_in_the_tree(system: Chroot) -> None:
    """DKMS builds the module from the checkout, as host-driver/README.md says."""
    run("cp", "-r", ROOT / "host-driver", system.root / "tmp")
    number = history.number((ROOT / history.SOURCE).read_text())
    system.run("cd /tmp && dkms add host-driver")
    assert f"meridian/{number}: added" in system.run("dkms status")
    system.run(f"dkms remove meridian/{number} --all && rm -r /usr/src/meridian-{number}")
