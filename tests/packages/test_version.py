# SPDX-License-Identifier: Apache-2.0
"""The version has one source, and versions of commits sort in the commits' order."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from itertools import pairwise
from pathlib import Path

import changelog
import history
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / history.SOURCE).parent.mkdir(parents=True)
    history.git(tmp_path, "init", "-q")
    for key, value in (("user.name", "T"), ("user.email", "t@example.com"), ("commit.gpgsign", "false")):
        history.git(tmp_path, "config", key, value)
    return tmp_path


def commit(root: Path, text: str, number: str = "0.1") -> str:
    (root / history.SOURCE).write_text(f'#define MERIDIAN_VERSION\t"{number}"\n// {text}\n')
    history.git(root, "add", "-A")
    history.git(root, "commit", "-q", "-m", text)
    return history.version(root)


def test_dkms_reads_the_number_from_the_header() -> None:
    number = history.number((ROOT / history.SOURCE).read_text())
    command = ["bash", "-c", '. "$0"; printf %s "$PACKAGE_VERSION"', str(ROOT / "host-driver" / "dkms.conf")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == number


def test_recipes_of_the_layers_have_the_number() -> None:
    number = history.number((ROOT / history.SOURCE).read_text())
    recipes = list((ROOT / "meta-layer").rglob("*_[0-9]*.bb"))
    assert recipes
    wrong = [recipe.name for recipe in recipes if recipe.stem.partition("_")[2] != number]
    assert not wrong, f"rename these recipes to version {number} with git mv"


def test_versions_of_commits_sort_in_their_order(repository: Path) -> None:
    versions = [commit(repository, "a: first"), commit(repository, "a: second")]
    history.git(repository, "tag", "v0.1")
    versions += [history.version(repository), commit(repository, "a: mended"), commit(repository, "a: next", "0.2")]
    assert versions[2] == "0.1"
    for older, newer in pairwise(versions):
        command = ["dpkg", "--compare-versions", older, "lt", newer]
        assert subprocess.run(command, check=False).returncode == 0, f"{older} does not sort before {newer}"


def test_each_release_lists_its_own_commits(repository: Path) -> None:
    commit(repository, "a: first")
    history.git(repository, "tag", "v0.1")
    assert [release.changes for release in history.releases(repository)] == [["a: first"]]
    commit(repository, "a: second", "0.2")
    newest, oldest = history.releases(repository)
    assert newest.version.startswith("0.2~git2.") and newest.changes == ["a: second"]
    assert oldest.version == "0.1" and oldest.changes == ["a: first"]


def test_releases_are_in_the_order_of_their_commits(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tag may be set late, or by a clock that is wrong."""
    for number, year in (("0.1", 2002), ("0.2", 2001), ("0.10", 2000)):
        commit(repository, f"a: {number}", number)
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{year}-01-01T00:00:00Z")
        history.git(repository, "tag", "-a", "-m", number, f"v{number}")
        monkeypatch.delenv("GIT_COMMITTER_DATE")
    found = [(release.version, release.changes) for release in history.releases(repository)]
    assert found == [("0.10", ["a: 0.10"]), ("0.2", ["a: 0.2"]), ("0.1", ["a: 0.1"])]


def test_a_header_without_a_number_is_refused_in_a_sentence(repository: Path) -> None:
    with pytest.raises(history.Refused, match="has no single line #define MERIDIAN_VERSION"):
        commit(repository, "a: first", "zero")


