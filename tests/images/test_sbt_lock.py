# SPDX-License-Identifier: Apache-2.0
"""Two sbt of one checkout wait for each other, whichever script runs them. java is a stand-in, the scripts are the real ones."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from meridian_twin.patience import deadline_in
from test_build_cache import SECONDS, Tree

WAITS = "[sbt] another sbt runs in {}, this one waits for its end"
COMPILES = "[card] another command compiles the generator, this one waits for its end"
# As sbt it compiles, and prints the class path if it is asked for; as the generator it writes Verilog where it is told to.
JAVA = """case "$*" in
  *--output*)
    out=$(printf '%s' "$*" | sed -n 's/.*--output \\([^ ]*\\).*/\\1/p')
    echo 'module Shell; endmodule' >"$out/Shell.v"
    exit
    ;;
esac
echo began >>"$BUILDS"
sleep 3
echo ended >>"$BUILDS"
case "$*" in
  *fullClasspathAsJars*)
    echo classes >"$BUILDS.jar"
    echo library >"$BUILDS.library"
    echo "$BUILDS.jar:$BUILDS.library"
    ;;
esac
"""
SBT = ("sbt", "compile")
CARD = ("build-card", "--verilog-only")
OTHER_CARD = (*CARD, "--ports", "2")


def checkout(place: Path) -> Tree:
    tree = Tree(place, "scripts/lib/sbt-lock.sh", "scripts/sbt", "scripts/build-card", "spinal/build.sbt")
    (tree.place / "spinal/src/main").mkdir(parents=True)
    version = (tree.place / "spinal/project/build.properties").read_text().partition("=")[2].strip()
    jar = tree.cache / f"sbt/sbt-launch-{version}.jar"
    jar.parent.mkdir(parents=True)
    jar.touch()
    tree.program(tree.programs / "java", JAVA)
    return tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return checkout(tmp_path)


def runs(tree: Tree) -> list[str]:
    return tree.builds.read_text().split() if tree.builds.exists() else []


def begun(tree: Tree, *command: str) -> subprocess.Popen[str]:
    """A script whose sbt runs."""
    process = tree.start(*command)
    deadline = deadline_in(SECONDS)
    ended = False  # looked at before its work, which may be done between two looks
    while not runs(tree):
        assert time.monotonic() < deadline and not ended
        ended = process.poll() is not None
        time.sleep(0.01)
    return process


@pytest.mark.parametrize(
    ("first", "second"),
    [(SBT, SBT), (SBT, CARD), (CARD, SBT)],
    ids=["sbt and sbt", "sbt and card", "card and sbt"],
)
def test_a_second_sbt_of_a_checkout_waits_and_says_so(
    tree: Tree, first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    with begun(tree, *first) as process:
        status, _, errors = tree.run(*second)
        assert process.wait(SECONDS) == 0
        assert WAITS.format(tree.place) not in process.stderr.read()
    assert status == 0 and WAITS.format(tree.place) in errors, errors
    assert runs(tree) == ["began", "ended"] * 2


def test_the_generator_is_compiled_once_for_two_cards(tree: Tree) -> None:
    with begun(tree, *CARD) as process:
        status, _, errors = tree.run(*OTHER_CARD)
        assert process.wait(SECONDS) == 0
        assert COMPILES not in process.stderr.read()
    assert status == 0 and COMPILES in errors, errors
    assert runs(tree) == ["began", "ended"]
    assert len(list(tree.cache.glob("rtl/*/Shell.v"))) == 2


@pytest.mark.parametrize(
    "compiler",
    ["echo '[error] Shell.scala:7: not found' >&2\nexit 1\n", "echo '[error] nowhere.jar:library.jar'\n"],
    ids=["which fails", "which tells of no classes"],
)
def test_a_generator_that_does_not_compile_is_not_kept(tree: Tree, compiler: str) -> None:
    tree.program(tree.programs / "java", compiler)
    status, _, errors = tree.run(*CARD)
    assert status == 1
    assert "[error]" in errors and "the generator failed; its log: " in errors
    tree.program(tree.programs / "java", JAVA)
    status, _, errors = tree.run(*CARD)
    assert status == 0, errors


def test_a_generator_whose_files_are_lost_is_compiled_again(tree: Tree) -> None:
    assert tree.run(*CARD)[0] == 0
    for number, lost in enumerate((next(tree.cache.glob("rtl/*.jar")), tree.builds.with_suffix(".library"))):
        lost.unlink()
        status, _, errors = tree.run(*CARD, "--ports", str(2 + number))
        assert status == 0, errors
        assert runs(tree) == ["began", "ended"] * (2 + number)


def test_sources_that_change_meanwhile_are_not_taken_for_those_of_before(tree: Tree) -> None:
    source = tree.place / "spinal/src/main/Shell.scala"
    source.write_text("class Old\n")
    with begun(tree, *CARD) as process:
        source.write_text("class New\n")
        assert process.wait(SECONDS) == 1
        assert "the sources in spinal/ changed meanwhile" in process.stderr.read()
    source.write_text("class Old\n")
    assert tree.run(*CARD)[0] == 0
    assert runs(tree) == ["began", "ended"] * 2


def test_the_dma_engine_changes_no_shell(tree: Tree) -> None:
    made = []
    for name in ("dma/DmaEngine.scala", "dma/DmaEngine.scala", "Shell.scala"):
        source = tree.place / "spinal/src/main/scala/meridian" / name
        source.parent.mkdir(parents=True, exist_ok=True)
        with source.open("a") as text:
            text.write("class Another\n")
        status, out, errors = tree.run(*CARD)
        assert status == 0, errors
        made.append(out)
    assert made[0] == made[1] != made[2]


def test_another_checkout_does_not_wait(tree: Tree, tmp_path: Path) -> None:
    other = checkout(tmp_path / "other")
    with begun(tree, *SBT) as process:
        status, _, errors = other.run(*SBT, MERIDIAN_SBT_LOCKED=str(tree.place))
        assert process.wait(SECONDS) == 0
    assert (status, errors) == (0, "")
