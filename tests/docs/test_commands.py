# SPDX-License-Identifier: Apache-2.0
"""The documents' commands, options, files, messages and counters exist, and each block says what it needs."""

from __future__ import annotations

import ast
import contextlib
import errno
import functools
import importlib
import inspect
import io
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import documents
import pytest
from documents import ROOT, Block
from meridian_machine.__main__ import parser as twin_parser

PAGES = documents.pages()
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
TROUBLESHOOTING = ROOT / "docs" / "troubleshooting.md"
SHOWS = re.compile(r"diagram|libvirt's XML|output of (\S+)")
FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")} - {"build"}
#: First words of commands that are not ours.
PROGRAMS = {
    "devlink", "echo", "ethtool", "install", "ip", "ping", "pmc", "readlink", "rmmod", "systemctl", "tcpdump",
}  # fmt: skip
#: Messages of others: DPDK's EAL and testpmd, the kernel, kmod.
FOREIGN = {
    "Cannot get hugepage information", "Key was rejected by service", "No available Ethernet devices",
    "not enough MMIO resources for SR-IOV",
}  # fmt: skip
MESSAGES = {"message", "message or status", "message in the log", "message on the host", "sentence"}
#: What a message has on the page where the program prints a value, and what it has in C, Python, shell and awk.
ON_PAGE = re.compile(r"\.\.\.|\b[A-Z]\b|\bADDRESS\b")
IN_CODE = re.compile(r'%" PRI\w+ "|%[-#.0-9]*[a-zA-Z]+|\$\{?\w+\}?|\{[^{}\n]*\}|(?<= )" \w+(?=[,)])')
VALUE = "\0"


@functools.cache
def said(*command: str) -> str:
    """What a command of the tree prints, which must succeed."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@functools.cache
def help_of(script: str, word: str = "") -> str:
    """What `--help` prints; of a script that has none, its text, which takes nobody's time."""
    path = ROOT / "scripts" / script
    if script == "twin":
        return said(str(path), *([word] if word else []), "--help")
    text = path.read_text()
    return said(str(path), "--help") if "--help" in text else text + (ROOT / "tests" / "run.py").read_text()


