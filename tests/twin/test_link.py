# SPDX-License-Identifier: Apache-2.0
"""The client's end of the link against a peer played by hand, and its constants against the C header."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from meridian_twin import Link, LinkError, LinkTimeout, Memory, doorbells, protocol
from meridian_twin.memory import MemoryFullError
from meridian_twin.patience import end_of
from meridian_twin.protocol import Header, Hello, Region, Status, Type, Welcome
from meridian_twin.registers import header as find_header

HEADER = find_header("meridian_link.h").read_text()
WELCOME = Welcome(protocol.MAGIC, protocol.VERSION, 1, 4, 256, 512, 0, 0, 1, 2, 3, 4, 5, 6, 7)
DOORBELLS = ("meridian_link_doorbells", "meridian_link_queue_doorbells")
Peer = Callable[[socket.socket], None]


def structure(name: str) -> list[tuple[str, int]]:
    """Fields of a C structure with their sizes in bytes."""
    body = re.search(rf"struct {name} \{{(.*?)\n\}};", HEADER, re.DOTALL)
    assert body
    sizes = {"uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "uint64_t": 8, "char": 1}
    fields = re.findall(r"^\s*(\w+) (\w+)(?:\[(\d+)\])?;", body[1], re.MULTILINE)
    return [(field, sizes[kind] * int(count or 1)) for kind, field, count in fields]


@pytest.mark.parametrize("layout", [Header, Hello, Welcome, Region])
def test_layouts_agree_with_the_header(layout: type[Header]) -> None:
    fields = structure(f"meridian_link_{layout.__name__.lower()}")
    names = ["bytes" if name == "length_bytes" else name for name in layout.names()]
    assert names == [name for name, _ in fields]
    assert layout.length() == sum(size for _, size in fields)
    at = 0
    for index, (_, size) in enumerate(fields):
        values: list[object] = [
            b"" if isinstance(v, bytes) else 0 for v in layout.unpack(bytes(layout.length())).__dict__.values()
        ]
        if not isinstance(values[index], bytes):
            values[index] = (1 << 8 * size) - 1
            assert layout(*values).pack()[at : at + size] == b"\xff" * size
        at += size


def test_constants_agree_with_the_header() -> None:
    values = {name: int(value, 0) for name, value in re.findall(r"MERIDIAN_LINK_(\w+)(?: =)? (0x\w+?|\d+)u?\b", HEADER)}
    for name in (
        "MAGIC",
        "VERSION",
        "MAX_PAYLOAD",
        "MAX_REGIONS",
        "MAX_REQUESTS",
        "MAX_DOORBELLS",
        "ALL_FUNCTIONS",
        "REPLY",
        "LOCKSTEP",
    ):
        assert getattr(protocol, name) == values[name]
    for member in (*Type, *Status, *protocol.Role):
        assert values[member.name] == member.value


def test_doorbells_agree_with_the_header() -> None:
    head, queue = (re.search(rf"sizeof\(struct {name}\) == (\d+)", HEADER) for name in DOORBELLS)
    assert head and queue
    assert (int(head[1]), int(queue[1])) == (doorbells.HEAD, doorbells.STRIDE)


def whole(peer: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = peer.recv(size - len(data))
        assert piece, "the client has closed its end"
        data += piece
    return data


def take(peer: socket.socket) -> tuple[Header, bytes]:
    head = Header.unpack(whole(peer, Header.length()))
    return head, whole(peer, head.size - Header.length())


def give(peer: socket.socket, kind: int, payload: bytes = b"", **fields: int) -> None:
    peer.sendall(Header(Header.length() + len(payload), kind, **fields).pack() + payload)


@contextmanager
def played(path: Path, peer: Peer, greet: bool = True, stays: bool = True) -> Iterator[Path]:
    """A card that greets and then does what `peer` does."""
    failures: list[Exception] = []

    def run() -> None:
        try:
            connection, _ = server.accept()
            with connection:
                connection.settimeout(5)
                if greet:
                    head, _ = take(connection)
                    give(connection, Type.HELLO | protocol.REPLY, WELCOME.pack(), tag=head.tag)
                peer(connection)
                while stays and connection.recv(65536):
                    continue
        except (AssertionError, OSError) as failure:
            failures.append(failure)

    with socket.socket(socket.AF_UNIX) as server:
        server.settimeout(5)
        server.bind(str(path))
        server.listen()
        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield path
        finally:
            end_of(thread)
    assert not failures, failures


def test_a_client_says_hello_and_keeps_the_welcome(tmp_path: Path) -> None:
    def peer(card: socket.socket) -> None:
        head, payload = take(card)
        hello = Hello.unpack(payload)
        assert (head.type, hello.magic, hello.version) == (Type.HELLO, protocol.MAGIC, protocol.VERSION)
        assert (hello.role, hello.flags, hello.name.rstrip(b"\0")) == (1, protocol.LOCKSTEP, b"me")
        give(card, Type.HELLO | protocol.REPLY, WELCOME.pack(), tag=head.tag)

    with played(tmp_path / "s", peer, greet=False) as path, Link(path, protocol.Role.AXI, "me", lockstep=True) as link:
        assert link.welcome == WELCOME


def test_refusal_is_raised_in_the_cards_words(tmp_path: Path) -> None:
    def peer(card: socket.socket) -> None:
        take(card)
        give(card, Type.ERROR, b"the host is played by somebody already")

    with (
        played(tmp_path / "s", peer, greet=False) as path,
        pytest.raises(LinkError, match="the host is played by somebody already"),
    ):
        Link(path)


def test_a_socket_that_nobody_answers_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LinkError, match="no card answers"):
        Link(tmp_path / "none")


def test_another_version_is_refused(tmp_path: Path) -> None:
    def peer(card: socket.socket) -> None:
        head, _ = take(card)
        other = Welcome(*[*WELCOME.__dict__.values()][:1], 9, *[*WELCOME.__dict__.values()][2:])
        give(card, Type.HELLO | protocol.REPLY, other.pack(), tag=head.tag)

    with (
        played(tmp_path / "s", peer, greet=False) as path,
        pytest.raises(LinkError, match="version 9 of the link, this driver 3"),
    ):
        Link(path)


def test_a_client_serves_dma_while_it_waits_for_a_reply(tmp_path: Path) -> None:
    memory = Memory(4096, base=0x1000)
    memory.write(0x1100, b"hello")

    def peer(card: socket.socket) -> None:
        asked, _ = take(card)
        assert (asked.type, asked.function, asked.bar, asked.width, asked.address) == (Type.BAR_READ, 2, 2, 4, 0x44)
        give(card, Type.DMA_WRITE, b"world", address=0x1200)
        give(card, Type.DMA_READ, tag=7, address=0x1100, value=5)
        give(card, Type.DMA_READ, tag=8, address=0x1FFE, value=5)  # beyond the end
        give(card, Type.DMA_READ, tag=9, address=0x1000, value=0)  # a fence
        answers = {head.tag: (head.status, data) for head, data in (take(card) for _ in range(3))}
        assert answers == {7: (Status.OK, b"hello"), 8: (Status.UNSUPPORTED, b""), 9: (Status.OK, b"")}
        give(card, Type.MSIX, function=2, value=6)
        give(card, Type.BAR_READ | protocol.REPLY, tag=asked.tag, value=0x1234)

    with played(tmp_path / "s", peer) as path, Link(path) as link:
        link.share(memory, mapped=False)
        assert link.read(2, 2, 0x44) == 0x1234
        assert memory.read(0x1200, 5) == b"world"
        assert link.take_interrupts(2, 6) == 1
        assert link.take_interrupts(2, 6) == 0
    memory.close()


def test_dma_keeps_its_order_while_an_answer_waits_for_room(tmp_path: Path) -> None:
    memory = Memory(1 << 20, base=0)
    reads, size = 16, protocol.MAX_PAYLOAD  # more than the socket holds

    def peer(card: socket.socket) -> None:
        asked, _ = take(card)
        ask = [Header(Header.length(), Type.DMA_READ, tag=tag, value=size).pack() for tag in range(reads)]
        old = Header(Header.length() + 3, Type.DMA_WRITE, address=0x80000).pack() + b"OLD"
        card.sendall(b"".join(ask) + old)
        assert card.recv(1, socket.MSG_PEEK)  # the answers have begun, and nobody takes them
        time.sleep(0.2)
        give(card, Type.DMA_WRITE, b"NEW", address=0x80000)
        time.sleep(0.2)
        for _ in range(reads):
            take(card)
        give(card, Type.BAR_READ | protocol.REPLY, tag=asked.tag)

    with played(tmp_path / "s", peer) as path, Link(path) as link:
        link.share(memory, mapped=False)
        link.read(0, 0, 0)
        assert memory.read(0x80000, 3) == b"NEW"
    memory.close()


def test_what_nothing_answers_reads_all_ones(tmp_path: Path) -> None:
    def peer(card: socket.socket) -> None:
        asked, _ = take(card)
        give(card, Type.BAR_READ | protocol.REPLY, tag=asked.tag, status=Status.UNSUPPORTED, value=(1 << 64) - 1)

    with played(tmp_path / "s", peer) as path, Link(path) as link:
        assert link.read(0, 2, 0, width=2) == 0xFFFF


@pytest.mark.parametrize("own_first", [True, False])
def test_a_function_reads_its_own_memory_before_that_of_all(tmp_path: Path, own_first: bool) -> None:
    """Whichever was shared first."""
    own, of_all = Memory(4096, base=0x1000, function=4), Memory(4096, base=0x1000)
    own.write(0x1000, b"own")
    of_all.write(0x1000, b"all")

    def peer(card: socket.socket) -> None:
        asked, _ = take(card)
        for function in (4, 5):
            give(card, Type.DMA_READ, tag=function, function=function, address=0x1000, value=3)
        give(card, Type.DMA_WRITE, b"new", function=4, address=0x1100)
        assert {head.tag: data for head, data in (take(card) for _ in range(2))} == {4: b"own", 5: b"all"}
        give(card, Type.BAR_READ | protocol.REPLY, tag=asked.tag)

    with played(tmp_path / "s", peer) as path, Link(path) as link:
        for memory in (own, of_all) if own_first else (of_all, own):
            link.share(memory, mapped=False)
        link.read(0, 0, 0)
        assert (own.read(0x1100, 3), of_all.read(0x1100, 3)) == (b"new", bytes(3))
    own.close()
    of_all.close()


def test_what_the_card_does_not_support_is_an_error(tmp_path: Path) -> None:
    """A read of registers is the exception: it gives all ones."""

    def peer(card: socket.socket) -> None:
        asked, _ = take(card)
        give(card, Type.RESET | protocol.REPLY, tag=asked.tag, status=Status.UNSUPPORTED)

    with (
        played(tmp_path / "s", peer) as path,
        Link(path) as link,
        pytest.raises(LinkError, match="RESET: UNSUPPORTED"),
    ):
        link.reset()


def test_a_refused_region_of_memory_is_an_error_in_the_cards_words(tmp_path: Path) -> None:
    def peer(card: socket.socket) -> None:
        data, files, _, _ = socket.recv_fds(card, Header.length() + Region.length(), 4)
        region = Region.unpack(data[Header.length() :])
        assert (region.address, region.length_bytes, len(files)) == (0x1000, 4096, 1)
        tag = Header.unpack(data[: Header.length()]).tag
        give(card, Type.MEMORY | protocol.REPLY, b"it overlaps", tag=tag, status=Status.INVALID)

    with played(tmp_path / "s", peer) as path, Link(path) as link, pytest.raises(LinkError, match="it overlaps"):
        link.share(Memory(4096, base=0x1000))


def test_a_silent_card_and_a_card_that_leaves_are_errors(tmp_path: Path) -> None:
    def silent(card: socket.socket) -> None:
        take(card)
        assert card.recv(1) == b""

    with (
        played(tmp_path / "s", silent) as path,
        Link(path) as link,
        pytest.raises(LinkTimeout, match="has not answered RESET"),
    ):
        link.patience = 0.2
        link.reset()
    with (
        played(tmp_path / "t", lambda card: None, stays=False) as path,
        Link(path) as link,
        pytest.raises(LinkError, match="the card is gone"),
    ):
        link.wait(lambda: False, "nothing")


def test_memory_is_given_and_taken_back() -> None:
    memory = Memory(1 << 16, base=0x10000)
    pieces = [memory.allocate(1000, 256) for _ in range(10)]
    assert all(address % 256 == 0 for address in pieces)
    assert len(set(pieces)) == 10
    for address in pieces:
        memory.free(address)
    whole = memory.allocate(1 << 16, 1)
    assert whole == 0x10000
    with pytest.raises(MemoryFullError):
        memory.allocate(1)
    with pytest.raises(IndexError):
        memory.read(0xFFFF, 1)
    with pytest.raises(OSError):
        os.ftruncate(memory.file, 0)
    memory.close()