def test_a_clone_whose_history_is_cut_off_is_refused(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    commit(repository, "a: first")
    commit(repository, "a: second")
    clone = tmp_path_factory.mktemp("clone")
    history.git(clone, "clone", "-q", "--depth", "1", f"file://{repository}", ".")
    with pytest.raises(history.Refused, match="git fetch --unshallow"):
        history.version(clone)
    for name in ("source-archive", "history.py"):
        (clone / "packaging").mkdir(exist_ok=True)
        shutil.copy(ROOT / "packaging" / name, clone / "packaging" / name)
    archive = clone / "source.tar.xz"
    done = subprocess.run([clone / "packaging/source-archive", archive], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "git fetch --unshallow" in done.stderr and not archive.exists()


def test_a_tag_of_another_number_than_the_commit_has_is_refused(repository: Path) -> None:
    commit(repository, "a: first")
    history.git(repository, "tag", "v0.2")
    with pytest.raises(history.Refused, match=r"has the tag v0.2 and MERIDIAN_VERSION 0.1 in .*: commit the number"):
        history.version(repository)
    history.git(repository, "tag", "v0.1")
    assert history.version(repository) == "0.1"


def test_dpkg_reads_the_changelog(repository: Path) -> None:
    commit(repository, "a: first")
    history.git(repository, "tag", "v0.1")
    commit(
        repository,
        "a: a subject that is so long that it does not fit into one line of the changelog of a package",
        "0.2",
    )
    text = "\n".join(changelog.entry(release, "1", "unstable") for release in history.releases(repository))
    assert max(len(line) for line in text.splitlines() if line.startswith("  ")) <= 80
    command = ["dpkg-parsechangelog", "-l-", "--all", "--format", "rfc822"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    versions = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("Version:")]
    assert [version.partition("~")[0] for version in versions] == ["0.2", "0.1-1"]


def test_programs_print_what_packages_and_releases_are_made_with(repository: Path) -> None:
    """They are those of a checkout; in a folder that is none they say what they need."""
    for name in ("changelog.py", "history.py", "notes.py", "debian/control"):
        (repository / "packaging" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "packaging" / name, repository / "packaging" / name)

    def said(program: str, *words: str) -> tuple[int, str, str]:
        command = [sys.executable, str(repository / "packaging" / program), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.strip(), done.stderr.strip()

    version = commit(repository, "packaging: first")
    assert said("history.py") == (0, version, "")
    status, text, _ = said("changelog.py", "--revision", "2", "--suite", "bookworm", "--version", "9.9")
    assert status == 0 and text.splitlines()[0] == "meridian (9.9-2) bookworm; urgency=medium"
    assert "  * packaging: first" in text.splitlines()
    status, text, _ = said("notes.py", "--version", "9.9")
    assert status == 0 and text.splitlines()[0] == "# Meridian 9.9" and text.splitlines()[-1] == "- first"
    shutil.rmtree(repository / ".git")
    for program, words in (("history.py", []), ("changelog.py", []), ("notes.py", ["--version", "9.9"])):
        status, text, errors = said(program, *words)
        assert (status, text) == (1, "") and errors.endswith("This command needs a clone of the repository"), errors


def test_an_archive_of_the_source_is_of_the_commit_alone(repository: Path) -> None:
    """Two archives of a commit have the same bytes, whatever the checkout has beside it."""
    for name in ("source-archive", "history.py"):
        (repository / "packaging").mkdir(exist_ok=True)
        shutil.copy(ROOT / "packaging" / name, repository / "packaging" / name)
    version = commit(repository, "packaging: first")
    first, second = repository / "first.tar.xz", repository / "second.tar.xz"
    program = repository / "packaging/source-archive"
    subprocess.run([program, first], check=True)
    (repository / history.SOURCE).write_text("changed")
    subprocess.run([program, second], check=True)
    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as archive:
        files = {member.name: member for member in archive.getmembers() if member.isfile()}
        text = archive.extractfile(f"meridian-{version}/{history.SOURCE}").read().decode()
    names = (history.SOURCE, "packaging/history.py", "packaging/source-archive")
    assert set(files) == {f"meridian-{version}/{name}" for name in names}
    assert files[f"meridian-{version}/packaging/source-archive"].mode & 0o777 == 0o755
    assert text.startswith("#define MERIDIAN_VERSION")


def test_the_changelog_looks_at_all_that_packages_take_from_the_tree() -> None:
    debian = ROOT / "packaging/debian"
    taken = [line for file in debian.glob("*.docs") for line in file.read_text().split()]
    taken += [word for word in (debian / "rules").read_text().split() if word.startswith(("vivado/", "docs/"))]
    assert len(taken) >= 6
    missing = [name for name in taken if not name.startswith(changelog.PATHS)]
    assert not missing, f"add these to PATHS of packaging/changelog.py: {missing}"
