# SPDX-License-Identifier: Apache-2.0
"""scripts/bitstream, with programs of Vivado's names that are none: what it says, and what it hands on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from test_top import rtl, write_cells
from vivado_stub import DATA, ROOT, program

pytestmark = pytest.mark.vivado
STUB = ROOT / "vivado/check/stub.tcl"


def run(*words: str, **environment: str) -> tuple[int, str]:
    command = [str(ROOT / "scripts/bitstream"), *words]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=900, check=False, env={**os.environ, **environment}
    )
    return done.returncode, done.stdout + done.stderr


def stand_in(folder: Path, name: str, text: str) -> dict[str, str]:
    """A program `name` that comes first on PATH."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text("#!/usr/bin/env bash\n" + text)
    program.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("build", "t1-rfsoc"), "no vivado on PATH: install Vivado 2023.2 to 2025.2"),
        (("build", "kcu105"), "no board 'kcu105': BOARD is one of fb4xxvg-z21d t1-rfsoc zcu106"),
        (("build", "fb4xxvg-z21d"), "PCIE_QUAD=...  transceiver quad of lane 0"),
        (("program", "zcu106"), "run 'make bitstream BOARD=zcu106' first"),
        (("flash", "zcu106", "no.bin", "no.elf"), "no no.bin: boot.bin and FSBL come from the card's Linux build"),
        (("flash", "zcu106", str(STUB), str(STUB)), "no program_flash on PATH: install Vitis"),
        (("build",), "usage: scripts/bitstream"),
        (("burn", "zcu106"), "usage: scripts/bitstream"),
    ],
)
def test_a_command_that_cannot_run_says_what_to_do(words: tuple[str, ...], sentence: str) -> None:
    status, said = run(*words)
    assert status != 0 and sentence in said, said


def test_flash_names_files_and_kind_of_memory(tmp_path: Path) -> None:
    path = stand_in(tmp_path / "bin", "program_flash", 'echo "$@"\n')
    status, said = run("flash", "zcu106", str(STUB), str(DATA / "Shell.v"), **path)
    assert status == 0 and "-flash_type qspi-x8-dual_parallel" in said and f"-f {STUB} -fsbl {DATA}" in said
    status, said = run("flash", "fb4xxvg-z21d", str(STUB), str(STUB), **path)
    assert status == 1 and "its flash memory is not known here" in said


@pytest.mark.parametrize("cards", [1, 0])
def test_exactly_one_card_is_programmed(cards: int, tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = program("a.bit", log, **({} if cards else {"MERIDIAN_STUB_NO_CARD": "1"}))
    if cards:
        assert done.returncode == 0, done.stderr
        assert "connect_hw_server -url far:3121" in log.read_text() and "PROGRAM.FILE = a.bit" in log.read_text()
    else:
        assert done.returncode == 1 and "exactly one card has to be there" in done.stderr


def test_the_script_builds_bitstream_summary_and_files_for_linux(tmp_path: Path) -> None:
    """As make bitstream does it; only vivado itself is not the real one."""
    cells = tmp_path / "cells"
    write_cells(rtl("t1-rfsoc"), cells)
    path = stand_in(
        tmp_path / "bin",
        "vivado",
        f'while [ "$1" != -source ]; do shift; done; script=$2; shift 3\n'
        f'exec tclsh {STUB} 2024.2 {tmp_path}/log {cells} {DATA}/reports/clean "$script" "$@"\n',
    )
    status, said = run("build", "t1-rfsoc", **path)
    assert status == 0 and "no bootgen on PATH" in said, said
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout[
        :8
    ]
    hashes = re.findall(r"BUILD_HASH=32'h(\w+)", (tmp_path / "log").read_text())
    assert hashes in ([commit], ["00000000"])
    summary = (ROOT / "build/vivado/t1-rfsoc/meridian-t1-rfsoc.txt").read_text()
    assert re.search(r"^inputs [0-9a-f]{16}$", summary, re.MULTILINE) and f"hash {hashes[0]}" in summary
    assert re.search(r"^map \d+\.\d+$", summary, re.MULTILINE), summary
    # With bootgen, which Vivado brings, the file that the card's Linux loads is made, too.
    stand_in(
        tmp_path / "bin",
        "bootgen",
        'test -e "$2" && grep -q "destination_device = pl" "$2" && touch "${2%.bif}.bit.bin"\n',
    )
    status, said = run("build", "t1-rfsoc", **path)
    assert status == 0 and re.search(r"output: .*/meridian-t1-rfsoc.bit.bin, register map \d+\.\d+:", said), said
    stand_in(tmp_path / "bin", "bootgen", "exit 1\n")
    status, said = run("build", "t1-rfsoc", **path)
    assert status == 1 and "bootgen failed; its log:" in said


def copied(tree: Path) -> Path:
    """What the script itself takes, with a generator that makes nothing. The script."""
    for name in ("scripts/bitstream", "scripts/lib/env.sh", "scripts/requirements/tests.txt", "spinal/project/build.properties",
                 "vivado/boards", "vivado/tcl", "host-driver/include/meridian_regs.h"):  # fmt: skip
        source, target = ROOT / name, tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    stand_in(tree / "scripts", "build-card", "echo /rtl/Shell.v\n")
    return tree / "scripts/bitstream"


@pytest.mark.parametrize(
    ("new", "is_told"),
    [("", False), ("notes.txt", False), ("spinal/src/main/scala/New.scala", True), ("vivado/tcl/new.tcl", True)],
)
def test_a_new_source_is_no_part_of_the_commit(tmp_path: Path, new: str, is_told: bool) -> None:
    """It is built, so the card must not name the commit."""
    tree = tmp_path / "tree"
    script = copied(tree)
    (tree / ".gitignore").write_text("build/\n")
    git = ["git", "-C", str(tree), "-c", "user.name=test", "-c", "user.email=test@test"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *words], check=True, timeout=60)
    done = subprocess.run(
        [*git, "rev-parse", "--short=8", "HEAD"], check=True, timeout=60, capture_output=True, text=True
    )
    if new:
        (tree / new).parent.mkdir(parents=True, exist_ok=True)
        (tree / new).write_text("// new\n")
    path = stand_in(tmp_path / "bin", "vivado", f'echo "$@" >{tmp_path}/words; touch meridian-t1-rfsoc.txt\n')
    said = subprocess.run(
        [str(script), "build", "t1-rfsoc"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **path},
        check=True,
    ).stderr
    words = (tmp_path / "words").read_text()
    assert f"hash={'00000000' if is_told else done.stdout.strip()[:8]} " in words
    assert ("uncommitted changes or new files" in said) == is_told


