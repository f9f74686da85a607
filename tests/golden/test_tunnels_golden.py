# SPDX-License-Identifier: Apache-2.0
"""What the golden model makes of packets in tunnels, against hand-worked cases."""

from __future__ import annotations

import pytest
from meridian_golden.checksum import Checksums, checksums, ones_sum
from meridian_golden.shell import GoldenShell
from meridian_golden.tunnels import inner_frame
from test_segments_golden import ACK, ALICE, BOB, PAYLOAD, frame, ip4, ip6, tcp, udp, word

INNER = bytes.fromhex("02000000cc03 02000000dd04")
SIZE = 512
START = 64  # Ethernet, IPv4, UDP, VXLAN, Ethernet: 14, 20, 8, 8 and 14


def vxlan(packet: bytes, number: int, segment: int) -> bytes:
    """segment: bytes of a packet of the tunnel, of which lengths tell. packet: with its type."""
    length = 8 + 8 + 14 + segment
    head = b"\x45\0" + word(20 + length) + word(number) + b"\0\0\x40\x11\0\0" + bytes.fromhex("0a0000010a000002")
    head = head[:10] + word(0xFFFF - ones_sum(head)) + head[12:]
    header = word(40000) + word(4789) + word(length) + b"\0\0" + b"\x08\0\0\0\0\0\x2a\0"
    return BOB + ALICE + b"\x08\0" + head + header + INNER + packet


INSIDE = ip4(6, 1120, 5) + tcp(7, ACK) + PAYLOAD + PAYLOAD[:500]
LARGE = vxlan(INSIDE, 0xFFFE, 40 + SIZE)


@pytest.fixture
def shell() -> GoldenShell:
    model = GoldenShell(segmentation=True, max_frame=9600)
    model.ports[0].tx_enable = True
    model.set_queues(4, 16, 4)
    model.transmit_segments, model.transmit_offload = {16}, {16}
    model.addresses[0, ALICE, None] = 4
    return model


def test_segments_have_outer_headers_that_count(shell: GoldenShell) -> None:
    outcomes = shell.transmit_all(16, LARGE, metadata=SIZE << 19 | START)
    assert [outcome.verdict for outcome in outcomes] == ["sent"] * 3
    assert [len(outcome.data) for outcome in outcomes] == [START + 40 + 512, START + 40 + 512, START + 40 + 76]
    assert [outcome.data[18:20] for outcome in outcomes] == [b"\xff\xfe", b"\xff\xff", b"\0\0"]
    for number, outcome in enumerate(outcomes):
        assert ones_sum(outcome.data[14:34]) == 0xFFFF, "the outer header's checksum"
        assert outcome.data[34:START] == LARGE[34:START]
        packet = inner_frame(outcome.data, START)
        assert checksums(packet) == Checksums("good", "good", "tcp")
        assert packet[18:20] == word(5 + number), "the inner identification"


def test_the_inner_checksum_of_a_packet_that_is_not_cut_is_filled_in(shell: GoldenShell) -> None:
    data = vxlan(ip6(17, 108) + udp(108) + PAYLOAD[:100], 7, 148)
    (outcome,) = shell.transmit_all(16, data, metadata=1 << 18 | START)
    assert outcome.data[:START] == data[:START] and not outcome.unfilled
    assert checksums(inner_frame(outcome.data, START)) == Checksums("not_checked", "good", "udp")


def test_small_segments_are_refused(shell: GoldenShell) -> None:
    assert [it.verdict for it in shell.transmit_all(16, LARGE, metadata=SIZE - 1 << 19 | START)] == ["error"]


@pytest.mark.parametrize(
    ("start", "length"), [(32, 900), (33, 900), (63, 900), (130, 900), (START, START), (START, 20)]
)
def test_a_packet_that_cannot_begin_there_is_an_error(shell: GoldenShell, start: int, length: int) -> None:
    outcomes = shell.transmit_all(16, LARGE[:length], metadata=SIZE << 19 | start)
    assert [outcome.verdict for outcome in outcomes] == ["error"]


def test_a_queue_without_segments_sends_it_as_it_is(shell: GoldenShell) -> None:
    shell.transmit_segments = set()
    (outcome,) = shell.transmit_all(16, LARGE, metadata=START)
    assert outcome.data == LARGE


def test_a_request_for_a_vlan_tag_wins_over_one_for_a_tunnel(shell: GoldenShell) -> None:
    """Where there is one to insert, the place of a packet has none."""
    (outcome,) = shell.transmit_all(16, frame(ip4(6, 620, 5), tcp(7, ACK)), metadata=1 << 16 | START)
    assert outcome.data[12:16] == b"\x81\0" + word(START)
