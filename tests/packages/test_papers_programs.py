# SPDX-License-Identifier: Apache-2.0
"""The programs that write the bill of materials and the changelog of packages, on a small tree."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import changelog
import history
import pytest
import sbom

BUILD = """val spinal = "1.2.3"
scalaVersion := "2.13.14"
libraryDependencies += "com.example" %% "core" % spinal
libraryDependencies += "org.plain" % "tool_x" % "4.5"
libraryDependencies += "org.test" %% "suite" % "6.7" % Test
"""
CONTROL = """Source: meridian
Maintainer: Someone <someone@example.com>
Build-Depends:
 debhelper-compat (= 13),
 libdpdk-dev (>= 22),
Rules-Requires-Root: no
"""
#: What the tree depends on, by package URL, and how.
DEPENDENCIES = {
    "pkg:maven/org.scala-lang/scala-library@2.13.14": "BUILD_DEPENDENCY_OF",
    "pkg:maven/org.scala-sbt/sbt-launch@1.9.9": "BUILD_TOOL_OF",
    "pkg:maven/com.example/core_2.13@1.2.3": "BUILD_DEPENDENCY_OF",
    "pkg:maven/org.plain/tool_x@4.5": "BUILD_DEPENDENCY_OF",
    "pkg:maven/org.test/suite_2.13@6.7": "TEST_DEPENDENCY_OF",
    "pkg:maven/org.plugin/format@8.9": "BUILD_TOOL_OF",
    "pkg:pypi/some-tool@1.0": "DEV_TOOL_OF",
    "pkg:deb/debian/debhelper-compat": "BUILD_DEPENDENCY_OF",
    "pkg:deb/debian/libdpdk-dev": "BUILD_DEPENDENCY_OF",
    "pkg:deb/debian/dpdk": "BUILD_DEPENDENCY_OF",
    "pkg:deb/debian/verilator": "DEV_TOOL_OF",
}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a commit, which stands for ours."""
    files = {
        "spinal/build.sbt": BUILD,
        "spinal/project/plugins.sbt": 'addSbtPlugin("org.plugin" % "format" % "8.9")\n',
        "spinal/project/build.properties": "sbt.version = 1.9.9\n",
        "scripts/requirements/tests.txt": "# a tool\nSome_Tool==1.0\n",
        "scripts/setup": "packages=(verilator libdpdk-dev)\n",
        "packaging/debian/control": CONTROL,
        "host-driver/tools/tool.py": "# SPDX-License-Identifier: BSD-3-Clause\n",
        "host-driver/linux/main.c": "// SPDX-License-Identifier: GPL-2.0-only\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    history.git(tmp_path, "init", "-q")
    history.git(tmp_path, "add", "-A")
    person = ("-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    history.git(tmp_path, *person, "commit", "-q", "-m", "a: first", "--date", "@86400")
    monkeypatch.setattr(history, "ROOT", tmp_path)
    return tmp_path


def packages(folder: Path, *names: str) -> list[str]:
    (folder / "release").mkdir()
    for name in names:
        (folder / "release" / name).write_text(name)
    return [str(folder / "release" / name) for name in names]


def run(monkeypatch: pytest.MonkeyPatch, module: object, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["program", *words])
    return module.main()  # type: ignore[attr-defined]


def test_the_bill_has_name_version_and_licence_of_each_package(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = packages(tree, "m.tar.xz", "meridian-tools_0.2-1_all.deb", "meridian-dkms_0.2-1_all.deb")
    assert run(monkeypatch, sbom, "--version", "0.2", *files) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["spdxVersion"], made["name"]) == ("SPDX-2.3", "meridian-0.2")
    by_id = {each["SPDXID"]: each for each in made["packages"]}
    assert len(by_id) == len(made["packages"]) == 3 + len(DEPENDENCIES)
    held = {each["packageFileName"]: each for each in made["packages"] if "packageFileName" in each}
    assert {name: (each["name"], each["versionInfo"], each["licenseDeclared"]) for name, each in held.items()} == {
        "m.tar.xz": ("meridian", "0.2", "BSD-3-Clause AND GPL-2.0-only"),
        "meridian-tools_0.2-1_all.deb": ("meridian-tools", "0.2-1", "BSD-3-Clause"),
        "meridian-dkms_0.2-1_all.deb": ("meridian-dkms", "0.2-1", "GPL-2.0-only"),
    }
    main = held["m.tar.xz"]["SPDXID"]
    relations = {
        (each["spdxElementId"], each["relationshipType"]): each["relatedSpdxElement"] for each in made["relationships"]
    }
    found = {
        by_id[first]["externalRefs"][0]["referenceLocator"]: kind
        for (first, kind), second in relations.items()
        if "externalRefs" in by_id.get(first, {}) and second == main
    }
    assert found == DEPENDENCIES


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["m.tar.xz", "stranger_1_all.deb"], "stranger_1_all.deb is no package of this repository"),
        (["m.tar.xz", "meridian-tools.deb"], "meridian-tools.deb is no package of this repository"),
    ],
)
def test_a_file_that_is_no_package_is_refused(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], names: list[str], said: str
) -> None:
    assert run(monkeypatch, sbom, "--version", "0.2", *packages(tree, *names)) == 1
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith(f"sbom: {said}")


def test_a_release_that_is_not_built_is_refused(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, sbom, "--version", "0.2", str(tree / "none.tar.xz")) == 1
    assert "none.tar.xz cannot be read (No such file or directory): build the release first" in capsys.readouterr().err


def test_the_bill_needs_a_clone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(history, "ROOT", tmp_path)
    assert run(monkeypatch, sbom, "--version", "0.2", str(tmp_path / "m.tar.xz")) == 1
    assert "needs a clone of the repository" in capsys.readouterr().err


RELEASES = [
    history.Release("0.2~git5.12345678", 86400, ["b: " + "a word and " * 12 + "an-end-with-hyphens", "a: two"]),
    history.Release("0.1", 0, []),
]


def test_the_changelog_has_an_entry_for_each_release_in_debians_format(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(history, "releases", lambda paths: RELEASES)
    assert run(monkeypatch, changelog, "--revision", "1~deb12", "--suite", "bookworm", "--version", "0.2") == 0
    newest, _, oldest = capsys.readouterr().out.partition("\nmeridian (0.1")
    assert newest.startswith("meridian (0.2-1~deb12) bookworm; urgency=medium\n\n  * b: a word and ")
    changes = newest.split("\n\n")[1].splitlines()
    assert max(map(len, changes)) <= 78 and changes[-1] == "  * a: two"
    assert all(line.startswith(("  * ", "    ")) for line in changes) and changes[-2].endswith("an-end-with-hyphens")
    assert newest.rstrip().endswith(f" -- {changelog.maintainer()}  Fri, 02 Jan 1970 00:00:00 +0000")
    assert oldest.startswith(
        "-1~deb12) bookworm; urgency=medium\n\n  * Nothing that the packages are made from was changed.\n"
    )


def test_the_changelog_says_why_there_is_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(paths: tuple[str, ...]) -> list[history.Release]:
        raise history.Refused(f"no history of {paths[0]}")

    monkeypatch.setattr(history, "releases", refuse)
    assert run(monkeypatch, changelog) == 1
    assert capsys.readouterr() == ("", "changelog: no history of host-driver\n")
