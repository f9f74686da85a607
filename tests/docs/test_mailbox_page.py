# SPDX-License-Identifier: Apache-2.0
"""docs/mailbox.md has the codes, names, places and versions of the sources' messages, and all of them."""

from __future__ import annotations

import re
from itertools import pairwise

import documents
import pytest
from documents import ROOT
from meridian_twin.mailbox import Op

PAGE = ROOT / "docs" / "mailbox.md"
QDMA = ROOT / "host-driver" / "qdma"
MAILBOX = (QDMA / "mailbox/qdma_mailbox.h").read_text()
OURS = (QDMA / "mailbox/meridian_mailbox.h").read_text()
LAYOUT = (QDMA / "mailbox/qdma_message.c").read_text()
REQUESTS = (QDMA / "service/qdma_requests.c").read_text()
BYTES = 128


def rows(first: str, second: str, third: str = "") -> list[list[str]]:
    """The rows of the table whose head begins so."""
    heads = [first, second, *([third] if third else [])]
    (found,) = (table[2:] for table in documents.tables(PAGE) if table[0][: len(heads)] == heads)
    return found


def number(text: str) -> int:
    return int(text, 0)


def name(cell: str) -> str:
    (found,) = re.findall(r"`(\w+)`", cell)
    return found


def enumerated(prefix: str) -> dict[str, int]:
    """Names and values of an enumeration of qdma_mailbox.h."""
    return {word: int(value) for word, value in re.findall(rf"\b({prefix}\w+) = (\d+)", MAILBOX)}


def defined(text: str, pattern: str) -> dict[str, int]:
    return {
        word: number(value)
        for word, value in re.findall(rf"^#define ({pattern})\s+(0x[0-9a-f]+|\d+)\b", text, re.MULTILINE)
    }


def places(table: list[list[str]]) -> list[tuple[str, int, int]]:
    """Name, first and last byte of each field of a table."""
    found = []
    for row in table:
        first, _, last = row[-3].partition("..")
        found.append((name(row[-2]), int(first), int(last or first)))
    return found


def sizes_in_header(op: str) -> list[int]:
    """The bytes of each field of one of our messages, in the order of the comment before its code."""
    comment = re.search(rf"/\*((?:(?!\*/).)*)\*/\n#define MERIDIAN_OP_{op}\b", OURS, re.DOTALL)
    assert comment, f"meridian_mailbox.h says nothing of {op}"
    return [int(count or 1) * int(size) for count, size in re.findall(r"(?:(\d+) words of )?(\d+) bytes?", comment[1])]


def test_the_page_has_the_codes_of_the_public_messages() -> None:
    table = {name(row[1]): number(row[0]) for row in rows("code", "name in `qdma_mailbox.h`")}
    assert table == enumerated("QDMA_OP_")
    assert set(table.values()) == set(Op), "the twin's client has other codes"


def test_the_page_says_which_messages_the_pf_answers() -> None:
    answered = set(re.findall(r"\{ (QDMA_OP_\w+), \w+ \}", REQUESTS))
    assert len(answered) > 5
    assert {name(row[1]) for row in rows("code", "name in `qdma_mailbox.h`") if row[2] != "refused"} == answered


def test_the_page_has_the_codes_of_our_messages() -> None:
    table = {name(row[1]): number(row[0]) for row in rows("code", "name in `meridian_mailbox.h`")}
    assert table == defined(OURS, r"MERIDIAN_OP_\w+")
    assert set(re.findall(r"\{ (MERIDIAN_OP_\w+), \w+ \}", REQUESTS)) == set(table)


def test_the_page_has_the_versions_of_our_messages() -> None:
    version = defined(OURS, "MERIDIAN_MAILBOX_VERSION")["MERIDIAN_MAILBOX_VERSION"]
    assert f"the current version is **{version}**" in PAGE.read_text()
    for row in rows("code", "name in `meridian_mailbox.h`"):
        comment = re.search(rf"/\*((?:(?!\*/).)*)\*/\n#define {name(row[1])}\b", OURS, re.DOTALL)
        assert comment
        said = re.search(r"Version (\d)\.|(capability)", comment[1])
        if not said:
            assert row[2] == "1", row
        elif said[1]:
            assert row[2] == said[1], row
        else:
            assert re.fullmatch(r"`\w+`", row[2]), row


@pytest.mark.parametrize("op", ["CONFIG", "ADDRESS", "FLAGS", "STRIP", "RSS", "TX_OFFLOAD"])
def test_the_page_has_the_fields_of_our_messages(op: str) -> None:
    table = [
        place for place in places(rows("message", "bytes", "name in `meridian_mailbox.h`")) if f"_{op}_" in place[0]
    ]
    header = defined(OURS, rf"MERIDIAN_{op}_(?!NONE|REQUESTS|SEGMENTS|FRAME_)\w+")
    assert {word: first for word, first, _ in table} == header
    assert [last - first + 1 for _, first, last in table] == sizes_in_header(op)
    for (_, _, last), (word, first, _) in pairwise(table):
        assert last < first, f"{word} begins within the field before it"
    assert table[-1][2] < BYTES


def test_the_page_has_the_fields_of_the_public_messages() -> None:
    table = places(rows("message", "bytes", "name in `qdma_message.c`"))
    table += places(rows("bytes", "name in `qdma_message.c`"))
    assert {word: first for word, first, _ in table} == defined(LAYOUT, r"AT_\w+")
    sizes = dict(re.findall(r"put\(message, (AT_\w+), (\d+),", LAYOUT))
    once = [place for place in table if place[0] in sizes and place[0] != "AT_CAPABILITY"]
    assert len(once) > 10
    for word, first, last in once:
        assert last - first + 1 == int(sizes[word]), word


def test_the_page_has_each_refusal() -> None:
    table = {name(row[1]): number(row[0]) for row in rows("status", "name in `qdma_mailbox.h`")}
    assert table == enumerated("QDMA_REFUSE_")
    sent = {
        f"QDMA_{word}" for path in QDMA.rglob("*.c") for word in re.findall(r"-QDMA_(REFUSE_\w+)", path.read_text())
    }
    unsent = {name(row[1]) for row in rows("status", "name in `qdma_mailbox.h`") if row[2] == "not sent by our PF"}
    assert unsent == set(table) - sent


def test_the_page_has_the_registers_of_the_mailbox() -> None:
    header = (QDMA / "qdma_regs.h").read_text()
    for row in rows("offset", "register of `qdma_regs.h`"):
        value = re.search(rf"^#define {name(row[1])}(?:\(i\)\s+\()?\s*(0x[0-9a-f]+)", header, re.MULTILINE)
        assert value, row
        assert number(row[0]) == number(value[1]), row
    assert defined(MAILBOX, "QDMA_MESSAGE_BYTES") == {"QDMA_MESSAGE_BYTES": BYTES}
    assert f"A message has {BYTES} bytes" in PAGE.read_text()
    for base in defined(header, r"QDMA_[PV]F_MAILBOX").values():
        assert f"{base:#x}" in PAGE.read_text()
