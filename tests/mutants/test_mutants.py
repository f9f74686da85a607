# SPDX-License-Identifier: Apache-2.0
"""The list of faults fits the sources, and the tool that puts them in tells killed, survived and errors apart."""

from __future__ import annotations

import fnmatch
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from mutant_list import KINDS, Mutant, MutantError, chosen, mutants
from mutant_record import Record
from mutant_runs import Outcome, Runs
from mutant_tree import Tree
from mutants import Judge, line, status, summary, verdicts_on

ROOT = Path(__file__).resolve().parents[2]
ALL = mutants()


def test_each_part_of_the_sources_has_faults() -> None:
    numbers = Counter(mutant.kind for mutant in ALL)
    assert all(numbers[kind] >= least for kind, least in zip(KINDS, (20, 10, 10, 5, 5), strict=True)), numbers


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_the_text_of_a_fault_is_in_its_file_once(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text()
    assert mutant.planted(text) != text
    assert mutant.why.endswith(".")


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_what_a_fault_names_as_its_test_is_there(mutant: Mutant) -> None:
    if mutant.runner == "pytest":
        files = mutant.test_files(ROOT)
        assert files and all(file.is_file() for file in files)
        # Whatever the words of -k choose by is in the names of the tests, or in their parameters, which may be cases in C.
        _, _, chosen = mutant.test.partition(" -k ")
        for word in set(re.findall(r"\w+", chosen)) - {"and", "or", "not"}:
            assert any(word in file.read_text() for file in files), word
    elif mutant.runner == "sbt":
        assert mutant.test_files(ROOT)[0].exists()
    elif mutant.runner == "test-pcie":
        text = "".join(path.read_text() for path in mutant.test_files(ROOT))
        cases = re.findall(r"^async def (\w+)\(dut", text, re.MULTILINE)
        assert all(re.sub(r"_\d{3}$", "", word) in cases for word in mutant.words)
    else:
        text = "".join(path.read_text() for path in mutant.test_files(ROOT))
        suites = [f"{suite}.{name}" for suite, name in re.findall(r"^TEST\w*\((\w+), (\w+)\)", text, re.MULTILINE)]
        for word in mutant.words[0].partition("-")[0].split(":"):
            assert fnmatch.filter(suites, word.removeprefix("*/").removesuffix("/*")), word


FAULT = Mutant("off-by-one", "python", "sum.py", "a + b", "a + b + 1", "Sums are wrong.", "pytest test_sum.py")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A program of two files, with a script that runs its test."""
    folder = tmp_path / "checkout"
    (folder / "scripts").mkdir(parents=True)
    (folder / "sum.py").write_text("def sum_of(a, b):\n    return a + b\n")
    (folder / "test_sum.py").write_text("from sum import sum_of\n\n\ndef test_sum():\n    assert sum_of(1, 2) == 3\n")
    (folder / "scripts/pytest").write_text('#!/bin/sh\nexec python3 -m pytest "$@"\n')
    (folder / "scripts/pytest").chmod(0o755)
    (folder / ".gitignore").write_text("ignored\n")
    (folder / "ignored").write_text("")
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


@pytest.fixture
def tree(checkout: Path, tmp_path: Path) -> Tree:
    made = Tree(tmp_path / "kept")
    made.update(checkout)
    return made


def with_changes(**values: str) -> Mutant:
    return Mutant(**{**vars(FAULT), **values})


def test_a_copy_follows_its_checkout_and_leaves_it_alone(checkout: Path, tree: Tree) -> None:
    assert not (tree.root / "ignored").exists()
    assert (tree.root / "scripts/pytest").stat().st_mode & 0o111
    made_at = (tree.root / "sum.py").stat().st_mtime_ns
    (checkout / "new.py").write_text("")
    (checkout / "test_sum.py").unlink()
    with tree.planted(FAULT):
        assert "a + b + 1" in (tree.root / "sum.py").read_text()
        assert "a + b + 1" not in (checkout / "sum.py").read_text()
    restored_at = (tree.root / "sum.py").stat().st_mtime_ns
    tree.update(checkout)
    assert made_at < restored_at == (tree.root / "sum.py").stat().st_mtime_ns
    assert (tree.root / "new.py").exists() and not (tree.root / "test_sum.py").exists()
    assert (tree.root / "sum.py").read_text() == (checkout / "sum.py").read_text()


def verdict(tree: Tree, mutant: Mutant) -> tuple[str, str]:
    (tree.root.parent / "runs").mkdir(exist_ok=True)
    given = Judge(tree, Runs(tree.root, tree.root.parent / "runs", 1).run).verdict(mutant)
    assert mutant.name in line(given) and given.word in line(given)
    return given.word, given.about


def test_a_fault_that_its_test_notices_is_killed(tree: Tree) -> None:
    assert verdict(tree, FAULT) == ("killed", "by 1 test")


def test_a_fault_that_its_test_does_not_notice_survives(tree: Tree) -> None:
    assert verdict(tree, with_changes(new="b + a")) == ("survived", FAULT.test)


@pytest.mark.parametrize(("old", "times"), [("a * b", 0), ("b", 2)])
def test_a_text_that_is_not_there_once_is_an_error(tree: Tree, old: str, times: int) -> None:
    word, about = verdict(tree, with_changes(old=old))
    assert (word, about) == ("error", f"sum.py has the old text {times} times, and it has to be there once")


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        ("def test_sum():\n    assert False\n", "without the fault, its test fails by 1 test"),
        ("", "without the fault, its test ended with 5"),
        ("def test_sum(nothing):\n    pass\n", "without the fault, its test ended with 1 before a test failed"),
        ("import pytest\n@pytest.mark.skip\ndef test_sum():\n    pass\n", "without the fault, its test runs nothing"),
    ],
)
def test_a_test_that_does_not_pass_without_the_fault_is_an_error(tree: Tree, broken: str, sentence: str) -> None:
    (tree.root / "test_sum.py").write_text(broken)
    word, about = verdict(tree, FAULT)
    assert word == "error" and sentence in about


def test_a_file_that_is_not_there_is_an_error(tree: Tree) -> None:
    assert verdict(tree, with_changes(file="product.py")) == ("error", "there is no file product.py")


def test_a_test_that_does_not_end_is_ended_and_is_an_error(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mutants.MORE_SECONDS", 5)
    monkeypatch.setattr("mutants.SLOWER", 0)
    word, about = verdict(tree, with_changes(new="a + b + sum_of(a, b) if __import__('time').sleep(60) else 0"))
    assert word == "error" and about.startswith("its test is not done after 5 s")


def test_a_test_runs_without_a_fault_once(tree: Tree) -> None:
    limits = []

    def run(runner: str, words: list[str], limit: float = 0) -> Outcome:
        limits.append(limit)
        return Outcome(passed=not limit, seconds=10, by="by 2 tests")

    judge = Judge(tree, run)
    verdicts = [judge.verdict(FAULT), judge.verdict(with_changes(name="another"))]
    assert limits == [0, 330, 330]
    assert summary(verdicts).endswith("2 mutants: 2 killed, 0 survived, 0 errors, 0 s")


def test_the_status_and_the_summary_say_what_survived(tree: Tree) -> None:
    passing = Judge(tree, lambda *_: Outcome(passed=True, seconds=0))
    survived, error = passing.verdict(FAULT), passing.verdict(with_changes(old="?"))
    assert [status(some) for some in ([], [error], [survived, error])] == [0, 2, 1]
    assert "off-by-one in sum.py survived: Sums are wrong." in summary([survived, error])
    assert summary([survived, error]).endswith("2 mutants: 0 killed, 1 survived, 1 errors, 0 s")


def test_what_was_killed_is_remembered_until_its_file_its_test_or_its_entry_changes(tree: Tree, tmp_path: Path) -> None:
    file = tmp_path / "killed.json"
    fault = with_changes(test="pytest tests/test_sum.py")
    (tree.root / "tests").mkdir()
    test = tree.root / "tests/test_sum.py"
    test.write_text("")
    Record(file, tree.root).note(fault, killed=True)
    assert Record(file, tree.root).has(fault)
    assert not Record(file, tree.root).has(with_changes(test=fault.test, new="b"))
    for changed in (test, tree.root / "sum.py"):
        text = changed.read_text()
        changed.write_text(text + "\n")
        assert not Record(file, tree.root).has(fault), changed
        changed.write_text(text)
        assert Record(file, tree.root).has(fault)
    Record(file, tree.root).note(fault, killed=False)
    assert not Record(file, tree.root).has(fault)


@pytest.mark.parametrize(
    ("test", "file"),
    [
        ("pytest tests/golden", "tests/golden/deeper/test_it.py"),
        ("pytest tests/dpdk/test_port.py", "host-driver/dpdk/test/cases/port_cases.c"),
        ("test-card Card.*", "twin/card/test/fixture.hpp"),
        ("sbt testOnly meridian.mac.MacTest", "spinal/src/test/scala/meridian/mac/MacTest.scala"),
    ],
)
def test_a_kill_is_forgotten_when_a_file_of_its_tests_changes(tree: Tree, tmp_path: Path, test: str, file: str) -> None:
    record, fault, path = Record(tmp_path / "killed.json", tree.root), with_changes(test=test), tree.root / file
    path.parent.mkdir(parents=True)
    path.write_text("one")
    record.note(fault, killed=True)
    assert record.has(fault)
    path.write_text("two")
    assert not record.has(fault)


def test_a_run_that_goes_on_judges_only_what_no_run_has_killed(tree: Tree, tmp_path: Path) -> None:
    """One that survives is judged by each run, and one without --resume judges all."""
    survivor = with_changes(name="survivor", old="sum_of", new="sum_off")
    judged = []

    def words(resume: bool) -> list[str]:
        judged.clear()
        record = Record(tmp_path / "killed.json", tree.root)
        return [verdict.about for verdict in verdicts_on([FAULT, survivor], Judge(tree, run), record, resume)]

    def run(runner: str, words: list[str], limit: float = 0) -> Outcome:
        text = (tree.root / "sum.py").read_text()
        judged.append("a + b + 1" in text)
        return Outcome("a + b + 1" not in text, 1, "by 1 test")

    assert words(resume=True) == words(resume=False) == ["by 1 test", survivor.test] and any(judged)
    assert words(resume=True) == ["by an earlier run", survivor.test] and judged and not any(judged)


@pytest.mark.parametrize("text", ["", "{", "[1]"])
def test_a_record_that_cannot_be_read_remembers_nothing(tree: Tree, tmp_path: Path, text: str) -> None:
    (tmp_path / "killed.json").write_text(text)
    record = Record(tmp_path / "killed.json", tree.root)
    assert not record.has(FAULT)
    record.note(FAULT, killed=True)
    assert record.has(FAULT)


TABLE = 'kind = "python"\nfile = "a"\nold = "b"\nnew = "c"\nwhy = "d."\ntest = "pytest e"\n'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[a", "is no TOML"),
        ("a = 1", "a needs the keys"),
        ("[a]\n" + TABLE + "more = 1", "a needs the keys"),
        ("[a]\n" + TABLE.replace('"b"', "1"), "the value of old is no text"),
        ("[a]\n" + TABLE.replace("python", "cobol"), "a has the kind 'cobol'"),
        ("[a]\n" + TABLE.replace("pytest e", "make e"), "has to begin with one of"),
        ("[a]\n" + TABLE.replace("pytest e", "pytest"), "and to name a test"),
        ("[a]\n" + TABLE.replace('"c"', '"b"'), "a changes nothing"),
    ],
)
def test_a_list_that_cannot_be_is_refused_in_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "list.toml").write_text(text)
    with pytest.raises(MutantError, match=sentence):
        mutants(tmp_path / "list.toml")


def test_some_are_chosen_by_name_and_kind() -> None:
    two = [FAULT, with_changes(name="another", kind="rtl")]
    assert chosen(two, None, None) == two
    assert chosen(two, None, "rtl") == chosen(two, "another", None) == two[1:]
    with pytest.raises(MutantError, match="there is no mutant 'third'"):
        chosen(two, "third", None)
    with pytest.raises(MutantError, match="there is no mutant 'another' of kind card"):
        chosen(two, "another", "card")
