# SPDX-License-Identifier: Apache-2.0
"""Segments of large frames against hand-worked cases; what they hold is from RFC 791, 8200, 9293, 768 and 3168."""

from __future__ import annotations

import pytest
from meridian_golden.checksum import Checksums, checksums
from meridian_golden.segments import REFUSED, Segment, segments_of
from meridian_golden.shell import GoldenShell

ALICE = bytes.fromhex("02000000aa01")
BOB = bytes.fromhex("02000000bb02")
PAYLOAD = bytes(n * 7 & 0xFF for n in range(600))
ADDRESSES = bytes.fromhex("c0a80001 c0a800c7")
SIX = bytes.fromhex("fd00" + 13 * "00" + "01" + "fd00" + 13 * "00" + "02")
FIN, PSH, ACK, URG, CWR = 0x01, 0x08, 0x10, 0x20, 0x80


def word(value: int) -> bytes:
    return value.to_bytes(2, "big")


def ip4(protocol: int, length: int, number: int, options: bytes = b"", fragment: int = 0x4000) -> bytes:
    """length: behind the header."""
    total = 20 + len(options) + length
    first = bytes([0x45 + len(options) // 4, 0]) + word(total) + word(number) + word(fragment)
    return b"\x08\0" + first + bytes([64, protocol, 0xEE, 0xEE]) + ADDRESSES + options


def ip6(protocol: int, length: int) -> bytes:
    return b"\x86\xdd\x60\0\0\0" + word(length) + bytes([protocol, 64]) + SIX


def tcp(sequence: int, flags: int, options: bytes = b"") -> bytes:
    header = word(1) + word(2) + sequence.to_bytes(4, "big") + bytes(4)
    return header + bytes([0x50 + 4 * len(options), flags]) + word(500) + b"\xee\xee\0\0" + options


def udp(length: int) -> bytes:
    return word(1) + word(2) + word(length) + b"\xee\xee"


def frame(ip: bytes, l4: bytes, payload: bytes = PAYLOAD, tag: bytes = b"") -> bytes:
    return BOB + ALICE + tag + ip + l4 + payload


def data_of(segments: tuple[Segment, ...]) -> list[bytes | None]:
    assert not any(segment.error for segment in segments)
    return [segment.data for segment in segments]


def test_sequence_numbers_count_on_and_fin_and_psh_are_in_the_last_segment():
    """600 bytes are 256, 256 and 88; both counters pass their end."""
    large = frame(ip4(6, 620, 0xFFFF), tcp(0xFFFFFF80, FIN | PSH | ACK | URG | CWR))
    assert data_of(segments_of(large, 256)) == [
        frame(ip4(6, 276, 0xFFFF), tcp(0xFFFFFF80, ACK | URG | CWR), PAYLOAD[:256]),
        frame(ip4(6, 276, 0), tcp(0x80, ACK | URG), PAYLOAD[256:512]),
        frame(ip4(6, 108, 1), tcp(0x180, FIN | PSH | ACK | URG), PAYLOAD[512:]),
    ]


def test_udp_over_ipv6_has_a_length_in_each_datagram():
    """What the large one holds there is of no matter."""
    large = frame(ip6(17, 608), udp(9), tag=b"\x81\0\x60\x07")
    assert data_of(segments_of(large, 512)) == [
        frame(ip6(17, 520), udp(520), PAYLOAD[:512], b"\x81\0\x60\x07"),
        frame(ip6(17, 96), udp(96), PAYLOAD[512:], b"\x81\0\x60\x07"),
    ]


def test_each_segment_has_the_options_of_ip_and_tcp():
    ip, l4 = bytes(range(8)), bytes(range(12))
    large = frame(ip4(6, 632, 9, ip), tcp(0, ACK, l4))
    assert data_of(segments_of(large, 300)) == [
        frame(ip4(6, 332, 9, ip), tcp(0, ACK, l4), PAYLOAD[:300]),
        frame(ip4(6, 332, 10, ip), tcp(300, ACK, l4), PAYLOAD[300:]),
    ]


@pytest.mark.parametrize("size", [600, 601, 8191])
def test_a_packet_that_fits_is_one_segment(size):
    large = frame(ip4(6, 620, 5), tcp(7, PSH | CWR))
    assert data_of(segments_of(large, size)) == [large]


@pytest.mark.parametrize(
    ("large", "size"),
    [
        (frame(ip4(6, 620, 1), tcp(0, ACK)), 255),
        (frame(ip4(47, 620, 1), tcp(0, ACK)), 256),
        (frame(ip6(0, 620), tcp(0, ACK)), 256),  # hop-by-hop options
        (frame(ip6(44, 620), tcp(0, ACK)), 256),  # a fragment
        (frame(ip4(6, 620, 1, fragment=0x2000), tcp(0, ACK)), 256),
        (frame(ip4(6, 620, 1, fragment=0x0001), tcp(0, ACK)), 256),
        (frame(ip4(6, 620, 1), tcp(0, ACK), tag=b"\x88\xa8\0\5"), 256),
        (frame(ip4(6, 620, 1), tcp(0, ACK), tag=b"\x81\0\0\5\x81\0\0\6"), 256),
        (frame(b"\x08\x06" + bytes(20), tcp(0, ACK)), 256),
        (frame(ip4(6, 20, 1), tcp(0, ACK), b""), 256),  # no payload
        (frame(ip4(6, 20, 1), tcp(0, ACK)), 256),  # nor by its length
        (frame(ip4(6, 620, 1), tcp(0, ACK), b""), 256),
        (frame(ip4(17, 8, 1), udp(8), b""), 256),
        (frame(ip6(17, 0), udp(8)), 256),
        (frame(ip4(6, 620, 1), tcp(0, ACK)[:12] + b"\x40" + bytes(7)), 256),  # a header of 16 bytes
        (frame(ip4(6, 39, 1), tcp(0, ACK)[:12] + b"\xf0" + bytes(7)), 256),  # one that is longer than its packet
        (frame(b"\x08\0\x44" + ip4(6, 620, 1)[3:], tcp(0, ACK)), 256),
        (frame(b"\x08\0\x65" + ip4(6, 620, 1)[3:], tcp(0, ACK)), 256),
        (frame(b"\x86\xdd\x40" + ip6(6, 620)[3:], tcp(0, ACK)), 256),
        (b"", 256),
        (frame(ip4(6, 620, 1), tcp(0, ACK))[:50], 256),
    ],
)
def test_what_cannot_be_cut_is_refused(large, size):
    assert segments_of(large, size) == REFUSED


def test_bytes_behind_the_packet_belong_to_none():
    large = frame(ip4(6, 320, 5), tcp(7, ACK))
    assert data_of(segments_of(large, 256)) == [
        frame(ip4(6, 276, 5), tcp(7, ACK), PAYLOAD[:256]),
        frame(ip4(6, 64, 6), tcp(263, ACK), PAYLOAD[256:300]),
    ]
    whole = segments_of(large[:354], 256)
    # The packet ends in the twelfth beat of 32 bytes.
    assert segments_of(large[:384], 256, beat=32) == whole
    assert segments_of(large[:385], 256, beat=32) == whole + REFUSED


def test_a_frame_that_ends_early_or_badly_ends_with_an_error():
    large = frame(ip4(6, 620, 5), tcp(7, ACK))
    assert [it.error for it in segments_of(large, 256, good=653)] == [False, False, True]
    assert [it.error for it in segments_of(large, 256, good=565)] == [False, True, True]
    for left_out, errors in ((1, 3), (88, 3), (89, 2), (344, 2), (345, 1), (599, 1)):
        segments = segments_of(large[:-left_out], 256)
        assert [it.error for it in segments] == [False] * (errors - 1) + [True], f"without {left_out} bytes"
    assert segments_of(large[:-600], 256) == REFUSED


@pytest.fixture
def shell() -> GoldenShell:
    model = GoldenShell(segmentation=True, max_frame=600)
    model.ports[0].tx_enable = True
    model.set_queues(4, 16, 4)
    model.transmit_segments = {16}
    model.addresses[0, ALICE, None] = 4
    return model


LARGE = frame(ip4(6, 620, 5), tcp(7, ACK))
CUT = 256 << 19


def verdicts(shell: GoldenShell, data: bytes = LARGE, error: bool = False, metadata: int = CUT) -> list[str]:
    return [outcome.verdict for outcome in shell.transmit_all(16, data, error, metadata)]


def test_segments_are_frames_like_any_other(shell):
    outcomes = shell.transmit_all(16, LARGE, metadata=CUT)
    assert [len(outcome.data) for outcome in outcomes] == [310, 310, 142]
    assert not any(outcome.unfilled for outcome in outcomes)
    assert all(checksums(outcome.data) == Checksums("good", "good", "tcp") for outcome in outcomes)
    tagged = shell.transmit_all(16, LARGE, metadata=CUT | 1 << 16 | 9)
    assert [outcome.data[:16] for outcome in tagged] == [BOB + ALICE + b"\x81\0\0\x09"] * 3
    assert verdicts(shell, metadata=560 << 19) == ["oversize", "sent"]
    assert verdicts(shell, LARGE[:6] + BOB + LARGE[12:]) == ["spoof"] * 3
    shell.ports[0].link_up = False
    assert verdicts(shell) == ["linkDown"] * 3
    assert verdicts(shell, b"") == ["linkDown"]


def test_an_error_spoils_what_is_in_the_last_beat(shell):
    """Of 266 bytes of payload, the last 32 of the stream are 22 of the first segment and 10 of the second."""
    assert verdicts(shell, error=True) == ["sent", "sent", "error"]
    short = frame(ip4(6, 286, 5), tcp(7, ACK), PAYLOAD[:266])
    assert verdicts(shell, short) == ["sent", "sent"]
    assert verdicts(shell, short, error=True) == ["error", "error"]


@pytest.mark.parametrize(("data", "verdict"), [(LARGE[:60], "error"), (LARGE[:10], "error"), (b"", "runt")])
def test_a_refused_frame_is_one_error(shell, data, verdict):
    assert verdicts(shell, data, metadata=CUT | 3 << 17) == [verdict]


def test_the_request_is_for_cards_and_queues_that_have_it(shell):
    shell.max_frame = 9600
    shell.transmit_offload, shell.transmit_segments = {16}, set()
    assert shell.transmit_all(16, LARGE, metadata=CUT) == (shell.transmit(16, LARGE),)
    shell.transmit_segments, shell.segmentation = {16}, False
    assert shell.transmit_all(16, LARGE, metadata=CUT) == (shell.transmit(16, LARGE),)


def test_a_segment_of_ipv6_misses_no_checksum(shell):
    """It is the IPv4 header whose checksum the descriptor asks for."""
    outcomes = shell.transmit_all(16, frame(ip6(6, 620), tcp(7, ACK)), metadata=CUT | 3 << 17)
    assert [(outcome.verdict, outcome.unfilled) for outcome in outcomes] == [("sent", False)] * 3