@functools.cache
def sources() -> str:
    """All that prints something, each string that goes over several literals as one."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    kept = re.compile(r"(host-driver|meta-layer|petalinux|scripts|twin|vivado)/")
    texts = [
        (ROOT / name).read_text(errors="replace")
        for name in names
        if kept.match(name) and not name.endswith((".md", ".pcap", ".svg")) and (ROOT / name).is_file()
    ]
    return re.sub(r'"\s*\\?\n?\s*f?"', "", IN_CODE.sub(VALUE, "\n".join(texts)))


def is_said(message: str) -> bool:
    """The sources have this text. Up to one word in three may be a value there."""
    words = re.compile(r"\w+|[^\w]+")
    parts = [
        "".join(f"(?:{word}|{VALUE})" if word.isalnum() else re.escape(word) for word in words.findall(part))
        for part in ON_PAGE.split(message)
    ]
    least = sum(word.isalnum() for part in ON_PAGE.split(message) for word in words.findall(part)) * 2 / 3
    return any(len(re.findall(r"\w+", found[0])) >= least for found in re.finditer(".{0,60}?".join(parts), sources()))


@functools.cache
def counters() -> set[str]:
    """What `ethtool -S` may print on the host and on the card."""
    found: set[str] = set()
    for name in (
        "host-driver/linux/netdev/meridian_stats.c",
        "meta-layer/meta-meridian/recipes-kernel/meridian-ps/files/meridian_ps_stats.c",
    ):
        text = (ROOT / name).read_text()
        prefixes = dict(re.findall(r'^#define (\w+)\(name, .*?\)\s*\{ "(\w+)" name', text, re.MULTILINE))
        for macro, word in re.findall(r'(\w+)\("(\w+)"', text):
            found.add(prefixes.get(macro, "") + word)
        found |= set(re.findall(r'"(\w+)"', text))
    return found


def wrong_make(words: list[str], folder: Path) -> Iterator[str]:
    makefile, targets = ROOT / "Makefile", []
    rest = iter(words)
    for word in rest:
        if word == "-C":
            place = next(rest)
            there = [base / place for base in (ROOT, folder) if (base / place / "Makefile").exists()]
            if not there:
                yield f"{place} has no Makefile"
                return
            makefile = there[0] / "Makefile"
        elif "=" in word:
            if not re.search(rf"\b{word.partition('=')[0]}\b", makefile.read_text()) and "CROSS" not in word:
                yield f"{makefile.relative_to(ROOT)} knows no {word.partition('=')[0]}"
        else:
            targets.append(word)
    for target in targets:
        if not re.search(rf"^{re.escape(target)}:", makefile.read_text(), re.MULTILINE):
            yield f"there is no make {target}"


def wrong_options(script: str, words: list[str]) -> Iterator[str]:
    """Option words of a script that its help does not have. Those behind "--" are of another program."""
    own = words[: words.index("--")] if "--" in words else words
    text = help_of(script, own[0] if script == "twin" and own and own[0].isalpha() else "")
    if script == "pytest":
        text += (ROOT / "tests" / "conftest.py").read_text() + "-m --collect-only"
        text += (ROOT / "tests" / "pcie_link.py").read_text() + (ROOT / "tests" / "debug_kernel.py").read_text()
    for word in own:
        option = word.partition("=")[0]
        if re.fullmatch(r"--?[a-z][a-z-]*", option) and not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text):
            yield f"scripts/{script} has no {option}"


def wrong_path(word: str, folder: Path) -> bool:
    """A path of the tree that is not there. The name of a kernel module is in the Makefile that makes it."""
    if word.split("/")[0] not in FOLDERS or "/" not in word or re.search(r"\.\.\.|[*$=]|[A-Z]{3}", word):
        return False
    path = ROOT / word.partition("::")[0]
    if path.suffix == ".ko":
        return not any(f"{path.stem}.o" in make.read_text() for make in path.parent.glob("[MK]*"))
    return not path.exists() and not (folder / word).exists()


def wrong(command: str, folder: Path) -> Iterator[str]:
    """What of a command does not exist."""
    for script in re.findall(r"(?<![\w/.])scripts/([a-z0-9/-]+)", command):
        if not (ROOT / "scripts" / script).is_file():
            yield f"there is no scripts/{script}"
            return
    simple: list[list[str]] = [[]]
    for word in documents.split(command):
        if set(word) <= set(";|&()<>"):
            simple.append([])
        else:
            simple[-1].append(word)
    for words in simple:
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            del words[0]
        if not words:
            continue
        if words[0] == "make":
            yield from wrong_make(words[1:], folder)
        elif re.fullmatch(r"scripts/[a-z0-9/-]+", words[0]):
            yield from wrong_options(words[0].removeprefix("scripts/"), words[1:])
        elif words[0] == "pytest" and len(words) > 1:
            yield "scripts/pytest sets the paths that tests need"
        paths = (path for word in words for path in word.split(","))
        yield from (f"there is no {path}" for path in paths if wrong_path(path, folder))


def refused(command: str) -> str:
    """Why scripts/twin does not take the words of this command; "" if it does, or if it is no command of it."""
    if not command.startswith("scripts/twin "):
        return ""
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
        try:
            twin_parser().parse_args(shlex.split(command, comments=True)[1:])
        except SystemExit as end:
            return said.getvalue() if end.code else ""
    return ""


def ours(text: str) -> bool:
    """Code of a sentence that is a command or a file of this tree."""
    return bool(re.match(r"(make|pytest|scripts/[a-z]\S*|tests/\S+)( |$)", text))


def wrong_in_python(block: Block) -> Iterator[str]:
    """Names that are imported but not there, and keywords that a class does not take."""
    tree = ast.parse(block.text)
    known: dict[str, object] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            module = importlib.import_module(node.module)
            for alias in node.names:
                if not hasattr(module, alias.name):
                    yield f"{node.module} has no {alias.name}"
                known[alias.name] = getattr(module, alias.name, None)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and callable(known.get(node.func.id)):
            taken = inspect.signature(known[node.func.id]).parameters  # type: ignore[arg-type]
            yield from (f"{node.func.id} takes no {word.arg}" for word in node.keywords if word.arg not in taken)


def first_cells(page: Path, heads: set[str]) -> Iterator[str]:
    """Code in the first column of the tables whose first column has one of these heads."""
    for head, _, *rows in documents.tables(page):
        if head[0] in heads:
            yield from (text for row in rows for text in re.findall(r"`([^`]+)`", row[0]))


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_block_has_a_mark(page: Path) -> None:
    name = str(page.relative_to(ROOT))
    called = page.name if page.parent == ROOT / "docs" else name
    for block in documents.blocks(page):
        assert block.kind, f"{block.name}: a comment in the line before says what the block needs: tests/documents.py"
        if block.kind == "needs":
            assert block.words in documents.NEEDS, f"{block.name}: {block.words!r} is none of {sorted(documents.NEEDS)}"
        if block.kind == "shows":
            assert SHOWS.fullmatch(block.words), f"{block.name}: {block.words}"
        for test in block.tests:
            assert (ROOT / test).is_file(), f"{block.name}: there is no {test}"
            text = (ROOT / test).read_text()
            assert re.search(rf"(?<![\w/.-]){re.escape(called)}\b", text), (
                f"{block.name}: {test} does not read {called}"
            )


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_and_files_exist(page: Path) -> None:
    found = []
    for block in documents.blocks(page):
        if block.language == "python":
            found += [f"{block.name}: {fault}" for fault in wrong_in_python(block)]
        elif block.kind != "shows" and "wire:" not in block.text:
            found += [
                f"{block.name}: {command}: {fault}"
                for command in block.commands()
                if not re.match(r"\S*> ", command)  # what a program is told at its prompt
                for fault in (*wrong(command, page.parent), *filter(None, [refused(command)]))
            ]
    found += [f"{text}: {fault}" for text in documents.inline(page) if ours(text) for fault in wrong(text, page.parent)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_each_message_of_a_page_is_in_a_program(page: Path) -> None:
    """Those in tables, and all of the page of troubleshooting."""
    quoted = list(first_cells(page, MESSAGES))
    if page == TROUBLESHOOTING:
        quoted += [text for text in documents.inline(page) if len(text.split()) > 2 and text.split()[0] not in PROGRAMS]
    system = {os.strerror(number) for number in errno.errorcode}
    for text in set(quoted) - FOREIGN - system:
        assert is_said(text), f"{page.name}: nothing says {text!r}"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_sample_output_is_in_the_program_that_its_mark_names(page: Path) -> None:
    """Each piece between values is in the program that the mark names."""
    for block in documents.blocks(page):
        shown = SHOWS.fullmatch(block.words)
        if not shown or not shown[1]:
            continue
        program = "\n".join(path.read_text() for path in (ROOT / shown[1]).rglob("*.py"))
        for line in block.text.splitlines():
            for piece in re.split(r"\.\.\.|build/\S*|(?<=^demo: )", line):
                assert piece.strip(" ,-:/") in program, f"{block.name}: {shown[1]} does not print {piece!r}"


def test_counters_exist() -> None:
    quoted = {text for text in documents.inline(TROUBLESHOOTING) if re.fullmatch(r"(port|card|rx|tx)_\w+\w", text)}
    of_linux = {"rx_dropped", "tx_dropped"}  # of ip's statistics
    assert len(quoted) > 20
    assert not quoted - counters() - of_linux


def test_registers_exist() -> None:
    header = (ROOT / "host-driver" / "include" / "meridian_regs.h").read_text()
    quoted = re.findall(r"register \[`(\w+)` of the (\w+)\]", TROUBLESHOOTING.read_text())
    assert quoted
    for register, block in quoted:
        assert re.search(rf"^#define MERIDIAN_{block.upper()}_{register.upper()}\b", header, re.MULTILINE), register


def test_names_of_devlink_exist() -> None:
    """Parameters, versions and reporters of the page are strings of the driver, or the kernel's constants."""
    driver = "\n".join(path.read_text() for path in (ROOT / "host-driver" / "linux").rglob("*.[ch]"))
    page = ROOT / "docs" / "devlink.md"
    names = list(first_cells(page, {"name", "reporter"}))
    assert len(names) > 7
    for name in names:
        constant = name.upper().replace("FW", "GENERIC_FW", 1) if name == "fw" else name.upper()
        assert re.search(rf'"{re.escape(name)}"|_{constant}\b|{name}_put', driver), name


def test_every_target_is_in_the_list() -> None:
    """What README tells of `make help`."""
    listed = said("make", "-s", "help")
    (block,) = (block for block in documents.blocks(ROOT / "README.md") if "make demo QUICK=1" in block.text)
    for command in block.commands():
        target = command.split()[1]
        assert re.search(rf"^  {target} ", listed, re.MULTILINE), target


def test_the_readmes_command_for_one_test_finds_tests() -> None:
    """The tests run in the suite that has them."""
    (command,) = documents.block(ROOT / "README.md", "scripts/pytest").commands()
    script, *words = command.split()
    assert re.search(r"\d+ tests? collected", said(script, "--collect-only", "-q", *words))
