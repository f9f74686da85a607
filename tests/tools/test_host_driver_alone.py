# SPDX-License-Identifier: Apache-2.0
"""host-driver/ alone, as a tarball of it is unpacked: it needs nothing else of the repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from documents import ROOT
from meridian_twin.patience import stretched

HEADERS = sorted(Path("/usr/src").glob("linux-headers-*-cloud-amd64"))


def run(*command: object, **more: str) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        timeout=stretched(300),
        check=False,
        env={**os.environ, "MAKEFLAGS": "", **more},
    )
    assert done.returncode == 0, f"{' '.join(words)}: {done.stdout[-1000:]}{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder as the last commit has it, with nothing of the repository above it."""
    if not (ROOT / ".git").exists():
        pytest.skip("this tree has no history to make a tarball of")
    folder = tmp_path_factory.mktemp("tarball")
    archive = folder / "host-driver.tar"
    run("git", "-C", ROOT, "archive", "--prefix=drivers/", "-o", archive, "HEAD:host-driver")
    run("tar", "-C", folder, "-xf", archive)
    return folder / "drivers"


def missing_includes(folder: Path) -> list[str]:
    """Quoted includes of no file below the folder: beside the source, or by the end of its path."""
    sources = [file for ending in ("c", "h", "cpp", "hpp") for file in sorted(folder.rglob(f"*.{ending}"))]
    paths = [f"/{file.relative_to(folder)}" for file in sources]
    return [
        f"{file.relative_to(folder)}: {name}"
        for file in sources
        for name in re.findall(r'^\s*#\s*include "([^"]+)"', file.read_text(), re.MULTILINE)
        if not ((file.parent / name).resolve().is_relative_to(folder) and (file.parent / name).exists())
        and not any(path.endswith(f"/{name}") for path in paths)
    ]


def test_each_file_that_a_source_includes_is_in_the_tarball(alone: Path) -> None:
    assert missing_includes(alone) == []


def test_an_include_from_elsewhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "own" / "deep").mkdir(parents=True)
    (tmp_path / "above.h").touch()
    (tmp_path / "own/deep/near.h").touch()
    (tmp_path / "own/one.c").write_text(
        '#include "deep/near.h"\n#include "near.h"\n#include "../above.h"\n#include <a.h>\n'
    )
    assert missing_includes(tmp_path / "own") == ["one.c: ../above.h"]


def test_libmeridian_and_its_examples_are_built(alone: Path, tmp_path: Path) -> None:
    run("make", "-s", "-C", alone / "library", f"OUTPUT={tmp_path}", "CFLAGS=-O0")
    assert {"libmeridian.so.1", "latency", "throughput"} <= {file.name for file in tmp_path.iterdir()}


def test_the_library_for_the_ip_is_compiled(alone: Path, tmp_path: Path) -> None:
    sources = [file for folder in (".", "mailbox", "service") for file in (alone / "qdma" / folder).glob("*.c")]
    objects = [tmp_path / f"{file.stem}.o" for file in sources]
    run("make", "-s", "-C", alone / "qdma/test", f"BUILD={tmp_path}", "CFLAGS=-O0", *objects)
    assert len(objects) > 10 and all(file.exists() for file in objects)
    # Its tests need a C++ compiler for minutes: only that make finds all of their files.
    run("make", "-n", "-C", alone / "qdma/test", f"BUILD={tmp_path}", f"{tmp_path}/qdma_test")


def test_what_kbuild_names_is_in_the_tarball(alone: Path) -> None:
    text = (alone / "linux/Kbuild").read_text()
    objects = re.findall(r"\S+\.o\b", text.partition("obj-m := meridian.o")[2])
    assert len(objects) > 60
    assert [name for name in objects if not (alone / "linux" / name).with_suffix(".c").exists()] == []


@pytest.mark.skipif(not HEADERS, reason="this system has no kernel headers of Debian's cloud kernel")
def test_the_kernels_build_finds_all_of_the_module(alone: Path) -> None:
    """It compiles a file of the library and one of the driver, which needs the headers of all."""
    made = ("../qdma/qdma_reset.o", "card/meridian_group.o")
    run("make", "-s", "-C", HEADERS[-1], f"M={alone}/linux", *made)
    assert all((alone / "linux" / name).exists() for name in made)


def test_dkms_reads_the_version(alone: Path) -> None:
    script = f'. {alone}/dkms.conf; echo "$PACKAGE_NAME $PACKAGE_VERSION $BUILT_MODULE_LOCATION"'
    name, version, place = run("bash", "-c", script).split()
    assert name == "meridian" and re.fullmatch(r"\d[\d.]*", version) and (alone / place / "Kbuild").exists()


@pytest.mark.parametrize("tool", ["meridian-selftest", "meridian-eye"])
def test_a_tool_says_what_it_does(alone: Path, tool: str) -> None:
    said = run(sys.executable, alone / "tools" / tool, "--help", PYTHONPATH="")
    assert said.startswith(f"usage: {tool}")
