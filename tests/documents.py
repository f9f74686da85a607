# SPDX-License-Identifier: Apache-2.0
"""The documents' fenced blocks, and the mark before each that says what the block needs.

A mark is an HTML comment in the line before the block, which no reader of the page sees:

    <!-- runs: tests/qemu/host/test_first_ping.py -->    that test runs the commands, or compares them with what it runs
    <!-- needs: Vivado -->                               no test runs the commands; the words say what they need
    <!-- shows: diagram -->                              the block is no command

Several tests stand behind one "runs:", with commas between them.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What a block may need. "the twin" is QEMU and what the scripts build for it.
NEEDS = {"a card", "another board", "DPDK's source", "PetaLinux", "Pktgen", "the twin", "Vivado", "Yocto"}
#: A twin that is told to end gets so long to end its machines, and is killed then.
END_SECONDS = 60
MARK = re.compile(r"<!-- (runs|needs|shows): (.+) -->")


@dataclass(frozen=True)
class Block:
    """A fenced block: its page, the line of its fence, the heading above it, and its mark ("" if it has none)."""

    page: Path
    line: int
    heading: str
    language: str
    kind: str
    words: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def tests(self) -> list[str]:
        """Paths of the tests that run it."""
        return self.words.split(", ") if self.kind == "runs" else []

    def remarked(self) -> list[tuple[str, str]]:
        """Its commands, each with the remark behind it. A command that is continued is one."""
        lines = (re.split(r"(?:^|\s+)#\s", line, maxsplit=1) for line in self.text.replace("\\\n", " ").splitlines())
        return [(line[0].strip(), "".join(line[1:])) for line in lines if line[0].strip()]

    def commands(self) -> list[str]:
        return [command for command, _ in self.remarked()]


def pages() -> list[Path]:
    """All Markdown files of the repository."""
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=True,
    ).stdout.splitlines()  # fmt: skip
    return [ROOT / name for name in names if (ROOT / name).exists()]


def blocks(page: Path) -> Iterator[Block]:
    """Of a page, from its beginning to its end. Raises ValueError if a block does not end."""
    heading, before = "", ""
    lines = iter(enumerate(page.read_text().splitlines(), 1))
    for number, line in lines:
        if line.startswith("```"):
            inside: list[str] = []
            for _, text in lines:
                if text.startswith("```"):
                    break
                inside.append(text)
            else:
                raise ValueError(f"{page}:{number}: the block does not end")
            mark = MARK.fullmatch(before)
            kind, words = mark.groups() if mark else ("", "")
            yield Block(page, number, heading, line[3:], kind, words, "".join(f"{text}\n" for text in inside))
        elif line.startswith("#"):
            heading = line.lstrip("# ")
        before = line


def chapter(page: Path, heading: str) -> list[str]:
    """The commands of all blocks below the heading that begins so."""
    return [command for block in blocks(page) if block.heading.startswith(heading) for command in block.commands()]


def block(page: Path, words: str) -> Block:
    """The first block that has these words."""
    return next(block for block in blocks(page) if words in block.text)


def prose(page: Path) -> str:
    """The page without its blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def inline(page: Path) -> list[str]:
    """What stands in code quotes outside of blocks."""
    return re.findall(r"(?<!`)`([^`\n]+)`", prose(page))


def tables(page: Path) -> list[list[list[str]]]:
    """The cells of each table, row by row. The first row is its head, the second its rule."""
    found: list[list[list[str]]] = []
    before = ""
    for line in prose(page).splitlines():
        if line.startswith("|"):
            if not before.startswith("|"):
                found.append([])
            found[-1].append([cell.strip() for cell in line.strip("|").split(" | ")])
        before = line
    return found


def split(command: str) -> list[str]:
    """Words of a command, as the shell divides it; its operators are words."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split, lexer.commenters = True, ""
    return list(lexer)


def run(command: Sequence[str], minutes: float) -> subprocess.CompletedProcess[str]:
    """What a reader's command does in the repository. Past its minutes it ends with all of its processes.

    Raises subprocess.TimeoutExpired.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            said, warned = process.communicate(timeout=60 * minutes)
        except BaseException:
            end(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, said, warned)


def end(process: subprocess.Popen[str]) -> None:
    """Ends the group of processes that this one leads."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + END_SECONDS
        try:
            os.killpg(process.pid, number)
            while time.monotonic() < deadline:
                process.poll()  # one that has ended is of the group until somebody has waited for it
                os.killpg(process.pid, 0)
                time.sleep(0.1)
        except ProcessLookupError:
            return
