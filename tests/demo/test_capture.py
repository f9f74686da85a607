# SPDX-License-Identifier: Apache-2.0
"""What is played of a capture file, and what is said of the rest."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from capture_files import (
    ETHERNET,
    RAW_IP,
    UNKNOWN,
    Kept,
    block,
    corpus,
    flags,
    interface,
    option,
    packet,
    pcap,
    pcapng,
    section,
    simple_packet,
)
from meridian_demo import capture

FRAMES = [b"a" * 60, b"b" * 1514]
ROUNDS = 3000


def read(folder: Path, content: bytes) -> capture.Capture:
    file = folder / "capture"
    file.write_bytes(content)
    return capture.read(file)


@pytest.mark.parametrize("name", corpus())
def test_every_kind_of_file_is_played(name: str, tmp_path: Path) -> None:
    found = read(tmp_path, corpus()[name])
    assert [frame.data for frame in found.frames] == FRAMES
    assert (found.completed, found.skipped, found.torn) == (0, 0, "")


@pytest.mark.parametrize("make", [pcap, pcapng])
def test_frames_that_were_cut_are_played_at_their_length_and_counted(make, tmp_path: Path) -> None:
    cut, short = Kept(b"c" * 1514, keep=96), Kept(b"s" * 42, keep=20)
    found = read(tmp_path, make([cut, Kept(FRAMES[0]), short]))
    padded = [b"c" * 96 + bytes(1418), FRAMES[0], b"s" * 20 + bytes(40)]
    assert [frame.data for frame in found.frames] == padded
    assert (found.completed, found.padded, found.left_out()) == (2, 1, [])


@pytest.mark.parametrize("make", [pcap, pcapng])
def test_frames_without_a_whole_header_are_left_out_and_counted(make, tmp_path: Path) -> None:
    found = read(tmp_path, make([Kept(b"c" * 1514, keep=13), Kept(FRAMES[0]), Kept(b"c" * 60, keep=0)]))
    assert [frame.data for frame in found.frames] == FRAMES[:1]
    words = "2 records were cut by the snap length below the 14 bytes of an Ethernet header"
    assert found.left_out() == [words]
    with pytest.raises(capture.CaptureError, match="1 record was cut by the snap length below"):
        read(tmp_path, make([Kept(b"c" * 1514, keep=13)]))


def test_a_simple_packet_is_cut_by_the_snap_length_of_its_interface(tmp_path: Path) -> None:
    frames = [simple_packet(Kept(b"c" * 1514, keep=96)), simple_packet(Kept(b"a" * 60))]
    found = read(tmp_path, section() + interface(snap=96) + b"".join(frames))
    assert [frame.data for frame in found.frames] == [b"c" * 96 + bytes(1418), FRAMES[0]]
    assert found.completed == 1


@pytest.mark.parametrize("name", corpus())
def test_a_file_that_breaks_off_anywhere_is_played_up_to_there(name: str, tmp_path: Path) -> None:
    """Truncated at every byte: what is whole is played, and where it breaks off is told, or why nothing is played."""
    content = corpus()[name]
    counts = set()
    for length in range(len(content)):
        try:
            found = read(tmp_path, content[:length])
        except capture.CaptureError as error:
            reason = str(error).removeprefix(f"{tmp_path / 'capture'}: ")
            torn = f"breaks off at byte {length}: the " in reason
            assert torn or "are too few for a capture" in reason or reason == "no frame in it that can be played"
        else:
            assert [frame.data for frame in found.frames] == FRAMES[: len(found.frames)]
            assert not found.torn or found.torn.startswith(f"the file breaks off at byte {length}: the ")
            counts.add(len(found.frames))
    assert 1 in counts


def test_a_byte_at_which_a_file_breaks_off_is_that_of_the_file(tmp_path: Path) -> None:
    found = read(tmp_path, pcap([Kept(FRAMES[0]), Kept(FRAMES[1])])[:-4])
    assert found.left_out() == ["the file breaks off at byte 1626: the record at byte 100 is not whole"]
    assert len(pcap([Kept(FRAMES[0])])) == 100


def test_interfaces_that_are_not_ethernet_are_left_out(tmp_path: Path) -> None:
    frames = [Kept(b"x" * 40, interface=1), Kept(FRAMES[0]), Kept(b"y" * 40, interface=1)]
    found = read(tmp_path, pcapng(frames, (ETHERNET, RAW_IP)))
    assert [frame.data for frame in found.frames] == FRAMES[:1]
    assert found.left_out() == ["2 records are of an interface that is not Ethernet"]
    with pytest.raises(capture.CaptureError, match=r"link type 101, 127 is not Ethernet \(1\)"):
        read(tmp_path, pcapng([Kept(b"x" * 40), Kept(b"x" * 40, interface=1)], (RAW_IP, 127)))
    with pytest.raises(capture.CaptureError, match="capture on one interface, not on all"):
        read(tmp_path, pcap([Kept(b"x" * 40)], link_type=113))


@pytest.mark.parametrize("magic", [b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh9"])
def test_a_compressed_file_is_told_how_to_be_unpacked(magic: bytes, tmp_path: Path) -> None:
    with pytest.raises(capture.CaptureError, match="the file is compressed: unpack it with .* first"):
        read(tmp_path, magic + bytes(100))


@pytest.mark.parametrize("order", "<>")
def test_an_fcs_that_the_file_tells_of_is_taken_off(order: str, tmp_path: Path) -> None:
    with_fcs = [Kept(frame + b"FCS!") for frame in FRAMES]
    only_that_cut = Kept(FRAMES[0] + b"FCS!", keep=60)
    found = read(tmp_path, pcap([*with_fcs, only_that_cut], order, link_type=ETHERNET | 1 << 26 | 2 << 28))
    assert [frame.data for frame in found.frames] == [*FRAMES, FRAMES[0]]
    told = interface(order=order, options=option(13, b"\4", order) + option(0, b"", order))
    both = b"".join(packet(frame, order) for frame in with_fcs)
    by_packet = packet(Kept(FRAMES[0] + b"F"), order, flags(1 << 5, order))
    found = read(tmp_path, section(order) + told + both + by_packet)
    assert [frame.data for frame in found.frames] == [*FRAMES, FRAMES[0]]


@pytest.mark.parametrize("order", "<>")
def test_frames_that_were_received_with_an_error_are_left_out(order: str, tmp_path: Path) -> None:
    bad = packet(Kept(FRAMES[1]), order, flags(1 << 24 | 1, order))
    good = packet(Kept(FRAMES[0]), order, flags(1, order))
    found = read(tmp_path, section(order) + interface(order=order) + bad + good)
    assert [frame.data for frame in found.frames] == FRAMES[:1]
    assert found.left_out() == ["1 record was received with an error"]


def test_options_that_end_beyond_their_block_hold_nothing(tmp_path: Path) -> None:
    endless = option(2, bytes(5000))[:8]
    found = read(tmp_path, section() + interface(options=endless) + packet(Kept(FRAMES[0]), options=endless))
    assert [frame.data for frame in found.frames] == FRAMES[:1]


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(capture.CaptureError, match="is not a regular file"):
            capture.read(name)
    with pytest.raises(capture.CaptureError, match="No such file"):
        capture.read(tmp_path / "nothing")


def test_a_file_that_is_too_long_for_memory_says_so(tmp_path: Path) -> None:
    with (tmp_path / "capture").open("wb") as file:
        file.truncate(capture.LARGEST + 1)  # a hole
    with pytest.raises(capture.CaptureError, match="is longer than 1024 MiB"):
        capture.read(tmp_path / "capture")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (pcap([Kept(FRAMES[0])], version=(3, 0)), "version 3.0 of pcap is not known here"),
        (section(major=2) + interface() + packet(Kept(FRAMES[0])), "is of version 2 of pcapng"),
        (pcap([]), "no frame in it that can be played$"),
        (pcapng([]), "no frame in it that can be played$"),
        (section(), "no frame in it that can be played$"),
        (section() + UNKNOWN, "no frame in it that can be played$"),
        (pcap([Kept(b"")]), "1 record is empty, longer"),
        (pcap([Kept(bytes(70_000))]), "1 record is empty, longer"),
        (pcap([Kept(bytes(60))])[:-64] + bytes([40]) + bytes(63), "shorter than what was kept of it"),
        (pcapng([Kept(bytes(60), interface=3)]), "of an interface that nobody describes"),
        (section() + block(3, bytes(4)), "of an interface that nobody describes"),
        (b"\x0a\x0d\x0d\x0a" + bytes(40), "the section at byte 0 has no byte-order magic"),
        (section()[:-4] + b"\0\0\0\x01", "has two different lengths"),
        (section() + b"\x06\0\0\0\x0d\0\0\0" + bytes(20), "says that it is 13 bytes long"),
    ],
)
def test_a_file_with_nothing_to_play_says_why(content: bytes, reason: str, tmp_path: Path) -> None:
    with pytest.raises(capture.CaptureError, match=reason):
        read(tmp_path, content)


def test_whatever_the_bytes_there_are_frames_or_a_reason(tmp_path: Path) -> None:
    """Files of the corpus with bytes changed, taken away and repeated."""
    chance = random.Random(7)
    files = list(corpus().values())
    for _ in range(ROUNDS):
        content = bytearray(chance.choice(files))
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(content))
            content[at] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
        if chance.random() < 0.3:
            del content[chance.randrange(len(content)) :]
        if chance.random() < 0.2:
            at = chance.randrange(len(content) + 1)
            content[at:at] = content[: chance.randrange(100)]
        try:
            found = read(tmp_path, bytes(content))
        except capture.CaptureError as error:
            assert len(str(error).partition("capture: ")[2]) > 10
        else:
            assert found.frames and all(len(frame.data) >= 60 for frame in found.frames)
