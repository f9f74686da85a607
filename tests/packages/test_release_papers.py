# SPDX-License-Identifier: Apache-2.0
"""A release's bill of materials and notes say what there is; the pages name each package."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path
from typing import Any

import history
import notes
import pytest
import sbom

ROOT = Path(__file__).resolve().parents[2]
CONTROL = (ROOT / "packaging" / "debian" / "control").read_text()
PACKAGES = re.findall(r"^Package: (\S+)", CONTROL, re.MULTILINE)


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    files = [tmp_path / f"{name}_0.1-1~deb12_all.deb" for name in PACKAGES]
    for file in (archive := tmp_path / "meridian-0.1.tar.xz", *files):
        file.write_bytes(file.name.encode())
    return sbom.document(ROOT, "0.1", 0, archive, files)


def test_each_package_is_explained() -> None:
    page = (ROOT / "docs" / "packages.md").read_text()
    assert set(PACKAGES) == set(sbom.PARTS)
    assert all(f"| `{name}` |" in page for name in PACKAGES)


def test_each_package_is_made_from_files_that_are_there() -> None:
    for name, folders in sbom.PARTS.items():
        for folder in folders:
            command = ["git", "ls-files", "--", folder]
            assert subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout, f"{name}: no {folder}"


def test_the_bill_names_each_thing_once(document: dict[str, Any]) -> None:
    names = [each["SPDXID"] for each in document["packages"]]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name) for name in names)
    for relation in document["relationships"]:
        assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= {*names, document["SPDXID"]}
    related = {
        relation[end] for relation in document["relationships"] for end in ("spdxElementId", "relatedSpdxElement")
    }
    assert set(names) <= related


def test_the_bill_has_sum_and_licence_of_what_the_release_holds(document: dict[str, Any]) -> None:
    held = {each["packageFileName"]: each for each in document["packages"] if "packageFileName" in each}
    assert len(held) == len(PACKAGES) + 1
    for name, each in held.items():
        assert each["checksums"][0]["checksumValue"] == hashlib.sha256(name.encode()).hexdigest()
    licence = held["meridian-dkms_0.1-1~deb12_all.deb"]["licenseDeclared"]
    assert licence == "GPL-2.0-only AND (GPL-2.0-only OR BSD-3-Clause)"


def test_the_bill_has_what_the_tree_depends_on(document: dict[str, Any]) -> None:
    """One of each kind, and each line of the requirements."""
    addresses = {each["externalRefs"][0]["referenceLocator"] for each in document["packages"] if "externalRefs" in each}
    for start in ("pkg:maven/com.github.spinalhdl/spinalhdl-core_2.13@", "pkg:maven/org.scala-sbt/sbt-launch@"):
        assert any(address.startswith(start) for address in addresses)
    assert {"pkg:deb/debian/debhelper-compat", "pkg:deb/debian/libdpdk-dev", "pkg:deb/debian/verilator"} <= addresses
    for file in (ROOT / "scripts" / "requirements").glob("*.txt"):
        lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
        assert len(sbom.REQUIREMENT.findall(file.read_text())) == len(lines), f"{file.name} has a line without =="


def test_notes_order_changes_by_area() -> None:
    releases = [history.Release("0.2", 0, ["b: two", "a: one", 'Revert "a: three"']), history.Release("0.1", 0, [])]
    assert notes.notes("0.2", "1234", releases).splitlines() == [
        "# Meridian 0.2", "Commit 1234. 3 changes since 0.1:", "", "## a", "- one", "", "## b", "- two", "",
        "## other", '- Revert "a: three"',
    ]  # fmt: skip


@pytest.mark.parametrize(
    "script", ["scripts/build/build-deb", "scripts/build/build-release", "packaging/source-archive"]
)
def test_scripts_refuse_options_that_they_do_not_know(script: str) -> None:
    done = subprocess.run([ROOT / script, "--nothing"], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2 and done.stderr.startswith(f"usage: {script}")


def test_a_version_that_is_none_is_refused() -> None:
    command = [ROOT / "scripts" / "build" / "build-deb", "--version", "v1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2 and "v1 is no version of a package" in done.stderr
