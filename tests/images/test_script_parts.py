# SPDX-License-Identifier: Apache-2.0
"""What scripts share: the system's package sources for another suite, and help of scripts without arguments."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from meridian_twin.patience import stretched

ROOT = Path(__file__).resolve().parents[2]
HELPED = [
    script
    for script in sorted((ROOT / "scripts").rglob("*"))
    if script.is_file()
    and re.search(r'^source "\$\(dirname "\$0"\)/(\.\./)?lib/help\.sh"$', script.read_text(), re.MULTILINE)
]
KEY = "/usr/share/keyrings/debian-archive-keyring.gpg"
STANZAS = f"""Types: deb
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: {KEY}

Types: deb
URIs: http://mirror.example/security
Suites: bookworm-security
Components: main

Types: deb
URIs: http://other.example/tools
Suites: stable
Components: tools
"""
LINES = f"""# deb http://old.example/debian bookworm main
deb [signed-by={KEY}] http://lines.example/debian bookworm main
deb-src [signed-by={KEY}] http://lines.example/debian bookworm main
deb http://lines.example/security bookworm/updates main
deb http://other.example/tools stable tools
"""


class System:
    """A Debian 12 whose /etc is in a folder."""

    def __init__(self, folder: Path) -> None:
        self.sources, self.asked = folder / "etc/apt/sources.list.d", folder / "asked"
        self.sources.mkdir(parents=True)
        (folder / "etc/os-release").write_text("ID=debian\nVERSION_CODENAME=bookworm\n")
        text = (ROOT / "scripts/lib/apt.sh").read_text()
        assert "/etc/apt" in text and "/etc/os-release" in text
        self._functions = folder / "apt.sh"
        self._functions.write_text(text.replace("/etc/", f"{folder}/etc/"))

    def ask(self, *words: str) -> str:
        command = ["bash", "-euo", "pipefail", "-c", '. "$0"; "$@"', str(self._functions), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=stretched(30), check=True).stdout

    def of_suite(self, kind: str, suite: str) -> dict[str, str]:
        self.ask("debian_sources", str(self.asked), kind, suite)
        return {file.name: file.read_text() for file in self.asked.iterdir()}


@pytest.fixture
def system(tmp_path: Path) -> System:
    return System(tmp_path)


def test_debians_own_sources_in_stanzas_are_taken_for_another_suite(system: System) -> None:
    """Debian's own are asked for the other suite; those of others are left out."""
    (system.sources / "debian.sources").write_text(STANZAS)
    (system.sources / "tools.sources").write_text(STANZAS.rpartition("\n\n")[2])
    found = system.of_suite("deb-src", "trixie")
    assert list(found) == ["debian.sources"]
    text = found["debian.sources"]
    assert text.count("Types: deb-src\n") == 2 and "Types: deb\n" not in text
    assert "Suites: trixie trixie-updates\n" in text and "Suites: trixie-security\n" in text
    assert f"Signed-By: {KEY}" in text and "other.example" not in text and "bookworm" not in text
    assert system.ask("debian_mirror").split() == ["http://mirror.example/debian"]


def test_debians_own_sources_in_lines_are_taken_for_another_suite(system: System) -> None:
    (system.sources.parent / "sources.list").write_text(LINES)
    found = system.of_suite("deb", "trixie")
    assert list(found) == ["sources.list"]
    assert found["sources.list"].splitlines() == [
        f"deb [signed-by={KEY}] http://lines.example/debian trixie main",
        "deb http://lines.example/security trixie/updates main",
    ]
    assert system.ask("debian_mirror").split() == ["http://lines.example/debian"]


def test_sources_of_an_earlier_question_are_gone(system: System) -> None:
    (system.sources / "debian.sources").write_text(STANZAS)
    system.of_suite("deb", "sid")
    (system.sources / "debian.sources").unlink()
    (system.sources.parent / "sources.list").write_text(LINES)
    assert list(system.of_suite("deb", "sid")) == ["sources.list"]


@pytest.mark.parametrize("script", HELPED, ids=lambda script: script.name)
def test_help_of_a_script_without_arguments_prints_its_comment_and_runs_nothing(script: Path) -> None:
    usage = f"usage: {script.relative_to(ROOT)}"
    done = subprocess.run([script, "--help"], capture_output=True, text=True, timeout=stretched(30), check=False)
    comment = script.read_text().splitlines()[2].removeprefix("# ")
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.splitlines()[:2] == [usage, comment]
    assert "shellcheck" not in done.stdout
    done = subprocess.run([script, "--nothing"], capture_output=True, text=True, timeout=stretched(30), check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{usage}\n")