@pytest.mark.parametrize("around", [False, True], ids=["in no repository", "in another one"])
def test_sources_that_are_no_clone_are_built_without_a_commit(tmp_path: Path, around: bool) -> None:
    """As those of the source archive. The card does not name a commit that is not theirs."""
    script = copied(tmp_path / "all" / "tree")
    if around:
        git = ["git", "-C", str(tmp_path / "all"), "-c", "user.name=test", "-c", "user.email=test@test"]
        for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "other"]):
            subprocess.run([*git, *words], check=True, timeout=60)
    path = stand_in(tmp_path / "bin", "vivado", f'echo "$@" >{tmp_path}/words; touch meridian-t1-rfsoc.txt\n')
    environment = {**os.environ, **path, "GIT_CEILING_DIRECTORIES": str(tmp_path)}
    spinal, now = script.parents[1] / "spinal", time.time()
    for name, later_s in (("src/Shell.scala", 1000), ("build.sbt", 0), ("target/of_a_build", 2000)):
        (spinal / name).parent.mkdir(parents=True, exist_ok=True)
        (spinal / name).touch()
        os.utime(spinal / name, (now + later_s, now + later_s))
    done = subprocess.run(
        [str(script), "build", "t1-rfsoc"], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert "is no clone of the repository, so the card will report build_hash 0" in done.stderr
    words = re.search(r" hash=00000000 date=(\d+) ", (tmp_path / "words").read_text())
    assert words and int(words[1]) == int(now + 1000)


def test_a_clone_that_git_refuses_is_not_built(tmp_path: Path) -> None:
    """As that of another user: the card would be built without its commit."""
    script = copied(tmp_path / "tree")
    (tmp_path / "tree" / ".git").mkdir()
    path = stand_in(tmp_path / "bin", "vivado", f"touch {tmp_path}/ran\n")
    environment = {**os.environ, **path, "GIT_CEILING_DIRECTORIES": str(tmp_path)}
    done = subprocess.run(
        [str(script), "build", "t1-rfsoc"], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert done.returncode != 0 and "fatal: not a git repository" in done.stderr
    assert not (tmp_path / "ran").exists()


def test_without_verilog_there_is_no_build(tmp_path: Path) -> None:
    """Only the script itself is the real one."""
    script, programs = copied(tmp_path / "tree"), tmp_path / "bin"
    stand_in(tmp_path / "tree/scripts", "build-card", "echo '[card] the generator failed' >&2\nexit 3\n")
    (tmp_path / "tree" / ".git").mkdir()
    stand_in(programs, "git", "echo 01234567\n")
    path = stand_in(programs, "vivado", f"touch {tmp_path}/ran\n")
    command, environment = [str(script), "build", "t1-rfsoc"], {**os.environ, **path}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert done.returncode == 3 and "[card] the generator failed" in done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("bootgen", [None, "exit 1\n"], ids=["absent", "failing"])
def test_a_build_leaves_no_bitstream_of_the_one_before(bootgen: str | None, tmp_path: Path) -> None:
    """Else make image would take that, with the register map of this one. Only the script itself is the real one."""
    tree, programs = tmp_path / "tree", tmp_path / "bin"
    script = copied(tree)
    (tmp_path / "tree" / ".git").mkdir()
    stand_in(programs, "git", "echo 01234567\n")
    path = stand_in(programs, "vivado", "touch meridian-t1-rfsoc.bit && echo hash >meridian-t1-rfsoc.txt\n")
    stand_in(programs, "bootgen", 'touch "${2%.bif}.bit.bin"\n')
    command = [str(script), "build", "t1-rfsoc"]
    loaded = tree / "build/vivado/t1-rfsoc/meridian-t1-rfsoc.bit.bin"
    for turn in ("with bootgen", "then without"):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **path}
        )
        assert loaded.exists() == (turn == "with bootgen"), (turn, done)
        (programs / "bootgen").unlink(missing_ok=True)
        if bootgen:
            stand_in(programs, "bootgen", bootgen)
